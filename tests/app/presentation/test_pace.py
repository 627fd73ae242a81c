"""The words for the pace of a run, and how the headers display them."""

from dataclasses import replace

import pytest

from tui.app.explore.header_lines import Heading, header_line
from tui.app.matrix.header_lines import MatrixHeading, matrix_header
from tui.app.presentation.pace import Pace, concurrency_words, limit_lines, pace_of, pause_words, time_words
from tui.app.presentation.pieces import text_of, width_of
from tui.app.run_queue import Stopwatch
from tui.model.state import Counts, Limit

NARROWED = Limit(6, 8, "429, Retry-After 2 s", 100.0)


def test_nothing_is_reported_where_nothing_was_reported() -> None:
    assert pace_of({}, 0.0) == Pace()


def test_a_full_limit_has_no_reason() -> None:
    pace = pace_of({"openai": Limit(8, 8)}, 0.0)
    assert (pace.full.rstrip(), pace.narrowed) == ("concurrency 8", False)


@pytest.mark.parametrize(
    ("now", "words"),
    [(100.0, " 0 s ago"), (112.0, "12 s ago"), (199.0, "99 s ago"), (230.0, " 2 min ago"), (3_700.0, "60 min ago")],
)
def test_a_narrowed_one_says_why_and_how_long_ago(now: float, words: str) -> None:
    assert pace_of({"openai": NARROWED}, now).full.rstrip() == f"concurrency 6/8 · 429 {words}"


def test_it_is_as_wide_whatever_it_says() -> None:
    limits = [Limit(8, 8), NARROWED, Limit(1, 8, "429", 100.0), Limit(7, 8)]
    paces = [pace_of({"openai": limit}, now) for limit in limits for now in (100.0, 111.0, 250.0)]
    assert len({width_of(pace.full) for pace in paces}) == 1
    assert len({width_of(pace.short) for pace in paces}) == 1


def test_of_several_providers_the_one_that_is_narrowed_most_is_named() -> None:
    limits = {"openai": NARROWED, "slow": Limit(1, 4, "429", 100.0), "other": Limit(8, 8)}
    assert pace_of(limits, 101.0).short == "slow concurrency 1/4"
    assert pace_of({"openai": Limit(8, 8), "other": Limit(4, 4)}, 0.0).short.rstrip() == "other concurrency 4"


def test_the_whole_reason_is_where_the_suite_is_reported() -> None:
    lines = [text_of(line) for line in limit_lines({"openai": NARROWED, "other": Limit(4, 4)})]
    assert lines == ["limits    openai 6 of 8: 429, Retry-After 2 s", "          other 4"]


def test_a_pause_is_reported_in_as_many_words_as_there_is_room_for() -> None:
    assert pause_words(3, "P") == ("paused · 3 answering · P continue", "paused · P continue", "paused")
    assert pause_words(0, "")[0] == "paused"


def test_what_a_person_has_chosen() -> None:
    assert concurrency_words({"a": 5}) == "Concurrency of a: 5"
    assert concurrency_words({"a": 1, "b": 1}) == "Concurrency of all models: 1"
    assert concurrency_words({"a": 2, "b": 4}) == "Concurrency: a 2, b 4"


def heading(paused: bool, limit: Limit) -> Heading:
    return Heading(
        "quickstart", 40, 2, Counts(80, 7), True, 14.0,
        pace=pace_of({"openai": limit}, 112.0), paused=paused, answering=3, pause_key="P",
    )  # fmt: skip


@pytest.mark.parametrize("width", range(1, 200, 7))
def test_the_header_says_plainly_that_it_is_paused(width: int) -> None:
    line = header_line(heading(True, NARROWED), width)
    if width > 30:
        assert width_of(text_of(line)) <= width
        assert "paused" in text_of(line)
    if width >= 78:
        assert "‖  7/80" in text_of(line)
        assert "paused · 3 answering · P continue" in text_of(line)
    assert "left" not in text_of(line)


def test_at_eighty_columns_a_refusing_server_is_worth_more_than_an_estimate() -> None:
    narrowed, full = (replace(heading(False, limit), following=True) for limit in (NARROWED, Limit(8, 8)))
    assert text_of(header_line(narrowed, 80)).endswith("0:14  concurrency 6/8")
    assert "0:14 · about 2:26 left · following" in text_of(header_line(full, 80))


@pytest.mark.parametrize("width", [100, 120, 160, 200])
def test_nothing_jumps_when_the_limit_moves(width: int) -> None:
    lines = [text_of(header_line(heading(False, limit), width)) for limit in (Limit(8, 8), Limit(7, 8, "429", 100.0))]
    assert lines[0].index("0:14") == lines[1].index("0:14")
    assert lines[0].count("━") == lines[1].count("━")


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_header_of_the_matrix_says_it_too(width: int) -> None:
    pace = pace_of({"openai": NARROWED}, 112.0)
    shown = MatrixHeading(
        "s", "0" * 32, "", {"passed": 7, "failed": 0, "flaky": 0, "error": 0}, Counts(80, 7), "suite order", pace
    )
    line = text_of(matrix_header(shown, width))
    assert "concurrency 6/8" in line
    assert ("429 12 s ago" in line) == (width == 160)
    paused = MatrixHeading(
        "quickstart", "", "", {"passed": 7, "failed": 0, "flaky": 0, "error": 0}, Counts(80, 7), "", pace, True, 3, "P"
    )
    assert "‖  7/80  paused · 3 answering · P continue" in text_of(matrix_header(paused, width))


def test_a_stopwatch_leaves_pauses_out() -> None:
    watch = Stopwatch()
    assert watch.elapsed(5.0) is None
    watch.start(10.0)
    watch.stop(14.0)
    assert watch.elapsed(20.0) == 4.0
    watch.resume(20.0)
    assert watch.elapsed(21.0) == 5.0
    watch.stop(23.0)
    watch.stop(30.0)
    assert watch.elapsed(40.0) == 7.0
    watch.start(50.0)
    assert watch.elapsed(51.0) == 1.0


def test_the_rest_of_a_run_is_estimated_from_its_finished_trials() -> None:
    counts = Counts(trials=12, passed=4, failed=2)
    assert time_words(30.0, counts, running=True) == "0:30 · about 0:30 left"
    assert time_words(30.0, counts, running=False) == "0:30"
    assert time_words(30.0, None, running=True) == "0:30"


def test_the_matrix_shows_the_time_left_where_it_fits() -> None:
    shown = MatrixHeading("Walk", words={"passed": 4, "failed": 2}, counts=Counts(12, 4, 2), elapsed=30.0)
    assert "6/12  0:30 · about 0:30 left   ✓ 4 passed" in text_of(matrix_header(shown, 160))
    assert "6/12  0:30 · about 0:30 left   ✓ 4  ✗ 2" in text_of(matrix_header(shown, 70))
    assert "left" not in text_of(matrix_header(shown, 44))
    assert "about" not in text_of(matrix_header(replace(shown, paused=True), 160))
