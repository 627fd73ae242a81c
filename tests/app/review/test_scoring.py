"""What is saved of a review session, and what the session shows then."""

from pathlib import Path

import pytest

from tests.app.review.items import open_review, session_of
from tests.app.review.reviewed_runs import OTHER
from tests.support.kept_runs import RUN_ID
from tui.app.review.queue import ReviewSession
from tui.app.review.scoring import Scoring
from tui.model.errors import StoreError
from tui.model.scores import ReviewItem


def item_of(session: ReviewSession) -> ReviewItem:
    assert session.item is not None
    return session.item


async def test_a_score_is_saved_with_its_note_and_the_next_open_item_follows(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item, scoring = item_of(session), Scoring(session)
    session.write_note(item, "because")
    recorded = await scoring.score(item, 3)
    assert (recorded.item, recorded.extent, recorded.is_repeated, recorded.is_decision) == (item, 3, False, False)
    assert session.item is session.review.items[1]
    assert (session.scored, session.has_draft(item), session.note(item)) == (1, False, "because")
    [act] = open_review(tmp_path).board.acts
    assert (act.extent, act.note, act.took_ms is not None) == (3, "because", True)


async def test_the_same_score_is_not_saved_twice(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item, scoring = item_of(session), Scoring(session)
    await scoring.score(item, 3)
    assert (await scoring.score(item, 3)).is_repeated
    assert not (await scoring.score(item, 2)).is_repeated
    assert [act.extent for act in open_review(tmp_path).board.acts] == [3, 2]


async def test_a_note_is_saved_with_the_extent_that_is_there(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item, scoring = item_of(session), Scoring(session)
    await scoring.score(item, 3)
    extent = session.write_note(item, "later")
    assert extent == 3
    await scoring.save_note(item, extent)
    assert [(act.extent, act.note) for act in open_review(tmp_path).board.acts] == [(3, ""), (3, "later")]
    assert not session.has_draft(item)


async def test_an_undone_score_is_open_again_and_keeps_its_note_as_a_draft(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item, scoring = item_of(session), Scoring(session)
    session.write_note(item, "because")
    await scoring.score(item, 3)
    assert await scoring.undo() == item.key
    assert session.item is item
    assert (session.scored, session.has_draft(item), session.note(item)) == (0, True, "because")
    assert await scoring.undo() is None
    await scoring.score(item, 1)
    await scoring.withdraw(item)
    assert (session.status(item.key).mine, session.note(item)) == (None, "because")


async def test_where_reviewers_disagree_an_extent_is_a_decision(tmp_path: Path) -> None:
    theirs = open_review(tmp_path, OTHER)
    theirs.give(theirs.items[0].key, 4)
    mine = open_review(tmp_path)
    mine.give(mine.items[0].key, 0)
    session = session_of(tmp_path)
    session.set_filter("is:disputed")
    item, scoring = item_of(session), Scoring(session)
    assert (await scoring.score(item, 2)).is_decision
    assert session.item is None, "nothing else is disputed"
    decision = session.status(item.key).decision
    assert decision is not None
    assert decision.extent == 2


async def test_names_are_revealed_for_good(tmp_path: Path) -> None:
    session = session_of(tmp_path, blind=True)
    scoring = Scoring(session)
    await scoring.score(item_of(session), 3)
    await scoring.record_look("Explore")
    hidden = [session.hidden]
    await scoring.reveal()
    assert [*hidden, session.hidden] == [True, False]
    assert [act.act for act in open_review(tmp_path).board.acts] == ["score", "look", "reveal"]


async def test_scores_of_another_window_count_before_the_question_whether_to_reveal(tmp_path: Path) -> None:
    session = session_of(tmp_path, blind=True)
    other = open_review(tmp_path)
    other.give(other.items[0].key, 3)
    assert session.scored == 0
    await Scoring(session).look_again()
    assert session.scored == 1


async def test_a_score_that_cannot_be_saved_changes_nothing(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item = item_of(session)
    (tmp_path / "data" / "scores").mkdir(exist_ok=True)
    (tmp_path / "data" / "scores" / RUN_ID).write_text("a file where a folder must be")
    with pytest.raises(StoreError):
        await Scoring(session).score(item, 3)
    assert (session.item, session.scored) == (item, 0)
