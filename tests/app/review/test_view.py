"""The view of a review session: it loads the current item, and makes it the target of the keys."""

import threading
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen

from tests.app.review.items import replace_answer, session_of
from tests.support.pilots import until
from tests.support.terminal import WAIT_SECONDS
from tui.app.review.answers import AnswerCache
from tui.app.review.queue import ReviewSession
from tui.app.review.view import ReviewView
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.key_queue import KeyQueue
from tui.model.errors import StoreError
from tui.session.pane_sizes import PaneSizes
from tui.session.saved_filters import SavedFilters


class _Screen(Screen[None]):
    def __init__(self, session: ReviewSession) -> None:
        super().__init__()
        self.keys = KeyQueue(self)
        sizes, filters = PaneSizes(Path("none") / "pane-sizes.json"), SavedFilters(Path("none/filters.json"))
        self.view = ReviewView(session, self.keys, sizes, filters)
        self.shown = 0

    def target(self) -> object:
        return self.keys.target

    def compose(self) -> ComposeResult:
        yield self.view

    def on_review_view_item_shown(self) -> None:
        self.shown += 1


async def test_an_item_is_the_target_of_keys_once_its_answer_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(tmp_path)
    items, may_read, load = session.review.items, threading.Event(), AnswerCache.load

    def slow(answers: AnswerCache, item: object) -> object:
        may_read.wait(WAIT_SECONDS)
        return load(answers, item)  # type: ignore[arg-type]

    monkeypatch.setattr(AnswerCache, "load", slow)
    app: App[None] = ThemedApp()
    async with app.run_test(size=(140, 44)) as pilot:
        screen = _Screen(session)
        await app.push_screen(screen)
        screen.view.show_item()
        await pilot.pause()
        assert (screen.target(), screen.shown) == (None, 0)
        may_read.set()
        await until(pilot, lambda: screen.shown == 1)
        assert screen.target() == items[0].key
        assert screen.view.answer.border_title == "walrus-two"
        session.step(1)
        screen.view.show_item()
        assert screen.target() is None, "the same answer, but another criterion, which is not drawn yet"
        await until(pilot, lambda: screen.target() == items[1].key)


async def test_an_answer_that_cannot_be_read_leaves_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise StoreError("The disk is gone")

    monkeypatch.setattr(AnswerCache, "load", broken)
    session = session_of(tmp_path)
    app: App[None] = ThemedApp()
    async with app.run_test(size=(140, 44)) as pilot:
        screen = _Screen(session)
        await app.push_screen(screen)
        screen.view.show_item()
        await until(pilot, lambda: "Criterion 1 of 2" in str(screen.view.criterion.border_title))
        assert (screen.target(), screen.shown, screen.view.loaded) == (None, 0, None)


async def test_a_replaced_answer_is_open_once_it_is_shown(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    item = session.review.items[0]
    session.review.give(item.key, 3, "about the old answer")
    session.refresh()
    replace_answer(tmp_path, item.key.trial)
    app: App[None] = ThemedApp()
    async with app.run_test(size=(140, 44)) as pilot:
        screen = _Screen(session)
        await app.push_screen(screen)
        assert session.go_to(item.key)
        screen.view.show_item()
        await until(pilot, lambda: screen.shown == 1)
        assert (session.status(item.key).mine, session.note(item)) == (None, "")


def test_threads_that_load_one_answer_get_the_same_version(tmp_path: Path) -> None:
    review = session_of(tmp_path).review
    item, answers = review.items[0], AnswerCache(review)
    first = answers.load(item)
    replace_answer(tmp_path, item.key.trial)
    assert answers.load(item) is first
    answers.clear()
    assert answers.load(item).hash != first.hash


async def test_at_the_end_of_the_queue_there_is_no_target(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    for item in session.review.items:
        session.review.give(item.key, 1)
    session.refresh()
    session.go_to_next_open()
    app: App[None] = ThemedApp()
    async with app.run_test(size=(140, 44)) as pilot:
        screen = _Screen(session)
        await app.push_screen(screen)
        screen.view.show_item()
        await until(pilot, lambda: "All 6 items are scored." in str(screen.view.query_one("#end Static").render()))
        assert screen.target() is None
        assert not screen.view.answer.display
