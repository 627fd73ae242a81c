"""The Explore screen over a scripted session, and what it displays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message
from textual.pilot import Pilot

from tests.support.pilots import until
from tests.support.scripted_session import Opened, ScriptedSession, case_of, suite_of
from tui.app.app import AssayApp
from tui.app.explore.answer_panes import AnswerPane
from tui.app.explore.checks_tab import ChecksTab
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.tabs import AttemptsTab
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView

CASES = (
    case_of("one", name="reverse a text", expects=["def"], forbids=["eval"], tags=["python"]),
    case_of("two", name="query by mail", category="Security", severity="critical"),
    case_of("three", name="hash a password", category="Security", severity="high"),
)


def session_for(folder: Path, *names: str) -> ScriptedSession:
    """Return a session with a suite of three cases for each name, and create their files empty."""
    session = ScriptedSession()
    for name in names or ("quickstart",):
        path = folder / f"{name}.yaml"
        path.write_text("")
        session.suites[path] = Opened(suite_of(path, *CASES, name=name))
    return session


@dataclass
class Seen:
    """The app under test, and what it displays."""

    app: AssayApp
    pilot: Pilot[int]
    session: ScriptedSession
    messages: list[Message]

    @property
    def screen(self) -> ExploreScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ExploreScreen)
        return screen

    @property
    def rows(self) -> list[str]:
        tree = self.screen.suites.suite_tree
        return [text_of(tree.line_at(place, 40)) for place in range(tree.line_count)]

    @property
    def row(self) -> str:
        return self.rows[self.screen.suites.suite_tree.cursor].strip()

    @property
    def header(self) -> str:
        return text_of(self.screen.header.line_for(200))

    @property
    def footer(self) -> str:
        return str(self.screen.query_one("KeyFooter").render())

    @property
    def overview(self) -> str:
        return str(self.screen.overview.query_one("Static").render())

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.app._notifications]

    @property
    def checks(self) -> list[str]:
        table = self.screen.query_one(ChecksTab).query_one(LineListView)
        return [text_of(table.line_at(place, 100)).strip() for place in range(table.line_count)]

    @property
    def attempts(self) -> list[str]:
        table = self.screen.query_one(AttemptsTab).query_one(LineListView)
        return [text_of(table.line_at(place, 100)).strip() for place in range(table.line_count)]

    @property
    def busy(self) -> bool:
        return self.screen.context.runs.busy

    def posted(self, kind: type[Message]) -> list[Message]:
        """Return the messages of a type so far."""
        return [message for message in self.messages if type(message) is kind]

    def pane(self, number: int) -> AnswerPane:
        return self.screen.answers.panes[number]

    def text(self, number: int) -> str:
        """Return the whole text of a pane: the answer, the note, the error."""
        pane = self.pane(number)
        rows = (pane.view.render_line(y).text.rstrip() for y in range(pane.view.size.height))
        return "\n".join(row for row in (*rows, str(pane.query_one(".fault").render())) if row)

    async def until(self, condition: object, what: str = "") -> None:
        """Wait until the function returns something true."""
        assert callable(condition)
        await until(self.pilot, condition, what)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def explored(session: ScriptedSession, size: tuple[int, int] = (140, 44)) -> AsyncIterator[Seen]:
    """Run the app on a session, with the first suite open."""
    app = AssayApp(lambda: session, [Path("suites")])
    messages: list[Message] = []

    def hear(message: Message) -> None:
        """Record a message once, although it bubbles through several widgets."""
        if not any(message is each for each in messages[-50:]):
            messages.append(message)

    async with app.run_test(size=size, message_hook=hear) as pilot:
        seen = Seen(app, pilot, session, messages)
        await seen.until(lambda: isinstance(app.screen_stack[0], ExploreScreen), "everything is loaded")
        await seen.until(lambda: seen.screen.selection.path, "a suite is open")
        yield seen
