"""The list of kept runs as text: columns that line up, filters, what is said of a run."""

from dataclasses import replace

import pytest

from tests.support.kept_runs import HOSTILE, hostile_run, small_run
from tui.app.presentation.pieces import text_of, width_of
from tui.app.runs.lines import (
    day_and_time,
    heads_line,
    parse_run_filter,
    run_line,
    run_title,
    setup_lines,
    shown_runs,
    took,
)
from tui.model.percentages import percent
from tui.model.prices import Price, Spent
from tui.model.results import ServedBy
from tui.model.run import RunDetails, RunSetup, RunState

KEPT = small_run()
RUN = KEPT.record
SETUP = RunSetup(KEPT.plan.subjects, KEPT.plan.options, KEPT.plan.command, KEPT.assay)


@pytest.mark.parametrize("width", [58, 76, 80, 100, 120, 156])
def test_a_line_has_its_width_and_its_figures(width: int) -> None:
    for run in (RUN, replace(RUN, suite_name="安全" * 40, trials=40_000, passed=39_999), hostile_run().record):
        line = text_of(run_line(run, True, width))
        assert width_of(line) == width
        assert f"{run.passed}/{run.trials}" in line
        assert line.startswith(" ★ ")
    assert width_of(text_of(heads_line(width))) <= width


def test_columns_stand_below_their_heads() -> None:
    heads, line = text_of(heads_line(150)), text_of(run_line(replace(RUN, state="finished"), False, 150))
    assert heads.index("state") + 2 == line.index("finished")
    assert heads.index("suite") == line.index("Sample suite")
    assert heads.index("models") == line.index("mock-a, mock-b")
    assert heads.index("passed") + len("passed") == line.index("2/8  25%") + len("2/8  25%")
    assert heads.rindex("id") == line.index(RUN.id[:12])


@pytest.mark.parametrize(("passed", "trials", "shown"), [(2, 3, "67%"), (70, 80, "88%"), (33, 40, "82%")])
def test_shares_are_rounded_as_in_the_matrix_and_in_reports(passed: int, trials: int, shown: str) -> None:
    run = replace(RUN, passed=passed, trials=trials, state="finished")
    line = text_of(run_line(run, False, 150))
    assert line.split(f" {passed}/{trials} ")[1].split()[0] == shown == percent(passed / trials)


@pytest.mark.parametrize("state", ["running", "interrupted", "cancelled"])
def test_a_run_that_is_not_finished_has_no_share(state: RunState) -> None:
    assert text_of(run_line(replace(RUN, state=state), False, 150)).split(" 2/8 ")[1].split()[0] == "–"


def test_a_run_without_a_checked_case_shows_no_number_of_unchecked_answers() -> None:
    line = text_of(run_line(replace(RUN, passed=0, unchecked=3, trials=3, state="finished"), False, 120))
    assert "no checks" in line
    assert "○" not in line


def test_times_are_short_and_never_fail() -> None:
    assert len(day_and_time(RUN.started_at)) == 12
    assert day_and_time("1999-01-02T03:04:05+00:00").endswith("1999")
    assert day_and_time("nonsense") == "nonsense"
    assert took(RUN) == "1:30"
    assert took(replace(RUN, finished_at=None)) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("sample", True),
        ("state:inter", True),
        ("state:finished", False),
        ("!state:finished", True),
        ("model:mock-b suite:sample", True),
        ("model:mock-c", False),
        ("is:baseline", True),
        ("!is:baseline", False),
        ("model:", True),
        ("id:0193f2", True),
        ("!", True),
        ("nothing-such", False),
    ],
)
def test_the_filter_finds_what_is_shown_of_a_run(text: str, expected: bool) -> None:
    assert bool(shown_runs([RUN], parse_run_filter(text), {RUN.id})) is expected


def test_everything_that_a_run_was_made_with_is_reported() -> None:
    text = "\n".join(text_of(line) for line in setup_lines(RUN, RunDetails(SETUP), 150))
    for expected in (RUN.suite_path, RUN.suite_sha256[:12], RUN.id, "openai/mock-a", "temperature 0.0 · seed 7",
                 "timeout 60 s", "Assay 0.1.0", "assay run suites/sample.yaml"):  # fmt: skip
        assert expected in text
    assert all(width_of(text_of(line)) <= 60 for line in setup_lines(RUN, RunDetails(SETUP), 60))
    options = " ".join(text_of(line).strip() for line in setup_lines(RUN, RunDetails(SETUP), 60))
    assert options.count("streamed") == 1, "long options go on in the next row"
    assert RUN.id in "".join(text_of(line) for line in setup_lines(RUN, None, 80))


def test_versions_prices_and_costs_are_reported_where_they_are_known() -> None:
    dear = replace(SETUP.subjects[0], price=Price(1.75, 14.0, "list 1.0"))
    versions = {"assay": "0.1.0", "python": "3.11.7", "platform": "Linux", "file of x": f"x.gguf, sha256 {'ab' * 32}"}
    setup = replace(SETUP, subjects=(dear, *SETUP.subjects[1:]), versions=versions)
    costs = {dear.name: Spent(0.25, 2, 3), SETUP.subjects[1].name: Spent(None, 0, 3)}
    served = {dear.name: ServedBy("mock-a-2026-01-01"), SETUP.subjects[1].name: ServedBy("mock-b")}
    details = RunDetails(setup, costs, served)
    lines = [text_of(line).rstrip() for line in setup_lines(RUN, details, 170)]
    assert " answers as mock-a-2026-01-01  " in lines[-4]
    assert "answers as" not in lines[-3]
    assert lines[-4].endswith("  cost ≥ $0.25  $1.75 in, $14.00 out per million tokens (list 1.0)")
    assert lines[-3].endswith("  cost unknown")
    assert lines[-2:] == [
        " with     python 3.11.7 · platform Linux", f"          file of x x.gguf, sha256 {'ab' * 32}",
    ]  # fmt: skip
    narrow = [text_of(line).rstrip() for line in setup_lines(RUN, details, 30)]
    assert narrow[-3:] == [" with     python 3.11.7", "          platform Linux", "          file of x x.gguf, s…"]
    assert not any("cost" in text_of(line) for line in setup_lines(RUN, RunDetails(SETUP), 150))


def test_hostile_text_is_shown_as_pictures() -> None:
    hostile = hostile_run()
    setup = RunSetup(hostile.plan.subjects, hostile.plan.options, HOSTILE, HOSTILE)
    served = {subject.name: ServedBy(HOSTILE) for subject in setup.subjects}
    shown = [run_line(hostile.record, False, 150), *setup_lines(hostile.record, RunDetails(setup, {}, served), 400)]
    text = "".join(text_of(line) for line in shown) + run_title(hostile.record)
    assert not any(sign in text for sign in "\x1b\x00\x08\n\r\x9b\u202e\u2066\ud800")
