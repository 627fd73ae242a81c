"""JSON Schemas of the shapes of files, for editors."""

from typing import Any

from pydantic import TypeAdapter

from tui.model.values import JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of_shape(shape: Any) -> JsonObject:
    """Return the JSON Schema of a pydantic shape, without the titles that repeat the names of its fields."""
    schema = TypeAdapter(shape).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        for field in part.get("properties", {}).values():
            field.pop("title", None)
    return schema
