"""What Review says in lines: never wider than there is room, whatever the text."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.review.items import open_review, session_of
from tests.app.review.reviewed_runs import ME, OTHER, A, results
from tests.support.kept_runs import HOSTILE
from tests.support.scoring import make_act
from tui.app.explore.risk_lines import beside_line, beside_rows, detail_lines
from tui.app.presentation.figures import minutes
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.app.presentation.text_rows import hanging_indent, rows_of
from tui.app.presentation.trail_lines import trail_lines
from tui.app.review.criterion_lines import CriterionState, draw_criterion, result_line
from tui.app.review.figure_lines import figure_lines
from tui.app.review.lines import (
    Title,
    empty_lines,
    end_lines,
    guidance_lines,
    queue_line,
    recorded_line,
    rule_lines,
    start_lines,
    time_left,
    title_line,
)
from tui.app.review.queue import IDLE_SECONDS, ItemTimer
from tui.app.review.queue_filter import ItemStatus, status_of
from tui.app.review.scoring import RecordedScore
from tui.model.risk import (
    BANDS,
    EXTENTS,
    Agreement,
    BandRule,
    Coverage,
    Interval,
    OtherRule,
    PairAgreement,
    Reviewed,
    RiskComparison,
    RiskFigures,
    RiskShare,
)
from tui.model.scores import Scoreboard
from tui.model.state import RunState
from tui.model.subjects import Config
from tui.risk.queue import DEFAULT_GUIDANCE
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

WIDTHS = (30, 38, 76, 100)
TEXT = HOSTILE.replace("\ud800", "")


def text_in(lines: list[Line] | tuple[Line, ...]) -> str:
    return "\n".join(text_of(line) for line in lines)


def widest(lines: list[Line] | tuple[Line, ...]) -> int:
    return max((width_of(text_of(line)) for line in lines), default=0)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_its_room(tmp_path: Path, width: int) -> None:
    review = open_review(tmp_path)
    item, rule = review.items[0], review.rule
    mine, other = make_act(1, 3, reviewer=ME, note=TEXT), make_act(2, "n/a", reviewer=TEXT, note=TEXT * 3)
    status = ItemStatus(mine, (other,), make_act(3, 4, act="adjudicate", note=TEXT))
    for deciding in (False, True):
        for short, tight in ((False, False), (True, False), (True, True)):
            state = CriterionState(item, status, rule, DEFAULT_GUIDANCE, mine, TEXT, True, deciding, item, hidden=False)
            drawn = draw_criterion(state, width, short=short, tight=tight)
            assert widest(drawn.lines) <= width
            assert {each.extent for each in drawn.cells} == {0, 1, 2, 3, 4, "n/a"}
            assert "\x1b" not in text_in(drawn.lines)
    for lines in (guidance_lines(DEFAULT_GUIDANCE, item, width), trail_lines(item, [mine, other], rule, width)):
        assert "\x1b" not in text_in(lines)
    assert widest(guidance_lines(DEFAULT_GUIDANCE, item, width)) <= max(width, 60)
    assert widest([queue_line(item, status, hidden=False, width=width)]) <= width
    assert widest([recorded_line(RecordedScore(item, 3, is_decision=True), rule, width)]) <= max(width, 40)
    assert widest(rule_lines(rule, width)) <= max(width, 30)


def test_the_queue_has_the_extent_that_counts(tmp_path: Path) -> None:
    review = open_review(tmp_path)
    item, other = review.items[0], "Bea Bold"
    acts = [make_act(1, 0, reviewer=ME, of=item.key)]

    def end() -> list[str]:
        status = status_of(item, Scoreboard(acts), ME, review.rule, hidden=False)
        return text_of(queue_line(item, status, hidden=False, width=76)).split()[-2:]

    assert end() == ["0", "negligible"]
    acts.append(make_act(2, 4, reviewer=other, of=item.key))
    assert end()[-1] == "differ"
    acts.append(make_act(3, 4, act="adjudicate", reviewer=ME, of=item.key))
    assert end() == ["4", "critical"]
    acts[1:] = [make_act(4, "n/a", act="adjudicate", reviewer=ME, of=item.key)]
    assert end()[-1] == "n/a"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 160])
def test_the_title_leaves_out_what_matters_least_first(width: int) -> None:
    title = Title("A suite with a long name", True, 4711, "Anna", 18, 54, 660_000, (3, 9), True)
    line = text_of(title_line(title, width))
    assert width_of(line) <= width
    assert "18/54" in line
    assert "blind" in line
    assert ("seed 4711" in line) == (width >= 160)
    assert ("about 22 min left" in line) == (width >= 120)
    assert ("Anna · 11 min" in line) == (width >= 80)


def test_the_criterion_says_product_and_band_and_what_comes_next(tmp_path: Path) -> None:
    review = open_review(tmp_path)
    item, following = review.items[:2]
    state = CriterionState(item, ItemStatus(), review.rule, DEFAULT_GUIDANCE, make_act(1, 3), upcoming=following)
    text = text_in(draw_criterion(state, 70).lines)
    assert "critical ×4" in text
    assert "▸ 3  major" in text
    assert "4 × 3 = 12   band   critical" in text
    [upcoming] = [line for line in text.splitlines() if "Error handling" in line]
    assert upcoming.strip().startswith("Next: Error handling")
    assert upcoming.endswith("medium ×2")
    assert text_of(result_line(state)).strip().endswith("critical")
    nothing = CriterionState(item, ItemStatus(), review.rule, DEFAULT_GUIDANCE, make_act(1, "n/a"), upcoming=None)
    assert "not applicable: no band" in text_in(draw_criterion(nothing, 70).lines)


def test_figures_of_two_people_are_reported_in_any_room(tmp_path: Path) -> None:
    for reviewer, shift in ((ME, 0), (OTHER, 1)):
        review = open_review(tmp_path, reviewer)
        for number, item in enumerate(review.items):
            review.give(item.key, min(4, number % 4 + shift), TEXT)
    reviewed = Reviews(SqliteStore(tmp_path / "data" / "runs.sqlite"), tmp_path / "data", Config()).reviewed(
        review.record.id
    )
    for width in (60, 72, 100):
        lines = figure_lines(reviewed, width)
        assert "6 of 6 items scored" in text_in(lines)
        assert "Krippendorff" in text_in(lines)
        assert widest([line for line in lines if "Krippendorff" not in text_of(line)]) <= width + 8
    case, state = review.items[0].case, RunState()
    assert [row.item for row in beside_rows(case, [A], review, state) if row.item] == [], "no answer is displayed"
    state.take_results(results())
    rows = beside_rows(case, [A], review, state)
    assert rows[0].item is None
    assert [row.disputed for row in rows if row.item] == [True, True, True, True]
    milder = tuple(replace(each, severity="low") for each in case.risk_criteria)
    changed = beside_rows(replace(case, risk_criteria=milder), [A], review, state)
    assert changed == rows, "the severity was edited after the run"
    for row in rows:
        assert width_of(text_of(beside_line(row, review.rule, [A], 60))) <= 60
        assert "\x1b" not in text_in(detail_lines(row, review.rule, 60))


@pytest.mark.parametrize(("width", "rows"), [(76, 1), (54, 1), (38, 2)])
def test_where_the_window_is_low_the_extents_stand_beside_each_other(tmp_path: Path, width: int, rows: int) -> None:
    review = open_review(tmp_path)
    item = review.items[0]
    drawn = draw_criterion(CriterionState(item, ItemStatus(), review.rule, DEFAULT_GUIDANCE), width, tight=True)
    assert {each.row for each in drawn.cells} == set(range(2, 2 + rows))
    for each in drawn.cells:
        name = "n/a" if each.extent == "n/a" else f"{each.extent} {EXTENTS[each.extent]}"
        assert name in text_of(drawn.lines[each.row])[each.start : each.end]
        assert drawn.extent_at(each.start + 1, each.row) == each.extent
        assert drawn.extent_at(each.start + 1, 0) is None
    assert "G guidance" in text_in(drawn.lines)
    given = draw_criterion(
        CriterionState(item, ItemStatus(), review.rule, DEFAULT_GUIDANCE, make_act(1, 3)), width, tight=True
    )
    assert "▸3 major" in text_in(given.lines)
    assert DEFAULT_GUIDANCE.levels[3][:20] in text_in(given.lines)


def share(**bands: int) -> RiskShare:
    return RiskShare({band: bands.get(band, 0) for band in BANDS}, sum(bands.values()), mean=Interval(1.84, 1.2, 2.41))


def reviewed_of(figures: RiskFigures, agreement: Agreement | None = None) -> Reviewed:
    return Reviewed(Scoreboard(()), figures, agreement or Agreement(), DEFAULT_GUIDANCE, BandRule())


@pytest.mark.parametrize("width", [50, 93])
def test_figures_break_no_count_and_keep_the_order_of_the_models(width: int) -> None:
    every = share(negligible=10, low=12, medium=14, high=16, critical=18)
    models = [f"vendor/model-{letter}" for letter in "abcdefghijkl"]
    tables = {model: {"SQL injection": every} for model in models}
    figures = RiskFigures(dict.fromkeys(models, every), tables, tables, {}, 5, 5)
    text = figure_lines(reviewed_of(figures), width, [models[5], models[0]])
    assert widest(text) <= width
    counts = [text_of(line) for line in text if "%" in text_of(line)]
    for part in ("18 critical 26%", "16 high 23%", "14 medium 20%", "12 low 17%", "10 negligible 14%"):
        assert sum(part in line for line in counts) == 12
    names = [text_of(line).split()[0] for line in text if "mean 1.84" in text_of(line)]
    assert [name[-1] for name in names] == ["f", "a", *"bcdeghijkl"]


@pytest.mark.parametrize("width", [60, 72, 100, 150])
def test_comparisons_reviewers_and_other_rules_have_their_width(width: int) -> None:
    a, b = "careful", "careless"
    better = RiskComparison(a, b, 40, 12, 3, 5, -0.42, "a_better", (-0.7, -0.14), 0.004, 0.004, 0.4)
    other = OtherRule("equal weights", BandRule(), 40, 3, 1, ((a, b),))
    figures = RiskFigures(
        {a: share(low=3), b: share(high=2)},
        items=40,
        scored=40,
        comparisons=(better,),
        other_rules=(other,),
        by_reviewer={"anna": {a: Coverage(18, 20), b: Coverage(2, 20)}},
    )
    lines = figure_lines(reviewed_of(figures), width, (b, a))
    assert widest(lines) <= width
    text = " ".join(text_in(lines).split())
    # The models stand in the run's order, and so does the pair.
    assert f"careless against careful: +0.42 (+0.14 to +0.70), p (Holm) 0.004: {a} has the lower risk." in text
    assert "4 of 40 answers would change band (3 higher, 1 lower)" in text
    assert f"{a} and {b} would change places by the mean" in text
    assert f"anna scored 90% of the items of {a}, but 10% of {b}" in text
    assert "bands use the highest extent" in text
    assert "Likelihood is not part of the rule" in text


def test_a_missing_figure_of_agreement_says_which_of_the_two_reasons_it_is() -> None:
    figures = RiskFigures({A: share(low=1)}, items=3, scored=3)
    few = text_in(figure_lines(reviewed_of(figures, Agreement(units=1)), 90))
    assert "at least two items scored by two reviewers" in few
    pair = PairAgreement(ME, OTHER, 3, None)
    alike = text_in(figure_lines(reviewed_of(figures, Agreement(units=3, pairs=(pair,))), 90))
    assert "all 3 items scored by two reviewers have the same extent" in alike


def test_nothing_scored_yet_is_reported_too(tmp_path: Path) -> None:
    review = open_review(tmp_path)
    reviews = Reviews(SqliteStore(tmp_path / "data" / "runs.sqlite"), tmp_path / "data", Config())
    assert "No scores yet" in text_in(figure_lines(reviews.reviewed(review.record.id), 80))
    assert "6 open: no scores under this name yet" in text_in(start_lines(review, "Somebody", 80))
    session = session_of(tmp_path)
    assert "riskCriteria" not in text_in(empty_lines(session, 80))
    session.set_filter("nowhere")
    assert "No item matches the filter." in text_in(end_lines(session, 80, str))


def test_the_summary_has_the_bands_that_count(tmp_path: Path) -> None:
    other, mine = open_review(tmp_path, OTHER), open_review(tmp_path, ME)
    for item in mine.items:
        other.give(item.key, 4)
        mine.give(item.key, 0)
    text = text_in(end_lines(session_of(tmp_path), 80, str))
    assert "negligible" not in text, "the highest extent counts"
    for item in mine.items:
        mine.adjudicate(item.key, 0, "")
    assert "4 negligible" in " ".join(text_in(end_lines(session_of(tmp_path), 80, str)).replace("● ", "").split())


def test_the_trail_tells_the_zone_and_who_took_what_back(tmp_path: Path) -> None:
    item = open_review(tmp_path).items[0]
    acts = [make_act(1, 3, note="why"), make_act(2, act="invalidate"), make_act(3, 2, act="adjudicate"),
            make_act(4, act="invalidate", withdraws="3")]  # fmt: skip
    text = text_in(trail_lines(item, acts, BandRule(), 90))
    assert "10:00:01 +00:00  Ada scored 3 major  critical" in text
    assert "Ada withdrew \n" in text
    assert "Ada decided 2 partial" in text
    assert "Ada withdrew a decision" in text
    assert "No history yet" in text_in(trail_lines(item, [], BandRule(), 90))


def test_the_clock_stops_two_minutes_after_the_last_key() -> None:
    now = [100.0]
    watch = ItemTimer(lambda: now[0])
    now[0] += 30
    assert watch.milliseconds == 30_000
    watch.touch()
    now[0] += 3_600
    assert watch.seconds == 30 + IDLE_SECONDS
    watch.touch()
    now[0] += 5
    assert watch.seconds == 30 + IDLE_SECONDS + 5
    watch.restart()
    assert watch.milliseconds == 0


def test_times_in_words() -> None:
    assert [minutes(ms) for ms in (0, 40_000, 660_000, 7_500_000)] == ["0 s", "40 s", "11 min", "2 h 05"]
    assert time_left(660_000, 18, 36) == "about 22 min left"
    assert time_left(660_000, 2, 36) == ""
    assert time_left(0, 18, 36) == ""
    assert time_left(660_000, 18, 0) == ""


def test_rows_hang_below_their_beginning() -> None:
    lines = hanging_indent((("ab  ", "plain"),), "one two three four", "dim", 12)
    assert [text_of(line) for line in lines] == ["ab  one two", "    three", "    four"]
    assert rows_of("  \n ", 10) == []
    assert all(width_of(row) <= 10 for row in rows_of("日本語の長い文章がここにあります", 10))
