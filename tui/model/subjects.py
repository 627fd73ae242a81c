"""The subjects of a run: model names resolved to a provider, an id and settings."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote, unquote

from tui.model.errors import Problem
from tui.model.prices import Price
from tui.model.risk import BandRule
from tui.model.sanitize import sanitize_line

ProviderKind = Literal["openai", "anthropic", "copilot", "local", "replay", "agent"]
TokenLimitParameter = Literal["max_tokens", "max_completion_tokens"]
Api = Literal["chat", "responses"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a model; None means the provider's default. `api` selects one of OpenAI's protocols."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    system: str | None = None
    api: Api | None = None


IMPORTED = "imported"
"""What `Subject.how` says of a model whose answers come from another tool."""
LOST = "lost with a damaged history"
"""What `Subject.how` says of a model of which only the name is known."""


REPLAY = "replay/"
"""The beginning of the name of a model whose answers are those of another run: `replay/RUN/MODEL`."""


def replay_name(run_id: str, model: str) -> str:
    """Return the model name under which the recorded answers of a run are replayed."""
    return f"{REPLAY}{run_id}/{model}"


def is_replay_name(model: str) -> bool:
    """Return whether a model name is that of recorded answers."""
    return model.startswith(REPLAY)


@dataclass(frozen=True, slots=True)
class Subject:
    """A model as the user wrote it (`name`), and what it was resolved to.

    `provider` is a provider's name (a key of `Config.providers` or a built-in one); `how` explains the choice in words,
    for example `openai, because OPENAI_BASE_URL is set`. `price` is the price of its tokens, if known; it is looked up
    when a run starts and stored with it. `python` is the interpreter of an agent's Python file, empty for Assay's own.
    """

    name: str
    provider: str
    model_id: str
    settings: Settings = Settings()
    how: str = ""
    price: Price | None = None
    python: str = ""

    @property
    def is_replay(self) -> bool:
        """Whether its answers, with the prompts that were sent, are those of another run."""
        return self.provider == "replay"

    @property
    def definition(self) -> str:
        """A digest of what the name stands for: under another definition it is the name of another model.

        It is empty if that is not known: for a lost model, and for one whose answers come from another tool, which may
        not say what it asked.
        """
        import hashlib
        import json

        if self.how in (IMPORTED, LOST):
            return ""
        given = {name: value for name in PARAMETERS if (value := getattr(self.settings, name)) is not None}
        text = json.dumps([self.provider, self.model_id, given])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def is_named_entry(self) -> bool:
        """Whether the name does not say the id of the model, so that an entry of the config file defines it."""
        bare, _ = split_settings(self.name)
        is_id = bare == self.model_id or bare.endswith(f"/{self.model_id}")
        return self.provider not in ("agent", "replay") and not is_id


def newest_definitions(named: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return what each name of a model stands for in its newest run, from the run, the name and the definition of each.

    Unknown definitions, which are empty, are left out.
    """
    newest: dict[str, tuple[str, str]] = {}
    for run, name, definition in named:
        if definition and run >= newest.get(name, ("", ""))[0]:
            newest[name] = run, definition
    return {name: definition for name, (_, definition) in newest.items()}


@dataclass(frozen=True, slots=True)
class Variant:
    """A named entry of the config's `models:`; if `provider` is None the id is resolved."""

    id: str
    provider: str | None = None
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """The connection settings of a provider.

    `api_key` is the key itself, `key_name` the variable that provides it. `missing` are variables that the config uses
    and the environment lacks; `api` applies to models without their own.
    """

    name: str
    kind: ProviderKind
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token_limit: TokenLimitParameter = "max_tokens"
    proxy: str | None = field(default=None, repr=False)
    missing: tuple[str, ...] = ()
    api: Api | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of the user's config file and of a project file, with variables of the environment filled in.

    `path` and `project` are the two files, None for a file that does not exist. `rules` maps globs over bare model ids
    to provider names; the first match wins. `secrets` holds every known key by the name of its variable or its place in
    the file; `keymap` the keys of the app's bindings by their id (`keys:` in the file). `warnings` are problems that do
    not prevent use: also the errors of a project file, whose invalid entries are ignored. `rule` and `guidance` (five
    lines, or none) come from `risk:`. `reviewer` is the name recorded with scores; `mask` lists additional names to
    mask in blind review, `repeats` is the percentage of answers that blind review shows twice. `prices` is by the name
    of a model or a variant.
    """

    path: str | None = None
    project: str | None = None
    variants: Mapping[str, Variant] = field(default_factory=dict)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    rules: tuple[tuple[str, str], ...] = ()
    theme: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    keymap: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    rule: BandRule = field(default_factory=BandRule)
    guidance: tuple[str, ...] = ()
    reviewer: str | None = None
    mask: tuple[str, ...] = ()
    repeats: int = 0


PARAMETERS = ("temperature", "top_p", "seed", "max_tokens", "system", "api")
APIS = ("chat", "responses")
LARGEST_INTEGER = 2**63 - 1


AGENT_URLS, AGENT_COMMAND = ("http://", "https://"), "cmd:"
"""What the id of an agent begins with that is no Python file: a URL or a command."""


def agent_fault(model_id: str, python: str = "") -> str:
    """Return why this cannot be an agent of a saved run, in words; empty if it can.

    The paths of a file and its interpreter have to be absolute: a saved run may come from elsewhere, and a relative
    path names another file in each folder.
    """
    is_file = not model_id.startswith((*AGENT_URLS, AGENT_COMMAND))
    relative = [each for each in (model_id if is_file else "", python) if each and not os.path.isabs(each)]
    return f"the path {sanitize_line(relative[0], 80)} is not absolute" if relative else ""


def parameter_fault(name: str, value: object) -> str | None:
    """Return why the value is invalid for the parameter, in a few words, or None. A bool is not a number."""
    if name == "system":
        return None if isinstance(value, str) else "is not a string"
    if name == "api":
        return None if value in APIS else f"is not {' or '.join(APIS)}"
    if name in ("seed", "max_tokens"):
        if isinstance(value, bool) or not isinstance(value, int):
            return "is not a whole number"
        least = 1 if name == "max_tokens" else 0
        return None if least <= value <= LARGEST_INTEGER else f"is less than {least} or not below 2^63"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is not a number"
    if isinstance(value, float) and not math.isfinite(value):  # an integer may be too large to be a float
        return "is not a number"
    most = 1 if name == "top_p" else 2
    return None if 0 <= value <= most else f"is not between 0 and {most}"


def settings_from(values: Mapping[str, Any], base: Settings) -> Settings:
    """Return `base` with these values replaced. The values must be valid."""
    return replace(base, **values)


def parameter_from_text(name: str, text: str) -> object:
    """Return the value of a text such as `0.8`; the text itself if it is no number."""
    if name in ("system", "api"):
        return text
    for kind in (int, float):
        try:
            return kind(text) if text.isascii() and "_" not in text else text
        except ValueError:
            continue
    return text


def split_settings(name: str) -> tuple[str, dict[str, str]]:
    """Return a model name without its inline settings, and those settings as texts."""
    bare, _, query = name.partition("?")
    pairs = (part.partition("=") for part in query.split("&") if part)
    return bare, {key: unquote(text) for key, _, text in pairs}


def join_settings(bare: str, values: Mapping[str, str]) -> str:
    """Return a model name with inline settings, such as `local/x?temperature=0.8&seed=7`; empty texts are omitted."""
    query = "&".join(f"{key}={quote(text, safe='/:')}" for key, text in values.items() if text)
    return f"{bare}?{query}" if query else bare


def settings_text(settings: Settings, system: str | None) -> list[str]:
    """Return the settings that are not the provider's default as texts such as `temperature 0.8`.

    `system` is the text shown for the system prompt, None to omit it.
    """
    named = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": settings.seed,
        "max tokens": settings.max_tokens,
        "system": system,
        "api": settings.api,
    }
    return [f"{name} {value}" for name, value in named.items() if value is not None]
