"""One entry of `providers:` in the config: how a server is reached, and which of its values are secret."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from tui.config.interpolation import fill, has_variable, variable_fault
from tui.config.nodes import Place
from tui.model.parameters import APIS
from tui.model.servers import built_in, has_password, token_limit_for, url_fault
from tui.model.subjects import ProviderSettings
from tui.model.suggest import did_you_mean

FIELDS = ("kind", "base_url", "api_key", "headers", "token_limit", "api", "proxy")
_KINDS = ("openai", "local", "anthropic", "copilot")
_EXAMPLES = {"openai": "http://localhost:8080/v1", "anthropic": "http://localhost:8080"}
_TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "accept-encoding"}
_SECRET_HEADER = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)


@dataclass(slots=True)
class ProviderEntry:
    """An entry as it was read. `secrets` maps a variable, or a place in the file, to a value that must not be seen;
    `literal` says that one of them is written in the file itself."""

    settings: ProviderSettings
    secrets: dict[str, str] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    literal: bool = False


def read_provider(name: str, place: Place, environ: Mapping[str, str]) -> ProviderEntry:
    """An entry laid over the built-in provider of that name, where there is one. Problems are noted at their place."""
    if not _NAME.fullmatch(name):
        place.complain_of_name("a provider's name has letters, digits, `_`, `-` and `.` only")
    base = built_in(name, environ) or ProviderSettings(name, "openai")
    fields = place.fields(FIELDS)
    given: dict[str, Any] = {}
    if "kind" in fields and (kind := fields["kind"].text(_one_of(_KINDS))):
        given["kind"] = kind
    if "base_url" in fields and (url := fields["base_url"].text(_base_url_fault)):
        given["base_url"] = url
        given["token_limit"] = token_limit_for(url)
    if "token_limit" in fields and (limit := fields["token_limit"].text(_one_of(_TOKEN_LIMITS))):
        given["token_limit"] = limit
    if "api" in fields and (api := fields["api"].text(_one_of(APIS))):
        given["api"] = api
    entry = ProviderEntry(replace(base, **given))
    if "proxy" in fields and (proxy := fields["proxy"].text(_proxy_fault)):
        entry.settings = replace(entry.settings, proxy=proxy)
        _note_password(entry, fields["proxy"], proxy)
    if "api_key" in fields:
        _read_key(entry, fields["api_key"], environ)
    if "headers" in fields:
        _read_headers(entry, fields["headers"], environ)
    kind = entry.settings.kind
    if kind in _EXAMPLES and entry.settings.base_url is None and "base_url" not in fields:
        place.complain_of_name(f"needs a base_url, for example {_EXAMPLES[kind]}")
    if kind != "openai" and "api" in fields:
        fields["api"].complain("chooses between OpenAI's protocols; this provider speaks none of them")
    entry.settings = replace(entry.settings, missing=tuple(entry.missing))
    return entry


def _read_key(entry: ProviderEntry, place: Place, environ: Mapping[str, str]) -> None:
    text = place.text(variable_fault)
    if text is None:
        return
    filled = fill(text, environ)
    entry.secrets.update(filled.used)
    entry.missing.update(dict.fromkeys(filled.missing))
    names = " and ".join([*filled.used, *filled.missing])
    if not has_variable(text):
        if fault := _key_fault(text):
            place.complain(fault)
        entry.secrets[place.where] = text
        entry.literal = True
    entry.settings = replace(entry.settings, api_key=filled.text, key_name=names or place.where)


def _read_headers(entry: ProviderEntry, place: Place, environ: Mapping[str, str]) -> None:
    headers = dict(entry.settings.headers)
    for name, value in place.entries():
        if not _HEADER.fullmatch(name):
            value.complain_of_name("is no name of a header")
        elif name.lower() in _OURS:
            value.complain_of_name("is set by Assay itself; remove it")
        elif text := value.text(variable_fault):
            filled = fill(text, environ)
            entry.secrets.update(filled.used)
            entry.missing.update(dict.fromkeys(filled.missing))
            if not (text.isascii() and text.isprintable()):
                value.complain("holds a character that cannot be sent in a header")
            if not has_variable(text) and _SECRET_HEADER.search(name):
                entry.secrets[value.where] = text.removeprefix("Bearer ").strip()
                entry.literal = True
            headers = {key: old for key, old in headers.items() if key.lower() != name.lower()}
            headers[name] = filled.text or ""
    entry.settings = replace(entry.settings, headers=headers)


def _note_password(entry: ProviderEntry, place: Place, url: str) -> None:
    if password := urlsplit(url).password:
        entry.secrets[place.where] = unquote(password)
        entry.literal = True


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str | None]:
    def fault(text: str) -> str | None:
        if text in allowed:
            return None
        return f"{did_you_mean(text, allowed)}Must be one of {', '.join(allowed)}"

    return fault


def _key_fault(text: str) -> str | None:
    if all("!" <= character <= "~" for character in text):
        return None
    return "holds a space or a character that cannot be sent in a header; copy the key again"


def _proxy_fault(text: str) -> str | None:
    return _no_variable(text) or url_fault(text)


def _base_url_fault(text: str) -> str | None:
    if url_fault(text) is None and has_password(text):
        return "carries a name or a password; use api_key instead"
    return _no_variable(text) or url_fault(text)


def _no_variable(text: str) -> str | None:
    return "holds a variable; ${NAME} works in api_key and headers only" if "${" in text else None
