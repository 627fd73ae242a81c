"""What a JavaScript pattern is made of, as far as it has to be known before an engine sees it."""

import re
from dataclasses import dataclass
from functools import lru_cache

# An escape, a class (in JavaScript `[]` is an empty one), a group's name, or one of the marks that matter here.
_TOKEN = re.compile(r"\\u(?=\{)|\\.|\[(?:\\.|[^\]\\])*\]?|\(\?<[^=!>][^>]*>|\(\?<[=!]|[|^]", re.DOTALL)
_LOOKBEHIND_CONTEXT = 256


@dataclass(frozen=True, slots=True)
class Shape:
    """`text` is the pattern as the engine takes it, `inner` the same for a piece of text that is not its beginning,
    where `^` never matches; `context` is how many code points before a match it may want to see."""

    text: str
    inner: str
    context: int
    alternatives: int


@lru_cache(maxsize=4_096)
def shape_of(pattern: str) -> Shape:
    """Take a pattern apart. Linear in its length; never fails, also not on what is no pattern at all."""
    tokens = [match[0] for match in _TOKEN.finditer(pattern)]
    lookbehind = "(?<=" in tokens or "(?<!" in tokens
    boundary = "\\b" in tokens or "\\B" in tokens
    return Shape(
        text=_TOKEN.sub(_escape, pattern) if "\\u" in tokens else pattern,
        inner=_TOKEN.sub(_inner, pattern) if "^" in tokens or "\\u" in tokens else pattern,
        context=_LOOKBEHIND_CONTEXT if lookbehind else int(boundary),
        alternatives=tokens.count("|") + 1,
    )


def _escape(match: re.Match[str]) -> str:
    token = match[0]
    if token == "\\u":  # without the `u` flag `\u{41}` is forty-one times the letter u
        return "u"
    return token.replace("\\u{", "u{") if token[0] == "[" else token


def _inner(match: re.Match[str]) -> str:
    return "(?!)" if match[0] == "^" else _escape(match)
