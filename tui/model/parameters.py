"""The settings of a variant by name: which there are, and which values they take."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tui.model.subjects import Settings

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


def told_settings(settings: Settings, system: str | None) -> list[str]:
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
