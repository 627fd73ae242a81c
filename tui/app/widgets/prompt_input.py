"""A one-line input, imported on first use."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tui.app.notifications import notify_typist
from tui.model.sanitize import remove_unseen


class PromptInput(Input):
    """A one-line Input that posts what is typed and entered, and when it is left.

    Escape moves the focus to the widget `below` before the next key is read, so that this key is a command again. Text
    that arrives after that is not posted.
    """

    DEFAULT_CSS = """
    PromptInput, PromptInput:focus {
        height: 1; border: none; padding: 0; background: $raised; color: $foreground;
        & > .input--placeholder { color: $dim; }
        & > .input--cursor { background: $accent; color: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "apply", id="line.take", tooltip="Accept input", key_display="Enter"),
        # Without priority, the app would hand further keys to this input before the input handles Escape.
        Binding("escape", "leave", "cancel", id="line.leave", tooltip="Discard input", priority=True),
    ]

    class Typed(Message):
        """Posted when the text changes."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Typed):
        """Posted when Enter is pressed."""

    class Left(Message):
        """Posted when Escape is pressed."""

        def __init__(self, line: "PromptInput") -> None:
            super().__init__()
            self.line = line

    def __init__(self, placeholder: str, below: Widget, *, id: str | None = None, max_length: int = 400) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False, max_length=max_length, id=id)
        self._in_order: frozenset[str] = frozenset()
        self._below = below
        self.left = False

    def validate_value(self, value: str) -> str:
        """Return the text without characters that a terminal does not show or obeys: they may be pasted."""
        return remove_unseen(value)

    def on_unmount(self) -> None:
        """Leave the signal of the screen to which Textual's Input subscribes: it would keep the input alive."""
        self.screen.text_selection_started_signal.unsubscribe(self)

    def on_paste(self, event: Paste) -> None:
        """Say it if only the first line of a text is inserted, or nothing because it is too long."""
        event.text = event.text.lstrip("\r\n")
        lines = event.text.rstrip().splitlines()
        first = next(iter(event.text.splitlines()), "")
        if self.max_length and len(self.value) - len(self.selected_text) + len(first) > self.max_length:
            event.prevent_default()
            event.stop()
            warning = f"Not pasted: this field has room for {self.max_length:,} characters."
            notify_typist(self, warning)
        elif len(lines) > 1:
            warning = f"Pasted the first of {len(lines):,} lines: this field has one line."
            notify_typist(self, warning)

    def start(self) -> None:
        """Focus the input immediately: after `focus`, the next keys could still go to another widget."""
        self.left = False
        self.screen.set_focus(self)

    def handle_in_order(self, *binding_ids: str) -> None:
        """Handle these bindings of widgets around the input in their order among the typed letters.

        Any other binding is handled later than letters that follow it quickly: the key has to bubble to the app first.
        """
        self._in_order = frozenset(binding_ids)

    async def on_key(self, event: Key) -> None:
        """Run the action of a binding that is handled in order."""
        if event.is_printable or not self._in_order:
            return
        active = self.screen.active_bindings.get(event.key)
        if active is not None and active.enabled and active.binding.id in self._in_order:
            event.stop()
            event.prevent_default()
            await self.app.run_action(active.binding.action, active.node)

    def on_focus(self) -> None:
        """Post what is typed from now on, unless the input was left already."""
        self.left = self.left and self.screen.focused is not self

    @on(Input.Changed)
    def post_typed(self, event: Input.Changed) -> None:
        """Post the text as it is typed."""
        event.stop()
        if not self.left:
            self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def post_entered(self, event: Input.Submitted) -> None:
        """Post the text after Enter."""
        event.stop()
        self.post_message(self.Entered(event.value))

    def action_leave(self) -> None:
        """Move the focus to the widget below, and post that the input was left."""
        self.left = True
        self.screen.set_focus(self._below)
        self.post_message(self.Left(self))
