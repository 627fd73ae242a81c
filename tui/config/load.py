"""Loading the user's config.yaml; all problems are reported at once, with their positions."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tui.config.entries import name_fault, read_prices, read_provider, read_review, read_risk
from tui.config.folders import CONFIG_FILE
from tui.documents.yaml_nodes import FileRules, Findings, YamlNode, read_nodes
from tui.model.errors import ConfigError
from tui.model.servers import KEY_VARIABLES, SERVERS, variable
from tui.model.subjects import PARAMETERS, Config, Settings, Variant, parameter_fault, settings_from
from tui.model.suggest import did_you_mean

_SECTIONS = ("models", "providers", "rules", "theme", "keys", "risk", "reviewer", "prices", "review")
_MOST_KIB = 256
_MOST_DEPTH = 16
_RULES = FileRules(
    most_bytes=_MOST_KIB * 1024,
    most_depth=_MOST_DEPTH,
    sentences={
        "size": f"is larger than {_MOST_KIB} KiB, the limit for a config file",
        "encoding": "is not UTF-8 (byte {})",
        "syntax": "is not valid YAML: {}",
        "characters": "is not valid YAML: {}",
        "depth": f"is nested deeper than {_MOST_DEPTH} levels",
        "alias": "aliases (*name) are not supported; repeat the value",
        "tag": "tags (!name) are not supported; remove the tag",
        "duplicate": "duplicate key; remove one",
    },
)


def load_config(folder: Path, environ: Mapping[str, str]) -> Config:
    """Load `config.yaml` of that folder with environment variables filled in; without it, only the environment applies.

    Raises ConfigError, which has the problems and whose text is one line `file:line:column: error: where: what` each.
    """
    keys = {name: value for name in KEY_VARIABLES if (value := variable(environ, name))}
    path = folder / CONFIG_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Config(secrets=keys)
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=str(path), fix="Fix or remove the file."
        ) from error
    findings = Findings(str(path), _RULES)
    tree = read_nodes(data, findings)
    config = Config(secrets=keys) if tree is None else _read_config(tree, path, environ, keys)
    problems = findings.in_order()
    if any(problem.level == "error" for problem in problems):
        raise ConfigError("\n".join(map(str, problems)), problems)
    return replace(config, path=str(path), warnings=problems)


def _read_config(tree: YamlNode, path: Path, environ: Mapping[str, str], keys: Mapping[str, str]) -> Config:
    sections = tree.fields(_SECTIONS)
    listed = sections["providers"].entries() if "providers" in sections else ()
    entries = {name: read_provider(name, place, environ) for name, place in listed}
    if any(entry.literal for entry in entries.values()):
        _warn_of_readers(path, sections["providers"])
    secrets = dict(keys)
    for entry in entries.values():
        secrets.update(entry.secrets)
    known = sorted({*SERVERS, *entries})
    rule, guidance = read_risk(sections.get("risk"))
    mask, repeats = read_review(sections.get("review"))
    return Config(
        variants=_read_variants(sections["models"], known) if "models" in sections else {},
        providers={name: entry.settings for name, entry in entries.items()},
        rules=_read_rules(sections["rules"], known) if "rules" in sections else (),
        theme=sections["theme"].text() if "theme" in sections else None,
        secrets=secrets,
        keymap=_read_keymap(sections["keys"]) if "keys" in sections else {},
        rule=rule,
        guidance=guidance,
        mask=mask,
        repeats=repeats,
        reviewer=sections["reviewer"].text(name_fault) if "reviewer" in sections else None,
        prices=read_prices(sections["prices"]) if "prices" in sections else {},
    )


def _read_variants(section: YamlNode, known: Sequence[str]) -> dict[str, Variant]:
    variants = {}
    for name, place in section.entries():
        if "?" in name or name != name.strip():
            place.add_key_problem("the name of a variant cannot contain `?` or begin or end with white space")
        fields = place.fields(("provider", "id", *PARAMETERS))
        model_id = fields["id"].text() if "id" in fields else None
        if "id" not in fields:
            place.add_key_problem("is missing `id`, the id of the model")
        provider = fields["provider"].text() if "provider" in fields else None
        if provider is not None and provider not in known:
            fields["provider"].add_problem(_no_such_provider(provider, known))
        settings = _read_settings({key: fields[key] for key in PARAMETERS if key in fields})
        variants[name] = Variant(model_id or "", provider, settings)
    return variants


def _read_settings(fields: Mapping[str, YamlNode]) -> Settings:
    values = {}
    for name, place in fields.items():
        before = len(place.findings.problems)
        value = place.value()
        if place.is_null or len(place.findings.problems) > before:
            continue
        if fault := parameter_fault(name, value):
            place.add_problem(fault)
        else:
            values[name] = value
    return settings_from(values, Settings())


def _read_rules(section: YamlNode, known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    rules = []
    for pattern, place in section.entries():
        provider = place.text()
        if provider is not None and provider not in known:
            place.add_problem(_no_such_provider(provider, known))
        if "/" in pattern:
            place.add_key_problem("rules apply to model ids without a provider, so a rule cannot contain `/`")
        rules.append((pattern, provider or ""))
    return tuple(rules)


def _read_keymap(section: YamlNode) -> dict[str, str]:
    """Return the keys of each binding; unknown bindings are left to the app, which knows the bindings."""
    return {binding: keys for binding, place in section.entries() if (keys := place.text()) is not None}


def _no_such_provider(provider: str, known: Sequence[str]) -> str:
    return f"unknown provider {provider}. {did_you_mean(provider, known)}Providers are {', '.join(known)}"


def _warn_of_readers(path: Path, section: YamlNode) -> None:
    """Warn if others can read the file although it contains a key."""
    if os.name == "nt":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        what = f"contains an API key, and other users can read the file (mode {mode:o}). Run: chmod 600 {path}"
        section.add_problem(what, level="warning")
