"""Forms of the dialog that chooses models: the settings of a model, and a new provider for the config file."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.screens import Dialog
from tui.app.widgets.form import FORM_CSS, FORM_KEYS, Field, Form
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.sanitize import sanitize_line
from tui.model.subjects import PARAMETERS, join_settings, parameter_fault, parameter_from_text, split_settings

if TYPE_CHECKING:
    from tui.session.model_catalog import ModelCatalog


class ModelSettingsForm(Dialog[str | None]):
    """A form for the settings of a model. The result is its name with the settings, such as `m?temperature=0.8`."""

    DEFAULT_CSS = f"ModelSettingsForm {{ {FORM_CSS} }}"
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
            box.border_subtitle = FORM_KEYS
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

    DEFAULT_CSS = f"ProviderForm {{ {FORM_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="provider.leave", tooltip="Close without changes"),
    ]

    def __init__(self, catalog: "ModelCatalog") -> None:
        super().__init__()
        self._catalog = catalog
        self._saving = self._left = False
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
            box.border_subtitle = FORM_KEYS
            yield self._form
            yield Static("Keys are read from variables. No key is written to the config file.", markup=False)

    def on_mount(self) -> None:
        """Focus the first field."""
        self._form.start()

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the form without changes; while it is being saved, as soon as that has ended."""
        self._left = True
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
            if self._left:
                self.action_leave()
            self._form.show_faults(refused.faults)
        else:
            self.dismiss(texts["name"])
        finally:
            self._saving = False
