"""Forms of the dialog that chooses models: the settings of a model, and a new provider for the config file."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.screens import Dialog
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.subjects import PARAMETERS, join_settings, parameter_fault, parameter_from_text, split_settings

if TYPE_CHECKING:
    from tui.session.model_catalog import ModelCatalog

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


_FORM_CSS = """
    & { align: center middle; background: $background 60%; }
    & > Vertical {
        width: 92; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
"""
_KEYS = Content("↑ ↓ field · Enter apply · Esc close")


class ModelSettingsForm(Dialog[str | None]):
    """A form for the settings of a model. The result is its name with the settings, such as `m?temperature=0.8`."""

    DEFAULT_CSS = f"ModelSettingsForm {{ {_FORM_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="settings.leave", tooltip="Close without changes"),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self._bare, self._given = split_settings(name)
        given = self._given
        self._form = Form(
            (
                Field("temperature", "Temperature", "0 to 2", given.get("temperature", "")),
                Field("top_p", "Top p", "0 to 1", given.get("top_p", "")),
                Field("seed", "Seed", "a whole number", given.get("seed", "")),
                Field("max_tokens", "Max tokens", "a whole number", given.get("max_tokens", "")),
                Field("system", "System prompt", "a text before the prompt", given.get("system", "")),
            ),
            self._apply,
        )

    def compose(self) -> ComposeResult:
        """Compose the form."""
        with Vertical() as box:
            box.border_title = Content(f"Settings of {sanitize_line(self._bare, 60)}")
            box.border_subtitle = _KEYS
            yield self._form

    def on_mount(self) -> None:
        """Focus the first field."""
        self._form.start()

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the form without changes."""
        self.action_leave()

    def _apply(self, texts: Mapping[str, str]) -> None:
        """Close the form with the new name, or display why values are invalid."""
        values = {name: parameter_from_text(name, text) for name, text in texts.items() if text}
        faults = {name: fault for name, value in values.items() if (fault := parameter_fault(name, value))}
        self._form.show_faults(faults)
        if not faults:
            given = {**self._given, **texts}
            order = [
                *(name for name in PARAMETERS if name in given),
                *(name for name in given if name not in PARAMETERS),
            ]
            self.dismiss(join_settings(self._bare, {name: given[name] for name in order}))


class ProviderForm(Dialog[str | None]):
    """A form for a new provider, which is written to the config file. The result is its name."""

    DEFAULT_CSS = f"ProviderForm {{ {_FORM_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="provider.leave", tooltip="Close without changes"),
    ]

    def __init__(self, catalog: "ModelCatalog") -> None:
        super().__init__()
        self._catalog = catalog
        self._saving = False
        self._form = Form(
            (
                Field("name", "Name", "my-server"),
                Field("kind", "Kind", "openai or anthropic", "openai"),
                Field("base_url", "Base URL", "http://localhost:8080/v1"),
                Field("key_variable", "Variable of key", "MY_SERVER_KEY, or empty"),
            ),
            self._start_to_add,
        )

    def compose(self) -> ComposeResult:
        """Compose the form, and a sentence about the key."""
        with Vertical() as box:
            box.border_title = Content("Add a provider to the config file")
            box.border_subtitle = _KEYS
            yield self._form
            yield Static("Keys are read from variables. No key is written to the config file.", markup=False)

    def on_mount(self) -> None:
        """Focus the first field."""
        self._form.start()

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the form without changes."""
        if not self._saving:
            self.action_leave()

    def _start_to_add(self, texts: Mapping[str, str]) -> None:
        if not self._saving:
            self._saving = True
            start_worker(self, partial(self._add, texts), group="add provider")

    async def _add(self, texts: Mapping[str, str]) -> None:
        """Write the provider to the config file and close the form, or display why it cannot be added."""
        from tui.session.model_catalog import NewProvider, ProviderRefused

        try:
            await asyncio.to_thread(self._catalog.add_provider, NewProvider(**texts))
        except ProviderRefused as refused:
            self._form.show_faults(refused.faults)
        else:
            self.dismiss(texts["name"])
        finally:
            self._saving = False
