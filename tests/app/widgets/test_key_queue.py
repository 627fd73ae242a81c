"""Keys that come while something is under way: in their order, and never about something that was not on the screen."""

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from tests.support.pilots import until
from tui.app.widgets.key_queue import KeyQueue


class _Screen(KeyQueue[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("3", "score", "score", priority=True),
        Binding("n", "walk", "next", priority=True),
        Binding("w", "wait", "wait", priority=True),
        Binding("p", "plain", "plain", priority=True),
    ]
    bound_keys = frozenset({"3"})

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.place: int | None = 1
        self.waits = False
        self.touches = 0

    @property
    def busy(self) -> bool:
        return self.waits

    @property
    def seen(self) -> int | None:
        return self.place

    def touched(self) -> None:
        self.touches += 1

    def action_score(self) -> None:
        self.done.append(f"score {self.place}")

    def action_walk(self) -> None:
        self.place = (self.place or 0) + 1
        self.done.append(f"at {self.place}")

    def action_wait(self) -> None:
        self.waits = True

    def action_plain(self) -> None:
        self.done.append("plain")

    def go_on(self, place: int | None) -> None:
        self.waits, self.place = False, place
        self.release()


async def test_keys_wait_in_their_order() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        await pilot.press("3", "p", "w", "p", "n", "p")
        assert screen.done == ["score 1", "plain"]
        screen.go_on(1)
        await until(pilot, lambda: screen.done[2:] == ["plain", "at 2", "plain"])
        assert screen.touches == 3


async def test_what_was_meant_for_another_place_does_nothing() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        await pilot.press("w", "3", "p")
        screen.go_on(2)
        await until(pilot, lambda: screen.done == ["plain"])
        await pilot.press("w", "3", "p")
        screen.go_on(2)
        await until(pilot, lambda: screen.done == ["plain", "score 2", "plain"])
        screen.place = None
        await pilot.press("w", "3", "p")
        screen.go_on(None)
        await until(pilot, lambda: screen.done[3:] == ["plain"])
