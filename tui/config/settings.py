"""The settings of the config files, one by one: value, default, origin and description, made from the schema."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tui.config.entries import project_shape
from tui.config.load import CONFIG_RULES
from tui.config.shape_problems import Loc, read_shape
from tui.config.shapes import VARIABLE, ConfigShape
from tui.config.template import config_schema, limits_of, shape_of
from tui.documents.yaml_nodes import Findings, YamlNode, read_nodes
from tui.documents.yaml_text import yaml_value
from tui.model.paths import url_secrets
from tui.model.servers import SERVERS, query_secrets, variable
from tui.model.values import JsonObject

Origin = Literal["default", "config file", "project file", "environment"]
Kind = Literal["text", "number", "choice", "list", "section", "read-only"]
HIDDEN = "[hidden]"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with its value as a text that can be edited; a value that is not set is empty.

    `place` is the line of the file that sets it, or the variable. A `section` has entries with free names, and its text
    is their number. A `read-only` value may contain a key and is displayed without it.
    """

    path: tuple[str, ...]
    kind: Kind
    description: str
    text: str = ""
    default: str = ""
    origin: Origin = "default"
    place: str = ""
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the path with dots."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class _Source:
    """The valid settings of a file, and the node of each by its path."""

    file: str
    origin: Origin
    values: Mapping[str, Any]
    nodes: Mapping[Loc, YamlNode]
    environ: Mapping[str, str]

    def has(self, path: Loc) -> bool:
        """Return whether the file sets a valid value at a path."""
        found: Any = self.values
        for step in path:
            if not isinstance(found, dict) or step not in found:
                return False
            found = found[step]
        return found is not None

    def value(self, path: Loc) -> Any:
        """Return the value at a path."""
        found: Any = self.values
        for step in path:
            found = found[step]
        return found

    def place(self, path: Loc) -> str:
        """Return `FILE:LINE` of a value."""
        node = self.nodes.get(path)
        return f"{self.file}:{(node.key or node.node).start_mark.line + 1}" if node else self.file


def list_settings(
    file: Path, data: bytes | None, project: Path | None, project_data: bytes | None, environ: Mapping[str, str]
) -> tuple[Setting, ...]:
    """Return the settings of the config file and of the project file with these contents, in the schema's order.

    Invalid values count as not set.
    """
    user = _read(file, data, environ, is_project=False)
    sources = (_read(project, project_data, environ, is_project=True), user) if project is not None else (user,)
    schema = _schema()
    found: list[Setting] = []
    for name, field in schema["properties"].items():
        found += _settings(schema["$defs"], field, (name,), sources)
        if name == "providers":
            found += _built_in_providers(user, environ)
    return tuple(found)


def entry_fields(section: str) -> tuple[tuple[str, str, bool], ...]:
    """Return the fields of an entry of a section: name, description and whether it is required.

    An entry that is a single value has one field with an empty name.
    """
    schema = _schema()
    entries = schema["properties"][section]["additionalProperties"]
    shape = shape_of(schema["$defs"], entries)
    if shape is None:
        return (("", schema["properties"][section]["description"], True),)
    required = shape.get("required", ())
    return tuple(
        (key, each.get("description", "") + limits_of(each), key in required)
        for key, each in shape["properties"].items()
    )


def kind_of_entry(section: str, key: str) -> Kind:
    """Return the kind of the field of an entry of a section; `key` is empty for an entry that is a single value."""
    schema = _schema()
    entries = schema["properties"][section]["additionalProperties"]
    return _kind((shape_of(schema["$defs"], entries) or {"properties": {"": entries}})["properties"][key])


def value_text(value: object) -> str:
    """Return a value of the config as a text that can be edited."""
    return value if isinstance(value, str) else yaml_value(value)  # type: ignore[arg-type]


@cache
def _schema() -> Mapping[str, Any]:
    schema: JsonObject = config_schema()
    return schema


def _read(file: Path, data: bytes | None, environ: Mapping[str, str], *, is_project: bool) -> _Source:
    origin: Origin = "project file" if is_project else "config file"
    tree = read_nodes(data or b"", Findings(str(file), CONFIG_RULES))
    if tree is None:
        return _Source(str(file), origin, {}, {}, environ)
    values: Any
    values, nodes = project_shape(tree) if is_project else read_shape(tree, ConfigShape)
    return _Source(str(file), origin, values, nodes, environ)


def _settings(
    shapes: Mapping[str, Any], field: Mapping[str, Any], path: tuple[str, ...], sources: tuple[_Source, ...]
) -> Iterator[Setting]:
    """Yield the settings of a field: of itself, of the fields below it, or of the entries that the files have."""
    if "not" in field:  # a key that is never valid
        return
    inner, entries = shape_of(shapes, field), field.get("additionalProperties")
    if inner is not None:
        for key, below in inner["properties"].items():
            yield from _settings(shapes, below, (*path, key), sources)
    elif path[0] == "providers" and len(path) > 1 and not sources[-1].has(path):
        return  # a setting of a provider that is not set has the value of the built-in provider
    elif isinstance(entries, Mapping) and len(path) == 1:
        names = dict.fromkeys(
            name for source in reversed(sources) for name in (source.value(path) if source.has(path) else ())
        )
        count = f"{len(names)} {'entry' if len(names) == 1 else 'entries'}"
        yield Setting(path, "section", _description(field), count if names else "")
        if shape_of(shapes, entries) is None:
            entries = {"type": "string"}
        for name in names:
            yield from _settings(shapes, entries, (*path, name), sources)
    else:
        yield _setting(field, path, sources)


def _setting(field: Mapping[str, Any], path: tuple[str, ...], sources: tuple[_Source, ...]) -> Setting:
    source = next((source for source in sources if source.has(path)), None)
    default = value_text(field["default"]) if "default" in field else ""
    kind: Kind = "read-only" if path[0] == "providers" else _kind(field)
    choices = next((tuple(map(str, each["enum"])) for each in _variants(field) if "enum" in each), ())
    if source is None:
        return Setting(path, kind, _description(field), default, default, choices=choices)
    value = source.value(path)
    text = _shown(path[-1], value, source.environ) if kind == "read-only" else value_text(value)
    return Setting(path, kind, _description(field), text, default, source.origin, source.place(path), choices)


def _description(field: Mapping[str, Any]) -> str:
    text = field.get("description", "")
    return text[:1].upper() + text[1:] + limits_of(field) if text else ""


def _variants(field: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return (field, *field.get("anyOf", ()))


def _kind(field: Mapping[str, Any]) -> Kind:
    for each in _variants(field):
        if "enum" in each:
            return "choice"
        if each.get("type") in ("integer", "number"):
            return "number"
        if each.get("type") == "array":
            return "list"
    return "text"


def _shown(key: str, value: object, environ: Mapping[str, str]) -> str:
    """Return a value of a provider without keys: of a text that may be secret, only the variables and their state."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown('api_key', text, environ)}" for name, text in value.items())
    text = str(value)
    if key == "api_key":
        states = ((name, "set" if variable(environ, name) else "not set") for name in VARIABLE.findall(text))
        return " ".join(f"${{{name}}} ({state})" for name, state in states) or HIDDEN
    has_user = key == "base_url" and "@" in text.rpartition("://")[2].partition("/")[0]  # also without a scheme
    return HIDDEN if has_user or url_secrets(text) or query_secrets(text) else text


def _built_in_providers(user: _Source, environ: Mapping[str, str]) -> Iterator[Setting]:
    """Yield what the environment sets for built-in providers."""
    for name, server in SERVERS.items():
        key = next((each for each in server.key_variables if variable(environ, each)), "")
        url = variable(environ, server.url_variable) if server.url_variable else None
        path = ("providers", name, "api_key")
        if key and not user.has(path):
            yield Setting(path, "read-only", "API key", f"${{{key}}} (set)", "", "environment", key)
        path = ("providers", name, "base_url")
        if url and not user.has(path):
            shown = _shown("base_url", url, environ)
            yield Setting(path, "read-only", "URL of the API", shown, "", "environment", server.url_variable)
