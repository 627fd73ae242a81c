"""Messages about evaluated checks: the expected value, the actual value, and their difference."""

import difflib
import json
from collections.abc import Iterator, Sequence

from tui.checks.protocol import Matches
from tui.checks.values import Missing
from tui.model.values import JsonValue

_LONGEST_VALUE = 200
_LONGEST_LINE = 240
_MOST_LINES = 80
_CONTEXT = 3
_LONGEST_SHOWN = 100_000


def line_of(text: str, place: int) -> int:
    """Return the line, counted from 1, of a code point."""
    return text.count("\n", 0, place) + 1


def words_for_matches(matches: Matches, text: str) -> str:
    """Return the number of matches and their lines, that there are none, or why the search failed."""
    if matches.failure:
        return f"could not be evaluated: {matches.failure}"
    if not matches.count:
        return "not found"
    line = line_of(text, matches.spans[0][0])
    if not matches.counted:
        return f"found, starting on line {line}; further matches could not be counted"
    if matches.count == 1:
        return f"found on line {line}"
    number = len(matches.spans)
    marked = f" (only {number:,} {'is' if number == 1 else 'are'} marked)" if matches.count > number else ""
    return f"found {matches.count:,} times{marked}, starting on line {line}"


def quote(value: JsonValue | Missing) -> str:
    """Return a value as JSON on one line, truncated if it is long."""
    if isinstance(value, Missing):
        return "missing"
    if isinstance(value, str):
        value = value[: _LONGEST_VALUE + 1]
    return _cut(_as_json(value, None), _LONGEST_VALUE)


def words_for_values(expected: JsonValue | Missing, got: JsonValue | Missing, name: str = "") -> str:
    """Return `expected …` and `got …` on a line each, or a diff if they do not fit on a line."""
    label = f" {name}" if name else ""
    lines = [f"expected{label} {quote(expected)}", f"got{label} {quote(got)}"]
    if not _fits(expected) or not _fits(got):
        lines += diff_lines(_lines_of(got), _lines_of(expected))
    return "\n".join(lines)


def diff_lines(got: Sequence[str], expected: Sequence[str]) -> list[str]:
    """Return a unified diff from the actual (`-`) to the expected text (`+`), at most 80 changed lines a side."""
    head = _common(got, expected)
    tail = _common(got[head:][::-1], expected[head:][::-1])
    first = max(0, head - _CONTEXT)
    last = max(0, tail - _CONTEXT)
    actual_lines, expected_lines = (
        list(side[first : min(len(side) - last, first + _MOST_LINES)]) for side in (got, expected)
    )
    hunks = difflib.unified_diff(actual_lines, expected_lines, "got", "expected", lineterm="", n=_CONTEXT)
    lines = [_numbered(line, first) if line.startswith("@@") else _cut(line, _LONGEST_LINE) for line in hunks]
    left_out = sum(max(0, len(side) - last - first - _MOST_LINES) for side in (got, expected))
    return [*lines, f"… {left_out:,} more lines"] if left_out else lines


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _numbered(header: str, offset: int) -> str:
    """Return the header of a hunk with the line numbers of the whole text."""
    return " ".join(_shifted(part, offset) if part[:1] in "-+" else part for part in header.split(" "))


def _shifted(part: str, offset: int) -> str:
    start, comma, size = part[1:].partition(",")
    return f"{part[0]}{int(start) + offset}{comma}{size}"


def _fits(value: JsonValue | Missing) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_VALUE and "\n" not in value
    if isinstance(value, dict | list):
        return len(value) <= 1 and len(_as_json(value, None)) <= 60
    return True


def _lines_of(value: JsonValue | Missing) -> list[str]:
    if isinstance(value, Missing):
        return []
    text = value if isinstance(value, str) else _as_json(value, 2)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    lines = shown.split("\n")
    return [piece for line in lines for piece in _pieces(line)]


def _pieces(line: str) -> Iterator[str]:
    """Split long lines into pieces, so that the diff shows which part of them differs.

    The marks at the cuts show how they continue, and that a part of a key there was cut off.
    """
    if len(line) <= _LONGEST_LINE:
        yield line
        return
    for start in range(0, len(line), _LONGEST_VALUE):
        end = start + _LONGEST_VALUE
        yield f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _as_json(value: JsonValue, indent: int | None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=indent is not None)
    except (RecursionError, ValueError):
        return "(value too large or too deeply nested to display)"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
