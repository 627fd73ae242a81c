"""Who is tested: a Subject is a model's name, resolved to a provider, an id and settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tui.model.errors import Problem
from tui.model.prices import Price
from tui.model.risk import BandRule

ProviderKind = Literal["openai", "anthropic", "copilot", "local", "replay", "agent"]
TokenLimitParameter = Literal["max_tokens", "max_completion_tokens"]
Api = Literal["chat", "responses"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of a model besides the prompt; None means: the provider's default. `api` is by which of OpenAI's
    protocols it is asked."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    system: str | None = None
    api: Api | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A model as it was written (`name`), and where that leads.

    `provider` is a provider's name (a key of `Config.providers` or a built-in one); `how` says in words why it was
    taken, for example `openai, because OPENAI_BASE_URL is set`. `price` is what its tokens cost where that is known; it
    is looked up for a run and kept with it.
    """

    name: str
    provider: str
    model_id: str
    settings: Settings = Settings()
    how: str = ""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """A named entry of the config's `models:`; `provider` None means: resolve the id."""

    id: str
    provider: str | None = None
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How a provider is reached. `api_key` is the key itself, `key_name` the variable it came from or would come from;
    `missing` are variables that the config names for it and the environment lacks; `api` holds for the models that
    name none themselves."""

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
    """The person's config file with everything from the environment filled in. `rules` maps a glob over bare model
    ids to a provider's name, first match wins; `path` is None where there is no file. `secrets` holds every known key
    by the name of its variable or its place in the file; `keymap` the keys of the
    app's bindings by their id (`keys:` in the file); `warnings` what is doubtful but does not stop anything. `rule` and
    `guidance` (five lines, or none) are of `risk:`, `reviewer` is the name that scores are given under; of `review:`
    `mask` has names that are masked in blind review besides the known ones, and `repeats` says how many percent of the
    answers it shows twice. `prices` says
    by the name of a model or a variant what its tokens cost."""

    path: str | None = None
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
_LARGEST_SEED = 2**63 - 1


def parameter_fault(name: str, value: object) -> str | None:
    """Why this value cannot be used for that parameter, in a few words; None when it can. A bool is no number."""
    if name == "system":
        return None if isinstance(value, str) else "must be a text"
    if name == "api":
        return None if value in APIS else f"must be {' or '.join(APIS)}"
    if name in ("seed", "max_tokens"):
        if isinstance(value, bool) or not isinstance(value, int):
            return "must be a whole number"
        least = 1 if name == "max_tokens" else 0
        return None if least <= value <= _LARGEST_SEED else f"must be at least {least} and below 2^63"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "must be a number"
    most = 1 if name == "top_p" else 2
    return None if 0 <= value <= most else f"must be from 0 to {most}"


def settings_from(values: Mapping[str, Any], base: Settings) -> Settings:
    """The settings with these values laid over `base`. The values must be without fault."""
    return replace(base, **values)


def parameter_from_text(name: str, text: str) -> object:
    """The value that a text such as `0.8` stands for; the text itself where it stands for none."""
    if name in ("system", "api"):
        return text
    for kind in (int, float):
        try:
            return kind(text) if text.isascii() and "_" not in text else text
        except ValueError:
            continue
    return text


def settings_text(settings: Settings, system: str | None) -> list[str]:
    """`temperature 0.8` and so on for every setting that is not the provider's default; `system` is how the system
    prefix is told, None where there is nothing to tell."""
    named = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": settings.seed,
        "max tokens": settings.max_tokens,
        "system": system,
        "api": settings.api,
    }
    return [f"{name} {value}" for name, value in named.items() if value is not None]
