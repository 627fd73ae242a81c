"""Validating patterns in this process before a run."""

import json
import re
import threading
import warnings
from functools import lru_cache

from tui.checks.case_assertions import schema_fault
from tui.checks.engine import Engine
from tui.checks.protocol import Matches, Search
from tui.model.results import MOST_SPANS
from tui.model.suite import CheckKind
from tui.model.values import SURROGATE

_LONGEST = 32_768
_PARENTHESIS = r"unbalanced parenthesis; write \( or \) for a literal parenthesis"
_DEEP = "nested too deeply"
_REASONS = {
    "expecting ')'": _PARENTHESIS,
    "extraneous characters at the end": _PARENTHESIS,
    "unexpected end": r"unbalanced bracket; write \[ for a literal bracket",
    "nothing to repeat": r"nothing to repeat before *, +, ? or {}; write \*, \+, \? or \{ for a literal character",
    "invalid repetition count": "invalid quantifier: the numbers in {} are out of order",
    "invalid class range": "a range of characters in [] is out of order",
    "expecting ':'": "invalid group",
    "group modifier": "group modifiers such as (?i:…) are not in every version of JavaScript",
    "duplicate group name": "two groups have the same name; rename one",
    "class name": r"\k is not allowed in [] if a group has a name; remove the \ before k",
    "too many captures": "more than 254 groups; write (?:…) for groups that need no number",
    "stack overflow": _DEEP,
    "too many imbricated quantifiers": _DEEP,
}
_FOREIGN = (
    ("(?P<", "JavaScript writes a named group as (?<name>…)"),
    ("(?i", "remove (?i): patterns always ignore case"),
    ("(?#", "JavaScript has no comments in patterns"),
    ("(?>", "JavaScript has no atomic groups"),
)
_TRAILING = re.compile(r"\\*$")


_engines = threading.local()


def pattern_error(kind: CheckKind, pattern: str) -> str | None:
    """Return why a pattern is invalid for that kind of check, as a sentence without its full stop, or None.

    For assertions about JSON it is a JSON Schema. Kinds whose target is not a pattern are always valid.
    """
    if kind in ("expected_pattern", "forbidden_pattern"):
        return javascript_error(pattern)
    if kind in ("assert.is-json", "assert.contains-json"):
        return schema_fault(json.loads(pattern))
    return python_error(pattern) if kind == "output.matches" else None


@lru_cache(maxsize=32_768)
def javascript_error(pattern: str) -> str | None:
    """Return why that is no regular expression of JavaScript's, or None."""
    if len(pattern) > _LONGEST:
        return f"the pattern is longer than {_LONGEST:,} characters; split it"
    if SURROGATE.search(pattern):
        return r"contains half of a surrogate pair; write it as an escape, such as \ud83d"
    fault = engine_of_this_thread().fault(pattern)
    if not fault:
        return None
    reason = _REASONS.get(fault, fault)
    if fault == "unexpected end" and len(_TRAILING.findall(pattern)[0]) % 2:
        reason = r"ends with a single \; write \\ for a literal backslash"
    hint = next((hint for sign, hint in _FOREIGN if sign in pattern), "")
    return reason + (f"; {hint}" if hint else "")


def engine_of_this_thread() -> Engine:
    """Return the engine that this thread compiles patterns with; made on first use."""
    engine: Engine | None = getattr(_engines, "engine", None)
    if engine is None:
        engine = _engines.engine = Engine()
    return engine


@lru_cache(maxsize=32_768)
def python_error(pattern: str) -> str | None:
    """Return why the text is not a regular expression of Python, or None."""
    if len(pattern) > _LONGEST:
        return f"the pattern is longer than {_LONGEST:,} characters; split it"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, ValueError, OverflowError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return _DEEP
    return None


# Characters without a special meaning in a JavaScript pattern.
_PLAIN = re.compile(r"[A-Za-z0-9 _@#%&=:;,'\"!<>/~`-]{1,200}")
# Longer texts are searched by a worker, so that the screen stays responsive.
_LONGEST_PLAIN = 256 * 1024


def find_plain(text: str, search: Search) -> Matches | None:
    """Return the result of a search for plain text, or None if the pattern is not plain or the text is long."""
    if search.engine != "javascript" or len(text) > _LONGEST_PLAIN:
        return None
    words = _words(search.pattern)
    if words is None:
        return None
    spans = [match.span() for match in words.finditer(text, search.start)]
    return Matches(len(spans), tuple(spans[:MOST_SPANS]))


@lru_cache(maxsize=4_096)
def _words(pattern: str) -> re.Pattern[str] | None:
    # Without the `u` flag no other letter folds to an ASCII letter in JavaScript.
    return re.compile(re.escape(pattern), re.IGNORECASE | re.ASCII) if _PLAIN.fullmatch(pattern) else None
