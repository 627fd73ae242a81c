"""The search loop, with searches that a test ends one by one."""

from asyncio import Event

from textual.app import App
from textual.pilot import Pilot

from tests.support.pilots import until
from tui.app.widgets.search_loop import SearchLoop


class LoopApp(App[None]):
    """An app with a loop; a search ends when its text is ended."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[str] = []
        self.events: list[str] = []
        self.ends = {text: Event() for text in ("a", "ab", "abc")}
        self.loop = SearchLoop(self, self.search, self.show, self.accepted)

    async def search(self, text: str) -> str:
        self.started.append(text)
        await self.ends[text].wait()
        return text.upper()

    def show(self, text: str, result: str) -> None:
        self.events.append(f"{self.loop.shown_text!r} to {text!r}: {result}")

    def accepted(self) -> None:
        self.events.append(f"accepted {self.loop.shown_text}")

    async def ended(self, pilot: Pilot[None], text: str) -> None:
        self.ends[text].set()
        await until(pilot, lambda: self.loop.shown_text == text)


async def test_only_the_last_of_the_texts_typed_during_a_search_is_searched() -> None:
    async with LoopApp().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, LoopApp)
        for text in ("a", "ab", "abc"):
            app.loop.start(text)
            await until(pilot, lambda: app.started == ["a"])
        await app.ended(pilot, "a")
        await until(pilot, lambda: app.started == ["a", "abc"])
        assert app.loop.is_running
        await app.ended(pilot, "abc")
        await until(pilot, lambda: not app.loop.is_running)
        assert app.events == ["'' to 'a': A", "'a' to 'abc': ABC"]


async def test_a_text_is_accepted_when_its_result_is_displayed() -> None:
    async with LoopApp().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, LoopApp)
        app.loop.accept("a")
        assert app.loop.is_running, "the text was not searched yet"
        assert app.events == []
        await app.ended(pilot, "a")
        await until(pilot, lambda: app.events[-1] == "accepted a")
        app.loop.accept("a")
        assert app.events == ["'' to 'a': A", "accepted a", "accepted a"], "the second time at once"


async def test_nothing_is_accepted_after_another_text_was_typed() -> None:
    async with LoopApp().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, LoopApp)
        app.loop.accept("a")
        await until(pilot, lambda: app.started == ["a"])
        app.loop.stop_accepting()
        app.loop.start("ab")
        app.ends["a"].set()
        await app.ended(pilot, "ab")
        await until(pilot, lambda: not app.loop.is_running)
        assert app.events == ["'' to 'a': A", "'a' to 'ab': AB"]


async def test_a_known_result_is_displayed_without_a_search() -> None:
    async with LoopApp().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, LoopApp)
        app.loop.show("ab", "known")
        app.loop.accept("ab")
        assert app.started == []
        assert app.events == ["'' to 'ab': known", "accepted ab"]
