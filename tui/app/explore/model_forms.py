"""Forms of the dialog that chooses models: the settings of a model, and a new provider for the config file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.app.widgets.form import Field, FormDialog
from tui.model.errors import FieldsRefused
from tui.model.sanitize import sanitize_line
from tui.model.subjects import PARAMETERS, join_settings, parameter_fault, parameter_from_text, split_settings

if TYPE_CHECKING:
    from tui.session.model_catalog import ModelCatalog


def model_settings_form(name: str) -> FormDialog[str]:
    """Return a form for the settings of a model. Its result is the name with them, such as `m?temperature=0.8`."""
    bare, given = split_settings(name)
    fields = (
        Field("temperature", "Temperature", "0 to 2", given.get("temperature", "")),
        Field("top_p", "Top p", "0 to 1", given.get("top_p", "")),
        Field("seed", "Seed", "a whole number", given.get("seed", "")),
        Field("max_tokens", "Max tokens", "a whole number", given.get("max_tokens", "")),
        Field("system", "System prompt", "a text before the prompt", given.get("system", ""), keeps_spaces=True),
    )

    def join(texts: Mapping[str, str]) -> str:
        values = {each: parameter_from_text(each, text) for each, text in texts.items() if text}
        if faults := {each: fault for each, value in values.items() if (fault := parameter_fault(each, value))}:
            raise FieldsRefused(faults)
        joined = {**given, **texts}
        order = [*(each for each in PARAMETERS if each in joined), *(each for each in joined if each not in PARAMETERS)]
        return join_settings(bare, {each: joined[each] for each in order})

    return FormDialog(f"Settings of {sanitize_line(bare, 60)}", "", fields, join)


def provider_form(catalog: "ModelCatalog") -> FormDialog[str]:
    """Return a form for a new provider, which is written to the config file. Its result is the provider's name."""
    fields = (
        Field("name", "Name", "my-server"),
        Field("kind", "Kind", "openai or anthropic", "openai"),
        Field("base_url", "Base URL", "http://localhost:8080/v1"),
        Field("key_variable", "Variable of key", "MY_SERVER_KEY, or empty"),
    )

    def add(texts: Mapping[str, str]) -> str:
        from tui.session.model_catalog import NewProvider

        catalog.add_provider(NewProvider(**texts))
        return texts["name"]

    about = "Keys are read from variables. No key is written to the config file."
    return FormDialog("Add a provider to the config file", about, fields, add)
