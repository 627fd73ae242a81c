"""The cases that are broken in the latest runs."""

import pytest

from tui.statistics.run_change import ModelResults, RunResults
from tui.statistics.shares import Passes
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
