"""Unified diffs as text: git's header for one file, and parsing. Does not need git."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from tui.model.diffs import DiffLine, FileDiff, FileKind, Hunk, LineKind

_LINE = "([0-9]{1,9})"
_HUNK = re.compile(rf"@@ -{_LINE}(?:,{_LINE})? \+{_LINE}(?:,{_LINE})? @@(?: (.*))?", re.DOTALL)
_MODE = re.compile("[0-7]{1,6}")
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_UNESCAPES = {letter: code for code, letter in _ESCAPES.items()}
_ESCAPED = re.compile(rb'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_KINDS: dict[str, LineKind] = {" ": "context", "+": "added", "-": "removed"}


def quote_path(path: str) -> str:
    """Return a path as git writes it in a diff: quoted if it has characters beyond printable ASCII."""
    data = path.encode("utf-8", "surrogateescape")
    if all(0x20 <= byte < 0x7F and byte not in (34, 92) for byte in data):
        return path
    return '"' + "".join(_quoted_byte(byte) for byte in data) + '"'


def _quoted_byte(byte: int) -> str:
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def unquote_path(text: str) -> str:
    """Return the path in git's quotes."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    data = _ESCAPED.sub(_unescaped, text[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes([int(found[1], 8) & 0xFF])
    return bytes([_UNESCAPES[found[2].decode()]])


def write_header(path: str, old_id: str | None, new_id: str, mode: int, *, has_hunks: bool) -> str:
    """Return the lines that git writes above the hunks of a file that was added (`old_id` None) or changed.

    Ids are abbreviated already.
    """
    old_name, new_name = quote_path(f"a/{path}"), quote_path(f"b/{path}")
    lines = [f"diff --git {old_name} {new_name}"]
    if old_id is None:
        lines += [f"new file mode {mode:06o}", f"index {'0' * len(new_id)}..{new_id}"]
    else:
        lines.append(f"index {old_id}..{new_id} {mode:06o}")
    if has_hunks:
        tab = "\t" if " " in path else ""
        lines += ["--- /dev/null" if old_id is None else f"--- {old_name}{tab}", f"+++ {new_name}{tab}"]
    return "\n".join([*lines, ""])


def read_diff(text: str) -> tuple[FileDiff, ...]:
    """Parse a unified diff as git writes it into its files.

    Lines that belong to no file are skipped; a truncated diff gives its complete part.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    files: list[FileDiff] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith("diff --git "):
            header = [lines[at], *takewhile(_is_header, lines[at + 1 : at + 17])]
            hunks, at = _read_hunks(lines, at + len(header))
            files.append(_file(header, hunks))
        else:
            at += 1
    return tuple(files)


def _is_header(line: str) -> bool:
    return not line.startswith(("@@", "diff --git "))


def read_hunks(lines: Sequence[str]) -> tuple[Hunk, ...]:
    """Return the hunks of one file, from its first `@@` on."""
    return tuple(_read_hunks(lines, 0)[0])


def _read_hunks(lines: Sequence[str], at: int) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    while at < len(lines) and (found := _HUNK.match(lines[at])):
        old_start, old_count, new_start, new_count = (int(part) if part else 1 for part in found.groups()[:4])
        body, at = _read_lines(lines, at + 1, (old_start, old_count), (new_start, new_count))
        hunks.append(Hunk(old_start, old_count, new_start, new_count, found[5] or "", tuple(body)))
    return hunks, at


def _read_lines(
    lines: Sequence[str], at: int, old_range: tuple[int, int], new_range: tuple[int, int]
) -> tuple[list[DiffLine], int]:
    """Return the lines of a hunk: as many as its header counts, whatever they contain."""
    (old, old_left), (new, new_left) = old_range, new_range
    found: list[DiffLine] = []
    while at < len(lines):
        line = lines[at]
        mark = line[:1]
        if mark == "\\" and found:
            found[-1] = found[-1]._replace(newline=False)
        elif old_left <= 0 and new_left <= 0:
            break
        elif mark == "+":
            found.append(DiffLine("added", line[1:], None, new))
            new, new_left = new + 1, new_left - 1
        elif mark == "-":
            found.append(DiffLine("removed", line[1:], old, None))
            old, old_left = old + 1, old_left - 1
        elif mark in (" ", ""):
            found.append(DiffLine("context", line[1:], old, new))
            old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
        else:
            break
        at += 1
    return found, at


def _file(header: Sequence[str], hunks: Sequence[Hunk]) -> FileDiff:
    named = {key: value for line in header for key, value in _facts(line)}
    both = _both_paths(header[0])
    old_path, new_path = (
        named.get("rename from", named.get("---", both)),
        named.get("rename to", named.get("+++", both)),
    )
    kind: FileKind = "modified"
    if "new file mode" in named:
        kind, old_path = "added", new_path
    elif "deleted file mode" in named:
        kind, new_path = "deleted", old_path
    elif "rename to" in named:
        kind = "renamed"
    index_mode = named.get("index", "").partition(" ")[2]
    old_mode = named.get("old mode") or named.get("deleted file mode") or index_mode
    new_mode = named.get("new mode") or named.get("new file mode") or index_mode
    added, removed = count_lines(hunks)
    return replace(
        FileDiff(new_path, kind, tuple(hunks), old_path),
        binary="Binary files" in named or "GIT binary patch" in named,
        old_mode=_mode(old_mode) if kind != "added" else None,
        new_mode=_mode(new_mode) if kind != "deleted" else None,
        added=added,
        removed=removed,
        old_id=named.get("index", "").partition("..")[0],
    )


def _mode(text: str) -> int | None:
    return int(text, 8) if _MODE.fullmatch(text) else None


def _facts(line: str) -> Iterator[tuple[str, str]]:
    for key in ("new file mode", "deleted file mode", "old mode", "new mode", "rename from", "rename to", "index"):
        if line.startswith(key + " "):
            value = line[len(key) + 1 :]
            yield key, unquote_path(value) if key.startswith("rename") else value
    for key in ("Binary files", "GIT binary patch"):
        if line.startswith(key):
            yield key, line
    for key in ("---", "+++"):
        if line.startswith(key + " ") and (path := unquote_path(line[4:].removesuffix("\t"))) != "/dev/null":
            yield key, path[2:]


def _both_paths(line: str) -> str:
    """Return the path in `diff --git a/P b/P`, where both are the same."""
    names = line.removeprefix("diff --git ")
    half = names[: len(names) // 2]
    return unquote_path(half)[2:]


def count_lines(hunks: Iterable[Hunk]) -> tuple[int, int]:
    """Return how many lines the hunks add and remove."""
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return kinds.count("added"), kinds.count("removed")
