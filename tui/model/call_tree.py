"""The calls of an answer as lines of a tree: which call made which, with durations, arguments and results."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.model.results import ToolUse

_DEEPEST = 16  # levels that are indented: calls below them are shown at the last one


class _Entry(NamedTuple):
    """A call to show: `heading` is what precedes its name, `body` what precedes the lines below it."""

    place: int
    level: int = 0
    heading: str = ""
    body: str = ""


def call_lines(calls: Sequence[ToolUse]) -> list[str]:
    """Return the calls as lines: each once, with its arguments, its result and the calls below it as its branches.

    A parent that does not come before its call, as in a file that was changed by hand, is none.
    """
    roots, below = _by_parent(calls)
    lines: list[str] = []
    stack = [_Entry(place) for place in reversed(roots)]
    while stack:
        entry = stack.pop()
        call, children = calls[entry.place], below.get(entry.place, [])
        took = "" if call.duration_ms is None else f" · {call.duration_ms:,.0f} ms"
        lines.append(f"{entry.heading}{call.name}{took}")
        lines += _details(call, entry.body, is_followed=bool(children))
        stack += (_child(entry, child, is_last=child == children[-1]) for child in reversed(children))
    return lines


def _by_parent(calls: Sequence[ToolUse]) -> tuple[list[int], dict[int, list[int]]]:
    roots: list[int] = []
    below: dict[int, list[int]] = {}
    for place, call in enumerate(calls):
        is_child = call.parent is not None and 0 <= call.parent < place
        (below.setdefault(call.parent, []) if is_child and call.parent is not None else roots).append(place)
    return roots, below


def _child(parent: _Entry, place: int, *, is_last: bool) -> _Entry:
    if parent.level == _DEEPEST:
        return parent._replace(place=place)
    body = parent.body + ("  " if is_last else "│ ")
    return _Entry(place, parent.level + 1, f"{parent.body}{'└' if is_last else '├'} ", body)


def _details(call: ToolUse, body: str, *, is_followed: bool) -> list[str]:
    parts = {"arguments": call.arguments, "result": call.result}
    known = [(name, text) for name, text in parts.items() if text]
    lines: list[str] = []
    for place, (name, text) in enumerate(known, start=1):
        first, *rest = text.splitlines() or [""]
        is_last = place == len(known) and not is_followed
        lines.append(f"{body}{'└' if is_last else '├'} {name}: {first}")
        lines += [f"{body}{' ' if is_last else '│'}   {line}" for line in rest]
    return lines
