"""An input for a note of one or more lines: Enter saves it, Esc discards the changes after a warning."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from tui.app.notifications import notify_typist
from tui.app.widgets.key_queue import KeyCapture, KeyQueue
from tui.model.sanitize import sanitize_text

LONGEST_NOTE = 4_000  # characters


class NoteEditor(TextArea):
    """Post what was saved, and when editing was cancelled."""

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
        Binding("enter", "save", "save", id="line.take", tooltip="Save the note", key_display="Enter"),
        Binding("ctrl+j", "new_line", "new line", id="line.new", tooltip="New line", key_display="^j"),
        Binding("escape", "cancel", "cancel", id="line.leave", tooltip="Discard changes"),
    ]

    class Edited(Message):
        """The text has changed."""

    class Truncated(Message):
        """There was no room for a key, or for all of a pasted text."""

    class Saved(Message):
        """The note is complete."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Cancelled(Message):
        """The note stays as it was."""

    def __init__(self, keys: KeyQueue) -> None:
        super().__init__(soft_wrap=True, tab_behavior="focus", show_line_numbers=False, compact=True)
        self.theme = "css"
        self._first_text, self._discards = "", False
        self._capture = KeyCapture(keys, self)

    def start(self, text: str) -> None:
        """Open with this text, and take the keys from the next one on."""
        self._capture.begin()
        self._first_text, self._discards = text, False
        self.load_text(text)
        self.move_cursor(self.document.end)
        self.display = True
        self.screen.set_focus(self)

    def close(self) -> None:
        """Hide."""
        self.display = False

    @property
    def is_open(self) -> bool:
        """Return whether a note is being written."""
        return self._capture.is_open

    def on_key(self, event: Key) -> None:
        """Handle Enter and Esc in their place among the letters: a binding would overtake letters on their way."""
        if not self._capture.accepts(event):
            return
        self.post_message(self.Edited())
        self._discards = self._discards and event.key == "escape"
        actions = {"enter": self.action_save, "escape": self.action_cancel, "ctrl+j": self.action_new_line}
        full = event.is_printable and len(self.text) >= LONGEST_NOTE
        if event.key in actions or full:
            event.prevent_default()
            event.stop()
            if full:
                self.post_message(self.Truncated())
            else:
                actions[event.key]()

    def on_paste(self, event: Paste) -> None:
        """Insert as much as there is room for, with control characters made visible."""
        if self._capture.ended:
            event.prevent_default()
            return
        text = sanitize_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        room = max(0, LONGEST_NOTE - len(self.text) + len(self.selected_text))
        event.text = text[:room]
        self.post_message(self.Edited() if len(text) <= room else self.Truncated())

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_save(self) -> None:
        """Save the note."""
        self._capture.end()
        self.post_message(self.Saved(self.text.strip()))

    def action_cancel(self) -> None:
        """Discard the changes, of which the first Esc only warns."""
        if self.text.strip() != self._first_text.strip() and not self._discards:
            self._discards = True
            warning = "The note is not saved. Enter saves it, Esc again discards it."
            notify_typist(self, warning)
            return
        self._capture.end()
        self.post_message(self.Cancelled())
