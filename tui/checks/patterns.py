"""Can a pattern be compiled at all? Decided in this process, before anything is run."""

import re
import warnings
from functools import lru_cache

from tui.checks.javascript import shape_of
from tui.model.suite import CheckKind

# The engine takes apart alternatives by recursion: some ten thousand overflow the stack and end the process.
_LONGEST = 32_768
_MOST_ALTERNATIVES = 5_000
_SURROGATE = "it holds half of a surrogate pair, which no text can contain"
_REASONS = {
    "Unbalanced parenthesis": r"unbalanced parenthesis; write \( or \) for the character itself",
    "Unbalanced bracket": r"unbalanced bracket; write \[ for the character itself",
    "Invalid atom character": r"nothing to repeat before *, + or ?; write \*, \+ or \? for the character itself",
    "Incomplete escape": r"it ends in a single \; write \\ for the character itself",
}
_FOREIGN = (
    ("(?P<", "JavaScript writes a named group as (?<name>…)"),
    ("(?i)", "leave (?i) out, patterns ignore case anyway"),
    ("(?#", "JavaScript has no comments in patterns"),
    ("(?>", "JavaScript has no atomic groups"),
)
_UNREPEATABLE = re.compile(r"(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\\\[])*?(\\[bB])(?:[*+?]|\{\d+(?:,\d*)?\})", re.DOTALL)


def pattern_error(kind: CheckKind, pattern: str) -> str | None:
    """Why a pattern of that kind of check cannot be used, as a sentence without its full stop; None where it can,
    and for kinds whose target is no pattern."""
    if kind in ("expected_pattern", "forbidden_pattern"):
        return javascript_error(pattern)
    return python_error(pattern) if kind == "output.matches" else None


@lru_cache(maxsize=32_768)
def javascript_error(pattern: str) -> str | None:
    """Why that is no regular expression of JavaScript's, or None."""
    if len(pattern) > _LONGEST:
        return f"the pattern is longer than {_LONGEST:,} characters; split it"
    if pattern.count("|") >= _MOST_ALTERNATIVES and shape_of(pattern).alternatives > _MOST_ALTERNATIVES:
        return f"the pattern has more than {_MOST_ALTERNATIVES:,} alternatives; split it"
    reason = _javascript_fault(pattern)
    if reason is None:
        return None
    hint = next((hint for sign, hint in _FOREIGN if sign in pattern), "")
    return f"not a JavaScript regular expression: {reason}" + (f"; {hint}" if hint else "")


def _javascript_fault(pattern: str) -> str | None:
    from regress import Regex, RegressError

    try:
        Regex(shape_of(pattern).text if "\\u{" in pattern else pattern, "i")
    except RegressError as error:
        text = str(error).strip().rstrip(".")
        return _REASONS.get(text, text[:1].lower() + text[1:])
    except UnicodeEncodeError:
        return _SURROGATE
    if ("\\b" in pattern or "\\B" in pattern) and (found := _UNREPEATABLE.match(pattern)):
        return f"nothing to repeat after {found[1]}"
    return None


@lru_cache(maxsize=32_768)
def python_error(pattern: str) -> str | None:
    """Why that is no regular expression of Python's, or None."""
    if len(pattern) > _LONGEST:
        return f"the pattern is longer than {_LONGEST:,} characters; split it"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, ValueError, OverflowError) as error:
        return f"not a Python regular expression: {error}"
    except (RecursionError, MemoryError):
        return "not a Python regular expression: it is nested too deeply"
    return None
