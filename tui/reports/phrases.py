"""Words and number formats that the reports for people share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar, get_args

from tui.model.context import context_of_run
from tui.model.percentages import percent, percent_range
from tui.model.results import Attempt, CheckResult, TrialResult, counted_as, counted_asking
from tui.model.run import KeptRun
from tui.model.subjects import Subject, settings_text
from tui.model.suite import ASSERTION, Case, CheckKind, checked_sentence
from tui.reports.provenance import provenance
from tui.reports.scores import RunScores
from tui.reports.summary import Reruns, Summary, count_reruns
from tui.statistics.run_figures import ModelTotals, Rates

T = TypeVar("T")
SPARSE = (
    "† Fewer than five cases (or clusters) pass or fail: the interval may miss the true rate in up to about 10% of "
    "runs instead of 5%."
)
MARKS = {
    "passed": "✓",
    "flaky": "◐",
    "failed": "✗",
    "unchecked": "○",
    "error": "!",
    "timed_out": "!",
    "incomplete": "◌",
    "cancelled": "!",
    "": "·",
}
CHECKS = {
    "expected_pattern": "expected pattern",
    "forbidden_pattern": "forbidden pattern",
    "output.includes": "output includes",
    "output.matches": "output matches",
    "output.equals": "output equals",
    "tools_used": "tools used",
    "memory": "memory",
    "expected": "expected",
    "command": "command",
    "recorded": "recorded",
    **{kind: kind.removeprefix(ASSERTION) for kind in get_args(CheckKind) if kind.startswith(ASSERTION)},
}


@dataclass(frozen=True, slots=True)
class Detail:
    """The optional content of a report for people."""

    responses: bool = False
    timestamps: bool = False
    risk_analysis: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """A run with its figures and its scores."""

    kept: KeptRun
    summary: Summary
    cases: Mapping[str, Case]
    scores: RunScores

    def name(self, result: TrialResult) -> str:
        """Return the name of a result's case, or its id if the suite has no such case."""
        case = self.cases.get(result.trial.case)
        return case.name if case else result.trial.case


def rate(count: ModelTotals) -> str:
    """Return the pass rate, or a dash if nothing counts."""
    return "–" if count.pass_rate is None else percent(count.pass_rate)


def rate_interval(rates: Rates) -> str:
    """Return the interval of a pass rate, with `†` for few passes or few failures, or a dash if nothing counts."""
    if rates.pass_rate_95 is None:
        return "–"
    return percent_range(*rates.pass_rate_95) + (" †" if rates.sparse else "")


def milliseconds(value: float | None) -> str:
    """Return a duration for people, or a dash if it is unknown."""
    if value is None:
        return "–"
    if value < 1_000:
        return f"{value:.0f} ms"
    if value < 59_950:
        return f"{value / 1_000:.1f} s"
    minutes, seconds = divmod(round(value / 1_000), 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"


def count(value: int | None) -> str:
    """Return a number with thousands separators, or a dash if it is unknown."""
    return "–" if value is None else f"{value:,}"


def many(number: int, what: str) -> str:
    """Return a number with its noun: `1 case`, `1,200 cases`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def outcome_word(result: TrialResult | None) -> str:
    """Return the key of `MARKS` for a result."""
    if result is None:
        return ""
    return "flaky" if counted_as(result) == "flaky" else result.first_verdict


def verdict(result: TrialResult, attempts: int) -> str:
    """Return a verdict as text: `passed`, `passed 2/3 (flaky)`, `timed out`, `failed (passed on rerun 1)`.

    `attempts` is how many attempts a run may use.
    """
    word = result.first_verdict.replace("_", " ")
    if outcome_word(result) == "flaky":
        tries = len(counted_asking(result.attempts))
        word = f"passed {tries}/{max(tries, attempts)} (flaky)"
    if result.verdict == result.first_verdict:
        return word
    return f"{word} ({result.verdict.replace('_', ' ')} on rerun {result.reruns})"


def reruns_sentence(reruns: Reruns) -> str:
    """Return how many trials were rerun and the effect on figures, or an empty string if there are none."""
    text = ""
    if reruns.trials:
        trials = many(reruns.trials, "failed trial")
        was, them = (
            ("was", "it has")
            if reruns.trials == 1
            else ("were", f"{reruns.passed_since:,} of them {'has' if reruns.passed_since == 1 else 'have'}")
        )
        since = f"{them} passed since" if reruns.trials > 1 or reruns.passed_since else "it has not passed since"
        text = f"{trials} {was} rerun; {since}. Statistics count the original verdict."
    if reruns.replaced:
        was = "was" if reruns.replaced == 1 else "were"
        text += (
            f"{' ' if text else ''}{many(reruns.replaced, 'trial')} without a judged answer {was} replaced by a rerun."
        )
    if reruns.failed_since:
        counts = "counts" if reruns.failed_since == 1 else "count"
        trials = many(reruns.failed_since, "trial")
        text += f"{' ' if text else ''}{trials} failed when run again, and {counts} as passed by the original verdict."
    return text


def title(run: Reported, result: TrialResult) -> str:
    """Return a trial's id, name if it differs, model, and repeat number from the second on."""
    key, name = result.trial, run.name(result)
    case = key.case if name == key.case else f"{key.case} · {name}"
    return f"{case} · {key.model}" + (f" · repeat {key.repeat}" if key.repeat > 1 else "")


def in_order(run: Reported, by_model: Mapping[str, T]) -> dict[str, T]:
    """Return the same mapping in the run's order of models."""
    order = {model: place for place, model in enumerate(run.summary.by_model)}
    return {model: by_model[model] for model in sorted(by_model, key=lambda model: order.get(model, len(order)))}


def missed_checks(attempt: Attempt | None) -> list[tuple[int, CheckResult]]:
    """Return the failed checks of an attempt, each with its step from 1."""
    steps = attempt.steps if attempt else ()
    return [(number, check) for number, step in enumerate(steps, 1) for check in step.checks if check.state != "passed"]


def shown_attempts(result: TrialResult) -> Iterator[tuple[str, Attempt]]:
    """Yield the attempt that counts, to which the failed checks belong, and with a title those of other reruns.

    Other reruns are the one with the current answer, which reviewers score, and the last one.
    """
    if (counted := result.counted_attempt) is not None:
        yield "", counted
        current, last = result.current_attempt, result.attempts[-1]
        for attempt in result.attempts:
            if attempt is not counted and (attempt is current or attempt is last):
                yield f"Rerun {attempt.asking}, not counted", attempt


def scores_title(result: TrialResult) -> str:
    """Return whose answer the scores judge if it is not the one that counts, else an empty text."""
    current = result.current_attempt
    if current is None or current is result.counted_attempt:
        return ""
    return f"Scores of the answer of rerun {current.asking}"


def conditions(kept: KeptRun, *, timestamps: bool) -> list[tuple[str, str]]:
    """Return the conditions of the run as pairs of a name and a value."""
    record, plan, suite = kept.record, kept.plan, kept.plan.suite
    options = plan.options
    rows = [
        ("Run", record.id),
        ("State", record.state),
        ("Suite", suite.path),
        ("SHA-256 of the suite", suite.sha256),
        ("Format", suite.format),
        ("Assay", kept.assay),
    ]
    if plan.command:
        rows.append(("Command", plan.command))
    if timestamps:
        rows += [("Started", record.started_at), ("Finished", record.finished_at or "not finished")]
    rows.append(("Time limit", milliseconds(options.timeout_ms)))
    rows.append(("Attempts", str(options.attempts)))
    if options.repeats > 1:
        rows.append(("Repeats", str(options.repeats)))
    if sent := context_of_run(kept):
        rows.append(("Context", sent.words))
        if sent.left_out:
            rows.append(("Omitted from context", sent.left_out_words))
    if options.accept_truncated:
        rows.append(("Truncated answers", "treated as complete (acceptTruncated)"))
    rows.append(("Checked cases", checked_sentence(plan.planned_cases)))
    if sentence := reruns_sentence(count_reruns(kept.results)):
        rows.append(("Reruns", sentence))
    return [*rows, *((f"Model {subject.name}", _settings(subject)) for subject in plan.subjects), *provenance(kept)]


def not_run_sentence(summary: Summary) -> str:
    """Return how many trials have no result, or an empty string if all have one."""
    if not summary.not_run:
        return ""
    if summary.not_run == 1:
        return f"1 of {summary.planned} trials was not run and is not counted below."
    return f"{summary.not_run} of {summary.planned} trials were not run and are not counted below."


def _settings(subject: Subject) -> str:
    settings = settings_text(subject.settings, subject.settings.system)
    return ", ".join([f"{subject.provider}/{subject.model_id}", *settings])
