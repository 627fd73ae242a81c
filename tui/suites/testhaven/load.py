"""Validating a TestHaven file and building a Suite: a test of steps, a legacy single turn, or a list of either."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from pydantic import TypeAdapter

from tui.documents.positions import Path
from tui.documents.problems import Finding, has_most_errors, pruned
from tui.model.suggest import nearest
from tui.model.suite import Case, Check, Options, Step, Suite
from tui.model.tools import DEFAULT_TURNS
from tui.model.values import JsonValue
from tui.suites.context import Around, relative
from tui.suites.messages import shape_findings
from tui.suites.schema1.tools import offered_tool
from tui.suites.testhaven.checks import SingleTurnShape, SteppedShape, assert_kind, test_findings

CATEGORY = "TestHaven"
_TURN_KEYS = ("input", "assert", "expected")


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def testhaven_findings(value: JsonValue, around: Around) -> Iterator[Finding]:
    """Return all problems of a TestHaven file's value; values that do not fit are replaced by None in it."""
    if not isinstance(value, list):
        yield from _test_findings(value, (), around)
        return
    agents: dict[str, int] = {}  # by their JSON: an agent may be an object
    for index, test in enumerate(value):
        yield from _test_findings(test, (index,), around)
        agent = json.dumps(test["agent"], sort_keys=True) if isinstance(test, dict) and test.get("agent") else None
        if agent and agents and agent not in agents:
            first = next(iter(agents.values()))
            what = f"differs from the agent of [{first}]; all tests of a file use the same agent"
            yield Finding((index, "agent"), what)
        elif agent:
            agents.setdefault(agent, index)


def _test_findings(test: JsonValue, at: Path, around: Around) -> Iterator[Finding]:
    if not isinstance(test, dict):
        yield Finding(at, "expected an object with `steps`, or with `input` and `assert`; correct it")
        return
    test.pop("$schema", None)
    both = "steps" in test and [key for key in _TURN_KEYS if key in test]
    for key in both or ():
        what = "cannot be combined with `steps`; move it into a step, or remove it"
        yield Finding((*at, key), what, at_key=True)
        del test[key]
    stepped = "steps" in test or ("input" not in test and any(nearest(key, ("steps",)) for key in list(test)[:100]))
    if not stepped and "input" not in test:
        yield Finding(at, "has neither `steps` nor `input`; add one of them")
        test["input"] = None
        found = [item for item in shape_findings(_adapter(SingleTurnShape), test, at) if item.path != (*at, "input")]
    else:
        found = shape_findings(_adapter(SteppedShape if stepped else SingleTurnShape), test, at)
    yield from found
    if not has_most_errors(found):
        pruned(test, [Finding(item.path[len(at) :], item.what, item.level) for item in found])
        yield from test_findings(test, at, around)


def build_testhaven(value: Any, lines: Iterable[int], path: FilePath, sha256: str) -> Suite:
    """Return the suite of a valid value; `lines` are the lines of its tests."""
    stem = path.stem.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        ids = [f"{stem}#{number}" for number in range(1, len(value) + 1)]
        tests, name, description = value, stem, ""
    else:
        ids, tests = [stem], [value]
        description = value.get("description", "")
        name = description.strip() or stem
    agent = next((test["agent"] for test in tests if "agent" in test), None)
    return Suite(
        name=name,
        description=description,
        path=str(path),
        sha256=sha256,
        format="testhaven",
        cases=tuple(_case(test, identity, line) for test, identity, line in zip(tests, ids, lines, strict=True)),
        options=Options(delay_ms=0),
        agent=None if agent is None else relative(agent if isinstance(agent, str) else agent["file"]),
        agent_python=agent.get("python") if isinstance(agent, dict) else None,
    )


def _case(test: dict[str, Any], identity: str, line: int) -> Case:
    return Case(
        id=identity,
        name=test.get("description", "").strip() or identity,
        category=CATEGORY,
        steps=tuple(map(_step, test.get("steps", [test]))),
        line=line,
        memory=test.get("memory", {}),
        tools=tuple(map(offered_tool, test.get("tools", ()))),
        max_turns=int(test.get("max_turns", DEFAULT_TURNS)),
    )


def _step(step: dict[str, Any]) -> Step:
    checks = [_check(key, value) for key, value in step.get("assert", {}).items()]
    if "expected" in step:
        expected = {"output": "", "tools_used": [], "memory": {}} | step["expected"]
        checks.append(Check("expected", expected={**expected, "tools_used": _tools(expected["tools_used"])}))
    return Step(step["input"], tuple(checks))


def _check(key: str, value: Any) -> Check:
    kind = assert_kind(key)
    assert kind is not None
    if kind == "memory":
        return Check("memory", key.removeprefix("memory."), value)
    return Check("tools_used", expected=_tools(value)) if kind == "tools_used" else Check(kind, value)


def _tools(value: list[JsonValue] | str) -> list[JsonValue]:
    return [value] if isinstance(value, str) else value
