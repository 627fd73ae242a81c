"""The JSON Schema of each format, for editors."""

from typing import Any

from pydantic import TypeAdapter

from tui.model.suite import SuiteFormat
from tui.model.values import JsonObject, JsonValue
from tui.suites.schema1.shapes import SuiteShape
from tui.suites.testhaven_shapes import SingleTurnShape, SteppedShape

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SCHEMA_KEY: JsonObject = {"type": "string", "description": "Where the schema for editors is"}


def schema_of(format: SuiteFormat) -> JsonObject:
    """The JSON Schema (draft 2020-12) of a format, with descriptions, allowed values and defaults."""
    if format == "schema-1.0.0":
        schema = _of(SuiteShape)
        schema["title"], schema["description"] = "Assay suite, schema 1.0.0", "A test suite, schema 1.0.0"
        _allow_schema_key(schema)
    else:
        schema = _testhaven()
    return {"$schema": _DIALECT, **schema}


def _testhaven() -> JsonObject:
    stepped, single = _of(SteppedShape), _of(SingleTurnShape)
    shared: dict[str, JsonValue] = {}
    for name, shape in (("Test", stepped), ("SingleTurnTest", single)):
        definitions = shape.pop("$defs", {})
        if isinstance(definitions, dict):
            shared.update(definitions)
        _allow_schema_key(shape)
        shared[name] = {**shape, "title": name}
    alternatives: list[JsonValue] = [{"$ref": "#/$defs/Test"}, {"$ref": "#/$defs/SingleTurnTest"}]
    listed: JsonValue = {"type": "array", "minItems": 1, "items": {"anyOf": alternatives}}
    return {
        "title": "TestHaven test",
        "description": "A test of steps, a legacy single-turn test, or a list of tests",
        "anyOf": [*alternatives, listed],
        "$defs": shared,
    }


def _of(shape: Any) -> JsonObject:
    schema = TypeAdapter(shape).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        for field in part.get("properties", {}).values():
            field.pop("title", None)
    return schema


def _allow_schema_key(schema: JsonObject) -> None:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {"$schema": _SCHEMA_KEY, **properties}
