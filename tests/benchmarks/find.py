"""What a key costs in 2,000 cases of 50 suites and the saved answers to them: jump, filter, search, check editor."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

from tests.benchmarks.registry import Figure, benchmark
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result, make_suite
from tests.support.scripted_session import ScriptedSession, case_of, suite_of
from tui.app.explore.suite_rows import outline
from tui.app.find.targets import find_targets, targets_of
from tui.app.open_suites import OpenSuite, OpenSuites, Selection
from tui.model.answer_search import parse_answer_query
from tui.model.filter import CASE_FILTER, case_values, parse_filter
from tui.model.results import TrialKey
from tui.model.suite import Case
from tui.session.check_edits import CheckEdits, CheckTrial
from tui.store.sqlite import SqliteStore

_SUITES, _CASES = 50, 40
_NAMES = ("e", "wr", "wafn", "fun 3 topic", "suite 12", "case-49", "zzz", "tttttttttttt")
_FILTERS = ("number 7", "sev:critical", "!cat:3 tag:area", "status:fail", "id:case-4 differs:yes", "@filter50")
_WORDS = ("p", "par", "parameter", "answer area 7", '"of the query"', "nothing-such", "!=")
_PATTERNS = ("parameter", r"param\w+ of the (query|table)", r"(?i)AREA \d+", "nothing-such")
_SAVED = {f"filter{number}": f"sev:critical @filter{number + 1}" for number in range(99)} | {"filter99": "tag:area"}
_COMPLETED = ("", "@", "@filter9", "id:", "tag:a", "cat:3")
_MODEL = "local/mock"


def _suites() -> list[OpenSuite]:
    return [
        OpenSuite(
            path,
            path.parent.name,
            suite_of(path, *[_case(number, place) for place in range(_CASES)], name=f"Suite about area {number}"),
            (),
            True,
        )
        for number in range(_SUITES)
        for path in [Path(f"suites/area {number % 7}/suite-{number}.yaml")]
    ]


def _case(suite: int, place: int) -> Case:
    name = f"write a function number {place} that handles topic {place * 7 % 13} of area {suite}"
    return case_of(f"case-{suite}-{place}", name=name, category=f"Category {place % 5}", tags=[f"area {suite}"])


def _slowest(act: Callable[[str], object], texts: Sequence[str] = ("",)) -> float:
    """Return the CPU milliseconds of the slowest call with one of the texts."""
    took = []
    for text in texts:
        before = process_time()
        act(text)
        took.append(process_time() - before)
    return max(took) * 1000


def _answers(store: SqliteStore) -> None:
    """Save one answer of a kilobyte for each case."""
    for suite in range(_SUITES):
        cases = [make_case(f"case-{suite}-{place}") for place in range(_CASES)]
        plan = make_plan(cases, [_MODEL], run_id=f"0193f2{suite:026x}")
        store.begin_run(plan, STARTED)
        text = f"answer about area {suite} with a parameter of the query, if a != b. "
        results = [make_result(TrialKey(case.id, _MODEL), response=text * 15 + case.id) for case in cases]
        store.save_trials(plan.run_id, results)
        store.finish_run(plan.run_id, "finished", STARTED)


def _check_editor(store: SqliteStore) -> tuple[float, float]:
    """Return how long the check editor needs with 2,000 answers to a check that all cases have, in milliseconds.

    The CPU time to find the check and its answers, and the time until the first of them are judged, by the clock:
    another process judges them.
    """
    edits = CheckEdits(store)
    suite = make_suite([make_case(f"case-{suite}-{place}") for suite in range(_SUITES) for place in range(_CASES)])
    old = suite.cases[0].steps[0].checks[0]
    before = process_time()
    answers = edits.read_answers(suite, edits.places(suite, old))
    read = process_time() - before
    assert len(answers) == _SUITES * _CASES

    async def judge() -> float:
        trial = CheckTrial()
        await trial.start()
        took = []
        for pattern in _PATTERNS:
            began = perf_counter()
            async with aclosing(
                trial.judge(old, replace(old, target=pattern), answers, accept_truncated=False)
            ) as found:
                await anext(found)
            took.append(perf_counter() - began)
        await trial.close()
        return max(took)

    return read * 1000, asyncio.run(judge()) * 1000


@benchmark("find")
def measure_find() -> list[Figure]:
    """Jump, filter, completion, search and the check editor."""
    suites = _suites()
    targets = targets_of(suites)
    selection = Selection(OpenSuites(ScriptedSession(), []))

    def filtered(text: str) -> object:
        selection.filter = parse_filter(text, _SAVED)
        return outline(suites, (), selection.matches_filter)

    def completed(text: str) -> object:
        values = [case for suite in suites if suite.suite for case in suite.suite.cases]
        return CASE_FILTER.complete(text, len(text), lambda key: case_values(key, values), _SAVED)

    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "runs.sqlite")
        _answers(store)
        begin = _slowest(lambda _: store.begin_index())
        steps = []
        before = process_time()
        while not store.update_index().is_complete:
            steps.append(process_time() - before)
            before = process_time()
        search = _slowest(lambda text: store.search_answers(parse_answer_query(text), 100), _WORDS)
        read, judged = _check_editor(store)
        delete = _slowest(store.delete_run, [f"0193f2{0:026x}"])
        store.close()
    size = "2,000 cases in 50 suites"
    jump = _slowest(lambda text: find_targets(text, targets), _NAMES)
    return [
        Figure(f"{size}: list of targets", "CPU ms", _slowest(lambda _: targets_of(suites)), None, 100),
        Figure(f"{size}: jump, the slowest text", "CPU ms", jump, None, 100),
        Figure(f"{size}: the slowest filter", "CPU ms", _slowest(filtered, _FILTERS), None, 100),
        Figure(f"{size}: the slowest completion", "CPU ms", _slowest(completed, _COMPLETED), None, 10),
        Figure("2,000 answers: the slowest search", "CPU ms", search, None, 100),
        Figure("2,000 answers: check editor, the answers to a check", "CPU ms", read, None, 1000),
        Figure("2,000 answers: check editor, the first verdicts", "ms", judged, None, 100),
        Figure("2,000 answers: comparison of index and history", "CPU ms", begin, None, 100),
        Figure("2,000 answers: the slowest step of the index", "CPU ms", max(steps) * 1000, None, 100),
        Figure("2,000 answers: the whole index", "CPU ms", sum(steps) * 1000),
        Figure("2,000 answers: a run of 40 is deleted, index too", "CPU ms", delete),
    ]
