"""A review session: the current item, open items, the filter, and notes that are not saved yet."""

from pathlib import Path

import pytest

from tests.app.review.items import open_review, session_of
from tests.app.review.reviewed_runs import OTHER, A, B
from tui.app.review.answers import answer_content
from tui.app.review.queue import ReviewSession
from tui.app.review.queue_filter import complete_queue_filter, parse_queue_filter
from tui.model.name_mask import NameMask
from tui.model.scores import Extent, ItemKey
from tui.session.run_review import RevealedElsewhere


def give(session: ReviewSession, extent: Extent) -> None:
    item = session.item
    assert item is not None
    session.review.give(item.key, extent, session.note(item))
    session.discard_draft(item.key)
    session.refresh(item.key)
    session.go_to_next_open()


def here(session: ReviewSession) -> ItemKey | None:
    return session.item.key if session.item else None


def test_it_goes_from_open_item_to_open_item_and_round_to_the_end(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    keys = [item.key for item in session.review.items]
    assert here(session) == keys[0]
    session.step(2)
    give(session, 3)
    assert here(session) == keys[3]
    give(session, 0)
    give(session, "n/a")
    give(session, 1)
    assert here(session) == keys[0], "round to what was passed over"
    assert session.next_open() is session.review.items[1]
    give(session, 1)
    give(session, 1)
    assert here(session) is None
    assert (session.scored, session.done_in_filter) == (6, (6, 6))
    assert session.step(-1)
    assert here(session) == keys[5]
    assert not session.step(1)


def test_what_is_scored_leaves_a_filter_only_when_it_is_asked_again(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    session.set_filter("is:open sev:low")
    give(session, 1)
    assert session.done_in_filter == (1, 2)
    session.step(-1)
    assert session.item is not None
    session.set_filter("is:open sev:low")
    assert session.done_in_filter == (0, 1)
    assert session.go_to(session.review.items[0].key), "the filter is no reason to stay away"
    assert not session.filter


@pytest.mark.parametrize(("elsewhere", "before"), [(False, ""), (True, "at first")])
def test_repeated_items_leave_the_queue_with_the_reveal(tmp_path: Path, elsewhere: bool, before: str) -> None:
    session = session_of(tmp_path, blind=True, repeats=20)
    while (item := session.item) is not None and not item.key.again:
        give(session, 2)
    assert item is not None
    first, count = item.key.first, len(session.review.items)
    if before:
        session.write_note(next(each for each in session.review.items if each.key == first), before)
    session.write_note(item, "seen before")
    session.set_filter("is:open")
    if elsewhere:
        open_review(tmp_path, blind=True).reveal()
        with pytest.raises(RevealedElsewhere):
            session.review.give(item.key, 2)
    else:
        session.review.reveal()
    session.refresh()
    assert not any(item.key.again for item in session.review.items)
    assert len(session.statuses) == len(session.review.items) < count
    assert [session.review.items[index].key in session.review.done() for index in session.visible].count(True) == 0
    session.set_filter("")
    assert session.go_to(first)
    assert session.item is not None
    assert session.note(session.item) == (f"{before}\nseen before" if before else "seen before")
    while here(session) is not None:
        give(session, 1)
    assert session.scored == len(session.review.items)


def test_others_scores_are_not_even_read_while_names_are_hidden(tmp_path: Path) -> None:
    theirs = open_review(tmp_path, OTHER)
    for item in theirs.items:
        theirs.give(item.key, 4, "reason")
    session = session_of(tmp_path, blind=True)
    assert all(status.others == () and status.counted is None for status in session.statuses)
    assert session.disputed == 0
    give(session, 0)
    assert session.statuses[0].band == "negligible"
    session.set_filter("is:disputed")
    assert (session.deciding, len(session.visible)) == (False, 6)
    session.review.reveal()
    session.refresh()
    assert session.disputed == 1
    session.set_filter("is:disputed")
    assert (session.deciding, len(session.visible)) == (True, 1)


def test_a_note_waits_for_its_extent_and_changes_with_it(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item = session.item
    assert item is not None
    assert session.write_note(item, "why") is None
    assert session.has_draft(item)
    give(session, 3)
    assert not session.has_draft(item)
    assert session.note(item) == "why"
    assert session.write_note(item, "why") is None, "the same note is no act"
    assert session.write_note(item, "because") == 3
    session.review.undo()
    session.restore_note(item.key)
    assert session.status(item.key).mine is None
    assert session.note(item) == "because"
    session.write_note(item, "")
    assert not session.drafts


def test_the_prompt_is_the_suites_and_matches_are_hidden_when_blind(tmp_path: Path) -> None:
    review = open_review(tmp_path)
    item = review.items[0]
    result = review.read_answer(item.key.trial)
    shown, hidden = (answer_content(item.case, result, names) for names in (None, NameMask()))
    assert [part.title for part in shown.before] == ["Prompt", "Expected behavior"]
    assert shown.before[0].text == "Please write query by mail."
    assert hidden.marks == ()
    assert hidden.text == shown.text
    passed = next(each for each in review.items if each.key.model == A)
    marks = answer_content(passed.case, review.read_answer(passed.key.trial)).marks
    text = answer_content(passed.case, review.read_answer(passed.key.trial)).text
    assert [text[mark.start : mark.end] for mark in marks] == ["parameter"]
    assert {each.key.model for each in review.items} == {A, B}


EXPECTED_COUNTS = {
    "is:open": 3, "band:crit": 1, "sev:low": 2, "model:walrus*": 3, "case:c1": 2, "!tone": 4, "is:note": 3, "zebra": 3,
    "cat:sec": 6, "crit:sql": 2, "is:disputed": 1, "is:open sev:low": 2, "": 6, "is:": 6,
}  # fmt: skip


def test_what_a_filter_shows(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    theirs = open_review(tmp_path, OTHER)
    for item, mine, other in zip(theirs.items, (4, 1, 0), (1, 1, 0), strict=False):
        theirs.give(item.key, other)
        session.review.give(item.key, mine, "why")
    session = session_of(tmp_path)
    shown = {}
    for text in EXPECTED_COUNTS:
        session.set_filter(text)
        shown[text] = len(session.visible)
    assert shown == EXPECTED_COUNTS


def test_a_filter_is_no_oracle_while_names_are_hidden(tmp_path: Path) -> None:
    session = session_of(tmp_path, blind=True)
    asked = {"zebra": 0, "walrus": 0, "model:zebra": 6, "!model:zebra": 6, "is:disputed": 6, "!is:decided": 6}
    for text, count in asked.items():
        session.set_filter(text)
        assert len(session.visible) == count, text
    assert [order for order, _ in session.orders] == ["queue", "open", "severity"]
    session.order = "model"
    session.set_filter("")
    assert session.visible == list(range(6)), "an order from before is forgotten"


@pytest.mark.parametrize(
    ("text", "blind", "shown"),
    [
        ("mo", [], ["model:"]),
        ("model:", [], [f"model:{A} ", f"model:{B} "]),
        ("is:d", [], ["is:disputed ", "is:decided "]),
        ("sev:cr", ["sev:critical "], ["sev:critical "]),
        ("cr", ["crit:"], ["crit:"]),
    ],
)
def test_a_filter_is_completed_and_reveals_nothing(
    tmp_path: Path, text: str, blind: list[str], shown: list[str]
) -> None:
    items = session_of(tmp_path).review.items
    for hidden, expected in ((True, blind), (False, shown)):
        found = complete_queue_filter(text, len(text), items, hidden=hidden)
        assert sorted(each.text for each in found) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "hidden", "hint"),
    [
        ("is:open", True, ""),
        ("is:", False, ""),
        ("is:opne", False, "unknown value is:opne"),
        ("sev:x", False, "unknown value sev:x"),
        ("bandd:high", False, "did you mean band:?"),
        ("model:a", True, "Names are hidden"),
        ("model:a", False, ""),
        ("!is:decided", True, "Scores of other reviewers are hidden"),
        ("http://x", False, "unknown filter http:"),
        ('"two words"', False, ""),
    ],
)
def test_what_a_filter_says_of_itself(text: str, hidden: bool, hint: str) -> None:
    queue_filter = parse_queue_filter(text, hidden=hidden)
    assert queue_filter.hint.startswith(hint) if hint.startswith("no") or not hint else hint in queue_filter.hint
    if not hint:
        assert queue_filter.hint == ""
