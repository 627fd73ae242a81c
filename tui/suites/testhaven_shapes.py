"""The fields of TestHaven files with their types: for checking, and for the JSON Schema."""

from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from tui.suites.schema1.shapes import STRICT

MEMORY_KEY = r"^memory\.."
# TestHaven goes by how a key begins: a step can have `output.includes.a` beside `output.includes.b`.
SEVERAL_OUTPUT_KEY = r"^output\.(includes|matches|equals)."
SEVERAL_TOOLS_KEY = r"^tools_used."


def _listed(value: object) -> object:
    """A text is a list of that one name."""
    return [value] if isinstance(value, str) else value


def _as_text(value: object) -> object:
    """YAML reads `0.1` as a number."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Tools = Annotated[
    list[str],
    BeforeValidator(_listed, json_schema_input_type=list[str] | str),
    Field(description="The tools used, exactly and in order; a text counts as a list of that one name"),
]

AssertShape = TypedDict(
    "AssertShape",
    {
        "output.includes": NotRequired[Annotated[str, Field(description="A text that the output must contain")]],
        "output.matches": NotRequired[
            Annotated[str, Field(description="A pattern that the output must match (Python `re.search`)")]
        ],
        "output.equals": NotRequired[Annotated[str, Field(description="The output, exactly")]],
        "tools_used": NotRequired[Tools],
    },
)
with_config(
    ConfigDict(
        strict=True,
        extra="allow",
        json_schema_extra={
            "additionalProperties": False,
            "patternProperties": {
                SEVERAL_OUTPUT_KEY: {"type": "string", "description": "One more check of that kind in the same step"},
                SEVERAL_TOOLS_KEY: {"type": ["array", "string"], "description": "The same as `tools_used`"},
                MEMORY_KEY: {"description": "The value at that dotted path of the memory"},
            },
        },
    )
)(AssertShape)


@with_config(STRICT)
class ExpectedShape(TypedDict):
    """What a step must give, all of it; a field that is left out must be empty."""

    output: NotRequired[Annotated[str, Field(description="The output, exactly")]]
    tools_used: NotRequired[Tools]
    memory: NotRequired[Annotated[dict[str, Any], Field(description="The whole memory after the step")]]


_Input = Annotated[str, Field(description="What the agent is asked")]
_Assert = Annotated[AssertShape, Field(description="What must hold of the answer; not together with `expected`")]
_Expected = Annotated[ExpectedShape, Field(description="The answer, whole; not together with `assert`")]
_Version = Annotated[
    str,
    BeforeValidator(_as_text, json_schema_input_type=str | float),
    Field(description="Version of TestHaven's format, `0.1`; it changes nothing"),
]
_Description = Annotated[str, Field(description="What is tested")]
_Memory = Annotated[dict[str, Any], Field(description="The memory before the first step")]
_Agent = Annotated[
    str, Field(description="Agent to ask: a Python file beside this one, `cmd:COMMAND` or an http URL (extension)")
]

StepShape = TypedDict(
    "StepShape",
    {"input": _Input, "assert": NotRequired[_Assert], "expected": NotRequired[_Expected]},
)
with_config(STRICT)(StepShape)


@with_config(STRICT)
class SteppedShape(TypedDict):
    """A test of one or more steps."""

    description: NotRequired[_Description]
    memory: NotRequired[_Memory]
    agent: NotRequired[_Agent]
    steps: Annotated[list[StepShape], Field(description="The steps, in order", json_schema_extra={"minItems": 1})]
    schema_version: NotRequired[_Version]


SingleTurnShape = TypedDict(
    "SingleTurnShape",
    {
        "description": NotRequired[_Description],
        "memory": NotRequired[_Memory],
        "agent": NotRequired[_Agent],
        "input": _Input,
        "assert": NotRequired[_Assert],
        "expected": NotRequired[_Expected],
        "schema_version": NotRequired[_Version],
    },
)
with_config(STRICT)(SingleTurnShape)
