"""The criterion with its extents, and the note beside them."""

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from tui.app.review.criterion_lines import Drawn, Judged, draw_criterion, result_line
from tui.app.review.note_editor import NoteEditor
from tui.app.theme.styles import content_of, content_of_lines
from tui.model.scores import Extent

_MOST_STACKED, _LEAST_STACKED, _EDITOR_ROWS = 11, 4, 4
_LOW = 30  # rows: below that the answer needs them more
_AROUND, _LEAST_ANSWER = 5, 5  # rows: title, last line, keys and borders; borders of the answer and a few of it


class _Text(Static):
    """Lines, some of which can be clicked."""

    ALLOW_SELECT = False
    drawn = Drawn(())

    class Clicked(Message):
        """A line that stands for an extent."""

        def __init__(self, extent: Extent) -> None:
            super().__init__()
            self.extent = extent

    def show(self, drawn: Drawn) -> None:
        if drawn != self.drawn:
            self.drawn = drawn
            self.update(content_of_lines(drawn.lines))

    def on_click(self, event: Click) -> None:
        extent = self.drawn.extent_at(event.x, event.y)
        if extent is not None:
            self.post_message(self.Clicked(extent))


class CriterionPanel(Vertical):
    """Shows one item at a time."""

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

    def __init__(self) -> None:
        super().__init__()
        self.editor = NoteEditor()
        self._text, self._scroll = _Text(markup=False), VerticalScroll()
        self._judged: Judged | None = None

    def compose(self) -> ComposeResult:
        """Text, and a place to write."""
        with self._scroll:
            yield self._text
        yield self.editor

    def show(self, judged: Judged) -> None:
        """Another item, or another state of it."""
        before = self._judged
        self._judged = judged
        self.border_title = Content(f"Criterion {judged.item.number} of {judged.item.of}")
        self._draw()
        if before is None or before.item is not judged.item:
            self._scroll.scroll_home(animate=False)

    def look(self) -> None:
        """Scroll in it."""
        self._scroll.focus()

    def on_resize(self) -> None:
        """Other room, other lines."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self._judged is None:
            return
        width = max(20, self.content_region.width - 1)
        stacked, judged = self.has_class("-stacked"), replace(self._judged, writing=self.editor.is_open)
        room = self._stacked_rows(judged.writing) if stacked else self.content_region.height
        room -= _EDITOR_ROWS if judged.writing and not stacked else 0
        drawn = draw_criterion(judged, width, short=stacked, tight=stacked and self.screen.size.height < _LOW)
        if not stacked and len(drawn.lines) > room:
            drawn = draw_criterion(judged, width, short=True)
        self.border_subtitle = content_of(result_line(judged)) if drawn.short else Content()
        self._text.show(drawn)
        self._scroll.styles.height = max(1, min(len(drawn.lines), room))

    def _stacked_rows(self, writing: bool) -> int:
        """What there is for the text where the answer stands above it, and has to be seen too."""
        room = self.screen.size.height - _AROUND - _LEAST_ANSWER - (_EDITOR_ROWS - 1 if writing else 0)
        return max(_LEAST_STACKED, min(_MOST_STACKED, room))

    def write(self, note: str) -> None:
        """Write a note, from the very next key on."""
        self.editor.start(note)
        self._draw()

    def close(self) -> None:
        """Nobody writes any more."""
        self.editor.close()
        self._draw()

    def on__text_clicked(self, message: _Text.Clicked) -> None:
        """Hand it on."""
        message.stop()
        self.post_message(self.ExtentClicked(message.extent))
