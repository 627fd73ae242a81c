"""The Review screen: scoring by keys, with everything on the disk before it is on the screen."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Paste

from tests.app.review.items import replace_answer
from tests.app.review.reviewed_runs import (
    CASES,
    ITEMS,
    ME,
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
    session_at,
    target,
    title,
)
from tests.support.kept_runs import HOSTILE, RUN_ID
from tests.support.pilots import press_at_once, screen_rows
from tests.support.terminal import WAIT_SECONDS
from tui.app.dialogs import ConfirmScreen, TextScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.find.jump_dialog import JumpDialog
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.note_editor import LONGEST_NOTE
from tui.app.review.queue_panel import QueuePanel
from tui.app.review.screen import ReviewScreen
from tui.app.widgets.prompt_input import PromptInput
from tui.model.errors import StoreError
from tui.model.scores import Act
from tui.model.subjects import Config
from tui.session.reviews import Reviews


async def test_answers_are_scored_one_criterion_after_the_other(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        assert here(seen) == ("c0", B, "SQL injection")
        text = drawn(seen)
        for message in ("Please write query by mail.", "A safe query by mail.", "Second voice on c0", "critical ×4",
                     "To what extent does the answer violate it?", "walrus-two", "c0 · query by mail"):  # fmt: skip
            assert message in text
        assert "0/6" in title(seen)
        await give(seen, "3")
        assert last(seen) == "c0 · SQL injection: 3 major → critical  u undoes"
        assert here(seen) == ("c0", B, "Error handling")
        await give(seen, "minus", "0", "1", "4", "2")
        await seen.until(lambda: "All 6 items are scored." in drawn(seen))
        assert "6/6" in title(seen)
        for step in (
            r",\s+previous item; u undo",
            r"I\s+figures: bands",
            r"O\s+export a report",
            "close; scores are saved",
        ):
            assert re.search(step, drawn(seen)), step
        kept = acts(session)
        assert [(act.act, act.extent, act.reviewer, act.blind) for act in kept] == [
            ("score", extent, ME, False) for extent in (3, "n/a", 0, 1, 4, 2)
        ]
        assert all(act.took_ms is not None for act in kept)
        assert len({act.item for act in kept}) == ITEMS


async def test_the_keys_of_the_criterion_are_those_of_the_keymap(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, _):
        await seen.until(lambda: "0–4 or - to score" in drawn(seen))
        seen.app.set_keymap(
            {"review.extent-0": "f4", "review.not-applicable": "0", "review.note": "w", "review.undo": "U"}
        )
        await seen.press("full_stop")
        await seen.until(lambda: "f4 1 2 3 4 or 0 to score" in drawn(seen))
        assert "f4  none" in drawn(seen)
        assert "1   slight" in drawn(seen)
        assert "0   not applicable" in drawn(seen)
        assert "w writes a note" in drawn(seen)
        await give(seen, "f4")
        assert last(seen).endswith("0 none → negligible  U undoes")


async def test_a_score_is_changed_withdrawn_and_undone_and_nothing_is_overwritten(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        first = here(seen)
        await give(seen, "3")
        await seen.press("comma")
        await seen.until(lambda: here(seen) == first)
        assert "▸ 3  major" in drawn(seen)
        assert "4 × 3 = 12" in drawn(seen)
        await give(seen, "2")
        await seen.press("u")
        await seen.until(lambda: here(seen) == first and "▸ 3  major" in drawn(seen))
        assert last(seen).startswith("Undone")
        await seen.press("u")
        await seen.until(lambda: "▸" not in drawn(seen))
        assert "0/6" in title(seen)
        await seen.press("u")
        await seen.until(lambda: seen.notices and "Nothing to undo" in seen.notices[-1])
        await give(seen, "1")
        await seen.press("backspace")
        await seen.until(lambda: here(seen) == first)
        await seen.press("x")
        await seen.until(lambda: last(seen).startswith("Undone") and "0/6" in title(seen))
        assert [act.act for act in acts(session)] == [
            "score", "score", "score", "invalidate", "score", "invalidate",
        ]  # fmt: skip
        await seen.press("T")
        await seen.until(lambda: isinstance(seen.app.screen, TextScreen) and "withdrew" in drawn(seen))
        assert "3 major  critical" in drawn(seen)
        assert "+00:00" in drawn(seen)
        assert "guidance" in drawn(seen)


async def test_the_dialog_to_go_to_a_case_counts_the_cases_of_the_review(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, _):
        await seen.press("g")
        await seen.until(lambda: isinstance(seen.app.screen, JumpDialog) and " cases" in drawn(seen))
        assert " suites" not in drawn(seen)


async def test_a_blind_reviewer_is_warned_before_a_note_is_discarded(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, _):
        await seen.press("c", *"text", "escape")
        await seen.until(lambda: seen.notices == ["The note is not saved. Enter saves it, Esc again discards it."])
        assert screen(seen).view.criterion.editor.text == "text"


async def test_a_note_is_written_before_or_after_the_extent(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        first = here(seen)
        await seen.press("c", *"3 u x", "ctrl+j", *"more", "enter")
        await seen.until(lambda: "saved with the extent" in drawn(seen))
        assert acts(session) == ()
        await give(seen, "3")
        [score] = acts(session)
        assert (score.extent, score.note) == (3, "3 u x\nmore")
        await seen.press("comma")
        await seen.until(lambda: here(seen) == first)
        await seen.press("c", *"!", "escape")
        await seen.until(lambda: any("Esc again discards it" in notice for notice in seen.notices))
        await seen.press("?", "backspace", "escape")
        assert screen(seen).view.criterion.editor.text.endswith("more!")
        await seen.press("escape")
        await seen.until(lambda: not screen(seen).view.criterion.editor.is_open)
        assert len(acts(session)) == 1
        await seen.press("c", *"!", "enter")
        await seen.until(lambda: len(acts(session)) == 2)
        await seen.until(lambda: "more!" in drawn(seen))
        assert [(act.extent, act.note) for act in acts(session)] == [(3, "3 u x\nmore"), (3, "3 u x\nmore!")]
        assert here(seen) == first, "a note is no reason to go on"
        await seen.press("u")
        await seen.until(lambda: len(acts(session)) == 3)
        assert acts(session)[-1].note == "3 u x\nmore"


async def test_an_item_that_was_selected_before_the_filter_was_opened_leaves_the_focus_to_it(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, _):
        await seen.press("slash")
        queue = screen(seen).view.queue
        await seen.until(lambda: isinstance(seen.app.focused, PromptInput))
        queue.post_message(QueuePanel.ItemReached(1, selected=True))  # the key before, on its way through the panel
        await seen.until(lambda: screen(seen).review_session.position == 1 and target(seen))
        await seen.press(*"is:open")
        await seen.until(lambda: queue.filter_text == "is:open")


async def test_what_is_typed_right_after_a_note_or_a_filter_is_not_its_text(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        press_at_once(seen.app, "c", *"say 4", "enter", "3")
        await seen.until(lambda: screen(seen).review_session.scored == 1, "the extent is given")
        assert [(act.extent, act.note) for act in acts(session)] == [(3, "say 4")]
        await seen.until(lambda: target(seen))
        press_at_once(seen.app, "slash", *"is:open", "enter", "G")
        await seen.until(lambda: isinstance(seen.app.screen, TextScreen), "guidance")
        assert screen(seen).view.queue.filter_text == "is:open"
        assert "filter 0/5" in title(seen)


@pytest.mark.long
async def test_a_note_that_is_too_long_is_cut_with_a_word(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        await seen.press("c", "a")
        seen.app.post_message(Paste("b\x1b[2J\r\n" + "x" * 2_000_000))
        await seen.until(lambda: any("at most 4,000" in notice for notice in seen.notices))
        await seen.press("y", "enter", "1")
        await seen.until(lambda: screen(seen).review_session.scored == 1)
        (act,) = acts(session)
        assert len(act.note) == LONGEST_NOTE
        assert act.note.startswith("ab␛[2J\nxx")


async def test_the_app_is_not_left_with_a_note_in_hand_without_a_word(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, _):
        await seen.press("c", *"half", "ctrl+q")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        assert "unsaved note will be lost" in drawn(seen)
        await seen.press("n")
        await seen.until(lambda: screen(seen).keys.capture is not None and seen.app.screen is screen(seen))
        await seen.press("enter", "q")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        assert "1 note without an extent" in drawn(seen)
        await seen.press("n", "3")
        await seen.until(lambda: screen(seen).review_session.scored == 1)
        await seen.press("q")
        await seen.until(lambda: not seen.app.is_running, "nothing is lost now")


@pytest.mark.long
async def test_a_note_is_not_lost_with_an_extent_that_is_taken_back(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        await seen.press("c", *"because", "enter")
        await give(seen, "3")
        await seen.press("u")
        await seen.until(lambda: "saved with the extent" in drawn(seen))
        await give(seen, "2")
        assert [(act.act, act.note) for act in acts(session)][-1] == ("score", "because")


async def test_what_cannot_be_kept_is_not_shown_as_given(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        first = here(seen)
        (tmp_path / "data" / "scores").mkdir(exist_ok=True)
        (tmp_path / "data" / "scores" / RUN_ID).write_text("a file where a folder must be")
        await seen.press("3")
        await seen.until(lambda: seen.notices)
        assert here(seen) == first
        assert "0/6" in title(seen)
        assert "▸" not in drawn(seen)
        assert last(seen) == ""
        (tmp_path / "data" / "scores" / RUN_ID).unlink()
        await give(seen, "3")
        await seen.until(lambda: not seen.notices, "what was refused before is no news any more")
        assert [act.extent for act in acts(session)] == [3]


@pytest.mark.long
async def test_the_answer_is_a_key_away_from_a_long_prompt(tmp_path: Path) -> None:
    long = replace(CASES[0], steps=(replace(CASES[0].steps[0], input="Read this.\n" * 200),))
    store = keep_run(tmp_path, results(cases=(long,)), cases=(long,))
    async with reviewed(tmp_path, store, blind=False) as (seen, _):
        await seen.until(lambda: "Read this." in drawn(seen))
        assert "voice on c0" not in drawn(seen)
        await seen.press("p")
        await seen.until(lambda: "voice on c0" in drawn(seen))
        await seen.press("d", "p")
        await seen.until(lambda: "voice on c0" not in drawn(seen))
    store.close()


async def test_keys_typed_while_a_score_is_written_never_score_what_was_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        review, go_on = screen(seen).review_session.review, threading.Event()
        plain = review.give

        def slow(*given: object, **how: object) -> Act:
            go_on.wait(WAIT_SECONDS)
            return plain(*given, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(review, "give", slow)
        await seen.press("3", "4", "0", "c", *"12 u", "enter")
        assert acts(session) == ()
        assert "0/6" in title(seen)
        go_on.set()
        await seen.until(lambda: "12 u" in drawn(seen) and "saved with the extent" in drawn(seen))
        assert [act.extent for act in acts(session)] == [3], "digits were meant for what was on the screen"
        assert here(seen) == ("c0", B, "Error handling")
        monkeypatch.setattr(review, "give", plain)
        await give(seen, "1")
        assert [(act.extent, act.note) for act in acts(session)] == [(3, ""), (1, "12 u")]


async def test_an_answer_that_is_not_there_yet_is_not_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        answers, go_on = screen(seen).view.answers, threading.Event()
        answers.clear()
        plain = answers.load

        def slow(*given: object) -> object:
            go_on.wait(WAIT_SECONDS)
            return plain(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(answers, "load", slow)
        await give_on(seen, "full_stop", "full_stop")
        await seen.press("4", "minus", "x")
        assert acts(session) == ()
        await seen.press("d")
        await seen.until(lambda: "The answer is not loaded yet." in seen.notices)
        screen(seen).refresh_bindings()
        await seen.until(lambda: "0–4" not in screen_rows(screen(seen))[-1])
        go_on.set()
        await seen.until(lambda: here(seen) == ("c0", A, "SQL injection"))
        await seen.until(lambda: "0–4" in screen_rows(screen(seen))[-1])
        assert acts(session) == ()
        await give(seen, "4")
        assert [(act.item.model, act.extent) for act in acts(session) if act.item] == [(A, 4)]


async def test_a_replaced_answer_is_shown_before_it_is_scored(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        item = screen(seen).review_session.review.items[0].key
        replace_answer(tmp_path, item.trial)
        screen(seen).review_session.review.read_answer(item.trial)
        await seen.press("3")
        await seen.until(lambda: seen.notices and "Another process has replaced this answer" in seen.notices[-1])
        assert acts(session) == ()
        await seen.until(lambda: "Another answer." in drawn(seen) and screen(seen).keys.target == item)
        await give(seen, "3")
        assert [(act.item, act.attempt) for act in acts(session)] == [(item, 2)]


async def give_on(seen: object, *keys: str) -> None:
    await seen.press(*keys)  # type: ignore[attr-defined]


async def test_an_answer_that_cannot_be_read_says_why_and_is_passed_over(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        answers = screen(seen).view.answers
        answers.clear()

        def broken(*_: object) -> object:
            raise StoreError("The disk is gone", where="x")

        answers.load = broken  # type: ignore[method-assign, assignment]
        await seen.press("full_stop", "full_stop")
        await seen.until(lambda: "The disk is gone" in drawn(seen))
        await seen.press("3")
        assert acts(session) == ()
        await seen.press("full_stop", "full_stop")
        await seen.until(lambda: "c1 · greet a guest" in drawn(seen) and "The disk is gone" in drawn(seen))
        await seen.until(lambda: "Stays polite" in drawn(seen), "the criterion is the item's, not the one before")
        assert "query by mail" not in drawn(seen), "nor is the prompt"
        await seen.press("3")
        assert acts(session) == ()


async def test_it_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    async with reviewed(tmp_path, store) as (seen, _):
        order = [item.key for item in screen(seen).review_session.review.items]
        await give(seen, "3", "2")
        await seen.press("c", *"half", "enter", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        assert "1 note without an extent" in drawn(seen)
        assert "show model names" in drawn(seen)
        await seen.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen))
        await seen.press("escape", "y")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("H", "v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        assert "2 scored" in drawn(seen)
        assert "4 open" in drawn(seen)
        assert "is blind until" in drawn(seen)
        await seen.press("end", "enter")
        await seen.until(lambda: "Press Enter to start" in drawn(seen), "the dialog says that the session stays blind")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen) and target(seen))
        assert screen(seen).review_session.hidden, "what was begun blind stays so"
        assert [item.key for item in screen(seen).review_session.review.items] == order
        assert target(seen) == order[2]
        assert "2/6" in title(seen)
    store.close()


async def test_enter_goes_to_what_is_open_and_brackets_to_what_is_beside(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, _):
        keys = [item.key for item in screen(seen).review_session.review.items]
        await give(seen, "3", "2")
        await seen.press("comma", "comma")
        await seen.until(lambda: target(seen) == keys[0])
        await seen.press("enter")
        await seen.until(lambda: target(seen) == keys[2])
        await seen.press("enter")
        await seen.until(lambda: target(seen) == keys[3])
        await give(seen, "1", "1", "1")
        assert target(seen) == keys[2], "around the end, to what was passed over"
        await seen.press("enter")
        await seen.until(lambda: seen.notices and "last open" in seen.notices[-1])
        await give(seen, "1")
        await seen.until(lambda: "All 6 items" in drawn(seen))
        await seen.press("comma")
        await seen.until(lambda: target(seen) == keys[5])


@pytest.mark.long
async def test_the_diff_is_shown_where_files_were_changed(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False, size=(140, 36)) as (seen, _):
        assert "return new()" not in drawn(seen)
        await seen.press("d")
        await seen.until(lambda: "return new()" in drawn(seen) and "src/query.py" in drawn(seen))
        await seen.press("d")
        await seen.until(lambda: "Second voice" in drawn(seen))
        await give(seen, "0", "0", "0", "0")
        await seen.press("d")
        await seen.until(lambda: seen.notices and "changed no file" in seen.notices[-1])
    assert CASES[1].risk_criteria


@pytest.mark.long
async def test_on_a_tall_screen_the_diff_is_below_the_answer(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False, size=(140, 50)) as (seen, _):
        await seen.until(lambda: "return new()" in drawn(seen) and "Second voice" in drawn(seen))


@pytest.mark.long
async def test_an_extent_can_be_clicked(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        rows = drawn(seen).splitlines()
        row = next(at for at, line in enumerate(rows) if "4  total" in line)
        await seen.pilot.click(offset=(rows[row].index("total"), row))
        await seen.until(lambda: len(acts(session)) == 1)
        assert acts(session)[0].extent == 4
        await seen.until(lambda: here(seen) == ("c0", B, "Error handling"))
        await seen.press("c", *"by hand")
        await seen.until(lambda: "by hand" in drawn(seen))
        rows = drawn(seen).splitlines()
        row = next(at for at, line in enumerate(rows) if "1  slight" in line)
        await seen.pilot.click(offset=(rows[row].index("slight"), row))
        await seen.until(lambda: len(acts(session)) == 2)
        assert (acts(session)[1].extent, acts(session)[1].note) == (1, "by hand")


async def test_a_double_click_on_an_extent_scores_one_item(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        rows = drawn(seen).splitlines()
        row = next(at for at, line in enumerate(rows) if "4  total" in line)
        await seen.pilot.double_click(offset=(rows[row].index("total"), row))
        await seen.until(lambda: len(acts(session)) == 1 and here(seen) == ("c0", B, "Error handling"))
        await seen.press("1")
        await seen.until(lambda: len(acts(session)) == 2)
        assert [act.extent for act in acts(session)] == [4, 1]


async def test_a_note_that_is_being_written_stays_with_its_item(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False, size=(200, 40)) as (seen, session):
        first = here(seen)
        await seen.press("c", *"of the first")
        await seen.until(lambda: "of the first" in drawn(seen))
        await seen.pilot.click(screen(seen).view.queue.lines, offset=(5, 3))
        await seen.until(lambda: here(seen) not in (first, None) and "of the first" not in drawn(seen))
        other = here(seen)
        await seen.press("3")
        await seen.until(lambda: len(acts(session)) == 1)
        await seen.pilot.click(screen(seen).view.queue.lines, offset=(5, 0))
        await seen.until(lambda: here(seen) == first and "of the first" in drawn(seen))
        await seen.press("1")
        await seen.until(lambda: len(acts(session)) == 2)
        scored = {(item.case, item.model, item.criterion): each.note for each in acts(session) if (item := each.item)}
        assert scored == {other: "", first: "of the first"}


async def test_who_it_is_is_asked_once_and_remembered(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    async with at_runs(tmp_path, store, config=Config()) as (seen, session):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        await seen.press("n")
        await seen.press("ctrl+u", *"Zoë  Zander", "enter", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen) and target(seen))
        assert screen(seen).review_session.review.reviewer == "Zoë Zander"
        assert screen(seen).review_session.hidden, "blind unless somebody asks otherwise"
        assert session.reviews.default_reviewer() == "Zoë Zander"
    async with at_runs(tmp_path, store, config=Config()) as (seen, _):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen) and "Zoë Zander" in drawn(seen))
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
    store.close()


async def test_a_name_is_proposed_where_nobody_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reviews, "suggested_reviewer", lambda _: "Gita Gitson")
    async with at_runs(tmp_path, keep_run(tmp_path), config=Config()) as (seen, _):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen) and "Gita Gitson" in drawn(seen))


@pytest.mark.parametrize("size", [pytest.param((140, 44), marks=pytest.mark.long), (60, 20)])
async def test_score_lines_that_cannot_be_read_are_reported_before_it_begins(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    store = keep_run(tmp_path)
    session = session_at(tmp_path, store)
    review = session.reviews.open_review(RUN_ID, ME, blind=False)
    review.give(review.items[0].key, 3)
    (file,) = (tmp_path / "data" / "scores").rglob("*.jsonl")
    file.write_bytes(file.read_bytes() + b"{}\nhello\n" + b"[\n" * 9)
    async with at_runs(tmp_path, store, size=size) as (seen, _):
        await seen.press("v")
        await seen.until(lambda: "11 lines of the score files cannot be read" in " ".join(drawn(seen).split()))
        assert "Enter start" in drawn(seen)
        assert "With names" in drawn(seen)
        if size[0] > 100:
            text = "".join(line.strip(" │") for line in drawn(seen).splitlines())
            assert f"{file.name}:2: error: " in text
            assert "and 8 more" in text
        await begin(seen)


async def test_a_run_without_criteria_says_what_to_do(tmp_path: Path) -> None:
    bare = (replace(CASES[0], risk_criteria=()),)
    async with at_runs(tmp_path, keep_run(tmp_path, results(cases=bare), cases=bare)) as (seen, session):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen) and "riskCriteria" in drawn(seen))
        await seen.press("3", "minus", "c", "u", "x", "a", "I", "T", "d", "n", "z", "enter", "full_stop")
        while not isinstance(seen.app.screen, ReviewScreen):
            await seen.press("escape")
        assert acts(session) == ()
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))


@pytest.mark.long
async def test_the_palette_leads_to_it(tmp_path: Path) -> None:
    async with at_runs(tmp_path, keep_run(tmp_path)) as (seen, _):
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("ctrl+p")
        await seen.until(lambda: "Search for commands" in drawn(seen))
        await seen.press(*"Review")
        await seen.until(lambda: "Review: score the risk" in drawn(seen))
        await seen.press("enter")
        await begin(seen)
        assert "0/6" in title(seen)


@pytest.mark.parametrize(
    "size", [(60, 16), *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 24), (200, 60)))]
)
async def test_hostile_text_stays_text_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    text = HOSTILE.replace("\ud800", "")
    criteria = tuple(replace(each, name=f"{each.name} {text}", description=text) for each in CASES[0].risk_criteria)
    case = replace(CASES[0], name=text, expected_behavior=text, risk_criteria=criteria)
    kept = results(cases=(case,))
    async with reviewed(tmp_path, keep_run(tmp_path, kept, cases=(case,)), size=size) as (seen, session):
        await seen.press("c", *"x", "enter")
        await give(seen, "3")
        for key in ("G", "B", "T", "question_mark"):
            await seen.press(key)
            await seen.until(lambda: not isinstance(seen.app.screen, ReviewScreen))
            assert "\x1b" not in drawn(seen)
            await seen.press("escape")
            await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen))
        for key in ("S", "S", "z", "z", "d", "d"):
            await seen.press(key)
            assert "\x1b" not in drawn(seen)
            assert "\u202e" not in drawn(seen)
        assert len(acts(session)) == 1


@pytest.mark.long
async def test_a_wide_screen_has_the_queue_beside_the_answer(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), size=(160, 45)) as (seen, _):
        view = screen(seen).view
        assert not view.queue_open
        focused = seen.app.focused
        await seen.pilot.resize_terminal(220, 60)
        await seen.until(lambda: view.queue.region.right == view.answer.region.x > 0)
        assert seen.app.focused is focused
        await seen.pilot.resize_terminal(160, 45)
        await seen.until(lambda: not view.queue.region.area)
        await seen.press("S")
        await seen.until(lambda: view.queue.region.area)
        await seen.pilot.resize_terminal(220, 60)
        await seen.pilot.resize_terminal(160, 45)
        await seen.until(lambda: view.criterion.region.right == 160)
        assert view.queue_open, "the user has opened it"


@pytest.mark.long
async def test_borders_are_moved_and_no_key_of_that_scores(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), size=(160, 45)) as (seen, session):
        view, focused, item = screen(seen).view, seen.app.focused, target(seen)
        await seen.press("W", "left", "left", "left")
        await seen.until(lambda: view.criterion.region.width == 86)
        await seen.press("1", "0")
        await seen.until(lambda: view.criterion.region.width == 80)
        await seen.press("right", "escape")
        await seen.until(lambda: view.criterion.region.width == 78)
        assert (seen.app.focused, target(seen), acts(session)) == (focused, item, ())
        assert isinstance(seen.app.screen, ReviewScreen)
        await seen.press("S", "W", "right", "enter")
        await seen.until(lambda: view.queue.region.width == 46)
        await seen.pilot.resize_terminal(80, 24)
        await seen.until(lambda: view.queue.region.width == 80)
        await seen.pilot.resize_terminal(160, 45)
        await seen.until(lambda: (view.queue.region.width, view.criterion.region.width) == (46, 74))
