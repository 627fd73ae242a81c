"""The limitations of a run and its scoring: what was not measured."""

from collections.abc import Iterator, Mapping

from tui.model.results import RAN_UNCHANGED, TrialResult
from tui.model.risk import Reviewed, RiskShare
from tui.model.run import COMMIT, VERSION_CHANGED
from tui.model.scores import replaced_answers
from tui.reports import phrases
from tui.reports.blocks import Faint, Line
from tui.reports.figure_words import some
from tui.reports.phrases import Detail, Reported, in_order, many
from tui.reports.reviewers import current_scores
from tui.statistics.pairs import MOST_MODELS, MOST_PAIRED_CASES

_FEW = 12


def not_measured(run: Reported, detail: Detail) -> list[Line]:
    """Return a sentence for each limitation, with numbers where there are any."""
    return [*_trials(run), *_comparing(run), *_answers(run), *_scoring(run, detail)]


def _trials(run: Reported) -> Iterator[Line]:
    results = {result.trial for result in run.kept.results}
    missing = [key for key in dict.fromkeys(run.kept.plan.trials) if key not in results]
    if missing:
        yield (
            f"{_were(len(missing), 'trial')} not run: ",
            Faint(some([f"{key.case} × {key.model}" for key in missing], _FEW)),
        )
    if run.kept.record.state != "finished":
        yield f"The run is {run.kept.record.state}: missing results may still be added."
    commits = run.kept.versions.get(COMMIT, "").split(VERSION_CHANGED)
    if len(commits) > 1:
        yield f"Repository: cloned at {len(commits)} commits, because the run was continued; checks may differ."
    unread = [result for result in run.kept.results if _has_unevaluated(result)]
    if unread:
        yield from _named("Checks that could not be evaluated (count as not met)", unread)
    unchanged = [result for result in run.kept.results if _ran_unchanged(result)]
    if unchanged:
        yield from _named("Commands that ran on the unchanged repository, because no change was applied", unchanged)
    foreign = [result for result in run.kept.results if _has_unevaluated(result, recorded=True)]
    if foreign:
        yield from _named("Checks of another tool, which cannot be repeated (count as not evaluated)", foreign)


def _has_unevaluated(result: TrialResult, *, recorded: bool = False) -> bool:
    """Return whether a check was not evaluated: one of Assay's, or if `recorded`, one that another tool evaluated."""
    missed = (check for _, check in phrases.missed_checks(result.counted_attempt))
    return any(check.state == "timed_out" and (check.kind == "recorded") is recorded for check in missed)


def _ran_unchanged(result: TrialResult) -> bool:
    attempt = result.counted_attempt
    checks = (check for step in attempt.steps for check in step.checks) if attempt is not None else ()
    return any(check.kind == "command" and check.detail.endswith(RAN_UNCHANGED) for check in checks)


def _comparing(run: Reported) -> Iterator[Line]:
    models = len(run.summary.figures)
    limit = f"{MOST_MODELS} models and {MOST_PAIRED_CASES:,} cases in all pairs, less with different numbers of repeats"
    if models > 1 and not run.summary.comparisons:
        yield f"The {models:,} models are not compared with each other: too many pairs (the limit is {limit})."
    silent = [each for each in run.summary.comparisons if each.conclusion == "not_enough_data" and not each.interim]
    if silent:
        pairs = some([f"{each.a} and {each.b}" for each in silent], _FEW)
        yield "Too few common checked cases for any difference to be significant: ", Faint(pairs)
    if all(repeats.n < 2 for repeats in run.summary.repeats.values()) and run.kept.results:
        yield "Each case was run once: the variation between repeats is unknown."


def _answers(run: Reported) -> Iterator[Line]:
    empty = [result for result in run.kept.results if not result.has_answer]
    if empty:
        yield from _named("Trials without an answer (no text, no change), which cannot be scored", empty)
    unchecked = [case.id for case in run.kept.plan.planned_cases if not case.is_checked]
    if unchecked:
        yield (
            f"{_have(len(unchecked), 'case')} no check (complete answers are unchecked and not in any rate): ",
            Faint(some(unchecked, _FEW)),
        )
    uncounted = [model for model, each in run.summary.figures.items() if each.effort.output_tokens is None]
    if uncounted:
        yield "No token counts from: ", Faint(some(uncounted, _FEW))
    unpriced = [model for model, spent in run.summary.spent.items() if spent.trials > spent.known]
    if unpriced:
        yield "Cost unknown for some or all answers of: ", Faint(some(unpriced, _FEW))
    broken = sum(1 for result in run.kept.results if result.first_verdict == "incomplete")
    if broken:
        yield f"{many(broken, 'answer')} stopped early; the missing part is unknown."


def _scoring(run: Reported, detail: Detail) -> Iterator[Line]:
    judged_cases = [case for case in run.kept.plan.suite.cases if case.risk_criteria]
    without = len(run.kept.plan.suite.cases) - len(judged_cases)
    if judged_cases and without:
        yield f"{_have(without, 'case')} no risk criteria, so their answers are not part of the risk review."
    reviewed = run.scores.reviewed
    if not judged_cases:
        yield "No case has risk criteria: the risk of the answers was not scored."
    elif reviewed is None or not reviewed.figures.scored:
        yield from _outdated(reviewed)
        yield "No answer was scored by a reviewer: the risk of the answers is unknown."
    elif not detail.risk_analysis:
        yield from _outdated(reviewed)
        yield "Answers have been scored; add --risk-analysis to include the scores."
    else:
        yield from _outdated(reviewed)
        yield from _open_scores(run, reviewed)
        yield from _reviewing(reviewed)


def _outdated(reviewed: Reviewed | None) -> Iterator[Line]:
    if reviewed is not None:
        yield from replaced_answers(reviewed.board)


def _open_scores(run: Reported, reviewed: Reviewed) -> Iterator[Line]:
    figures = reviewed.figures
    if figures.scored < figures.items:
        open_items = figures.items - figures.scored
        yield f"{open_items:,} of {many(figures.items, 'item')} (answer × criterion) not scored yet."
    for model, share in in_order(run, figures.by_model).items():
        counts = [f"{share.unscored} not scored at all"] if share.unscored else []
        counts += [f"{share.partial} partly scored (the band may still rise)"] if share.partial else []
        if counts:
            yield f"{model}: of {many(share.answers, 'answer')} {', '.join(counts)}."
    nobody = _untouched(run)
    if nobody:
        yield "Criteria without any score: ", Faint(some(nobody, _FEW))
    if figures.disputed:
        yield f"{many(figures.disputed, 'disagreement')} of reviewers without a decision: the highest extent counts."


def _untouched(run: Reported) -> list[str]:
    scored: dict[tuple[str, str], bool] = {}
    for result in run.kept.results:
        if result.has_answer:
            for judged in run.scores.of_trial(result.trial):
                key = (result.trial.case, judged.name)
                scored[key] = scored.get(key, False) or judged.counted is not None
    return [f"{case}: {name}" for (case, name), done in scored.items() if not done]


def _reviewing(reviewed: Reviewed) -> Iterator[Line]:
    if reviewed.unread:
        count = many(len(reviewed.unread), "line")
        yield (
            f"{count} of the score files could not be read and are not counted; run 'assay review export' to list them."
        )
    scores = current_scores(reviewed)
    if len(scores) == 1:
        yield "Only one reviewer: agreement is unknown."
    elif reviewed.agreement.overall.value is None:
        yield _without_agreement(reviewed.agreement.units)
    open_eyed = {name: sum(not reviewed.board.is_blind(score) for score in given) for name, given in scores.items()}
    seen = [f"{name} ({count} of {len(scores[name])})" for name, count in open_eyed.items() if count]
    if seen:
        yield "Scored with model names visible: ", Faint(some(seen, _FEW))
    versions = {score.guidance for given in scores.values() for score in given if score.guidance}
    if versions - {reviewed.guidance.version}:
        others = some(sorted(versions - {reviewed.guidance.version}), _FEW)
        yield f"Scores were given with other versions of the guidance than the one printed here: {others}."
    yield from _without_interval(reviewed.figures.by_model)


def _without_agreement(units: int) -> str:
    if units < 2:
        return "Too few items were scored by two reviewers to compute agreement."
    return (
        f"All {units:,} items scored by two reviewers have the same extent, so agreement by chance cannot be excluded."
    )


def _without_interval(shares: Mapping[str, RiskShare]) -> Iterator[Line]:
    blank = [model for model, share in shares.items() if share.mean.low is None]
    if blank:
        yield "Too few scored cases for an interval of the mean: ", Faint(some(blank, _FEW))


def _named(what: str, results: list[TrialResult]) -> Iterator[Line]:
    names = [f"{result.trial.case} × {result.trial.model}" for result in results]
    yield f"{what}: {len(results):,}: ", Faint(some(names, _FEW))


def _were(number: int, what: str) -> str:
    return f"{many(number, what)} {'was' if number == 1 else 'were'}"


def _have(number: int, what: str) -> str:
    return f"{many(number, what)} {'has' if number == 1 else 'have'}"
