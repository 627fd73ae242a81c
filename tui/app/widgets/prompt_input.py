"""A line to type in; loaded only when somebody wants to type."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class PromptInput(Input):
    """An Input of one row that says what was typed, entered, and that it was left."""

    DEFAULT_CSS = """
    PromptInput, PromptInput:focus {
        height: 1; border: none; padding: 0; background: $raised; color: $foreground;
        & > .input--placeholder { color: $dim; }
        & > .input--cursor { background: $accent; color: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "take", id="line.take", tooltip="Take what was typed", key_display="Enter"),
        Binding("escape", "leave", "leave", id="line.leave", tooltip="Leave, and forget what was typed"),
    ]

    class Typed(Message):
        """There is another text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Typed):
        """Enter was pressed."""

    class Left(Message):
        """Escape was pressed."""

    def __init__(self, placeholder: str, *, id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False, max_length=400, id=id)

    def start(self) -> None:
        """Type here, from the very next key on: `focus` would let keys pass that were typed fast."""
        self.screen.set_focus(self)

    @on(Input.Changed)
    def post_typed(self, event: Input.Changed) -> None:
        """Say what stands here now."""
        event.stop()
        self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def post_entered(self, event: Input.Submitted) -> None:
        """Say that it is meant so."""
        event.stop()
        self.post_message(self.Entered(event.value))

    def action_leave(self) -> None:
        """Leave."""
        self.post_message(self.Left())
