"""Forms: fields with labels and errors, and a dialog with a form."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.widgets.prompt_input import PromptInput
from tui.model.sanitize import sanitize_text

_LONGEST_TEXT = 1_500


class Field(NamedTuple):
    """A field of a form: its name, its label, what is expected, and its first text."""

    name: str
    label: str
    expected: str
    text: str = ""


class Form(Vertical):
    """Fields with a label at the left and an error at the right. Enter calls `on_entered` with the texts by name."""

    DEFAULT_CSS = """
    Form { height: auto; }
    Form Horizontal { height: auto; margin-bottom: 1; }
    Form .label { width: 17; }
    Form PromptInput, Form PromptInput:focus { width: 1fr; background: $background; padding: 0 1; }
    Form .fault { width: 1fr; height: auto; padding-left: 1; color: $error-mark; }
    Form > .fault { width: 100%; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", "Up", id="form.up", tooltip="Previous field", show=False),
        Binding("down", "app.focus_next", "Down", id="form.down", tooltip="Next field", show=False),
    ]

    def __init__(self, fields: Sequence[Field], on_entered: Callable[[dict[str, str]], object]) -> None:
        super().__init__()
        self._fields, self._on_entered = fields, on_entered
        self._inputs = {field.name: PromptInput(field.expected, self, max_length=_LONGEST_TEXT) for field in fields}
        self._errors = {name: Static(Content(), markup=False, classes="fault") for name in (*self._inputs, "")}
        self._first_texts: dict[str, str] = {}
        for field in fields:
            typed = self._inputs[field.name]
            typed.value = field.text
            self._first_texts[field.name] = typed.value

    def compose(self) -> ComposeResult:
        """Compose a row for each field, and the error that belongs to no field."""
        for field in self._fields:
            with Horizontal():
                yield Static(Content(field.label), markup=False, classes="label")
                yield self._inputs[field.name]
                yield self._errors[field.name]
        yield self._errors[""]

    def start(self) -> None:
        """Focus the first field."""
        self._inputs[self._fields[0].name].start()

    def texts(self) -> dict[str, str]:
        """Return the texts by the names of their fields. A text that was not changed is the first one, exactly."""
        return {
            field.name: field.text
            if self._inputs[field.name].value == self._first_texts[field.name]
            else self._inputs[field.name].value.strip()
            for field in self._fields
        }

    def show_faults(self, faults: Mapping[str, str]) -> None:
        """Display these errors beside their fields, and focus the first field with an error."""
        for name, error in self._errors.items():
            error.update(Content(sanitize_text(faults.get(name, ""))))
        wrong = next((name for name in self._inputs if name in faults), None)
        if wrong is not None:
            self._inputs[wrong].start()

    @on(PromptInput.Entered)
    def enter(self, message: PromptInput.Entered) -> None:
        """Hand over the texts."""
        message.stop()
        self._on_entered(self.texts())


FORM_CSS = """
    & { align: center middle; background: $background 60%; }
    & > Vertical {
        width: 92; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
"""
"""The style of a dialog with a form."""
FORM_KEYS = Content("↑ ↓ field · Enter apply · Esc close")
