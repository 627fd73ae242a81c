"""The benchmarks' table, and the way in."""

import importlib

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.processes import cpu_of
from tests.benchmarks.registry import Figure, default_benchmarks, known_benchmarks, table
from tests.support.terminal import Terminal, run_here


def test_a_figure_is_beside_its_bound_and_what_is_to_be_reached() -> None:
    lines = list(
        table(
            [
                Figure("kept", "ms", 3.0, 2.0, 1.5, "ratio"),
                Figure("missed", "ms", 3.0, 2.0, 1.4, "ratio"),
                Figure("under", "ms", 3.0, None, 3.0),
                Figure("told", "ms", 3.0),
            ]
        )
    )
    assert [line.split() for line in lines[1:]] == [
        ["kept", "3.000", "2.000", "1.50", "ms", "≤", "1.5", "×", "✓"],
        ["missed", "3.000", "2.000", "1.50", "ms", "≤", "1.4", "×", "✗"],
        ["under", "3.000", "ms", "≤", "3", "✓"],
        ["told", "3.000", "ms"],
    ]


def test_the_soak_is_run_only_if_it_is_named() -> None:
    importlib.import_module("tests.benchmarks.soak")
    assert "soak" in known_benchmarks()
    assert "soak" not in default_benchmarks()


def test_an_unknown_name_is_reported_with_those_that_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    printed = capsys.readouterr().err
    for name in ("streaming", "keys", "first-paint", "version"):
        assert name in printed


def test_a_running_program_s_cpu_is_read() -> None:
    with Terminal(run_here("-c", "sum(range(10**6)); print('done'); input()")) as terminal:
        terminal.wait_for("done")
        assert 0.005 < cpu_of(terminal.pid) < 5
