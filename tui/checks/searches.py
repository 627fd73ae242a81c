"""A pattern to be searched for, and what came of it."""

from dataclasses import dataclass
from typing import Literal

from tui.model.results import Span

Language = Literal["javascript", "python"]
# Processor time, so that a busy or suspended machine is not laid to the pattern.
SECONDS_A_PATTERN = 1.0
SECONDS_A_TEXT = 5.0

TOO_LONG = f"the pattern ran longer than {SECONDS_A_PATTERN:g} s on this text"
TOO_LONG_TOGETHER = f"the patterns of this answer ran longer than {SECONDS_A_TEXT:g} s together"
TOO_LARGE = "the pattern needs too much memory on this text"


def too_long(seconds: float) -> str:
    """Return why a pattern was stopped after so many seconds: fewer than a pattern has where the others took them."""
    return TOO_LONG if seconds >= SECONDS_A_PATTERN else TOO_LONG_TOGETHER


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern and where in the text it is looked for: matches begin at `start` or later, and the engine sees all of
    the text before that, for `^`, `\\b` and lookbehind."""

    engine: Language
    pattern: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Matches:
    """How often a pattern was found, and where: the first 1,000 spans, in code points of the text.

    `failure` says why it could not be evaluated, empty if it could. `counted` is False where at least one match is
    sure but looking for the rest took too long or too much memory.
    """

    count: int = 0
    spans: tuple[Span, ...] = ()
    failure: str = ""
    counted: bool = True
