"""The cases that are broken in the latest runs."""

from dataclasses import replace

import pytest

from tui.statistics.run_change import ModelResults, RunResults
from tui.statistics.shares import Passes, rate_interval
from tui.statistics.trend import Break, trends


def run_of(number: int, passed: int, *, flaky: bool = False) -> RunResults:
    results = ModelResults({"case": Passes(passed, 2)}, frozenset({"case"} if flaky else ()))
    return RunResults(f"run {number}", "suite", "2026-11-23T12:00:00+00:00", True, {"model": results})


@pytest.mark.parametrize(
    ("passed", "flaky", "expected"),
    [
        ([2, 2, 0, 0], (), ("run 1", "run 2", 2)),
        ([2, 2, 1, 0, 0], (), ("run 1", "run 3", 2)),
        ([2, 0, 0], (1,), ("run 0", "run 2", 1)),
        ([2, 0, 1, 0], (), ("run 0", "run 3", 1)),
        ([1, 1, 0, 0], (), None),
        ([2, 0, 2], (), None),
        ([0, 0], (), None),
    ],
)
def test_a_case_that_passed_in_every_repeat_and_fails_now_is_broken(
    passed: list[int], flaky: tuple[int, ...], expected: tuple[str, str, int] | None
) -> None:
    (trend,) = trends([run_of(number, count, flaky=number in flaky) for number, count in enumerate(passed)])
    assert trend.breaks == ((Break("case", *expected),) if expected else ())


def test_a_case_that_asks_or_checks_something_else_now_is_another_one() -> None:
    runs = [replace(run_of(number, passed), questions={"case": "old"}) for number, passed in enumerate((2, 0))]
    assert trends(runs)[0].breaks
    changed = [runs[0], replace(runs[1], questions={"case": "new"})]
    assert trends(changed)[0].breaks == ()
    again = replace(run_of(2, 2), questions={"case": "new"}), replace(run_of(3, 0), questions={"case": "new"})
    assert trends([*changed, *again])[0].breaks == (Break("case", "run 2", "run 3", 1),)
    assert trends([runs[0], replace(runs[1], questions={})])[0].breaks, "earlier versions do not say what they asked"


def test_a_case_that_the_suite_of_the_latest_run_lacks_is_not_broken() -> None:
    runs = [run_of(number, passed) for number, passed in enumerate((2, 0))]
    other = ModelResults({"other": Passes(2, 2)})
    later = replace(run_of(2, 2), models={"model": other}, cases=("case", "other"))
    assert trends([*runs, later])[0].breaks == (Break("case", "run 0", "run 1", 1),), "it was not run"
    assert trends([*runs, replace(later, cases=("other",))])[0].breaks == ()


def test_the_interval_of_a_run_has_the_clusters_of_that_run() -> None:
    passes = {f"{cluster}{number}": Passes(cluster in "ace", 1) for cluster in "abcdef" for number in range(5)}
    clusters = {case: case[0] for case in passes}
    first = RunResults("1", "suite", "2026-11-23T12:00:00+00:00", True, {"model": ModelResults(passes)}, clusters)
    later = RunResults("2", "suite", "2026-11-24T12:00:00+00:00", True, {"model": ModelResults(passes)}, {})
    (trend,) = trends([first, later])
    assert [point.rate_95 for point in trend.points] == [rate_interval(passes, clusters), rate_interval(passes, {})]
    assert trend.points[0].rate_95[0] < trend.points[1].rate_95[0] - 0.1
