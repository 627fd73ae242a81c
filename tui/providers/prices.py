"""Prices of public providers, from an installed price package."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tui.model.prices import Price

_PACKAGE = "genai-prices"
_PROGRAM = Path(__file__).with_name("price_program.py")
_PATIENCE_S = 20.0


class Listed(NamedTuple):
    """A model at a base URL. The host decides: prices of a gateway or a private server are in no list."""

    base_url: str
    model_id: str


def may_be_listed(base_url: str | None) -> bool:
    """Return whether a public provider can be at this URL: a name on the internet, over TLS."""
    parts = urlsplit(base_url or "")
    host = parts.hostname or ""
    return parts.scheme == "https" and "." in host and host[-1].isalpha()


def look_up(models: Sequence[Listed], environ: Mapping[str, str]) -> dict[Listed, Price | None]:
    """Return today's prices, None for a model that the package does not know.

    Blocks for half a second. All prices are unknown if the package cannot be run.
    """
    import subprocess

    from tui.model.environ import without_keys

    asked = [(_plain(model.base_url), model.model_id) for model in models]
    try:
        answer = subprocess.run(
            # Without its own folder on the path, where modules have the names of packages.
            [sys.executable, "-P", str(_PROGRAM)],
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=without_keys(environ),
            timeout=_PATIENCE_S,
            check=True,
        )
        found = json.loads(answer.stdout)
        source = f"{_PACKAGE} {found['version']}"
        prices = [None if each is None else Price(source=source, **each) for each in found["prices"]]
        return dict(zip(models, prices, strict=True))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return dict.fromkeys(models)


def _plain(base_url: str) -> str:
    """Return scheme, host and path in lower case where case does not matter."""
    parts = urlsplit(base_url)
    return f"https://{parts.hostname}{f':{parts.port}' if parts.port not in (None, 443) else ''}{parts.path}"
