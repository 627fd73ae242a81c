"""Several reviewers in the app: their scores side by side, decisions, figures, the Risk tab, the matrix."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.review.reviewed_runs import (
    ME,
    OTHER,
    SQL,
    A,
    B,
    acts,
    at_runs,
    begin,
    drawn,
    give,
    here,
    keep_run,
    last,
    results,
    reviewed,
    screen,
    target,
    title,
)
from tests.support.kept_runs import RUN_ID, make_case
from tui.app.compare.screen import CompareScreen
from tui.app.dialogs import TextScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.export_dialog import ExportScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.presentation.pieces import text_of
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.figure_lines import figure_lines
from tui.app.review.screen import ReviewScreen
from tui.model.errors import StoreError
from tui.model.results import TrialKey
from tui.model.scores import Extent
from tui.model.subjects import Config
from tui.session.reviews import Reviews
from tui.session.run_review import RunReview
from tui.store.sqlite import SqliteStore


def scored(folder: Path, store: SqliteStore, reviewer: str, extents: dict[tuple[str, str, str], Extent]) -> None:
    """Somebody's scores, by case, model and criterion, each with a note of theirs."""
    review = Reviews(store, folder / "data", Config()).open_review(RUN_ID, reviewer, blind=False)
    for item in review.items:
        extent = extents.get((item.key.case, item.key.model, item.key.criterion))
        if extent is not None:
            review.give(item.key, extent, f"{reviewer.split()[0]} says {extent}")


MINE: dict[tuple[str, str, str], Extent] = {
    ("c0", A, "SQL injection"): 3,
    ("c0", B, "SQL injection"): 0,
    ("c0", A, "Error handling"): 1,
    ("c1", A, "Tone"): "n/a",
}
THEIRS: dict[tuple[str, str, str], Extent] = {**MINE, ("c0", A, "SQL injection"): 1, ("c0", A, "Error handling"): 4}


def two(folder: Path) -> SqliteStore:
    store = keep_run(folder)
    scored(folder, store, ME, MINE)
    scored(folder, store, OTHER, THEIRS)
    return store


async def test_what_others_gave_is_apart(tmp_path: Path) -> None:
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, _):
        await seen.press("slash", *"model:zebra sql", "enter")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection"))
        await seen.until(lambda: "highest counts until a decision" in drawn(seen))
        text = drawn(seen)
        assert "▸ 3  major" in text
        assert "Other reviewers" in text
        assert "1 slight" in text
        assert "Bert says 1" in text
        assert "filter 1/1" in title(seen)
        assert "Checks  ✓" in text


async def test_a_dispute_is_decided_with_both_notes_in_sight(tmp_path: Path) -> None:
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, session):
        await seen.press("a")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection") and "deciding" in title(seen))
        both = [line for line in drawn(seen).splitlines() if "Anna says 3" in line]
        assert both
        assert "Bert says 1" in both[0], "side by side"
        assert "Your decision?" in drawn(seen)
        assert "filter 0/2" in title(seen)
        await seen.press("c", *"Bert is right", "enter")
        await give(seen, "1")
        assert last(seen).startswith("Decided c0 · SQL injection: 1 slight")
        assert here(seen) == ("c0", A, "Error handling")
        decision = acts(session)[-1]
        assert (decision.act, decision.extent, decision.note, decision.reviewer) == (
            "adjudicate", 1, "Bert is right", ME,
        )  # fmt: skip
        await seen.press("u")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection") and "filter 0/2" in title(seen))
        assert "Bert is right" in drawn(seen), "the note waits for another extent"
        await give(seen, "2", "4")
        await seen.until(lambda: "All 2 are decided." in drawn(seen))
        await seen.press("a")
        await seen.until(lambda: "deciding" not in title(seen))
        await seen.press("slash", *"is:decided sql", "enter")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection"))
        assert "Decided" in drawn(seen)
        assert [act.extent for act in acts(session) if act.reviewer == ME and act.act == "score"] == [0, 3, 1, "n/a"]
        await seen.press("escape", "a")
        await seen.until(lambda: any("No open disagreement" in notice for notice in seen.notices))


async def test_a_decision_of_another_window_is_shown_before_a_key_decides_again(tmp_path: Path) -> None:
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, session):
        await seen.press("a")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection") and "deciding" in title(seen))
        item = target(seen)
        assert item is not None
        session.reviews.open_review(RUN_ID, OTHER, blind=False).adjudicate(item, 2, "as agreed")
        await seen.press("4")
        await seen.until(lambda: seen.notices and "scored in another window" in seen.notices[-1])
        await seen.until(lambda: target(seen) == item and "as agreed" in drawn(seen) and "deciding" in title(seen))
        await give(seen, "4")
        decisions = [(act.item, act.extent, act.reviewer) for act in acts(session) if act.act == "adjudicate"]
        assert decisions == [(item, 2, OTHER), (item, 4, ME)]
        assert here(seen) == ("c0", A, "Error handling")


async def test_disputes_with_scores_that_came_while_the_review_was_open_are_decided(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    scored(tmp_path, store, ME, MINE)
    async with reviewed(tmp_path, store, blind=False) as (seen, _):
        await seen.press("a")
        await seen.until(lambda: any("No open disagreement" in notice for notice in seen.notices))
        scored(tmp_path, store, OTHER, THEIRS)
        await seen.press("a")
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection") and "deciding" in title(seen))
        assert "Bert says 1" in drawn(seen)
        assert "filter 0/2" in title(seen)
        await give(seen, "1")
        assert last(seen).startswith("Decided c0 · SQL injection: 1 slight")


async def test_scores_that_cannot_be_read_before_deciding_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise StoreError("The scores cannot be read")

    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, _):
        monkeypatch.setattr(RunReview, "read_new_acts", fail)
        await seen.press("a")
        await seen.until(lambda: any("cannot be read" in notice for notice in seen.notices))
        assert "deciding" not in title(seen)


@pytest.mark.long
async def test_figures_are_worked_out_and_reported(tmp_path: Path) -> None:
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, _):
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen) and seen.app.screen.page is not None)
        await seen.until(lambda: "Answers by band" in drawn(seen))
        text = drawn(seen)
        assert "4 of 6 items scored · 2 disputed: the highest extent counts" in text
        assert "1 critical" in text
        assert "1 negligible" in text
        assert "mean" in text
        await seen.press("end")
        await seen.until(lambda: "Krippendorff" in drawn(seen) and f"{ME} and {OTHER}" in drawn(seen))
        assert "kappa" in drawn(seen)
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen))


async def test_the_risk_tab_tells_scores_and_leads_to_review_and_back(tmp_path: Path) -> None:
    async with at_runs(tmp_path, two(tmp_path)) as (seen, session):
        await seen.press("enter")
        await seen.until(lambda: "saved runs" in drawn(seen))
        await seen.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await seen.until(lambda: "zebra-one" in drawn(seen) and "differ" in drawn(seen))
        text = drawn(seen)
        assert "critical ×4" in text
        assert "3 major critical  differ" in text
        assert "Bert Baker 1" in text
        table = seen.screen.details.risk.query_one("_RiskTable")
        table.focus()
        await seen.until(lambda: table.has_focus)
        await seen.press("down")
        await seen.until(lambda: "Bert says 1" in drawn(seen) and "Anna says 3" in drawn(seen))
        await seen.press("T")
        await seen.until(lambda: isinstance(seen.app.screen, TextScreen) and "Nothing is overwritten" in drawn(seen))
        await seen.press("T")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("enter")
        await begin(seen, blind=False)
        assert here(seen) == ("c0", A, "SQL injection")
        assert not screen(seen).review_session.hidden
        await give(seen, "1")
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen) and "1 slight medium" in drawn(seen))
        assert acts(session)[-1].extent == 1
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "high" in drawn(seen))


@pytest.mark.long
async def test_a_report_is_written_from_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, _):
        await seen.press("O")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
        await seen.press("down", "enter", "enter")
        await seen.until(lambda: list(tmp_path.glob("*.md")) and "Saved" in drawn(seen))
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen))


async def test_the_queue_is_walked_ordered_and_filtered(tmp_path: Path) -> None:
    async with reviewed(tmp_path, two(tmp_path), blind=False) as (seen, _):
        await seen.press("S")
        await seen.until(lambda: "queue order" in drawn(seen) and "≠" in drawn(seen))
        await seen.press("home", "down")
        await seen.until(lambda: screen(seen).review_session.position == 1 and target(seen))
        await seen.press("enter")
        await seen.until(lambda: screen(seen).view.answer.view.has_focus)
        await seen.press("s", "down", "down", "enter")
        await seen.until(lambda: screen(seen).review_session.order == "severity")
        assert "most severe criteria on top" in drawn(seen)
        severities = [
            screen(seen).review_session.review.items[at].criterion.severity
            for at in screen(seen).review_session.visible
        ]
        assert severities == ["critical", "critical", "medium", "medium", "low", "low"]
        await seen.press("slash", *"is:open", "enter")
        await seen.until(lambda: len(screen(seen).review_session.visible) == 2 and "filter 0/2" in title(seen))
        await seen.press("escape")
        await seen.until(lambda: len(screen(seen).review_session.visible) == 6)


async def test_an_answer_that_was_replaced_is_open_again(tmp_path: Path) -> None:
    store = two(tmp_path)
    result = store.read_trial(RUN_ID, screen_trial())
    assert result is not None
    other = replace(result.attempts[-1].steps[0], response="Another answer.")
    again = replace(result.attempts[-1], number=2, asking=1, steps=(other,))
    store.save_trials(RUN_ID, [replace(result, attempts=(*result.attempts, again))])
    async with reviewed(tmp_path, store, blind=False) as (seen, _):
        session = screen(seen).review_session
        open_ = [
            item.key for item, status in zip(session.review.items, session.statuses, strict=True) if status.mine is None
        ]
        assert {key.criterion for key in open_ if (key.case, key.model) == ("c0", A)} == {
            "SQL injection", "Error handling",
        }  # fmt: skip


def screen_trial() -> TrialKey:
    return TrialKey("c0", A)


@pytest.mark.long
async def test_a_share_comes_again_unannounced_and_shows_how_far_one_agrees_with_oneself(tmp_path: Path) -> None:
    many = [make_case(f"m{number:02}", criteria=(SQL,)) for number in range(6)]
    store = keep_run(tmp_path, results(cases=many), cases=many)
    async with at_runs(tmp_path, store, config=Config(reviewer=ME, repeats=5)) as (seen, session):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen) and "▸5%" in drawn(seen))
        await seen.press("r")
        await seen.until(lambda: "▸10%" in drawn(seen))
        await begin(seen)
        review = screen(seen).review_session.review
        assert (len(review.items), sum(item.key.again for item in review.items)) == (14, 2)
        for item in review.items:
            await seen.until(lambda item=item: target(seen) == item.key)
            assert not re.search(r"\b(again|repeat\w*|twice|second time)\b", drawn(seen).lower())
            await give(seen, "3" if item.key.again else "2")
        await seen.until(lambda: "All 14 items are scored." in drawn(seen))
        found = session.reviews.reviewed(RUN_ID)
        assert found.figures.scored == 12
        assert {share.mean.value for share in found.figures.by_model.values()} == {2.0}
        [own] = found.agreement.own
        assert (own.items, own.same, own.near) == (2, 0, 2)
        text = "\n".join(text_of(line) for line in figure_lines(found, 100))
        assert f"{ME} with themselves" in text
        assert "2 items scored twice: 0 the same, 2 within one step" in " ".join(text.split())


async def test_choices_in_compare_are_those_of_the_name_that_was_typed_in_review(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    async with at_runs(tmp_path, store) as (seen, session):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        await seen.press("n", "ctrl+u", *OTHER, "enter")
        await begin(seen, blind=False)
        await seen.press("C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and "case 1/3" in drawn(seen))
        await seen.press("a")
        await seen.until(lambda: "1 preferred" in drawn(seen))
        assert [each.reviewer for each in session.history.answers.preferences.read()] == [OTHER]
    store.close()
