"""The fields of TestHaven files with their types: for checking, and for the JSON Schema."""

from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from tui.suites.shapes import STRICT

MEMORY_KEY = r"^memory\.."

AssertShape = TypedDict(
    "AssertShape",
    {
        "output.includes": NotRequired[Annotated[str, Field(description="A text that the output must contain")]],
        "output.matches": NotRequired[
            Annotated[str, Field(description="A pattern that the output must match (Python `re.search`)")]
        ],
        "output.equals": NotRequired[Annotated[str, Field(description="The output, exactly")]],
        "tools_used": NotRequired[Annotated[list[str], Field(description="The tools used, exactly and in order")]],
    },
)
with_config(
    ConfigDict(
        strict=True,
        extra="allow",
        json_schema_extra={
            "additionalProperties": False,
            "patternProperties": {MEMORY_KEY: {"description": "The value at that dotted path of the memory"}},
        },
    )
)(AssertShape)


@with_config(STRICT)
class ExpectedShape(TypedDict):
    """What a step must give, all of it; a field that is left out must be empty."""

    output: NotRequired[Annotated[str, Field(description="The output, exactly")]]
    tools_used: NotRequired[Annotated[list[str], Field(description="The tools used, exactly and in order")]]
    memory: NotRequired[Annotated[dict[str, Any], Field(description="The whole memory after the step")]]


_Input = Annotated[str, Field(description="What the agent is asked")]
_Assert = Annotated[AssertShape, Field(description="What must hold of the answer; not together with `expected`")]
_Expected = Annotated[ExpectedShape, Field(description="The answer, whole; not together with `assert`")]
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


SingleTurnShape = TypedDict(
    "SingleTurnShape",
    {
        "description": NotRequired[_Description],
        "memory": NotRequired[_Memory],
        "agent": NotRequired[_Agent],
        "input": _Input,
        "assert": NotRequired[_Assert],
        "expected": NotRequired[_Expected],
    },
)
with_config(STRICT)(SingleTurnShape)
