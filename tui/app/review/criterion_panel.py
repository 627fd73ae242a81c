"""The criterion with its extents, and the note about the item."""

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from tui.app.review.criterion_lines import CriterionDrawing, CriterionState, draw_criterion, result_line
from tui.app.review.note_editor import NoteEditor
from tui.app.theme.styles import content_of, content_of_lines
from tui.app.widgets.key_queue import KeyQueue
from tui.model.scores import Extent, ReviewItem

_MOST_STACKED, _LEAST_STACKED, _EDITOR_ROWS = 11, 4, 4
_TIGHT_BELOW = 30  # rows of the screen: a lower one has more need of them for the answer
_FRAME_ROWS, _LEAST_ANSWER = 5, 5  # title, last act, keys and borders; the answer with its borders


class _Text(Static):
    """Show lines, some of which can be clicked."""

    ALLOW_SELECT = False
    drawn = CriterionDrawing(())

    class Clicked(Message):
        """The cells of an extent were clicked."""

        def __init__(self, extent: Extent) -> None:
            super().__init__()
            self.extent = extent

    def show(self, drawn: CriterionDrawing) -> None:
        if drawn != self.drawn:
            self.drawn = drawn
            self.update(content_of_lines(drawn.lines))

    def on_click(self, event: Click) -> None:
        extent = self.drawn.extent_at(event.x, event.y)
        # The second click of a double click would score the next item, which nobody has seen.
        if extent is not None and event.chain == 1:
            self.post_message(self.Clicked(extent))


class CriterionPanel(Vertical):
    """Show the criterion of one item, and edit its note."""

    DEFAULT_CSS = """
    CriterionPanel {
        width: 1fr; height: 1fr; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    CriterionPanel.-stacked { height: auto; }
    CriterionPanel VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; background: $background; }
    CriterionPanel NoteEditor { margin-top: 1; }
    CriterionPanel.-stacked NoteEditor { margin-top: 0; }
    CriterionPanel _Text { height: auto; width: 1fr; }
    """

    class ExtentClicked(Message):
        """An extent was clicked."""

        def __init__(self, extent: Extent) -> None:
            super().__init__()
            self.extent = extent

    def __init__(self, keys: KeyQueue) -> None:
        super().__init__()
        self.editor = NoteEditor(keys)
        self.noted_item: ReviewItem | None = None
        self._text, self._scroll = _Text(markup=False), VerticalScroll()
        self._judged: CriterionState | None = None

    def compose(self) -> ComposeResult:
        """Yield the text and the editor."""
        with self._scroll:
            yield self._text
        yield self.editor

    def show(self, state: CriterionState) -> None:
        """Show an item, or another state of it."""
        before = self._judged
        self._judged = state
        self.border_title = Content(f"Criterion {state.item.number} of {state.item.of}")
        self._draw()
        if before is None or before.item is not state.item:
            self._scroll.scroll_home(animate=False)

    def focus_text(self) -> None:
        """Move the focus to the text, to scroll in it."""
        self._scroll.focus()

    def on_resize(self) -> None:
        """Arrange the lines for the size."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self._judged is None:
            return
        width = max(20, self.content_region.width - 1)
        stacked, state = self.has_class("-stacked"), replace(self._judged, writing=self.editor.is_open)
        room = self._stacked_rows(state.writing) if stacked else self.content_region.height
        room -= _EDITOR_ROWS if state.writing and not stacked else 0
        drawn = draw_criterion(state, width, short=stacked, tight=stacked and self.screen.size.height < _TIGHT_BELOW)
        if not stacked and len(drawn.lines) > room:
            drawn = draw_criterion(state, width, short=True)
        self.border_subtitle = content_of(result_line(state)) if drawn.short else Content()
        self._text.show(drawn)
        self._scroll.styles.height = max(1, min(len(drawn.lines), room))

    def _stacked_rows(self, writing: bool) -> int:
        """Return how many rows the text may have below the answer, of which some have to remain visible."""
        room = self.screen.size.height - _FRAME_ROWS - _LEAST_ANSWER - (_EDITOR_ROWS - 1 if writing else 0)
        return max(_LEAST_STACKED, min(_MOST_STACKED, room))

    def edit_note(self, item: ReviewItem, note: str) -> None:
        """Open the editor for the note about an item; it takes the keys from the next one on."""
        self.noted_item = item
        self.editor.start(note)
        self._draw()

    def close_note(self) -> None:
        """Close the editor."""
        self.noted_item = None
        self.editor.close()
        self._draw()

    def on__text_clicked(self, message: _Text.Clicked) -> None:
        """Post the extent that was clicked."""
        message.stop()
        self.post_message(self.ExtentClicked(message.extent))
