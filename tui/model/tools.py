"""The tools that a case offers to a chat model, with the fixed results of their calls."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tui.model.values import JsonObject, JsonValue

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names that every protocol allows."""
DEFAULT_TURNS, MOST_TURNS = 8, 32
MOST_TOOLS, MOST_RESULTS = 64, 100
LONGEST_TOOL_TEXT = 100_000
"""The length of a description, of parameters as JSON, and of a result."""


@dataclass(frozen=True, slots=True)
class FixedResult:
    """The result of the calls whose arguments include `arguments`."""

    arguments: JsonObject
    result: str


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of a case. `parameters` is a JSON Schema, None for a tool without parameters.

    The first of the `results` that fits the arguments answers a call, else `result`; None answers with an error.
    """

    name: str
    description: str = ""
    parameters: JsonObject | None = None
    result: str | None = None
    results: tuple[FixedResult, ...] = ()

    def result_of(self, arguments: JsonObject) -> str | None:
        """Return the fixed result of a call, or None if there is none for these arguments."""
        fitting = (each.result for each in self.results if includes(arguments, each.arguments))
        return next(fitting, self.result)

    @property
    def characters(self) -> int:
        """The length of what every request contains about the tool, without the words of the protocol."""
        return len(self.name) + len(self.description) + len(json.dumps(self.schema, ensure_ascii=False))

    @property
    def heading(self) -> JsonObject:
        """The name and the description, if there is one, under the names that all protocols use."""
        return {"name": self.name, **({"description": self.description} if self.description else {})}

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of the parameters, which the protocols require."""
        return {"type": "object", **(self.parameters or {"properties": {}})}


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call with its result, as both are sent back to the model.

    `id` and `name` are valid in every protocol; `extra` are fields that the server needs back with the call.
    """

    id: str
    name: str
    arguments: JsonObject
    result: str
    is_error: bool = False
    extra: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """A turn of the model that ended with calls of tools, and their results.

    `echo` is what the provider needs back besides the text and the calls, such as a signed thought; None for nothing.
    """

    text: str
    calls: Sequence[AnsweredCall]
    echo: JsonValue = None


def includes(value: JsonValue, part: JsonValue) -> bool:
    """Return whether a JSON value is equal to `part`, apart from additional keys of its objects.

    As in JSON, true is not 1, and 1 is 1.0.
    """
    if isinstance(part, dict):
        return isinstance(value, dict) and all(key in value and includes(value[key], part[key]) for key in part)
    if isinstance(part, list):
        is_list = isinstance(value, list) and len(value) == len(part)
        return is_list and all(map(includes, value, part))  # type: ignore[arg-type]
    return isinstance(value, bool) == isinstance(part, bool) and value == part
