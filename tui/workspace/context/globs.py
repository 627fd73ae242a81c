"""Glob patterns with the syntax of git's `.gitignore`, and `{a,b}` as in editors.

Patterns come from untrusted suites and repositories, so they are compiled to expressions that cannot backtrack beyond
one star: the text between two stars is matched leftmost in an atomic group, which loses no match of a glob.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from tui.model.errors import WorkspaceError
from tui.model.sanitize import sanitize_line

_MOST_BRACES = 64  # of one pattern: the library calls itself for each of them
_MOST_EXPANDED = 1_000
_LONGEST = 4_096
MOST_CHARACTERS = 256 * 1024
"""The limit for all patterns of a list together: the compilation needs about 10 µs for each character."""
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
    "punct": r"!-/:-@\[-`{-~",
}


class Rule(NamedTuple):
    """One pattern. `expression` matches a whole path; `folders` says that only a folder can match."""

    pattern: str
    expression: re.Pattern[str]
    negated: bool
    folders: bool


def read_rule(line: str, *, below: bool = False) -> Rule | None:
    """Return the rule of a `.gitignore` line, or None for a comment, an empty line or a pattern without matches.

    With `below` the expression also matches all paths in a folder that the pattern names.
    """
    text = _without_trailing_spaces(line.rstrip("\r\n"))
    if not text or text.startswith("#") or len(text) > _LONGEST:
        return None
    negated = text.startswith("!")
    body = text[1:] if negated else text
    folders = body.endswith("/")
    body = body.rstrip("/") if folders else body
    anchored = "/" in body
    segments = body.removeprefix("/").split("/")
    if not body or "" in segments:
        return None
    expression = _expression(segments if anchored else ["**", *segments])
    if expression is None:
        return None
    tail = ""
    if below and not expression.endswith(".+"):
        tail = "/.+" if folders else "(?:/.*)?"
    return Rule(text, re.compile(expression + tail, re.DOTALL), negated, folders and not below)


def _without_trailing_spaces(text: str) -> str:
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    return text


def _expression(segments: Sequence[str]) -> str | None:
    """Return one expression for all segments; a run between two `**` is atomic."""
    runs: list[list[str]] = [[]]
    for segment in segments:
        if len(segment) > 1 and not segment.strip("*"):
            runs.append([])
            continue
        translated = _segment(segment)
        if translated is None:
            return None
        runs[-1].append(translated)
    last = len(runs) - 1
    parts = ["/".join(runs[0])] if runs[0] else []
    for number, run in enumerate(runs[1:], start=1):
        if run:
            body = "/".join(run)
            # Leftmost and atomic: a later match could lead to nothing that this one cannot.
            parts.append(f"(?:[^/]+/)*{body}" if number == last else f"(?>(?:[^/]+/)*?{body}(?=/))")
        elif number == last:
            parts.append(".+")
    return "/".join(parts)


def _segment(segment: str) -> str | None:
    """Return the expression of one path segment: `[^/]*` for each run of stars, and an atomic group before the last."""
    chunks: list[str] = [""]
    at = 0
    while at < len(segment):
        character = segment[at]
        at += 1
        if character == "*":
            if chunks[-1] or len(chunks) == 1:
                chunks.append("")
        elif character == "?":
            chunks[-1] += "[^/]"
        elif character == "[":
            found = _bracket(segment, at)
            if found is None:
                return None
            chunks[-1] += found[0]
            at = found[1]
        else:
            if character == "\\":
                if at == len(segment):
                    return None
                character, at = segment[at], at + 1
            chunks[-1] += re.escape(character)
    if len(chunks) == 1:
        return chunks[0]
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in chunks[1:-1])
    return f"{chunks[0]}{middle}[^/]*{chunks[-1]}"


def _bracket(segment: str, at: int) -> tuple[str, int] | None:
    """Return the bracket expression after a `[`, and the index after its `]`, or None if it is not closed."""
    inverted = segment[at : at + 1] in ("!", "^")
    at += inverted
    body, first = "", True
    while at < len(segment) and (first or segment[at] != "]"):
        first = False
        if segment.startswith("[:", at) and (end := segment.find(":]", at)) > 0:
            if segment[at + 2 : end] not in _CLASSES:
                return None
            body += _CLASSES[segment[at + 2 : end]]
            at = end + 2
            continue
        if segment[at] == "\\":
            at += 1
        if at >= len(segment):
            return None
        start, at = segment[at], at + 1
        if segment[at : at + 1] == "-" and segment[at + 1 : at + 2] not in ("", "]"):
            at += 2 if segment[at + 1] == "\\" else 1
            if at >= len(segment):
                return None
            stop, at = segment[at], at + 1
            body += f"{re.escape(start)}-{re.escape(stop)}" if start <= stop else re.escape(start)
        else:
            body += re.escape(start)
    if at >= len(segment):
        return None
    if not body:
        return ("[^/]" if inverted else "(?!)"), at + 1
    return (f"[^/{body}]" if inverted else f"(?!/)[{body}]"), at + 1


def lines_of(text: str) -> list[str]:
    """Return the lines of a `.gitignore`."""
    return text.removeprefix("\ufeff").split("\n")


class Ignores:
    """The rules of one `.gitignore`, for paths below its folder (`base`, `""` for the root).

    `size` is the number of rules, each of which may have to be compared with a path.
    """

    def __init__(self, base: str, rules: Iterable[Rule | None]) -> None:
        self._skip = len(base) + 1 if base else 0
        self._rules = [rule for rule in rules if rule][::-1]
        self.size = len(self._rules)

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """Return True for ignored, False for re-included by `!`, None if no rule matches."""
        inner = path[self._skip :]
        for rule in self._rules:
            if (is_folder or not rule.folders) and rule.expression.fullmatch(inner):
                return not rule.negated
        return None


class Selection:
    """A suite's list of globs: the last match decides, `!` deselects.

    A pattern without a slash matches at any depth, one that names a folder matches everything in it. Raises
    WorkspaceError for too many braces or patterns. `size` is the number of patterns, with braces expanded.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        rules = []
        characters = 0
        for text in chain.from_iterable(map(_braces, patterns)):
            characters += len(text)
            if characters > MOST_CHARACTERS:
                raise WorkspaceError(
                    f"the patterns have more than {MOST_CHARACTERS:,} characters, with braces expanded",
                    fix="Use fewer patterns.",
                )
            if rule := read_rule(text, below=True):
                rules.append(rule)
        self.size = len(rules)
        self._otherwise = bool(rules) and rules[0].negated
        self._rules = rules[::-1]
        self.takes_back = any(rule.negated for rule in rules)

    def __contains__(self, path: str) -> bool:
        for rule in self._rules:
            if rule.expression.fullmatch(path):
                return not rule.negated
        return self._otherwise

    def has_folder(self, path: str) -> bool:
        """Return whether everything in the folder is selected, so that its entries need not be matched."""
        return not self.takes_back and any(_holds_all(rule.expression, path) for rule in self._rules)


def _holds_all(expression: re.Pattern[str], folder: str) -> bool:
    # It names the folder or one above, or it ends with "everything below" and names it that way.
    below = expression.pattern.endswith(".+") and expression.fullmatch(f"{folder}/\0")
    return bool(expression.fullmatch(folder) or below)


def _braces(pattern: str) -> list[str]:
    text = pattern.strip()
    negated, body = text.startswith("!"), text.removeprefix("!")
    body = body.removeprefix("./")
    if body.startswith("#"):
        body = "\\" + body
    if "{" in body:
        from bracex import ExpansionLimitException, expand

        if body.count("{") > _MOST_BRACES:
            raise WorkspaceError(
                f"the pattern `{sanitize_line(pattern, 80)}` has more than {_MOST_BRACES} braces",
                fix="Use fewer braces.",
            )
        try:
            parts = expand(body, keep_escapes=True, limit=_MOST_EXPANDED)
        except ExpansionLimitException as error:
            raise WorkspaceError(
                f"the pattern `{sanitize_line(pattern, 80)}` expands to more than {_MOST_EXPANDED:,} patterns",
                fix="Use fewer braces.",
            ) from error
    else:
        parts = [body]
    return [("!" if negated else "") + part for part in parts]
