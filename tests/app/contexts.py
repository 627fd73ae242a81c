"""A context of the app over a scripted session, for parts that are tested without the app."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import App
from textual.message import Message
from textual.screen import Screen

from tests.support.scripted_session import ScriptedSession
from tui.app.context import AppContext, open_context
from tui.app.notifications import NotificationHold
from tui.session.consent import Consent


class Notified(Screen[None]):
    """A screen that records its notifications in `notices`."""

    def __init__(self) -> None:
        super().__init__()
        self.notices: list[str] = []

    def notify(self, message: str, **options: Any) -> None:
        del options
        self.notices.append(message)


async def make_context(
    session: ScriptedSession, app: App[Any] | None = None, posted: list[Message] | None = None
) -> AppContext:
    """Open a context and read its suites; messages go to `posted`, and every consent is given."""
    app = app or App()
    posted = [] if posted is None else posted

    async def allow(consent: Consent) -> bool:
        del consent
        return True

    context = await open_context(
        app,
        lambda: session,
        [Path("suites")],
        post=posted.append,
        confirm=allow,
        notification_hold=NotificationHold(app.notify, app.clear_notifications),
    )
    for each in context.open_suites.all:
        context.open_suites.read(each.path)
    return context


def select_first(context: AppContext, case_id: str | None = None) -> Path:
    """Select a case of the first suite, and return its path."""
    suites: Sequence[Path] = [each.path for each in context.open_suites.all]
    context.selection.select(suites[0], case_id)
    return suites[0]
