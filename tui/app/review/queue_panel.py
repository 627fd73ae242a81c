"""The queue of a review session as a list, with an input for its filter."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from tui.app.presentation.pieces import Line
from tui.app.review.lines import queue_line
from tui.app.review.queue import ORDERS, ReviewSession
from tui.app.review.queue_filter import complete_queue_filter
from tui.app.widgets.filter_line import FilterLine
from tui.app.widgets.key_queue import KeyCapture, KeyQueue
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.filter import Completion
from tui.session.saved_filters import SavedFilters

_BLIND_EXAMPLE = "is:open band:high sev:critical case:… !word"
_EXAMPLE = "is:open is:disputed band:high sev:critical model:… case:… !word"


class QueueList(LineListView):
    """List the items that the filter selects."""

    session: ReviewSession | None = None

    @property
    def line_count(self) -> int:
        """Return how many items the filter selects."""
        return len(self.session.visible) if self.session else 0

    def line_at(self, place: int, width: int) -> Line:
        """Return the line of an item."""
        session = self.session
        if session is None:
            return ()
        index = session.visible[place]
        return queue_line(
            session.review.items[index],
            session.statuses[index],
            hidden=session.hidden,
            width=width,
        )

    def show_cursor(self) -> None:
        """Scroll to the cursor."""
        self.scroll_to_region(Region(0, max(0, self.cursor), 1, 1), animate=False, x_axis=False)


class _FilterInput(PromptInput):
    # Without priority: the queue of keys keeps Escape in its place among the letters.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", id="line.leave", tooltip="Discard input"),
    ]

    def __init__(self, keys: KeyQueue, below: Widget) -> None:
        super().__init__("", below)
        self._capture = KeyCapture(keys, self, focused_only=True)

    def start(self) -> None:
        """Take the keys from the next one on."""
        self._capture.begin()
        super().start()

    async def on_key(self, event: Key) -> None:
        """Handle Enter and Esc in their place among the letters: a binding would overtake letters on their way."""
        if not self._capture.accepts(event) or event.key not in ("enter", "escape"):
            return
        event.prevent_default()
        event.stop()
        self._capture.end()
        if event.key == "enter":
            await self.action_submit()
        else:
            self.post_message(self.Left(self))


class QueuePanel(Vertical):
    """Show the queue; post where the cursor is, and each change of the filter."""

    DEFAULT_CSS = """
    QueuePanel {
        width: 44; height: 1fr; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim; padding: 0 1; display: none;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    QueuePanel QueueList { height: 1fr; }
    QueuePanel PromptInput { display: none; }
    """

    class ItemReached(Message):
        """The cursor is on the item at `position` of the visible ones; it was also `selected` by Enter or a click."""

        def __init__(self, position: int, selected: bool) -> None:
            super().__init__()
            self.position, self.selected = position, selected

    class FilterChanged(Message):
        """The filter has another text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class FilterClosed(Message):
        """The input of the filter was left."""

    def __init__(self, keys: KeyQueue, filters: SavedFilters) -> None:
        super().__init__()
        self._filters = filters
        self.lines = QueueList()
        self._filter = _FilterInput(keys, self.lines)
        self._filter_line = FilterLine(self._filter, self._complete, filters)

    def compose(self) -> ComposeResult:
        """Yield the list and the input."""
        yield self.lines
        yield self._filter_line

    def _complete(self, text: str, cursor: int) -> list[Completion]:
        session = self.lines.session
        if session is None:
            return []
        items, saved = session.review.items, self._filters.texts
        return complete_queue_filter(text, cursor, items, saved, hidden=session.hidden)

    def show(self, session: ReviewSession) -> None:
        """Show another state of the session."""
        position = session.position
        self.lines.session = session
        self.lines.lines_changed(position if position is not None else self.lines.cursor)
        if position is not None:
            self.lines.go_to(position)
        visible, count = len(session.visible), len(session.review.items)
        self.border_title = Content("Queue" if visible == count else f"Queue {visible} of {count}")
        self.border_subtitle = Content(session.filter.hint or dict(ORDERS)[session.order])
        self._filter.placeholder = _BLIND_EXAMPLE if session.hidden else _EXAMPLE

    def show_cursor(self) -> None:
        """Scroll to the current item."""
        if self.lines.session is not None:
            self.show(self.lines.session)
            self.lines.show_cursor()

    @property
    def filter_text(self) -> str:
        """The text of the filter."""
        return self._filter.value

    def open_filter(self) -> None:
        """Type a filter, from the next key on."""
        self._filter.display = True
        self._filter_line.start()

    def close_filter(self) -> None:
        """Clear and hide the filter."""
        self._filter.value = ""
        self._filter.display = False

    def set_filter_text(self, text: str) -> None:
        """Show the filter that an action has set."""
        with self.prevent(PromptInput.Typed):
            self._filter.value = text
        self._filter.display = bool(text)

    @on(PromptInput.Typed)
    def post_filter(self, message: PromptInput.Typed) -> None:
        """Post the filter while it is typed."""
        message.stop()
        if not isinstance(message, PromptInput.Entered):
            self.post_message(self.FilterChanged(message.text))

    @on(PromptInput.Entered)
    def keep_filter(self, message: PromptInput.Entered) -> None:
        """Leave the input, with the filter applied."""
        message.stop()
        self._filter.display = bool(self._filter.value)
        self.post_message(self.FilterClosed())

    @on(PromptInput.Left)
    def clear_filter(self, message: PromptInput.Left) -> None:
        """Leave the input without a filter."""
        message.stop()
        self.close_filter()
        self.post_message(self.FilterChanged(""))
        self.post_message(self.FilterClosed())

    @on(LineListView.Reached)
    def post_item(self, message: LineListView.Reached) -> None:
        """Post where the cursor is."""
        message.stop()
        self.post_message(self.ItemReached(message.place, isinstance(message, LineListView.Chosen)))
