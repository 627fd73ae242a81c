"""A sitting: where one is, what is open, what a filter shows, notes that wait."""

from pathlib import Path

import pytest

from tests.app.review.items import open_review, sit
from tests.app.review.reviewed_runs import OTHER, A, B
from tui.app.review.answers import read_answer
from tui.app.review.queue import ReviewSession
from tui.app.review.queue_filter import parse_wanted
from tui.model.name_mask import NameMask
from tui.model.scores import Extent, ItemKey


def give(review_session: ReviewSession, extent: Extent) -> None:
    item = review_session.item
    assert item is not None
    review_session.review.give(item.key, extent, review_session.note_of(item))
    review_session.forget_note(item.key)
    review_session.refresh(item.key)
    review_session.go_on()


def here(review_session: ReviewSession) -> ItemKey | None:
    return review_session.item.key if review_session.item else None


def test_it_goes_from_open_item_to_open_item_and_round_to_the_end(tmp_path: Path) -> None:
    review_session = sit(tmp_path)
    keys = [item.key for item in review_session.review.items]
    assert here(review_session) == keys[0]
    review_session.step(2)
    give(review_session, 3)
    assert here(review_session) == keys[3]
    give(review_session, 0)
    give(review_session, "n/a")
    give(review_session, 1)
    assert here(review_session) == keys[0], "round to what was passed over"
    assert review_session.upcoming() is review_session.review.items[1]
    give(review_session, 1)
    give(review_session, 1)
    assert here(review_session) is None
    assert (review_session.scored, review_session.scored_in_filter) == (6, (6, 6))
    assert review_session.step(-1)
    assert here(review_session) == keys[5]
    assert not review_session.step(1)


def test_what_is_scored_leaves_a_filter_only_when_it_is_asked_again(tmp_path: Path) -> None:
    review_session = sit(tmp_path)
    review_session.ask("is:open sev:low")
    give(review_session, 1)
    assert review_session.scored_in_filter == (1, 2)
    review_session.step(-1)
    assert review_session.item is not None
    review_session.ask("is:open sev:low")
    assert review_session.scored_in_filter == (0, 1)
    assert review_session.go_to(review_session.review.items[0].key), "the filter is no reason to stay away"
    assert not review_session.wanted


def test_others_scores_are_not_even_read_while_names_are_hidden(tmp_path: Path) -> None:
    theirs = open_review(tmp_path, OTHER)
    for item in theirs.items:
        theirs.give(item.key, 4, "reason")
    review_session = sit(tmp_path, blind=True)
    assert all(stand.others == () and stand.standing is None for stand in review_session.stands)
    assert review_session.disputed == 0
    give(review_session, 0)
    assert review_session.stands[0].band == "negligible"
    review_session.ask("is:disputed")
    assert (review_session.deciding, len(review_session.shown)) == (False, 6)
    review_session.review.reveal()
    review_session.refresh()
    assert review_session.disputed == 1
    review_session.ask("is:disputed")
    assert (review_session.deciding, len(review_session.shown)) == (True, 1)


def test_a_note_waits_for_its_extent_and_changes_with_it(tmp_path: Path) -> None:
    review_session = sit(tmp_path)
    item = review_session.item
    assert item is not None
    assert review_session.write_note(item, "why") is None
    assert review_session.has_draft(item)
    give(review_session, 3)
    assert not review_session.has_draft(item)
    assert review_session.note_of(item) == "why"
    assert review_session.write_note(item, "why") is None, "the same note is no act"
    assert review_session.write_note(item, "because") == 3
    review_session.review.undo()
    review_session.take_back(item.key)
    assert review_session.stand(item.key).mine is None
    assert review_session.note_of(item) == "because"
    review_session.write_note(item, "")
    assert not review_session.drafts


def test_the_prompt_is_the_suites_and_matches_are_hidden_when_blind(tmp_path: Path) -> None:
    review = open_review(tmp_path)
    item = review.items[0]
    result = review.read_answer(item.key.trial)
    shown, hidden = (read_answer(item.case, result, names) for names in (None, NameMask()))
    assert [part.title for part in shown.before] == ["Prompt", "Expected behaviour"]
    assert shown.before[0].text == "Please write query by mail."
    assert hidden.marks == ()
    assert hidden.text == shown.text
    passed = next(each for each in review.items if each.key.model == A)
    marks = read_answer(passed.case, review.read_answer(passed.key.trial)).marks
    text = read_answer(passed.case, review.read_answer(passed.key.trial)).text
    assert [text[mark.start : mark.end] for mark in marks] == ["parameter"]
    assert {each.key.model for each in review.items} == {A, B}


WANTED = {"is:open": 3, "band:crit": 1, "sev:low": 2, "model:walrus*": 3, "case:c1": 2, "!tone": 4, "is:note": 3,
          "zebra": 3, "cat:sec": 6, "crit:sql": 2, "is:disputed": 1, "is:open sev:low": 2, "": 6, "is:": 6}  # fmt: skip


def test_what_a_filter_shows(tmp_path: Path) -> None:
    review_session = sit(tmp_path)
    theirs = open_review(tmp_path, OTHER)
    for item, mine, other in zip(theirs.items, (4, 1, 0), (1, 1, 0), strict=False):
        theirs.give(item.key, other)
        review_session.review.give(item.key, mine, "why")
    review_session = sit(tmp_path)
    shown = {}
    for text in WANTED:
        review_session.ask(text)
        shown[text] = len(review_session.shown)
    assert shown == WANTED


def test_a_filter_is_no_oracle_while_names_are_hidden(tmp_path: Path) -> None:
    review_session = sit(tmp_path, blind=True)
    asked = {"zebra": 0, "walrus": 0, "model:zebra": 6, "!model:zebra": 6, "is:disputed": 6, "!is:decided": 6}
    for text, count in asked.items():
        review_session.ask(text)
        assert len(review_session.shown) == count, text
    assert [order for order, _ in review_session.orders] == ["queue", "open", "severity"]
    review_session.order = "model"
    review_session.ask("")
    assert review_session.shown == list(range(6)), "an order from before is forgotten"


@pytest.mark.parametrize(
    ("text", "hidden", "hint"),
    [
        ("is:open", True, ""),
        ("is:", False, ""),
        ("is:opne", False, "no is:opne"),
        ("sev:x", False, "no sev:x"),
        ("bandd:high", False, "did you mean band:?"),
        ("model:a", True, "Names are hidden"),
        ("model:a", False, ""),
        ("!is:decided", True, "Other people's scores are hidden"),
        ("http://x", False, "no http: here"),
        ('"two words"', False, ""),
    ],
)
def test_what_a_filter_says_of_itself(text: str, hidden: bool, hint: str) -> None:
    wanted = parse_wanted(text, hidden=hidden)
    assert wanted.hint.startswith(hint) if hint.startswith("no") or not hint else hint in wanted.hint
    if not hint:
        assert wanted.hint == ""
