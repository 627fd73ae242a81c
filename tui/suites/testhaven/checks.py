"""Validation of a TestHaven test beyond the types of its fields."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Strict, Tag, TypeAdapter, with_config
from typing_extensions import TypedDict

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.interpreters import find_interpreter, interpreter_fault
from tui.model.sanitize import sanitize_line
from tui.model.servers import agent_url_fault, show_url
from tui.model.suggest import nearest
from tui.model.suite import CheckKind
from tui.suites.context import Around, refused_path, relative
from tui.suites.messages import UNION_TAGS, quoted, shape_findings
from tui.suites.schema1.case_checks import blank, is_blank
from tui.suites.schema1.shapes import STRICT, Tools, Turns
from tui.suites.schema1.tools import tool_findings

MEMORY_KEY = r"^memory\.."
# TestHaven matches the beginning of a key: a step can have `output.includes.a` beside `output.includes.b`.
SEVERAL_OUTPUT_KEY = r"^output\.(includes|matches|equals)."
SEVERAL_TOOLS_KEY = r"^tools_used."


def _listed(value: object) -> object:
    """Return a text as a list with that one name."""
    return [value] if isinstance(value, str) else value


def _as_text(value: object) -> object:
    """Return a number as text, because YAML parses `0.1` as a number."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


ToolNames = Annotated[
    list[str],
    BeforeValidator(_listed, json_schema_input_type=list[str] | str),
    Field(description="Tools used, exactly and in this order; a string counts as a list with one name"),
]

AssertShape = TypedDict(
    "AssertShape",
    {
        "output.includes": NotRequired[Annotated[str, Field(description="Text that the output has to contain")]],
        "output.matches": NotRequired[
            Annotated[str, Field(description="Pattern that the output has to match (Python `re.search`)")]
        ],
        "output.equals": NotRequired[Annotated[str, Field(description="Exact output")]],
        "tools_used": NotRequired[ToolNames],
    },
)
with_config(
    ConfigDict(
        strict=True,
        extra="allow",
        json_schema_extra={
            "additionalProperties": False,
            "patternProperties": {
                SEVERAL_OUTPUT_KEY: {"type": "string", "description": "Another check of the same kind in this step"},
                SEVERAL_TOOLS_KEY: {"type": ["array", "string"], "description": "Same as `tools_used`"},
                MEMORY_KEY: {"description": "Value at this dotted path of the memory"},
            },
        },
    )
)(AssertShape)


@with_config(STRICT)
class ExpectedShape(TypedDict):
    """The complete result that a step is expected to have; a field that is left out has to be empty."""

    output: NotRequired[Annotated[str, Field(description="Exact output")]]
    tools_used: NotRequired[ToolNames]
    memory: NotRequired[Annotated[dict[str, Any], Field(description="Complete memory after the step")]]


_Input = Annotated[str, Field(description="Input of the agent")]
_Assert = Annotated[AssertShape, Field(description="Checks of the answer; cannot be combined with `expected`")]
_Expected = Annotated[ExpectedShape, Field(description="Complete answer; cannot be combined with `assert`")]
_Version = Annotated[
    str,
    BeforeValidator(_as_text, json_schema_input_type=str | float),
    Field(description="Version of the TestHaven format, `0.1`; has no effect"),
]
_Description = Annotated[str, Field(description="Purpose of the test")]
_Memory = Annotated[dict[str, Any], Field(description="Memory before step 1")]


@with_config(STRICT)
class AgentShape(TypedDict):
    """An agent's Python file with the interpreter that runs it."""

    file: Annotated[str, Field(description="Python file of the agent, relative to this file")]
    python: NotRequired[
        Annotated[str, Field(description="Python, or folder of a virtual environment, relative to this file")]
    ]


def _agent_kind(value: object) -> str | None:
    return UNION_TAGS[0] if isinstance(value, str) else UNION_TAGS[1] if isinstance(value, dict) else None


_Agent = Annotated[
    Annotated[str, Tag(UNION_TAGS[0])] | Annotated[AgentShape, Tag(UNION_TAGS[1])],
    Discriminator(_agent_kind, custom_error_type="agent_kind", custom_error_message="no agent"),
    Field(
        description="Agent to run: a Python file relative to this file, `cmd:COMMAND`, an http URL, or `file` with the "
        "`python` that runs it (extension)"
    ),
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
    steps: Annotated[list[StepShape], Field(description="Steps, in order", json_schema_extra={"minItems": 1})]
    schema_version: NotRequired[_Version]
    tools: NotRequired[Tools]
    max_turns: NotRequired[Turns]


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
        "tools": NotRequired[Tools],
        "max_turns": NotRequired[Turns],
    },
)
with_config(STRICT)(SingleTurnShape)


OUTPUT_KEYS: tuple[CheckKind, ...] = ("output.includes", "output.matches", "output.equals")
ASSERT_KEYS: tuple[CheckKind, ...] = (*OUTPUT_KEYS, "tools_used")
_TEXT: TypeAdapter[str] = TypeAdapter(Annotated[str, Strict()])
_TOOLS: TypeAdapter[list[str]] = TypeAdapter(ToolNames)
_SHOWN_EMPTY = {"output": '""', "tools_used": "[]", "memory": "{}"}
# The names of the same checks in other tools.
_OTHER_NAMES = {
    "contains": "output.includes",
    "includes": "output.includes",
    "matches": "output.matches",
    "regex": "output.matches",
    "equals": "output.equals",
    "output": "output.includes",
    "tools": "tools_used",
}
_URL = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)


def assert_kind(key: str) -> CheckKind | None:
    """Return the kind of check of a key of `assert`, or None if it is unknown.

    Only the beginning of the key counts, like in TestHaven: a step can have `output.includes.a` beside
    `output.includes.b`.
    """
    if key.startswith("memory."):
        return "memory"
    return next((kind for kind in ASSERT_KEYS if key.startswith(kind)), None)


def test_findings(test: dict[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    """Return all problems of the test at the path `at`."""
    agent, steps = test.get("agent"), test.get("steps")
    if isinstance(agent, str) and (what := _agent_fault(agent, around)):
        yield Finding((*at, "agent"), what)
    elif isinstance(agent, dict):
        yield from _agent_findings(agent, (*at, "agent"), around)
    yield from tool_findings(test, at, around, turns_key="max_turns")
    if steps == []:
        yield Finding((*at, "steps"), "is empty; add at least one step")
    if "input" in test:
        yield from _step_findings(test, at, around)
    for index, step in enumerate(steps or ()):
        if step is not None:
            yield from _step_findings(step, (*at, "steps", index), around)


def _step_findings(step: dict[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    if "assert" in step and "expected" in step:
        what = "cannot be combined with `assert`; remove one of them"
        yield Finding((*at, "expected"), what, at_key=True)
    for key, value in (step.get("assert") or {}).items():
        yield from _assertion_findings(key, value, (*at, "assert", key), around)
    expected = step.get("expected")
    if expected is not None:
        for key, shown in _SHOWN_EMPTY.items():
            if key not in expected:
                what = f"has no `{key}`, so {shown} is expected; add the key, or use `assert`"
                yield Finding((*at, "expected"), what, "warning", at_key=True)


def _assertion_findings(key: str, value: Any, at: Path, around: Around) -> Iterator[Finding]:
    kind = assert_kind(key)
    if kind is None:
        yield Finding(at, f"unknown assert key; {_instead(key, value)}", at_key=True)
    elif kind == "memory":
        if "" in key.split("."):
            what = f"the memory path {quoted(key)} has an empty part; write memory.NAME or memory.NAME.INNER"
            yield Finding(at, what, at_key=True)
    elif key != kind:
        if key[len(kind)].isalpha():
            what = f"is read as `{kind}`, like every key with this prefix; write {quoted(f'{kind}.{key[len(kind) :]}')}"
            yield Finding(at, what, "warning", at_key=True)
        misfits = shape_findings(_TOOLS if kind == "tools_used" else _TEXT, value, at)
        yield from misfits
        value = None if misfits else value
    if kind == "output.matches" and value is not None:
        if fault := around.pattern_fault("output.matches", value):
            yield Finding(at, fault)
        elif risk := around.pattern_risk("output.matches", value):
            yield Finding(at, risk, "warning")


def _instead(key: str, value: Any) -> str:
    meant: str | None
    if key == "memory":
        inner = next(iter(value), "name") if isinstance(value, dict) else "name"
        meant = f"memory.{sanitize_line(str(inner), 40)}"
    elif key == "output" and isinstance(value, dict) and f"output.{next(iter(value), '')}" in OUTPUT_KEYS:
        meant = f"output.{next(iter(value))}"
    else:
        meant = _OTHER_NAMES.get(key.lower()) or nearest(key, ASSERT_KEYS)
    if meant is None and nearest(key.partition(".")[0], ["memory"]):
        meant = "memory." + sanitize_line(key.partition(".")[2], 40)
    return f"did you mean `{meant}`?" if meant else f"use one of: {', '.join(ASSERT_KEYS)}, memory.<path>"


def _agent_findings(agent: dict[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    """Return the problems of an agent's file and its interpreter."""
    file, python = agent.get("file"), agent.get("python")
    if file is not None and not is_blank(file) and not file.endswith(".py"):
        yield Finding((*at, "file"), f"the agent {quoted(file)} is not a Python file; write the path of a .py file")
    elif file is not None and (what := _agent_fault(file, around)):
        yield Finding((*at, "file"), what)
    if python is None:
        return
    if is_blank(python):
        yield Finding((*at, "python"), blank(()).what)
        return
    path = find_interpreter(python, around.folder)
    if fault := interpreter_fault(path):
        what = f"the Python {quoted(path, 300)} {fault}; correct the path (relative to this file)"
        yield Finding((*at, "python"), what)


def _agent_fault(agent: str, around: Around) -> str | None:
    if is_blank(agent):
        return blank(()).what
    if agent.startswith("cmd:"):
        return None if agent[4:].strip() else "has no command after `cmd:`; add one"
    if "://" in agent:
        if not _URL.match(agent):
            return f"the URL {quoted(show_url(agent))} is not allowed; write an http or https URL"
        return f"the URL {quoted(show_url(agent))} {fault}; correct it" if (fault := agent_url_fault(agent)) else None
    if what := refused_path(agent):
        return what
    file = around.folder / relative(agent)
    return (
        None
        if file.is_file()
        else f"the agent {quoted(file, 300)} does not exist; correct the path (relative to this file)"
    )
