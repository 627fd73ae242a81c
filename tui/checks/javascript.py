"""What a JavaScript pattern is made of, as far as it has to be known before an engine sees it."""

import re
from dataclasses import dataclass
from functools import lru_cache

# An escape, a class (in JavaScript `[]` is an empty one), a group's name, or one of the marks that matter here.
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|\(\?<[^=!>(][^>(]*>|\(\?<[=!]|[|^]", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
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
    braced = "\\u{" in pattern
    return Shape(
        text=_TOKEN.sub(_engine_token, pattern) if braced else pattern,
        inner=_TOKEN.sub(_inner_token, pattern) if braced or "^" in tokens else pattern,
        context=_LOOKBEHIND_CONTEXT if lookbehind else int(boundary),
        alternatives=tokens.count("|") + 1,
    )


def _engine_token(match: re.Match[str]) -> str:
    if match[0].startswith("["):
        return _ESCAPE.sub(_engine_escape, match[0])
    return _engine_escape(match) if match[0].startswith("\\") else match[0]


def _engine_escape(match: re.Match[str]) -> str:
    r"""Without the `u` flag `\u{41}` is forty-one times the letter u."""
    is_braced = match[0] == "\\u" and match.string.startswith("{", match.end())
    return "u" if is_braced else match[0]


def _inner_token(match: re.Match[str]) -> str:
    return "(?!)" if match[0] == "^" else _engine_token(match)
