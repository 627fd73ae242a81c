"""The JSON Schema of the config file, for editors, and a commented config file with every setting, made from it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tui.config.shapes import ConfigShape, ProjectShape
from tui.documents.json_schema import DIALECT, schema_of_shape
from tui.model.values import JsonObject

_HEAD = """\
## Config file of Assay. Every setting is optional.
## Remove the `# ` before a setting, and before the lines above it that it belongs to. `## ` begins an explanation.
## Check the file with: assay config check
"""
# An entry of each mapping with free keys, and values that no schema can suggest.
_ENTRIES = {
    "models": "warm",
    "providers": "my-server",
    "rules": '"qwen*"',
    "keys": "run.case",
    "prices": "my-server/some-model",
    "headers": "X-Team",
}
_VALUES: Mapping[str, object] = {
    "models.provider": "local",
    "models.id": "smollm2-135m",
    "models.temperature": 0.8,
    "models.top_p": 0.95,
    "models.seed": 7,
    "models.max_tokens": 1000,
    "models.system": "Answer in one sentence.",
    "models.api": None,  # only for OpenAI's protocols
    "providers.headers": "evaluation",
    "providers.proxy": "http://localhost:3128",
    "rules": "my-server",
    "theme": "assay-light",
    "keys": "ctrl+r",
    "risk.guidance": ["not at all", "slightly", "partly", "mostly", "fully"],
    "reviewer": "Anna",
    "prices.input": 0.5,
    "prices.output": 1.5,
    "prices.cached": 0.05,
    "prices.cache_writing": 0.6,
    "review.mask": ["acme"],
}


def config_schema() -> JsonObject:
    """Return the JSON Schema (draft 2020-12) of the config file, with descriptions, limits and defaults."""
    return {"$schema": DIALECT, **schema_of_shape(ConfigShape), "title": "Assay config"}


def project_schema() -> JsonObject:
    """Return the JSON Schema (draft 2020-12) of a project file, `.assay.yaml`."""
    return {"$schema": DIALECT, **schema_of_shape(ProjectShape), "title": "Assay project config"}


def config_template() -> str:
    """Return a config file in which every setting is commented out, with its description and an example value."""
    schema: Mapping[str, Any] = config_schema()
    lines = [_HEAD]
    for name, field in schema["properties"].items():
        lines += [*_setting(schema["$defs"], name, field, name, 0), ""]
    return "\n".join(lines)


def _setting(shapes: Mapping[str, Any], name: str, field: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
    """Yield the lines of a setting: its description, then the setting with an example, or what it contains."""
    if "not" in field:  # a key that is never valid
        return
    indent = "  " * depth
    if description := field.get("description"):
        yield f"## {indent}{_first_upper(description)}{limits_of(field)}"
    inner = shape_of(shapes, field)
    entries = field.get("additionalProperties")
    if inner is not None:
        yield f"# {indent}{name}:"
        for key, below in inner["properties"].items():
            yield from _setting(shapes, key, below, f"{path}.{key}", depth + 1)
    elif isinstance(entries, Mapping):
        yield f"# {indent}{name}:"
        entry, below = _ENTRIES[name], shape_of(shapes, entries)
        if below is None:
            yield f"#   {indent}{entry}: {_text(_VALUES[path])}"
        else:
            yield f"#   {indent}{entry}:"
            for key, each in below["properties"].items():
                yield from _setting(shapes, key, each, f"{path}.{key}", depth + 2)
    else:
        yield f"# {indent}{name}: {_text(_example(field, path))}"


def shape_of(shapes: Mapping[str, Any], field: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the shape that a field refers to, or None if it is no object with known keys."""
    reference = field.get("$ref", "").rpartition("/")[2]
    return shapes[reference] if reference else None


def _example(field: Mapping[str, Any], path: str) -> object:
    if path in _VALUES:
        return _VALUES[path]
    if "default" in field:
        return field["default"]
    for name in ("examples", "enum"):
        if field.get(name):
            return field[name][0]
    raise ValueError(f"{path} has no example")


def _text(value: object) -> str:
    """Return a value as YAML, of which JSON is a part."""
    return json.dumps(value, ensure_ascii=False)


def limits_of(field: Mapping[str, Any]) -> str:
    """Return the allowed values of a setting, or the limits of its number, as the end of its description."""
    found = [field, *field.get("anyOf", ())]
    words = next((each["enum"] for each in found if "enum" in each), None)
    if words:
        return f": {', '.join(words)}"
    limits = next((each for each in found if "minimum" in each and each.get("maximum", 1e9) < 1e9), None)
    return f" ({limits['minimum']:g} to {limits['maximum']:g})" if limits else ""


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
