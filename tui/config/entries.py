"""The entries of the config file: models, providers, prices and the risk rule, with the secrets among their values."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from tui.config.shape_problems import Loc, read_shape
from tui.config.shapes import (
    GREATEST_EXTENT,
    IN_CONFIG,
    VARIABLE,
    ConfigShape,
    LimitsShape,
    PriceShape,
    ProjectShape,
    ProviderShape,
    RiskShape,
    VariantShape,
    WeightsShape,
    is_project_key,
    reserved_key_fault,
)
from tui.documents.yaml_nodes import YamlNode
from tui.model.name_mask import MOST_NAMES
from tui.model.paths import url_secrets
from tui.model.prices import Price
from tui.model.risk import Band, BandRule
from tui.model.sanitize import sanitize_line
from tui.model.secrets import key_parts, without_scheme
from tui.model.servers import SERVERS, built_in, query_secrets, token_limit_for, variable
from tui.model.subjects import PARAMETERS, Config, ProviderSettings, Settings, Variant, settings_from
from tui.model.suggest import did_you_mean
from tui.model.suite import Severity

Nodes = Mapping[Loc, YamlNode]
_PRICE_SOURCE = "config"
_EXAMPLES = {"openai": "http://localhost:8080/v1", "anthropic": "http://localhost:8080"}
_PROVIDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|pass|cookie|cred|sig|session|jwt", re.IGNORECASE)
_ORDINARY_HEADER = re.compile(
    r"(anthropic|openai|accept|content|user-agent|http-referer|referer|origin|x-title)", re.IGNORECASE
)
_SECRET_VALUE = re.compile(
    # A scheme with credentials, the beginning of a key of a known service, a key by name, or letters with digits.
    r"^\s*(bearer|basic|token|apikey)\s|\b(sk|pk|rk|pc|hf|gsk|xai|nvapi|pplx)[-_]|\b(code|key|sig|token|secret)="
    r"|(?=[^\s;,=]*\d)(?=[^\s;,=]*[A-Za-z])[^\s;,=]{12,}",
    re.IGNORECASE,
)
_SHORTEST_LITERAL = 6


def read_config(tree: YamlNode, path: Path, environ: Mapping[str, str], keys: Mapping[str, str]) -> Config:
    """Return the settings of the file at `path`, with environment variables filled in.

    `keys` are the API keys of the environment. Problems are added at their position.
    """
    shape, nodes = read_shape(tree, ConfigShape)
    entries = {
        name: _read_provider(name, shape.get("providers", {}).get(name, {}), nodes, environ)
        for name in _names("providers", nodes)
    }
    if any(entry.literal for entry in entries.values()):
        _warn_of_readers(path, nodes["providers",])
    secrets = dict(keys)
    for entry in entries.values():
        secrets.update(entry.secrets)
    known = sorted({*SERVERS, *entries})
    risk, review = shape.get("risk", {}), shape.get("review", {})
    rule = _read_rule(risk, BandRule(), nodes)
    _check_mask(nodes)
    variants = shape.get("models", {})
    prices = shape.get("prices", {})
    return Config(
        variants={name: _read_variant(name, variants.get(name, {}), nodes, known) for name in _names("models", nodes)},
        providers={name: entry.settings for name, entry in entries.items()},
        rules=_read_rules(shape.get("rules", {}), nodes, known),
        theme=shape.get("theme"),
        secrets=secrets,
        keymap=shape.get("keys", {}),  # unknown bindings are left to the app, which knows the bindings
        rule=rule,
        guidance=tuple(risk.get("guidance", ())),
        mask=tuple(review.get("mask", ())),
        repeats=review.get("repeats", 0),
        reviewer=shape.get("reviewer"),
        prices={name: price for name, given in prices.items() if (price := _read_price(name, given, nodes))},
    )


_REFUSED_IN_PROJECTS = {
    "providers": "it decides where prompts and keys are sent",
    "models": "it decides which models are run",
    "rules": "it decides where prompts and keys are sent",
    "prices": "it decides which costs are displayed",
    "reviewer": "it is recorded as the author of scores",
}


def project_shape(tree: YamlNode) -> tuple[ProjectShape, Nodes]:
    """Return the valid settings of a project file, and the node of each value by its path."""
    why = {
        key: f"cannot be set by a project file, because {why}; {IN_CONFIG}" for key, why in _REFUSED_IN_PROJECTS.items()
    }
    return read_shape(tree, ProjectShape, why)


def read_project(tree: YamlNode, config: Config) -> Config:
    """Return the config with the settings of a project file, which a stranger may have written.

    Problems are added at their position, and invalid entries are left out.
    """
    shape, nodes = project_shape(tree)
    risk, review = shape.get("risk", {}), shape.get("review", {})
    before = len(tree.findings.problems)
    rule = _read_rule(risk, config.rule, nodes)
    if any(problem.level == "error" for problem in tree.findings.problems[before:]):
        rule = config.rule
    _check_mask(nodes, len(config.mask))
    moved = {key for name, keys in config.keymap.items() if not is_project_key(name) for key in keys.split(",")}
    keys = dict(shape.get("keys", {}))
    for name in tuple(keys):
        if fault := reserved_key_fault(keys[name], moved):
            nodes["keys", name].add_problem(fault)
            del keys[name]
    mask = tuple(dict.fromkeys((*config.mask, *review.get("mask", ()))))
    return replace(
        config,
        theme=shape.get("theme", config.theme),
        keymap={**config.keymap, **keys},
        rule=rule,
        guidance=tuple(risk.get("guidance", config.guidance)),
        mask=mask[:MOST_NAMES],
        repeats=review.get("repeats", config.repeats),
    )


def _names(section: str, nodes: Nodes) -> Sequence[str]:
    """Return the names in a section of the file, also those with an invalid value."""
    return [loc[1] for loc in nodes if len(loc) == 2 and loc[0] == section and isinstance(loc[1], str)]


def _read_variant(name: str, given: VariantShape, nodes: Nodes, known: Sequence[str]) -> Variant:
    place = nodes["models", name]
    if "?" in name or name != name.strip():
        place.add_key_problem("the name of a variant cannot contain `?` or begin or end with white space")
    if ("models", name, "id") not in nodes:
        place.add_key_problem("is missing `id`, the id of the model")
    provider = given.get("provider")
    if provider is not None and (provider not in known or provider == "agent"):
        nodes["models", name, "provider"].add_problem(_unknown_provider(provider, known))
    values = {key: value for key, value in given.items() if key in PARAMETERS and value is not None}
    return Variant(given.get("id", ""), provider, settings_from(values, Settings()))


def _read_rules(given: Mapping[str, str], nodes: Nodes, known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    for pattern in _names("rules", nodes):
        place, provider = nodes["rules", pattern], given.get(pattern)
        if provider is not None and (provider not in known or provider == "agent"):
            place.add_problem(_unknown_provider(provider, known))
        if "/" in pattern:
            place.add_key_problem("rules apply to model ids without a provider, so a rule cannot contain `/`")
    return tuple(given.items())


def _unknown_provider(provider: str, known: Sequence[str]) -> str:
    hint = did_you_mean(provider, known)
    # The names of the user's own providers are outside text too.
    if provider == "agent":
        return "agent is no provider of models. Select an agent with --agent, or with agent: in a suite"
    return sanitize_line(f"unknown provider {provider[:60]}. {hint}Providers are {', '.join(known)}", 1_000)


def _warn_of_readers(path: Path, section: YamlNode) -> None:
    """Warn if others can read the file although it contains a key."""
    if os.name == "nt":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        what = f"contains an API key, and other users can read the file (mode {mode:o}). Run: chmod 600 {path}"
        section.add_problem(what, level="warning")


@dataclass(frozen=True, slots=True)
class _Filled:
    """A text with its variables filled in.

    `text` is None if a variable is missing; `used` maps the variables that were filled in to their values.
    """

    text: str | None
    used: Mapping[str, str]
    missing: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables in the text."""
        return (*self.used, *self.missing)


def _fill(text: str, environ: Mapping[str, str]) -> _Filled:
    """Return the text with each `${NAME}` replaced by the variable's value without surrounding white space."""
    names = dict.fromkeys(VARIABLE.findall(text))
    values = {name: variable(environ, name) for name in names}
    missing = tuple(name for name, value in values.items() if value is None)
    used = {name: value for name, value in values.items() if value is not None}
    if missing:
        return _Filled(None, used, missing)
    return _Filled(VARIABLE.sub(lambda match: used[match[1]], text), used, ())


@dataclass(slots=True)
class _ProviderEntry:
    """An entry of `providers:`.

    `secrets` maps a variable, or a place in the file, to a secret value; `literal` is true if one of them is written in
    the file itself.
    """

    settings: ProviderSettings
    secrets: dict[str, str] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    literal: bool = False

    def fill(self, where: str, text: str, environ: Mapping[str, str]) -> _Filled:
        """Return the text at a place with its variables filled in, and note them, the whole and its parts as secrets.

        A server may repeat the whole or a part: a key of two variables, what follows `Bearer`, the value of a cookie.
        """
        filled = _fill(text, environ)
        self.secrets.update(filled.used)
        self.missing.update(dict.fromkeys(filled.missing))
        if filled.used and filled.text is not None:
            self.add_secret(where, filled.text)
        for number, literal in enumerate(VARIABLE.split(text)[::2] if filled.names else ()):
            part = (literal if number else without_scheme(literal)).strip(" -_.:")
            if len(part) >= _SHORTEST_LITERAL:
                self.add_literal(f"{where}.{number}", part)
        return filled

    def add_secret(self, where: str, value: str) -> None:
        """Note a value without its scheme (`Bearer`) as a secret, and its long parts, and the password in `Basic`."""
        known = set(self.secrets.values())
        for number, part in enumerate(key_parts(value)):
            if part not in known:
                self.secrets[f"{where}#{number}" if number else where] = part

    def add_literal(self, where: str, secret: str) -> None:
        """Note a secret that is written in the file."""
        self.add_secret(where, secret)
        self.literal = True


def _read_provider(name: str, given: ProviderShape, nodes: Nodes, environ: Mapping[str, str]) -> _ProviderEntry:
    """Return an entry merged with the built-in provider of that name, if there is one."""
    place = nodes["providers", name]
    if not _PROVIDER_NAME.fullmatch(name):
        place.add_key_problem("the name of a provider can contain only letters, digits, `_`, `-` and `.`")
    settings = built_in(name, environ) or ProviderSettings(name, "openai")
    if "base_url" in given:
        settings = replace(settings, token_limit=token_limit_for(given["base_url"]))
    plain: dict[str, Any] = {
        key: given[key] for key in ("kind", "base_url", "token_limit", "api", "proxy") if key in given
    }
    entry = _ProviderEntry(replace(settings, **plain))
    for number, secret in enumerate(url_secrets(given.get("proxy", ""))):
        entry.add_literal(f"{place.where}.proxy{number or ''}", secret)
    for number, secret in enumerate(query_secrets(given.get("base_url", ""))):
        entry.add_literal(f"{place.where}.base_url.{number}", secret)
    if "api_key" in given:
        _add_key(entry, given["api_key"], nodes["providers", name, "api_key"], environ)
    if "headers" in given:
        places = {header: nodes["providers", name, "headers", header] for header in given["headers"]}
        _add_headers(entry, given["headers"], places, environ)
    kind = entry.settings.kind
    if kind in _EXAMPLES and entry.settings.base_url is None and ("providers", name, "base_url") not in nodes:
        place.add_key_problem(f"is missing base_url, for example {_EXAMPLES[kind]}")
    if kind != "openai" and (api := nodes.get(("providers", name, "api"))):
        api.add_problem("selects one of the OpenAI protocols, and this provider uses none of them")
    entry.settings = replace(entry.settings, missing=tuple(entry.missing))
    return entry


def _add_key(entry: _ProviderEntry, text: str, place: YamlNode, environ: Mapping[str, str]) -> None:
    filled = entry.fill(place.where, text, environ)
    names = " and ".join(filled.names)
    if not names:
        entry.add_literal(place.where, text)
        if not all("!" <= character <= "~" for character in text):
            place.add_problem("contains a space or a character that is not allowed in a header; copy the key again")
    entry.settings = replace(entry.settings, api_key=filled.text, key_name=names or place.where)


def _add_headers(
    entry: _ProviderEntry, given: Mapping[str, str], places: Mapping[str, YamlNode], environ: Mapping[str, str]
) -> None:
    headers = dict(entry.settings.headers)
    for name, text in given.items():
        filled = entry.fill(places[name].where, text, environ)
        if not (text.isascii() and text.isprintable()):
            places[name].add_problem("contains a character that is not allowed in a header")
        if not filled.names and _is_secret_header(name, text):
            entry.add_literal(places[name].where, text)
        headers = {key: old for key, old in headers.items() if key.lower() != name.lower()}
        headers[name] = filled.text or ""
    entry.settings = replace(entry.settings, headers=headers)


def _is_secret_header(name: str, value: str) -> bool:
    if _SECRET_HEADER.search(name):
        return True
    return not _ORDINARY_HEADER.match(name) and _SECRET_VALUE.search(value) is not None


def _read_price(name: str, given: PriceShape, nodes: Nodes) -> Price | None:
    place = nodes["prices", name]
    known = [key for key in PriceShape.__annotations__ if ("prices", name, key) in nodes]
    if not known and not place.is_empty:
        return None  # its keys are unknown, and that has been reported
    missing = [key for key in ("input", "output") if key not in known]
    if missing:
        place.add_key_problem(f"is missing {' and '.join(missing)} (USD per million tokens)")
    if "input" not in given or "output" not in given:
        return None
    return Price(given["input"], given["output"], _PRICE_SOURCE, given.get("cached"), given.get("cache_writing"))


def _read_rule(given: RiskShape, base: BandRule, nodes: Nodes) -> BandRule:
    """Return the rule `base` with the weights and limits that are given."""
    weights = _read_weights(given.get("weights", {}), base, nodes)
    return BandRule(weights, _read_limits(given.get("limits", {}), base, weights, nodes))


def _read_weights(given: WeightsShape, base: BandRule, nodes: Nodes) -> dict[Severity, int]:
    weights = {**base.weights, **cast(Mapping[Severity, int], given)}
    for lighter, heavier in pairwise(weights):
        place = nodes.get(("risk", "weights", heavier)) or nodes.get(("risk", "weights", lighter))
        if weights[lighter] > weights[heavier] and place is not None:
            what = f"{heavier} has weight {weights[heavier]}, less than {lighter} ({weights[lighter]})"
            place.add_problem(what, level="warning")
    return weights


def _read_limits(
    given: LimitsShape, base: BandRule, weights: Mapping[Severity, int], nodes: Nodes
) -> tuple[tuple[Band, int], ...]:
    limits = {**dict(base.limits), **cast(Mapping[Band, int], given)}
    section = nodes.get(("risk", "limits"))
    if section is None or any(("risk", "limits", name) in nodes and name not in given for name in limits):
        return tuple(limits.items())
    for lower, higher in pairwise(limits):
        if limits[lower] >= limits[higher]:
            place = nodes.get(("risk", "limits", higher)) or nodes.get(("risk", "limits", lower), section)
            place.add_problem(
                f"limits have to increase: {higher} ends at {limits[higher]}, {lower} already at {limits[lower]}"
            )
    greatest, last = max(weights.values()) * GREATEST_EXTENT, list(limits)[-1]
    if limits[last] >= greatest:
        what = (
            f"no score can be critical: the greatest weight × extent is {greatest}, and {last} ends at {limits[last]}"
        )
        nodes.get(("risk", "limits", last), section).add_problem(what, level="warning")
    return tuple(limits.items())


def _check_mask(nodes: Nodes, others: int = 0) -> None:
    count = others + sum(loc[:2] == ("review", "mask") and isinstance(loc[-1], int) for loc in nodes)
    if count > MOST_NAMES and ("review", "mask") in nodes:
        nodes["review", "mask"].add_problem(f"has {count} names; the limit is {MOST_NAMES}")
