"""Blind in the app: no screen that can be reached shows whose answer it is until names are revealed."""

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.app.explore.explored import Seen
from tests.app.review.items import replace_answer
from tests.app.review.reviewed_runs import (
    CASES,
    ITEMS,
    ME,
    NAMES,
    OTHER,
    A,
    acts,
    at_runs,
    begin,
    drawn,
    give,
    keep_run,
    last,
    results,
    reviewed,
    screen,
    target,
    title,
)
from tests.app.test_in_a_terminal import restored
from tests.support.command_line import CommandLine
from tests.support.kept_runs import RUN_ID
from tests.support.scripted_session import ScriptedSession
from tests.support.terminal import Terminal, run_here
from tui.app.dialogs import ConfirmScreen, TextScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.export_dialog import ExportScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.runs.screen import RunsScreen
from tui.model.name_mask import MaskingStopped
from tui.model.results import Attempt
from tui.model.subjects import Config
from tui.session.reviews import Reviews
from tui.session.session import Session
from tui.store.sqlite import SqliteStore

ROOT = Path(__file__).parents[3]
SEED = 3249921551  # the third item of its order is one that changed a file


def environ_of(home: Path) -> dict[str, str]:
    """A person's folders, with a run in them and a name in the config."""
    environ = CommandLine(home).environ()
    config = Path(environ["ASSAY_CONFIG_DIR"])
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.yaml").write_text(f"reviewer: {ME}\n")
    data = Path(environ["ASSAY_DATA_DIR"])
    keep_run(home).close()
    data.mkdir(parents=True, exist_ok=True)
    (home / "data" / "runs.sqlite").replace(data / "runs.sqlite")
    (home / "none").mkdir()
    return environ


def record_seed(environ: Mapping[str, str], seed: int) -> None:
    """A blind session that was begun with this seed, and nothing scored in it."""
    bench = Session(environ)
    review = bench.reviews.open_review(RUN_ID, ME, blind=True)
    review.seed = seed
    review.give(review.items[0].key, 0)
    review.undo()
    bench.store.close()


def review_in(terminal: Terminal, *, blind: bool = True) -> int:
    """From the list of runs to the first item; how much the terminal had got before."""
    terminal.wait_for("No suites found")
    terminal.press("H")
    terminal.wait_for("1 saved run")
    terminal.press("v")
    terminal.wait_for("Enter start")
    if not blind:
        terminal.press("down")
    at = len(terminal.raw)
    terminal.press("enter")
    terminal.wait_for("To what extent does the answer violate it?")
    terminal.wait_for("voice on")
    return at


def give_in(terminal: Terminal, key: str, number: int) -> None:
    """An extent for the item on the screen; a key that comes in the same moment as the item does nothing, so again."""
    for _ in range(9):
        terminal.press(key)
        try:
            terminal.wait_for(f"{number}/{ITEMS}", within=10)
        except AssertionError:
            continue
        return
    raise AssertionError(f"{key} does nothing. The screen:\n{terminal.screen.text}")


class LeakCheck:
    """Presses keys, and after each looks for names everywhere."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.steps = 0

    def look(self) -> None:
        screen = self._terminal.screen
        for name in NAMES:
            assert name not in screen.text.casefold(), screen.text
            assert name not in screen.title.casefold()
        self.steps += 1

    def step(self, keys: str | tuple[str, ...], shows: str) -> None:
        self._terminal.press(*((keys,) if isinstance(keys, str) else keys))
        self._terminal.wait_for(shows)
        self.look()

    def back(self, hides: str, key: str = "escape") -> None:
        self._terminal.press(key)
        self._terminal.wait_while(hides)
        self.look()


@pytest.mark.parametrize(
    "searched",
    [
        ("", "name"),
        pytest.param(("model", "report", "figures", "run", "theme", "matrix"), marks=pytest.mark.long),
    ],
)
def test_a_walk_through_every_screen_that_can_be_reached_finds_no_name(
    tmp_path: Path, searched: tuple[str, ...]
) -> None:
    environ = environ_of(tmp_path)
    record_seed(environ, SEED)
    with Terminal(run_here("-m", "tui", tmp_path / "none"), size=(140, 44), cwd=ROOT, env=environ) as shown:
        at = review_in(shown)
        check = LeakCheck(shown)
        check.look()
        check.step(("c", *"a note", "enter"), "saved with the extent")
        check.step("3", "u undoes")
        check.step(",", "a note")
        for key, text in {"G": "Version", "B": "Weight × extent determines", "T": "Nothing is overwritten"}.items():
            check.step(key, text)
            check.back(text)
        check.step("?", "Focused place")
        check.step("end", "Everywhere")
        check.back("Everywhere")
        for words in searched:
            check.step("ctrl+p", "Search for commands")
            if words:
                check.step(tuple(words), words)
            check.back(words or "Search for commands")
        check.back("Enter next", "S")  # Enter selects an item of the queue, which has the focus now
        check.step(("down", "down", "enter"), "Enter next")
        check.back("queue order", "S")
        check.step(("/", *"model:zeb*"), "Names are hidden until you reveal")
        check.back("Names are hidden until")
        check.step(("/", *"is:disputed"), "Scores of other reviewers are")
        check.back("Scores of other reviewers are")
        check.step(("/", *"sev:low", "enter"), "filter 0/2")
        check.back("filter 0/2")
        check.step("s", "Sort queue")
        assert "by model" not in shown.screen
        check.back("Sort queue")
        check.step("!", "Reveal the names?")
        check.back("Reveal the names?", "n")
        for key in ("a", "I", "O", "n", "N"):
            check.step(key, "Not available while names are hidden")
        check.step("d", "e")
        check.step("d", "voice on")
        check.step("z", "voice on")
        check.step("z", "To what extent does")
        check.step("x", "Undone" if "▸" in shown.screen.text else "not scored")
        check.step("u", "To what extent does")
        check.step("escape", "Leave Review?")
        check.back("Leave Review?", "n")
        done = int(next(word for word in shown.screen.lines[0].split() if word.endswith(f"/{ITEMS}"))[0])
        for number in range(done + 1, ITEMS + 1):
            give_in(shown, "2", number)
            check.look()
        shown.wait_for(f"All {ITEMS} items are scored")
        check.look()
        written = bytes(shown.raw[at:]).lower()
        assert not any(name.encode() in written for name in NAMES), "not for a moment"
        shown.press("!", "y")
        shown.wait_for("Names are now visible")
        shown.press(",")
        shown.wait_until(lambda now: "zebra-one" in now or "walrus-two" in now, "a name is in the title")
        assert check.steps > 40
        shown.press("q")
        assert shown.wait_exit() == 0
        assert restored(shown)


@pytest.mark.long
def test_every_score_that_was_shown_as_given_outlives_a_kill(tmp_path: Path) -> None:
    environ = environ_of(tmp_path)
    with Terminal(run_here("-m", "tui", tmp_path / "none"), size=(120, 40), cwd=ROOT, env=environ) as shown:
        review_in(shown)
        for number, key in enumerate("3142", 1):
            give_in(shown, key, number)
        shown.press("0")
        os.kill(shown.pid, signal.SIGKILL)
        assert shown.wait_exit() == -signal.SIGKILL
        seen = max(number for number in range(ITEMS + 1) if f"{number}/{ITEMS}" in shown.screen)
    bench = Session(environ)
    kept = bench.reviews.open_review(RUN_ID, ME, blind=True)
    given = [act.extent for act in kept.board.acts]
    assert seen >= 4
    assert given[:seen] == [3, 1, 4, 2, 0][:seen]
    assert kept.problems == ()
    bench.store.close()


async def test_names_are_shown_after_revealing_and_scores_stay(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        assert "blind" in title(seen)
        assert "seed" in title(seen)
        assert "Answer 1" in drawn(seen)
        assert "Checks" not in drawn(seen)
        await give(seen, "3", "2")
        await seen.press("exclamation_mark")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("n")
        assert screen(seen).review_session.hidden
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: not screen(seen).review_session.hidden and target(seen))
        await seen.until(lambda: "zebra-one" in drawn(seen) or "walrus-two" in drawn(seen))
        assert "Checks" in drawn(seen)
        assert "blind" not in title(seen)
        assert "2/6" in title(seen)
        assert [(act.act, act.blind) for act in acts(session)] == [("score", True), ("score", True), ("reveal", True)]
        await give(seen, "1")
        assert acts(session)[-1].blind is False
        await seen.press("exclamation_mark")
        await seen.until(lambda: seen.notices and "already visible" in seen.notices[-1])
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen), "nothing is asked any more")


async def test_names_that_were_revealed_in_another_window_are_shown_before_the_next_score(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        await give(seen, "3")
        session.reviews.open_review(RUN_ID, ME, blind=True).reveal()
        await seen.press("2")
        await seen.until(
            lambda: seen.notices and "revealed the names of this run in another window" in seen.notices[-1]
        )
        await seen.until(lambda: "zebra-one" in drawn(seen) or "walrus-two" in drawn(seen))
        assert "blind" not in title(seen)
        assert [(act.act, act.blind) for act in acts(session)] == [("score", True), ("reveal", True)]
        await give(seen, "2")
        assert [(act.act, act.blind) for act in acts(session)][2:] == [("score", False)]


@pytest.mark.parametrize("key", ["u", *(pytest.param(key, marks=pytest.mark.long) for key in ("1", "3"))])
async def test_a_score_of_another_window_is_shown_before_a_key_changes_it(tmp_path: Path, key: str) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        item = screen(seen).review_session.item
        assert item is not None
        await give(seen, "3")
        session.reviews.open_review(RUN_ID, ME, blind=True).give(item.key, 4, "leaks a password, see line 3")
        await seen.press("backspace")
        await seen.until(lambda: target(seen) == item.key)
        assert "leaks a password" not in drawn(seen)
        await seen.press(key)
        await seen.until(lambda: seen.notices and "scored in another window" in seen.notices[-1])
        await seen.until(lambda: "leaks a password" in drawn(seen))
        assert [act.extent for act in acts(session)] == [3, 4]


async def test_the_next_key_is_about_the_item_that_was_scored_in_another_window(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        await seen.press("slash", *"is:open", "enter")
        await seen.until(lambda: "filter 0/6" in title(seen) and target(seen))
        item = target(seen)
        assert item is not None
        session.reviews.open_review(RUN_ID, ME, blind=True).give(item, 4)
        await seen.press("2")
        await seen.until(lambda: seen.notices and "scored in another window" in seen.notices[-1])
        await seen.until(lambda: target(seen) == item and "▸ 4" in drawn(seen))
        await give(seen, "2")
        assert [(act.item, act.extent) for act in acts(session)] == [(item, 4), (item, 2)]


async def test_a_refused_undo_shows_its_item_and_leaves_older_scores_alone(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        await give(seen, "4")
        changed = target(seen)
        assert changed is not None
        await give(seen, "3")
        session.reviews.open_review(RUN_ID, ME, blind=True).give(changed, 0)
        stored = acts(session)
        await seen.press("u")
        await seen.until(lambda: seen.notices and "scored in another window" in seen.notices[-1])
        await seen.until(lambda: target(seen) == changed and "▸ 0" in drawn(seen))
        assert last(seen) == "", "what was done last is not what u takes back"
        await seen.press("u")
        await seen.until(lambda: "Nothing to undo" in seen.notices[-1])
        assert acts(session) == stored
        await give(seen, "1")
        await seen.press("u")
        await seen.until(lambda: target(seen) == changed and len(acts(session)) == len(stored) + 2)
        assert acts(session)[-1].extent == 0


async def test_names_that_were_revealed_elsewhere_appear_at_the_same_item(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        await seen.press("slash", *"is:open", "enter")
        await seen.until(lambda: "filter 0/6" in title(seen) and target(seen))
        await give(seen, "3")
        await seen.press("backspace")
        await seen.until(lambda: "▸ 3" in drawn(seen))
        item = target(seen)
        session.reviews.open_review(RUN_ID, ME, blind=True).reveal()
        await seen.press("2")
        await seen.until(lambda: "blind" not in title(seen) and target(seen) == item)


async def test_what_others_scored_waits(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, _):
        seen.screen.notify(f"Not run: {A}.")
        await seen.press("G", "escape")
        assert not seen.notices
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: any(A in notice for notice in seen.notices))


async def test_other_peoples_scores_are_hidden_until_then(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    others = Reviews(store, tmp_path / "data", Config()).open_review(RUN_ID, OTHER, blind=False)
    for item in others.items:
        others.give(item.key, 4, "their reason")
    async with reviewed(tmp_path, store) as (seen, _):
        await give(seen, "1")
        await seen.press("comma")
        await seen.until(lambda: "▸ 1" in drawn(seen))
        assert OTHER not in drawn(seen)
        assert "their reason" not in drawn(seen)
        await seen.press("T")
        await seen.until(lambda: isinstance(seen.app.screen, TextScreen) and ME in drawn(seen))
        assert OTHER not in drawn(seen)
        await seen.press("escape", "S")
        assert "differ" not in drawn(seen)
        await seen.press("S", "exclamation_mark", "y")
        await seen.until(lambda: OTHER in drawn(seen) and "their reason" in drawn(seen))
        assert "highest counts" in drawn(seen)


async def score_and_look_beside_names(seen: Seen) -> None:
    """Score every item blind; expect that neither Explore nor the matrix shows any scores beside names."""
    await give(seen, *"444444"[:ITEMS])
    await seen.press("escape", "y")
    await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
    await seen.press("H", "enter")
    await seen.until(lambda: "saved runs" in drawn(seen))
    await seen.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
    await seen.until(lambda: seen.screen.details.current == "risk" and "scores hidden in 4 rows" in drawn(seen))
    assert "4 total" not in drawn(seen)
    await seen.press("m")
    await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "query by mail" in drawn(seen))
    assert "critical" not in drawn(seen)


@pytest.mark.parametrize("others", [False, True])
async def test_scores_are_not_shown_beside_names_during_a_blind_review(tmp_path: Path, others: bool) -> None:
    store = keep_run(tmp_path)
    if others:
        review = Reviews(store, tmp_path / "data", Config()).open_review(RUN_ID, OTHER, blind=False)
        for item in review.items:
            review.give(item.key, 4)
    async with reviewed(tmp_path, store) as (seen, _):
        await score_and_look_beside_names(seen)
        await seen.press("v")
        await begin(seen)
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: not screen(seen).review_session.hidden)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "critical" in drawn(seen))
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen) and "4 total" in drawn(seen))


async def test_whoever_scored_last_here_is_not_shown_their_own_either(tmp_path: Path) -> None:
    async with at_runs(tmp_path, keep_run(tmp_path), config=Config(reviewer=ME)) as (seen, _):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        await seen.press("n", "ctrl+u", *"Bea Bold", "enter")
        await begin(seen)
        await score_and_look_beside_names(seen)
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen) and "Bea Bold" in drawn(seen))
        await seen.press("escape", "m")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        await seen.press("O")
        await seen.until(lambda: "names next to 6 scores" in drawn(seen))


async def test_another_name_than_that_of_who_has_seen_the_names_is_offered_a_blind_review(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, _):
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: not screen(seen).review_session.hidden)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen | RunsScreen))
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        dialog = seen.app.screen
        assert isinstance(dialog, ReviewStartScreen)
        assert dialog._list.cursor == 1, "blind is unavailable"
        await seen.press("n", "ctrl+u", *"Bea Bold", "enter")
        await seen.until(lambda: dialog._list.cursor == 0 and dialog._list.has_focus)


async def test_a_second_person_begins_on_their_own(tmp_path: Path) -> None:
    store = keep_run(tmp_path)
    async with reviewed(tmp_path, store) as (seen, _):
        await give(seen, "3")
        mine = screen(seen).review_session.review
    async with at_runs(tmp_path, store, config=Config(reviewer=OTHER)) as (seen, _):
        await seen.press("v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
        assert "1 other reviewer has scored too" in drawn(seen)
        await begin(seen)
        assert "0/6" in title(seen)
        assert last(seen) == ""
        theirs = screen(seen).review_session.review
        assert sorted(item.key for item in theirs.items) == sorted(item.key for item in mine.items)
        assert theirs.seed != mine.seed, "everybody has an order of their own"


def self_naming_run(folder: Path) -> SqliteStore:
    """A run whose answers say who wrote them."""
    kept = [replace(each, attempts=tuple(map(_name_author, each.attempts))) for each in results(cases=CASES)]
    return keep_run(folder, kept)


def _name_author(attempt: Attempt) -> Attempt:
    words = "I am Zebra-One, and Claude by Anthropic says so too.\n\n"
    return replace(attempt, steps=tuple(replace(step, response=words + step.response) for step in attempt.steps))


async def test_names_in_answers_are_masked_until_they_are_revealed(tmp_path: Path) -> None:
    async with reviewed(tmp_path, self_naming_run(tmp_path)) as (seen, session):
        await seen.until(lambda: "I am ▇▇▇, and ▇▇▇ by ▇▇▇ says so too." in drawn(seen))
        assert "3 names masked" in drawn(seen)
        assert not any(name in drawn(seen).lower() for name in ("zebra", "claude", "anthropic"))
        await seen.press("M")
        await seen.until(lambda: isinstance(seen.app.screen, TextScreen) and "2 × a model's name" in drawn(seen))
        assert "zebra" not in drawn(seen).lower()
        await seen.press("escape")
        await give(seen, "1")
        assert acts(session)[-1].masked == 3
        await seen.press("comma", "exclamation_mark", "y")
        await seen.until(lambda: "I am Zebra-One, and Claude by Anthropic" in drawn(seen))
        assert "masked" not in drawn(seen)


@pytest.mark.long
async def test_nobody_waits_for_masks_after_the_review_is_closed(tmp_path: Path) -> None:
    async with reviewed(tmp_path, self_naming_run(tmp_path)) as (seen, _):
        names = screen(seen).review_session.review.names
        assert names.mask("Claude").text == "▇▇▇"
        await seen.press("escape", "y")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        with pytest.raises(MaskingStopped):
            names.mask("Claude")


async def test_leaving_a_blind_session_for_names_is_recorded(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        assert "is recorded" not in drawn(seen), "nothing was scored yet"
        await seen.press("n")
        await give(seen, "1")
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen) and "is recorded" in drawn(seen))
        await seen.press("y")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        assert [act.act for act in acts(session)] == ["score", "look"]
        await seen.press("H", "enter")
        await seen.until(lambda: "saved runs" in drawn(seen))
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "query by mail" in drawn(seen))
        assert [act.act for act in acts(session)] == ["score", "look"], "still the same look"


async def test_names_seen_after_a_fresh_start_are_recorded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # reports are written beside
    store = keep_run(tmp_path)
    async with reviewed(tmp_path, store) as (seen, session):
        await give(seen, "1")
    for number, (where, key) in enumerate({"Explore": "enter", "Compare": "C", "a report": "O"}.items(), 2):
        async with at_runs(tmp_path, store, config=Config(reviewer=ME)) as (seen, session):
            assert len(acts(session)) == number - 1, "the list shows no answer"
            await seen.press(key)
            if where == "a report":
                await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
                await seen.press("enter", "enter")
            await seen.until(partial(_has_acts, session, number), where)
            assert (acts(session)[-1].act, acts(session)[-1].note, acts(session)[-1].reviewer) == ("look", where, ME)
            if where == "Explore":
                await seen.press("m")
                await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and "query by mail" in drawn(seen))
                assert len(acts(session)) == number, "still the same look"


def _has_acts(session: ScriptedSession, number: int) -> bool:
    return len(acts(session)) == number


async def test_items_of_replaced_answers_are_open_again_before_all_are_scored_and_names_shown(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=True) as (seen, session):
        review_session = screen(seen).review_session
        items = [item.key for item in review_session.review.items]
        await give(seen, *"1" * (len(items) - 1))
        assert last(seen), "undo is offered"
        first = items[0].trial
        replace_answer(tmp_path, first)
        reopened = sum(key.trial == first for key in items[:-1])
        await seen.press("1")
        await seen.until(lambda: seen.notices and "that you scored" in seen.notices[-1])
        assert review_session.scored == len(items) - reopened
        assert last(seen) == ""
        await seen.until(lambda: target(seen) == items[0] and "Another answer." in drawn(seen))
        await give(seen, *"2" * reopened)
        await seen.until(lambda: review_session.item is None)
        replace_answer(tmp_path, items[-1].trial)
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: (shown := target(seen)) is not None and shown.trial == items[-1].trial)
        assert review_session.hidden
        assert not any(act.act == "reveal" for act in acts(session))


async def test_answers_that_came_after_the_queue_was_made_are_named_before_names_are_shown(tmp_path: Path) -> None:
    every = results()
    store = keep_run(tmp_path, every[:2])  # those of the other cases come while these are scored
    async with reviewed(tmp_path, store) as (seen, _):
        await seen.press("!")
        await seen.until(lambda: "4 items of this queue are open" in drawn(seen))
        assert "not blind." in drawn(seen)
        assert "after this queue was made" not in drawn(seen)
        await seen.press("n")
        await seen.until(lambda: seen.app.screen is screen(seen))
        store.save_trials(RUN_ID, every[2:])
        await give(seen, *"1234")
        await seen.until(lambda: "All 4 items of this queue are scored" in drawn(seen))
        later = "2 answers were saved after this queue was made"
        assert later in drawn(seen)
        await seen.press("!")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen) and later in drawn(seen))
        assert "of this queue are open" not in drawn(seen)
        await seen.press("n")
        await seen.until(lambda: seen.app.screen is screen(seen))
        await seen.press("escape", "y")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("H", "v")
        await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen) and "2 open" in drawn(seen))
