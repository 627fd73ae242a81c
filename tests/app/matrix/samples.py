"""Suites with results to show as a matrix, and a history of runs to measure them against."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.kept_runs import HOSTILE
from tests.support.scripted_session import case_of, result_of, step_of, suite_of
from tui.app.matrix.matrix import Matrix
from tui.model.outcomes import Outcome, outcome_of
from tui.model.results import Attempt, StepResult, Timing, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import RunRecord
from tui.model.state import RunState
from tui.model.suite import Case, Suite

MODELS = ("gpt-5.2", "claude-sonnet-4.5", "gemini-3-pro")
VERDICTS: dict[str, Verdict] = {
    "✓": "passed", "✗": "failed", "!": "error", "t": "timed_out", "i": "incomplete", "c": "cancelled", "◐": "passed",
}  # fmt: skip
ROWS = (
    ("Security", "SQL Query Generation", "✗✓✓"),
    ("Security", "Hash a password", "✓✗✓"),
    ("Security", "Escape HTML", "✓◐✓"),
    ("Security", "Path join from input", "✗✗✓"),
    ("Bug Fixing", "Off by one in pager", "✓✓!"),
    ("Bug Fixing", "Race in the cache", "✗.✓"),
    ("Bug Fixing", "Leap years", "✗✗✗"),
    ("Refactoring", "Split a long function", "✓✓✓"),
    ("Refactoring", "Replace a global", "✓✓t"),
    ("Explanation", "What does this regex do", "✓✓◐"),
)
RUN, EARLIER = "0193f2a4c6d87000a1b2c3d4e5f60718", "0193a7b4c6d87000a1b2c3d4e5f60718"


def answered(duration_ms: float = 2100.0, first_ms: float = 400.0, tokens: int | None = 150) -> StepResult:
    """A step with figures."""
    step = step_of("Here it is.")
    return replace(step, timing=Timing(first_ms, duration_ms), usage=Usage(tokens and 60, tokens, None))


def result(key: TrialKey, sign: str, step: StepResult | None = None) -> TrialResult:
    """A result by its mark."""
    step = step or answered()
    if sign == "◐":
        return result_of(key, "passed", step, flaky=True, earlier=[Attempt(1, "failed", None, (step,))])
    return result_of(key, VERDICTS[sign], step, error="It broke." if sign == "!" else None)


def results(rows: Iterable[tuple[Case, str]], models: Sequence[str], repeat: int = 1) -> Iterable[TrialResult]:
    """Results by marks: one for each model; `.` is none."""
    for place, (case, signs) in enumerate(rows):
        for at, (model, sign) in enumerate(zip(models, signs, strict=True)):
            if sign != ".":
                step = answered(1500.0 + 700 * at + 40 * place, 300.0 + 100 * at, 150 + at)
                yield result(TrialKey(case.id, model, repeat), sign, step)


def cases_of(rows: Sequence[tuple[str, str, str]] = ROWS) -> list[Case]:
    """The cases, with ids `case-0`, …"""
    tags = (("web", "sql"), ("web",), (), ("quick",))
    return [
        case_of(f"case-{at}", name=name, category=category, tags=tags[at % 4])
        for at, (category, name, _) in enumerate(rows)
    ]


def matrix_of(
    rows: Sequence[tuple[str, str, str]] = ROWS, models: Sequence[str] = MODELS, path: Path = Path("suite.yaml")
) -> Matrix:
    """A matrix of these marks."""
    cases, state = cases_of(rows), RunState()
    state.take_results(results(zip(cases, (signs for _, _, signs in rows), strict=True), models))
    return Matrix(suite_of(path, *cases, models=models, name="security review"), state, models)


def repeated() -> Matrix:
    """Three repeats of each trial."""
    matrix = matrix_of()
    signs = [signs for _, _, signs in ROWS]
    for repeat in (2, 3):
        shifted = [each.replace("✗", "✓") if at % 2 else each for at, each in enumerate(signs)]
        matrix.state.take_results(results(zip(matrix.suite.cases, shifted, strict=True), matrix.models, repeat))
    matrix.show(matrix.suite, matrix.state, matrix.models)
    return matrix


def large(count: int, models: int = 4) -> Matrix:
    """So many cases in twenty categories, all answered."""
    signs = ["✓✓✓✓✓✓", "✓✗✓✓✗✓", "✗✗✗✗✗✗", "✓✓✗✓✓✓", "◐✓✓!✓✓"]
    rows = [(f"Category {at * 20 // count}", f"Case number {at}", signs[at % 5][:models]) for at in range(count)]
    return matrix_of(rows, [f"provider/model-{number}" for number in range(models)])


def hostile() -> Matrix:
    """Everything that could obey a terminal, wherever there is text."""
    case = replace(case_of("evil", name=HOSTILE, category=HOSTILE, prompt=HOSTILE), tags=(HOSTILE,))
    models = (f"a/{HOSTILE}", f"b/{HOSTILE}")
    suite = replace(suite_of(Path("evil.yaml"), case, models=models), name=HOSTILE)
    state = RunState()
    state.take_results([result_of(TrialKey("evil", model), "error", answered(), error=HOSTILE) for model in models])
    return Matrix(suite, state, models)


@dataclass
class MemoryChunk:
    """A history in memory: outcomes by run."""

    suite: Suite
    runs: dict[str, tuple[Outcome, ...]]
    marked: str | None = None

    def list_runs(self) -> tuple[RunRecord, ...]:
        """A line for each."""
        made = [self._record(run_id, outcomes) for run_id, outcomes in self.runs.items()]
        other = replace(made[0], id="f" * 32, suite_path="other.yaml") if made else None
        return (*made, other) if other else ()

    def _record(self, run_id: str, outcomes: Sequence[Outcome]) -> RunRecord:
        models = tuple(dict.fromkeys(outcome.trial.model for outcome in outcomes))
        passed = sum(outcome.verdict == "passed" and not outcome.flaky for outcome in outcomes)
        return RunRecord(
            run_id, "finished", self.suite.name, self.suite.path, self.suite.sha256, models,
            "2026-11-19T10:15:00+00:00", "2026-11-19T10:20:00+00:00", len(outcomes), passed,
        )  # fmt: skip

    def read_outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """Of one run."""
        return self.runs[run_id]

    def baseline_of(self, suite: Suite) -> str | None:
        """The marked one."""
        del suite
        return self.marked


def history_of(matrix: Matrix) -> MemoryChunk:
    """One earlier run, in which every third case went the other way."""
    turned = str.maketrans({"✓": "✗", "✗": "✓", ".": "✓"})
    signs = [signs.translate(turned) if at % 3 == 0 else signs for at, (_, _, signs) in enumerate(ROWS)]
    kept = results(zip(matrix.suite.cases, signs, strict=False), matrix.models) if len(matrix.models) == 3 else ()
    return MemoryChunk(matrix.suite, {EARLIER: tuple(outcome_of(each) for each in kept)})


def sample(kind: str) -> Matrix:
    """A matrix by its kind: sample, repeated, hostile, or `large:CASES[:MODELS]`."""
    if kind.startswith("large:"):
        return large(*map(int, kind.split(":")[1:]))
    return {"sample": matrix_of, "repeated": repeated, "hostile": hostile}[kind]()
