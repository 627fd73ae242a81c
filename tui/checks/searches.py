"""A pattern to be searched for, and what came of it."""

from dataclasses import dataclass
from typing import Literal

from tui.model.trials import Span

Engine = Literal["javascript", "python"]


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern and where in the text it is looked for: matches begin at `start` or later, and the engine sees
    `context` code points before that, for `\\b` and lookbehind."""

    engine: Engine
    pattern: str
    start: int = 0
    context: int = 0


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
