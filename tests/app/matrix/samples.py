"""Suites with results to show as a matrix, and a history of runs to measure them against."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.support.histories import run_history
from tests.support.kept_runs import FINISHED, HOSTILE, STARTED, make_subject
from tests.support.scripted_session import Opened, ScriptedSession, case_of, result_of, step_of, suite_of
from tui.app.matrix.matrix import Matrix
from tui.model.results import Attempt, StepResult, Timing, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import Plan, RunOptions
from tui.model.state import RunState
from tui.model.suite import Case
from tui.store.sqlite import SqliteStore

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
    case = case_of("evil", name=HOSTILE, category=HOSTILE, prompt=HOSTILE, expects=["a"], tags=[HOSTILE])
    models = (f"a/{HOSTILE}", f"b/{HOSTILE}")
    suite = replace(suite_of(Path("evil.yaml"), case, models=models), name=HOSTILE)
    state = RunState()
    state.take_results([result_of(TrialKey("evil", model), "error", answered(), error=HOSTILE) for model in models])
    return Matrix(suite, state, models)


def earlier_results(matrix: Matrix) -> tuple[TrialResult, ...]:
    """Return the results of an earlier run, in which every third case went the other way; none where the sample does
    not have the three models of ROWS."""
    if len(matrix.models) != len(MODELS):
        return ()
    swapped = str.maketrans({"✓": "✗", "✗": "✓", ".": "✓"})
    signs = [signs.translate(swapped) if at % 3 == 0 else signs for at, (_, _, signs) in enumerate(ROWS)]
    return tuple(results(zip(matrix.suite.cases, signs, strict=False), matrix.models))


def session_with_earlier_run(
    folder: Path, store: SqliteStore, matrix: Matrix, *, marked: bool = False
) -> ScriptedSession:
    """Return a session that has the suite of a matrix and its results, and stores an earlier run of it, the baseline
    if `marked`, and a run of another suite."""
    path = folder / "suite.yaml"
    path.write_text("")
    suite = replace(matrix.suite, path=str(path))
    latest = tuple(trial.result for trial in matrix.state.trials.values() if trial.result is not None)
    history = run_history(store, folder, lambda names: tuple(make_subject(name) for name in names))
    for run_id, stored in ((EARLIER, suite), ("f" * 32, replace(suite, path=str(folder / "other.yaml")))):
        earlier = earlier_results(matrix)
        subjects = tuple(make_subject(model) for model in matrix.models)
        store.begin_run(Plan(run_id, stored, subjects, RunOptions(), tuple(each.trial for each in earlier)), STARTED)
        store.save_trials(run_id, earlier)
        store.finish_run(run_id, "finished", FINISHED)
    if marked:
        history.mark_baseline(next(run for run in history.list_runs() if run.id == EARLIER))
    return ScriptedSession({path: Opened(suite)}, kept=latest, keeps=history)


def sample(kind: str) -> Matrix:
    """A matrix by its kind: sample, repeated, hostile, or `large:CASES[:MODELS]`."""
    if kind.startswith("large:"):
        return large(*map(int, kind.split(":")[1:]))
    return {"sample": matrix_of, "repeated": repeated, "hostile": hostile}[kind]()
