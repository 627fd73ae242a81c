"""The queue as a list, with a line to filter it."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Region
from textual.message import Message

from tui.app.presentation.pieces import Line
from tui.app.review.lines import queue_line
from tui.app.review.queue import ORDERS, ReviewSession
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.writer import KeyCapture

_BLIND = "is:open band:high sev:critical case:… !word"
_NAMED = "is:open is:disputed band:high sev:critical model:… case:… !word"


class QueueLines(LineListView):
    """The items that the filter shows."""

    review_session: ReviewSession | None = None

    @property
    def line_count(self) -> int:
        """Those that are shown."""
        return len(self.review_session.shown) if self.review_session else 0

    def line_at(self, place: int, width: int) -> Line:
        """One item."""
        review_session = self.review_session
        if review_session is None:
            return ()
        at = review_session.shown[place]
        return queue_line(
            review_session.review.items[at],
            review_session.stands[at],
            review_session.review.rule,
            hidden=review_session.hidden,
            width=width,
        )

    def look(self) -> None:
        """Bring the cursor into sight."""
        self.scroll_to_region(Region(0, max(0, self.cursor), 1, 1), animate=False, x_axis=False)


class _FilterLine(PromptInput, KeyCapture):
    """The line that the filter is typed in."""

    def start(self) -> None:
        """From the very next key on."""
        self.ended = False
        super().start()

    async def on_key(self, event: Key) -> None:
        """In the order in which they were typed: a binding would come before letters that are on their way."""
        if self.is_late(event) or event.key not in ("enter", "escape"):
            return
        event.prevent_default()
        event.stop()
        self.ended = True
        if event.key == "enter":
            await self.action_submit()
        else:
            self.action_leave()


class ReviewQueue(Vertical):
    """Shows a sitting's queue; says where the cursor came to, and what was typed as a filter."""

    DEFAULT_CSS = """
    ReviewQueue {
        width: 44; height: 1fr; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim; padding: 0 1; display: none;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    ReviewQueue.-open { display: block; }
    ReviewQueue QueueLines { height: 1fr; }
    ReviewQueue PromptInput { display: none; }
    """

    class ItemReached(Message):
        """The cursor is on an item; `place` counts the shown ones from 0. `chosen`: it is to be read now."""

        def __init__(self, place: int, chosen: bool) -> None:
            super().__init__()
            self.place, self.chosen = place, chosen

    class FilterTyped(Message):
        """Another filter."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class FilterClosed(Message):
        """Nobody types any more."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.line = QueueLines(), _FilterLine("")

    def compose(self) -> ComposeResult:
        """List and line."""
        yield self.lines
        yield self.line

    def show(self, review_session: ReviewSession) -> None:
        """Another state."""
        self.lines.review_session = review_session
        self.lines.lines_changed(review_session.at if review_session.at is not None else self.lines.cursor)
        if review_session.at is not None:
            self.lines.go_to(review_session.at)
        shown, all_ = len(review_session.shown), len(review_session.review.items)
        self.border_title = Content("Queue" if shown == all_ else f"Queue {shown} of {all_}")
        said = review_session.wanted.hint or dict(ORDERS)[review_session.order]
        self.border_subtitle = Content(said)
        self.line.placeholder = _BLIND if review_session.hidden else _NAMED

    def look(self) -> None:
        """Bring the item that is looked at into sight."""
        if self.lines.review_session is not None:
            self.show(self.lines.review_session)
            self.lines.look()

    @property
    def typing(self) -> bool:
        """Whether a filter is being typed; the line itself learns a little later that it has the keys."""
        return bool(self.line.display) and self.screen.focused is self.line

    def open_filter(self) -> None:
        """Type here, from the very next key on."""
        self.line.display = True
        self.line.start()

    def close_filter(self) -> None:
        """No filter."""
        self.line.value = ""
        self.line.display = False

    def put_filter(self, text: str) -> None:
        """A filter that a key stands for."""
        with self.prevent(PromptInput.Typed):
            self.line.value = text
        self.line.display = bool(text)

    @on(PromptInput.Typed)
    def tell_filter(self, message: PromptInput.Typed) -> None:
        """Say what is wanted."""
        message.stop()
        if not isinstance(message, PromptInput.Entered):
            self.post_message(self.FilterTyped(message.text))

    @on(PromptInput.Entered)
    def take_filter(self, message: PromptInput.Entered) -> None:
        """It stays."""
        message.stop()
        self.line.display = bool(self.line.value)
        self.post_message(self.FilterClosed())

    @on(PromptInput.Left)
    def leave_filter(self, message: PromptInput.Left) -> None:
        """It goes."""
        message.stop()
        self.close_filter()
        self.post_message(self.FilterTyped(""))
        self.post_message(self.FilterClosed())

    @on(LineListView.Reached)
    def tell_reached(self, message: LineListView.Reached) -> None:
        """Say where the cursor is."""
        message.stop()
        self.post_message(self.ItemReached(message.place, isinstance(message, LineListView.Chosen)))
