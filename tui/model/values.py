"""Types of JSON values in Python."""

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType("JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None")
JsonObject = TypeAliasType("JsonObject", "dict[str, JsonValue]")
