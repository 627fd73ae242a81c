"""A note of one or more lines: Enter keeps it, Esc leaves it as it was."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from tui.app.widgets.writer import KeyCapture
from tui.model.sanitize import sanitize_text

LONGEST_NOTE = 4_000  # characters


class NoteEditor(TextArea, KeyCapture):
    """Says what was kept, and that it was left."""

    DEFAULT_CSS = """
    NoteEditor, NoteEditor:focus {
        height: auto; min-height: 2; max-height: 6; border: none; padding: 0 1; background: $raised; color: $foreground;
        scrollbar-size-vertical: 1; display: none;
        & .text-area--cursor { background: $accent; color: $background; }
        & .text-area--cursor-line { background: $raised; }
        & .text-area--selection { background: $selected; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "keep", id="line.take", tooltip="Keep the note", key_display="Enter"),
        Binding("ctrl+j", "new_line", "new line", id="line.new", tooltip="Another line", key_display="^j"),
        Binding("escape", "leave", "leave", id="line.leave", tooltip="Leave the note as it was"),
    ]

    class Typed(Message):
        """A key was typed."""

    class Full(Message):
        """There was no room for a key, or for all that was pasted."""

    class Kept(Message):
        """It is meant so."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Everything stays as it was."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, tab_behavior="focus", show_line_numbers=False, compact=True)
        self.theme = "css"

    def start(self, text: str) -> None:
        """Write here, from the very next key on."""
        self.ended = False
        self.load_text(text)
        self.move_cursor(self.document.end)
        self.display = True
        self.screen.set_focus(self)

    def close(self) -> None:
        """Somebody else has the keys."""
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether somebody writes."""
        return bool(self.display)

    def on_key(self, event: Key) -> None:
        """In the order in which they were typed: a binding would come before letters that are on their way."""
        if self.is_late(event):
            return
        self.post_message(self.Typed())
        acts = {"enter": self.action_keep, "escape": self.action_leave, "ctrl+j": self.action_new_line}
        full = event.is_printable and len(self.text) >= LONGEST_NOTE
        if event.key in acts or full:
            event.prevent_default()
            event.stop()
            if full:
                self.post_message(self.Full())
            else:
                acts[event.key]()

    def on_paste(self, event: Paste) -> None:
        """As much as there is room for; a terminal's orders in it are shown, not obeyed."""
        if self.ended:
            event.prevent_default()
            return
        text = sanitize_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        room = max(0, LONGEST_NOTE - len(self.text) + len(self.selected_text))
        event.text = text[:room]
        self.post_message(self.Typed() if len(text) <= room else self.Full())

    def action_new_line(self) -> None:
        """Another line."""
        self.insert("\n")

    def action_keep(self) -> None:
        """Keep it."""
        self.ended = True
        self.post_message(self.Kept(self.text.strip()))

    def action_leave(self) -> None:
        """Leave it."""
        self.ended = True
        self.post_message(self.Left())
