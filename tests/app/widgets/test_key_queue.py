"""Keys that arrive while a screen is busy: delivered in order, and never to something that was not shown."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Button, Input

from tests.support.pilots import until
from tui.app.widgets.key_queue import KeyCapture, KeyQueue


class _Input(Input):
    def __init__(self, keys: KeyQueue) -> None:
        super().__init__()
        self.capture = KeyCapture(keys, self, focused_only=True)

    async def on_key(self, event: Key) -> None:
        if self.capture.accepts(event) and event.key == "enter":
            event.stop()
            self.capture.end()
            self.post_message(self.Submitted(self, self.value))


class _Screen(Screen[None]):
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("3", "score", "score", priority=True),
        Binding("n", "walk", "next", priority=True),
        Binding("w", "wait", "wait", priority=True),
        Binding("p", "plain", "plain", priority=True),
        Binding("i", "type", "type", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.keys = KeyQueue(self)
        self.keys.target, self.keys.target_keys, self.keys.input_keys = 1, frozenset({"3"}), frozenset({"i"})
        self.input = _Input(self.keys)
        self.done: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.input

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        del action, parameters
        return self.keys.accepts_commands

    def on_key(self, event: Key) -> None:
        self.keys.handle(event)

    def on_input_submitted(self) -> None:
        self.done.append(f"text {self.input.value}")
        self.set_focus(None)
        self.keys.release()

    def action_score(self) -> None:
        self.done.append(f"score {self.keys.target}")

    def action_walk(self) -> None:
        self.keys.target = self.keys.target + 1 if isinstance(self.keys.target, int) else 1
        self.done.append(f"at {self.keys.target}")

    def action_wait(self) -> None:
        self.keys.begin_work()

    def action_plain(self) -> None:
        self.done.append("plain")

    def action_type(self) -> None:
        self.input.capture.begin()
        self.set_focus(self.input)

    def resume(self, target: int | None) -> None:
        self.keys.target = target
        self.keys.end_work()


async def test_keys_wait_in_their_order() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        await pilot.press("3", "p", "w", "p", "n", "p")
        assert screen.done == ["score 1", "plain"]
        screen.resume(1)
        await until(pilot, lambda: screen.done[2:] == ["plain", "at 2", "plain"])


async def test_a_key_for_another_target_does_nothing() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        await pilot.press("w", "3", "p")
        screen.resume(2)
        await until(pilot, lambda: screen.done == ["plain"])
        await pilot.press("w", "3", "p")
        screen.resume(2)
        await until(pilot, lambda: screen.done == ["plain", "score 2", "plain"])
        screen.keys.target = None
        await pilot.press("w", "3", "p")
        screen.resume(None)
        await until(pilot, lambda: screen.done[3:] == ["plain"])


async def test_held_keys_after_one_that_opens_an_input_are_its_text() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        await pilot.press("w", "i", "3", "p", "enter", "p")
        screen.resume(2)
        await until(pilot, lambda: screen.done == ["text 3p", "plain"], "the 3 is text, although the target is another")


async def test_keys_typed_right_after_the_end_of_a_text_are_commands() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        for key in ("i", "x", "enter", "3", "p"):
            pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: screen.done == ["text x", "score 1", "plain"])
        assert screen.keys.capture is None


async def test_a_key_that_is_refused_while_busy_and_arrives_later_is_not_lost() -> None:
    async with App[None]().run_test() as pilot:
        screen = _Screen()
        await pilot.app.push_screen(screen)
        late, other = Key("3", "3"), Key("p", "p")
        screen.keys.begin_work()
        screen.resume(2)
        screen.keys.handle(late)
        screen.keys.handle(other)
        await until(pilot, lambda: screen.done == ["plain"], "the 3 was meant for what was shown before")
        screen.keys.handle(Key("p", "p"))
        await pilot.pause()
        assert screen.done == ["plain"], "this key is new: no binding wants it"


class _AppWithBinding(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "leave", "leave")]
    left = False

    def action_leave(self) -> None:
        self.left = True


class _ScreenWithFocus(_Screen):
    def compose(self) -> ComposeResult:
        yield Button()
        yield self.input

    def on_mount(self) -> None:
        self.query_one(Button).focus()


async def test_a_key_typed_before_the_end_of_the_work_reaches_the_bindings_of_the_app() -> None:
    async with (app := _AppWithBinding()).run_test() as pilot:
        screen = _ScreenWithFocus()
        await app.push_screen(screen)
        await until(pilot, lambda: isinstance(app.focused, Button))
        typed = Key("q", "q")
        screen.keys.begin_work()
        screen.keys.end_work()
        app.post_message(typed)
        await until(pilot, lambda: app.left)


async def test_an_input_that_is_not_mounted_accepts_no_keys() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        screen: Screen[None] = Screen()
        await app.push_screen(screen)
        line = _Input(KeyQueue(screen))
        is_open = [line.capture.is_open]
        await screen.mount(line)
        line.focus()
        await until(pilot, lambda: line.capture.is_open)
        await line.remove()
        is_open.append(line.capture.is_open)
    assert is_open == [False, False]
