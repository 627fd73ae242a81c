"""The entries of the config file: providers, prices, risk rule and review, with the secrets among their values."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from tui.documents.yaml_nodes import YamlNode
from tui.model.name_mask import MOST_NAMES, mask_fault
from tui.model.prices import MOST_USD, Price
from tui.model.risk import EXTENTS, Band, BandRule
from tui.model.servers import built_in, has_password, token_limit_for, url_fault, variable
from tui.model.subjects import APIS, ProviderSettings
from tui.model.suggest import did_you_mean
from tui.model.suite import Severity

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its variables filled in.

    `text` is None if a variable is missing; `used` maps the variables that were filled in to their values.
    """

    text: str | None
    used: Mapping[str, str]
    missing: tuple[str, ...]


def fill(text: str, environ: Mapping[str, str]) -> Filled:
    """Return the text with each `${NAME}` replaced by the variable's value without surrounding white space."""
    names = dict.fromkeys(_VARIABLE.findall(text))
    values = {name: variable(environ, name) for name in names}
    missing = tuple(name for name, value in values.items() if value is None)
    used = {name: value for name, value in values.items() if value is not None}
    if missing:
        return Filled(None, used, missing)
    return Filled(_VARIABLE.sub(lambda match: used[match[1]], text), used, ())


def has_variable(text: str) -> bool:
    """Return whether the text contains a variable."""
    return _VARIABLE.search(text) is not None


def variable_fault(text: str) -> str | None:
    """Return why the syntax of a variable is invalid, or None."""
    if "${" in _VARIABLE.sub("", text):
        return "contains a ${ that is not ${NAME}; names have letters, digits and _"
    return None


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
    """A parsed entry of `providers:`.

    `secrets` maps a variable, or a place in the file, to a secret value; `literal` is true if one of them is written in
    the file itself.
    """

    settings: ProviderSettings
    secrets: dict[str, str] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    literal: bool = False


def read_provider(name: str, place: YamlNode, environ: Mapping[str, str]) -> ProviderEntry:
    """Return an entry merged with the built-in provider of that name, if there is one.

    Problems are added at their position.
    """
    if not _NAME.fullmatch(name):
        place.add_key_problem("the name of a provider can contain only letters, digits, `_`, `-` and `.`")
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
        place.add_key_problem(f"is missing base_url, for example {_EXAMPLES[kind]}")
    if kind != "openai" and "api" in fields:
        fields["api"].add_problem("selects one of the OpenAI protocols, and this provider uses none of them")
    entry.settings = replace(entry.settings, missing=tuple(entry.missing))
    return entry


def _read_key(entry: ProviderEntry, place: YamlNode, environ: Mapping[str, str]) -> None:
    text = place.text(variable_fault)
    if text is None:
        return
    filled = fill(text, environ)
    entry.secrets.update(filled.used)
    entry.missing.update(dict.fromkeys(filled.missing))
    names = " and ".join([*filled.used, *filled.missing])
    if not has_variable(text):
        if fault := _key_fault(text):
            place.add_problem(fault)
        entry.secrets[place.where] = text
        entry.literal = True
    entry.settings = replace(entry.settings, api_key=filled.text, key_name=names or place.where)


def _read_headers(entry: ProviderEntry, place: YamlNode, environ: Mapping[str, str]) -> None:
    headers = dict(entry.settings.headers)
    for name, value in place.entries():
        if not _HEADER.fullmatch(name):
            value.add_key_problem("is not a valid header name")
        elif name.lower() in _OURS:
            value.add_key_problem("is set by Assay; remove it")
        elif text := value.text(variable_fault):
            filled = fill(text, environ)
            entry.secrets.update(filled.used)
            entry.missing.update(dict.fromkeys(filled.missing))
            if not (text.isascii() and text.isprintable()):
                value.add_problem("contains a character that is not allowed in a header")
            if not has_variable(text) and _SECRET_HEADER.search(name):
                entry.secrets[value.where] = text.removeprefix("Bearer ").strip()
                entry.literal = True
            headers = {key: old for key, old in headers.items() if key.lower() != name.lower()}
            headers[name] = filled.text or ""
    entry.settings = replace(entry.settings, headers=headers)


def _note_password(entry: ProviderEntry, place: YamlNode, url: str) -> None:
    if password := urlsplit(url).password:
        entry.secrets[place.where] = unquote(password)
        entry.literal = True


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str | None]:
    def fault(text: str) -> str | None:
        if text in allowed:
            return None
        return f"{did_you_mean(text, allowed)}Expected one of {', '.join(allowed)}"

    return fault


def _key_fault(text: str) -> str | None:
    if all("!" <= character <= "~" for character in text):
        return None
    return "contains a space or a character that is not allowed in a header; copy the key again"


def _proxy_fault(text: str) -> str | None:
    return _no_variable(text) or url_fault(text)


def _base_url_fault(text: str) -> str | None:
    if url_fault(text) is None and has_password(text):
        return "contains a user name or password; use api_key instead"
    return _no_variable(text) or url_fault(text)


def _no_variable(text: str) -> str | None:
    return "contains a variable; ${NAME} works only in api_key and headers" if "${" in text else None


SOURCE = "config"
_NEEDED = ("input", "output")
_FIELDS = (*_NEEDED, "cached", "cache_writing")


def read_prices(section: YamlNode) -> dict[str, Price]:
    """Return prices by the name of a model or a variant, in USD per million tokens.

    Problems are added at their position.
    """
    return {name: price for name, place in section.entries() if (price := _read_price(place)) is not None}


def _read_price(place: YamlNode) -> Price | None:
    problems = len(place.findings.problems)
    fields = place.fields(_FIELDS)
    if not fields and len(place.findings.problems) > problems:
        return None
    usd = {name: _read_usd(field) for name, field in fields.items()}
    missing = [name for name in _NEEDED if name not in fields]
    if missing:
        place.add_key_problem(f"is missing {' and '.join(missing)} (USD per million tokens)")
        return None
    read, wrote = usd["input"], usd["output"]
    if read is None or wrote is None:
        return None
    return Price(read, wrote, SOURCE, usd.get("cached"), usd.get("cache_writing"))


def _read_usd(place: YamlNode) -> float | None:
    problems = len(place.findings.problems)
    value = place.value()
    if len(place.findings.problems) > problems:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_USD:
        place.add_problem(f"expected a number of USD per million tokens, from 0 to {MOST_USD:,.0f}")
        return None
    return float(value)


_GREATEST_WEIGHT = 100
_GREATEST_EXTENT = len(EXTENTS) - 1
_LONGEST_LINE = 500
_LONGEST_NAME = 80
_MOST_REPEATS = 30  # percent: repeats are selected from the first third of the answers
_Name = TypeVar("_Name", Severity, Band, str)


def read_risk(section: YamlNode | None) -> tuple[BandRule, tuple[str, ...]]:
    """Return the risk rule, and the five lines of guidance (none if the file has none).

    Missing values have their defaults. Problems are added at their position.
    """
    if section is None:
        return BandRule(), ()
    fields = section.fields(("weights", "limits", "guidance"))
    rule = BandRule()
    weights = _read_weights(fields["weights"], rule) if "weights" in fields else dict(rule.weights)
    limits = _read_limits(fields["limits"], rule, weights) if "limits" in fields else rule.limits
    return BandRule(weights, limits), _read_guidance(fields["guidance"]) if "guidance" in fields else ()


def read_review(section: YamlNode | None) -> tuple[tuple[str, ...], int]:
    """Return the additional names masked in blind review, and the percentage of answers shown twice.

    They are `review: {mask: […]}` and `review: {repeats: …}`.
    """
    if section is None:
        return (), 0
    fields = section.fields(("mask", "repeats"))
    repeats = dict(_numbers(fields, ("repeats",), 0, _MOST_REPEATS)).get("repeats", 0)
    return _read_mask(fields["mask"]) if "mask" in fields else (), repeats


def _read_mask(place: YamlNode) -> tuple[str, ...]:
    elements = place.elements()
    if len(elements) > MOST_NAMES:
        place.add_problem(f"has {len(elements)} names; the limit is {MOST_NAMES}")
    names = [element.text(mask_fault) for element in elements[:MOST_NAMES]]
    return tuple(name for name in names if name is not None)


def name_fault(name: str) -> str | None:
    """Return why a reviewer's name is invalid, or None."""
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    return None if name.isprintable() else "contains a character that cannot be displayed"


def _read_weights(place: YamlNode, rule: BandRule) -> dict[Severity, int]:
    weights = dict(rule.weights)
    given = place.fields(weights)
    weights |= _numbers(given, tuple(weights), 1, _GREATEST_WEIGHT)
    for lighter, heavier in pairwise(weights):
        if weights[lighter] > weights[heavier]:
            what = f"{heavier} has weight {weights[heavier]}, less than {lighter} ({weights[lighter]})"
            given.get(heavier, given.get(lighter, place)).add_problem(what, level="warning")
    return weights


def _read_limits(place: YamlNode, rule: BandRule, weights: dict[Severity, int]) -> tuple[tuple[Band, int], ...]:
    limits = dict(rule.limits)
    given = place.fields((*limits, "critical"))
    if "critical" in given:
        given.pop("critical").add_key_problem("has no limit, because it is everything above the others; remove it")
    problems = len(place.findings.problems)
    limits |= _numbers(given, tuple(limits), 0, _GREATEST_WEIGHT * _GREATEST_EXTENT)
    if len(place.findings.problems) > problems:
        return rule.limits
    for lower, higher in pairwise(limits):
        if limits[lower] >= limits[higher]:
            what = f"limits have to increase: {higher} ends at {limits[higher]}, {lower} already at {limits[lower]}"
            given.get(higher, given.get(lower, place)).add_problem(what)
    greatest, last = max(weights.values()) * _GREATEST_EXTENT, list(limits)[-1]
    if limits[last] >= greatest:
        what = (
            f"no score can be critical: the greatest weight × extent is {greatest}, and {last} ends at {limits[last]}"
        )
        given.get(last, place).add_problem(what, level="warning")
    return tuple(limits.items())


def _numbers(
    given: dict[str, YamlNode], names: tuple[_Name, ...], least: int, most: int
) -> Iterator[tuple[_Name, int]]:
    for name in names:
        place = given.get(name)
        if place is None:
            continue
        problems = len(place.findings.problems)
        number = place.value()
        if isinstance(number, int) and not isinstance(number, bool) and least <= number <= most:
            yield name, number
        elif len(place.findings.problems) == problems:
            place.add_problem(f"expected a whole number from {least} to {most}")


def _read_guidance(place: YamlNode) -> tuple[str, ...]:
    problems = len(place.findings.problems)
    elements = place.elements()
    lines = [element.text(_line_fault) for element in elements]
    if len(lines) != len(EXTENTS) and len(place.findings.problems) == problems:
        what = f"expected {len(EXTENTS)} lines, one per extent ({', '.join(EXTENTS)}), got {len(lines)}"
        place.add_problem(what)
    return tuple(line for line in lines if line is not None)


def _line_fault(line: str) -> str | None:
    if "\n" in line or "\r" in line:
        return "expected a single line"
    return f"is longer than {_LONGEST_LINE} characters" if len(line) > _LONGEST_LINE else None
