"""The `tools` of a case: the problems of their definitions, and the tools made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.tools import LONGEST_TOOL_TEXT, MOST_RESULTS, MOST_TOOLS, TOOL_NAME, FixedResult, OfferedTool
from tui.suites.context import Around
from tui.suites.messages import quoted


def offered_tool(tool: Mapping[str, Any]) -> OfferedTool:
    """Return the tool of a valid definition."""
    return OfferedTool(
        tool["name"],
        tool.get("description", ""),
        tool.get("parameters"),
        _text_of(tool["result"]) if "result" in tool else None,
        tuple(FixedResult(each["arguments"], _text_of(each["result"])) for each in tool.get("results", ())),
    )


def _text_of(result: Any) -> str:
    """Return a result as it is sent to the model: a text as it is, any other value as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def tool_findings(
    case: Mapping[str, Any], at: Path, around: Around, *, turns_key: str = "maxTurns"
) -> Iterator[Finding]:
    """Return all problems of the tools of a case whose fields have the right types."""
    tools = case.get("tools")
    if turns_key in case and not tools:
        yield Finding((*at, turns_key), "has no effect without `tools`; add some, or remove this key", "warning")
    if len(tools or ()) > MOST_TOOLS:
        yield Finding((*at, "tools"), f"expected at most {MOST_TOOLS} tools, got {len(tools or ()):,}; remove some")
    first: dict[str, int] = {}
    for index, tool in enumerate(tools or ()):
        if tool is None:
            continue
        place = (*at, "tools", index)
        name = tool.get("name")
        if name is not None and not TOOL_NAME.fullmatch(name):
            what = f"the name {quoted(name)} is not allowed; use 1 to 64 letters, digits, `-` and `_`"
            yield Finding((*place, "name"), what)
        elif name in first:
            yield Finding((*place, "name"), f"duplicate tool {quoted(name)}, as in tools[{first[name]}]; rename one")
        elif name is not None:
            first[name] = index
        yield from _text_findings(tool, place)
        yield from _parameter_findings(tool, (*place, "parameters"), around)
        yield from _result_findings(tool, place)


def _text_findings(tool: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    for key in ("description", "parameters", "result"):
        if tool.get(key) is not None and len(_text_of(tool[key])) > LONGEST_TOOL_TEXT:
            yield _too_long((*at, key))


def _too_long(at: Path) -> Finding:
    return Finding(at, f"is longer than {LONGEST_TOOL_TEXT:,} characters; shorten it")


def _parameter_findings(tool: Mapping[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    parameters = tool.get("parameters")
    if parameters is None:
        return
    kind = parameters.get("type", "object")
    if kind != "object":
        yield Finding((*at, "type"), f"expected `object`, got {quoted(kind)}; list the parameters under `properties`")
    elif reason := around.pattern_error("assert.is-json", json.dumps(parameters)):
        yield Finding(at, f"is not a JSON Schema that can be used: {quoted(reason, 200)}; correct it")


def _result_findings(tool: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    results: Sequence[Mapping[str, Any] | None] = tool.get("results") or ()
    if "result" not in tool and "results" not in tool:
        what = "has no `result`, so every call is answered with an error; add one"
        yield Finding(at, what, "warning")
    if len(results) > MOST_RESULTS:
        yield Finding((*at, "results"), f"expected at most {MOST_RESULTS} results, got {len(results):,}; remove some")
    for index, each in enumerate(results):
        if each is not None and "result" in each and len(_text_of(each["result"])) > LONGEST_TOOL_TEXT:
            yield _too_long((*at, "results", index, "result"))
