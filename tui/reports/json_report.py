"""The JSON report, version 1, as Python values."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tui.model.context import SentContext, context_of_run, prompt_digest, sent_trials, wants_context
from tui.model.outcomes import outcome_of, unchecked_cases
from tui.model.prices import Price
from tui.model.results import Attempt, CheckResult, ServedBy, StepResult, ToolUse, TrialKey, TrialResult
from tui.model.risk import (
    BANDS,
    EXTENTS,
    RULE_REASON,
    Agreement,
    BandRule,
    Interval,
    NaDisagreement,
    OtherRule,
    Reviewed,
    RiskComparison,
    RiskFigures,
    RiskShare,
    reliability,
)
from tui.model.run import KeptRun
from tui.model.suite import Case, SuiteCase, question_digest
from tui.model.values import JsonValue
from tui.reports.scores import RunScores, score_object
from tui.reports.summary import RequiredShare, Summary, cases_of, summarize
from tui.statistics.comparison import Comparison
from tui.statistics.run_figures import Effort, ModelTotals, Rates, Repeats


def build_risk(reviewed: Reviewed) -> dict[str, Any]:
    """Return counts, means with their 95% intervals (null without enough data), alpha and kappa, without NaN."""
    return {
        "rule": _rule(reviewed.rule),
        "guidance": {"version": reviewed.guidance.version, "levels": list(reviewed.guidance.levels)},
        "reviewers": list(reviewed.board.reviewers),
        "outdated": reviewed.board.outdated,
        "names_seen": {name: looks for name in reviewed.board.reviewers if (looks := reviewed.board.looks(name))},
        "masked": _masked(reviewed),
        "figures": _risk_figures(reviewed.figures),
        "agreement": build_agreement(reviewed.agreement),
    }


def _masked(reviewed: Reviewed) -> dict[str, Any] | None:
    """Return the answers that were scored with masked names, and the shares of the others; null without any."""
    if reviewed.without_masked is None:
        return None
    without = {model: _share(share) for model, share in reviewed.without_masked.by_model.items()}
    return {"answers": reviewed.masked, "by_model_without": without}


def _rule(rule: BandRule) -> dict[str, Any]:
    return {
        "weights": dict(rule.weights),
        "limits": {**dict(rule.limits), "critical": None},
        "extents": list(EXTENTS),
        "several_scores": "a decision counts; without one bands use the highest extent, means the reviewers' mean",
        "reason": RULE_REASON,
    }


def _risk_figures(figures: RiskFigures) -> dict[str, Any]:
    return {
        "items": figures.items,
        "scored": figures.scored,
        "disputed": figures.disputed,
        "by_model": {model: _share(share) for model, share in figures.by_model.items()},
        "by_category": {model: _shares(shares) for model, shares in figures.by_category.items()},
        "by_criterion": {model: _shares(shares) for model, shares in figures.by_criterion.items()},
        "heat": {
            model: {
                severity: [heat.get((severity, extent), 0) for extent in range(len(EXTENTS))]
                for severity in dict.fromkeys(severity for severity, _ in heat)
            }
            for model, heat in figures.heat.items()
        },
        "comparisons": [_risk_comparison(each) for each in figures.comparisons],
        "sensitivity": [_other_rule(each) for each in figures.other_rules],
        "by_reviewer": {
            reviewer: {model: {"scored": each.scored, "items": each.items} for model, each in by_model.items()}
            for reviewer, by_model in figures.by_reviewer.items()
        },
        "uneven_reviewers": [
            {"reviewer": reviewer, "most": most, "least": least} for reviewer, most, least in figures.uneven_reviewers
        ],
    }


def _other_rule(each: OtherRule) -> dict[str, Any]:
    return {
        "name": each.name,
        "weights": dict(each.rule.weights),
        "limits": {**dict(each.rule.limits), "critical": None},
        "answers": each.answers,
        "higher": each.higher,
        "lower": each.lower,
        "swapped_by_mean": [list(pair) for pair in each.swapped_means],
        "swapped_by_share": [list(pair) for pair in each.swapped_shares],
    }


def _shares(shares: Mapping[str, RiskShare]) -> dict[str, Any]:
    return {name: _share(share) for name, share in shares.items()}


def _share(share: RiskShare) -> dict[str, Any]:
    return {
        "bands": {band: share.bands.get(band, 0) for band in BANDS},
        "answers": share.answers,
        "partial": share.partial,
        "unscored": share.unscored,
        "not_applicable": share.not_applicable,
        "mean": _number(share.mean.value),
        "mean_95": _ends(share.mean),
    }


def _ends(interval: Interval) -> list[float | None] | None:
    low, high = _number(interval.low), _number(interval.high)
    return None if low is None or high is None else [low, high]


def build_agreement(agreement: Agreement) -> dict[str, Any]:
    """Return the agreement of reviewers as in the report and in `assay review agreement --json`."""
    return {
        "overall": _alpha(agreement.overall, agreement.on_na),
        "by_criterion": {
            name: _alpha(alpha, agreement.on_na_by_criterion.get(name, NaDisagreement()))
            for name, alpha in agreement.by_criterion.items()
        },
        "pairs": [
            {"a": pair.a, "b": pair.b, "items": pair.items, "kappa": _number(pair.kappa)} for pair in agreement.pairs
        ],
        "own": [
            {
                "reviewer": own.reviewer,
                "twice": own.twice,
                "items": own.items,
                "same": own.same,
                "within_one": own.near,
                "na_once": own.on_na,
                "alpha": _number(own.alpha.value),
                "low": _number(own.alpha.low),
                "high": _number(own.alpha.high),
            }
            for own in agreement.own
        ],
        "units": agreement.units,
        "cases": agreement.cases,
        # Only if the interval resamples clusters: it is an extension.
        **({"clusters": agreement.clusters} if agreement.clusters else {}),
    }


def _alpha(alpha: Interval, on_na: NaDisagreement) -> dict[str, Any]:
    return {
        "alpha": _number(alpha.value),
        "low": _number(alpha.low),
        "high": _number(alpha.high),
        "words": reliability(alpha.value) or None,
        "na_disagreement": {
            "split": on_na.split,
            "units": on_na.units,
            "share": on_na.split / on_na.units if on_na.units else None,
        },
    }


def build_results(kept: KeptRun, reviewed: Reviewed | None = None) -> Iterator[dict[str, Any]]:
    """Yield the report's results one by one: as values they take several times the memory of their text."""
    cases = cases_of(kept)
    scores = RunScores(reviewed, cases)
    known = _questions(kept)
    return (
        _result(result, cases.get(result.trial.case), scores, known.get(result.trial.case, {}))
        for result in kept.results
    )


def _questions(kept: KeptRun) -> dict[str, dict[str, Any]]:
    """Return by case what a comparison with another run needs: whether it is checked, its cluster and its digests."""
    cases = kept.plan.planned_cases
    unchecked = unchecked_cases(cases, map(outcome_of, kept.results))
    # Of suites that name files only: in others, `case_sha256` covers the whole prompt.
    results = {result.trial: result for result in kept.results} if wants_context(kept.plan.suite) else {}
    sent = {case: results[trial] for case, trial in sent_trials(results).items()}
    prompts = {case: digest for case, result in sent.items() if (digest := prompt_digest(result))}
    return {
        case.id: {
            "checked": case.id not in unchecked,
            "case_sha256": question_digest(SuiteCase(case, kept.plan.suite)),
            **({"prompt_sha256": prompts[case.id]} if case.id in prompts else {}),
            **({"cluster": case.cluster} if case.cluster else {}),
        }
        for case in cases
    }


def build_head(kept: KeptRun, reviewed: Reviewed | None = None, margin: float | None = None) -> dict[str, Any]:
    """Return the report without its results."""
    record, suite = kept.record, kept.plan.suite
    return {
        "version": 1,
        "run": {
            "id": record.id,
            "started_at": record.started_at,
            "finished_at": record.finished_at,
            "state": record.state,
            "command": kept.plan.command,
            "assay": kept.assay,
            "versions": dict(kept.versions),
            "prices": {subject.name: _price(subject.price) for subject in kept.plan.subjects},
            # Only if names of the config file are among the models: it is an extension.
            **({"model_sha256": entries} if (entries := _entries(kept)) else {}),
            # Only if the suite names files to send: it is an extension.
            **({"context": _context(sent)} if (sent := context_of_run(kept)) else {}),
        },
        "suite": {"name": suite.name, "path": suite.path, "sha256": suite.sha256, "format": suite.format},
        **_figures(summarize(kept, margin)),
        # Only if there are scores or criteria: it is an extension.
        **({"risk": build_risk(reviewed)} if reviewed else {}),
    }


def _entries(kept: KeptRun) -> dict[str, str]:
    return {each.name: each.definition for each in kept.plan.subjects if each.is_named_entry}


def _context(sent: SentContext) -> dict[str, Any]:
    """Return the range of files and characters sent with a prompt."""
    return {
        "files": list(sent.files),
        "characters": list(sent.characters),
        "tokens_estimated": list(sent.tokens),
        "left_out": [{"path": file.path, "reason": file.reason} for file in sent.left_out],
    }


def _figures(summary: Summary) -> dict[str, Any]:
    costs = summary.spent
    return {
        "summary": {
            **_tally(summary.total),
            "by_model": {model: _tally(count) for model, count in summary.by_model.items()},
            "by_category": {category: _tally(count) for category, count in summary.by_category.items()},
            "by_category_and_model": {
                category: {model: _rates(rates) for model, rates in by_model.items()}
                for category, by_model in summary.by_group.items()
            },
            "reruns": {"trials": summary.reruns.trials, "passed_since": summary.reruns.passed_since},
            "pass_rate_95": {
                model: list(interval) if interval else None for model, interval in summary.pass_rate_95.items()
            },
            "repeats": {model: _repeats(repeats) for model, repeats in summary.repeats.items()},
            "effort": {model: _effort(figures.effort) for model, figures in summary.figures.items()},
            # A sum only if every trial's cost is known: a partial sum would be misleading.
            "cost_usd": {model: spent.usd if spent.is_whole else None for model, spent in costs.items()},
            "cost_usd_at_least": {model: spent.usd for model, spent in costs.items()},
            # Only if a case has a minPassRate: it is an extension.
            **({"min_pass_rates": [_required(share) for share in summary.required]} if summary.required else {}),
        },
        "comparisons": [_comparison(comparison) for comparison in summary.comparisons],
    }


def _tally(count: ModelTotals) -> dict[str, int]:
    return {
        "trials": count.trials,
        "passed": count.passed,
        "failed": count.failed,
        "errors": count.errors,
        "flaky": count.flaky,
        "unchecked": count.unchecked,
    }


def _rates(rates: Rates) -> dict[str, Any]:
    interval = rates.pass_rate_95
    return {
        **_tally(rates.tally),
        "pass_rate": rates.tally.pass_rate,
        "pass_rate_95": list(interval) if interval else None,
    }


def _effort(effort: Effort) -> dict[str, Any]:
    return {
        "median_ms": _number(effort.median_ms),
        "p95_ms": _number(effort.p95_ms),
        "first_token_ms": _number(effort.first_token_ms),
        "input_tokens": effort.input_tokens,
        "output_tokens": effort.output_tokens,
        # In how many trials every answer was counted; of the others the sums include those that were counted.
        "input_tokens_known": effort.input_tokens_known,
        "output_tokens_known": effort.output_tokens_known,
    }


def _price(price: Price | None) -> dict[str, Any] | None:
    """Return the price in USD per million tokens."""
    if price is None:
        return None
    return {
        "input": price.input,
        "output": price.output,
        "cached": price.cached,
        "cache_writing": price.cache_writing,
        "longest_input": price.longest_input,
        "source": price.source,
    }


def _repeats(repeats: Repeats) -> dict[str, Any]:
    return {
        "n": repeats.n,
        "pass_at_k": {str(k): share for k, share in repeats.pass_at_k.items()},
        "pass_hat_k": {str(k): share for k, share in repeats.pass_hat_k.items()},
        "flake_rate": repeats.flake_rate,
    }


def _required(share: RequiredShare) -> dict[str, Any]:
    return {
        "case": share.case,
        "model": share.model,
        "min_pass_rate": share.required,
        "passed": share.passes.passed,
        "results": share.passes.results,
        "planned": share.planned,
        "met": share.met,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "a": comparison.a,
        "b": comparison.b,
        "wins": comparison.wins,
        "losses": comparison.losses,
        "ties": comparison.ties,
        "win_cases": list(comparison.win_cases),
        "loss_cases": list(comparison.loss_cases),
        **_tested(comparison, comparison.method),
        "units": comparison.units,
        "margin": comparison.margin,
    }


def _risk_comparison(each: RiskComparison) -> dict[str, Any]:
    """Return a comparison of risk; `difference` is the weighted mean extent of `a` minus that of `b`: below 0 `a` has
    the lower risk."""
    return {
        "a": each.a,
        "b": each.b,
        "items": each.items,
        "cases": each.cases,
        "lower_cases": each.lower_cases,
        "higher_cases": each.higher_cases,
        "tie_cases": each.tie_cases,
        **_tested(each, "sign-flip"),
    }


def _tested(comparison: Comparison | RiskComparison, method: str) -> dict[str, Any]:
    """Return what the test of two models found, for passes and for risk alike."""
    return {
        "method": method,
        "p_value": _number(comparison.p_value),
        "p_holm": _number(comparison.p_holm),
        "difference": _number(comparison.difference),
        "difference_95": None if comparison.difference_95 is None else list(comparison.difference_95),
        "detectable": _number(comparison.detectable),
        "conclusion": comparison.conclusion,
        "interim": comparison.interim,
    }


def _result(result: TrialResult, case: Case | None, scores: RunScores, question: Mapping[str, Any]) -> dict[str, Any]:
    key = result.trial
    return {
        "case": key.case,
        "name": case.name if case else key.case,
        "category": case.category if case else "",
        "tags": list(case.tags) if case else [],
        **question,
        "model": key.model,
        "repeat": key.repeat,
        "verdict": result.verdict,
        "first_verdict": result.first_verdict,
        "reruns": result.reruns,
        "flaky": result.flaky,
        "error": result.error,
        "cost_usd": _number(outcome_of(result).cost_usd),
        "attempts": [_attempt(attempt) for attempt in result.attempts],
        "changes": [
            {
                "path": change.path,
                "kind": change.kind,
                "added": change.added,
                "removed": change.removed,
                "diff": change.diff,
            }
            for change in result.changes
        ],
        "not_applied": [
            {"block": block.block, "path": block.path, "language": block.language, "reason": block.reason}
            for block in result.not_applied
        ],
        **_scores(scores, key),
    }


def _scores(scores: RunScores, key: TrialKey) -> dict[str, Any]:
    judged = scores.of_trial(key) if scores.reviewed else ()
    decisions = [score_object(scores, each, each.decision) for each in judged if each.decision]
    return {
        "scores": [score_object(scores, each, act) for each in judged for act in each.scores],
        **({"decisions": decisions} if scores.reviewed else {}),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "verdict": attempt.verdict,
        "error": attempt.error,
        "steps": [_step(step) for step in attempt.steps],
        "started_at": attempt.started_at,
        "duration_ms": _number(attempt.duration_ms or None),
        "asked_again": attempt.asking > 0,
    }


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "input": step.input,
        "response": step.response,
        "reasoning": step.reasoning,
        "tools_used": list(step.tools_used),
        "tool_calls": [_tool_call(call) for call in step.tool_calls if call.kind == "tool"],
        "memory": _json(step.memory),
        "checks": [_check_result(check) for check in step.checks],
        "usage": {
            "input_tokens": step.usage.input_tokens,
            "output_tokens": step.usage.output_tokens,
            "reasoning_tokens": step.usage.reasoning_tokens,
        },
        "input_details": {
            "cached_tokens": step.usage.cached_tokens,
            "cache_writing_tokens": step.usage.cache_writing_tokens,
        },
        "cost_usd": _number(step.cost_usd),
        "served_by": _served_by(step.served_by),
        "timing": {
            "first_token_ms": _number(step.timing.first_token_ms),
            "duration_ms": _number(step.timing.duration_ms or None),
        },
        "retries": [{"reason": retry.reason, "waited_ms": retry.waited_ms} for retry in step.retries],
        "finish_reason": step.finish_reason,
        "notes": list(step.notes),
    }


def _tool_call(call: ToolUse) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "result": call.result,
        "duration_ms": _number(call.duration_ms),
    }


def _check_result(check: CheckResult) -> dict[str, Any]:
    return {
        "kind": check.kind,
        "target": check.target,
        "state": check.state,
        "detail": check.detail,
        "spans": [list(span) for span in check.spans],
    }


def _served_by(served: ServedBy | None) -> dict[str, str] | None:
    """Return what the server reported about itself; empty where it reported nothing."""
    if served is None:
        return None
    return {
        "model": served.model,
        "fingerprint": served.fingerprint,
        "api_version": served.api_version,
        "server": served.server,
    }


def _number(value: float | None) -> float | None:
    """Return the number, or None where JSON has no such number (NaN, infinity)."""
    return None if value is None or not math.isfinite(value) else value


def _json(value: JsonValue) -> JsonValue:
    """Return the value with null for numbers that JSON cannot represent."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return {key: _json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner) for inner in value]
    return value
