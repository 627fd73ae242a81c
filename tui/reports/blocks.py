"""The blocks of a report, independent of its format. Text is raw: each format escapes it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tui.model.results import CheckResult
from tui.model.risk import Band
from tui.model.suite import Severity

Part = Literal["passed", "flaky", "failed", "error", "unchecked", "negligible", "low", "medium", "high", "critical"]
"""The meaning of a bar's part: a verdict of trials, or a band of risk."""


@dataclass(frozen=True, slots=True)
class Code:
    """Text in a monospaced font."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Text with strong emphasis."""

    text: str


@dataclass(frozen=True, slots=True)
class Faint:
    """Text of low emphasis."""

    text: str


@dataclass(frozen=True, slots=True)
class Status:
    """Text about a verdict (`passed`, `timed_out`, …) or a band, which determine its colour; never outside text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Jump:
    """A link to a place in the same report; never outside text."""

    place: str
    label: Status


@dataclass(frozen=True, slots=True)
class Whole:
    """Text that a user wrote for the report: it is not truncated where other text would be."""

    text: str


LARGEST = 1_048_576
"""The most code points shown of a note; a line of a score file has no more."""
Piece = str | Code | Strong | Faint | Status | Jump | Whole
Line = str | tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Whisker:
    """A value with its interval on a scale from 0 to `most`; None if there is not enough data."""

    value: float | None
    low: float | None
    high: float | None
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class Stack:
    """Counts as parts of one stacked bar."""

    parts: tuple[tuple[Part, int], ...]


Drawing = Whisker | Stack


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section; `level` 3 or 4."""

    text: Line
    level: int = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; a `note` is important, a `faint` one is not."""

    text: Line
    kind: Literal["", "note", "faint"] = ""


@dataclass(frozen=True, slots=True)
class Points:
    """A bullet list."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose last `numbers` columns are right-aligned.

    In formats with graphics, each row has one of `drawings` in a column `drawn` after the first `names` columns; the
    cells show the same values.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: int = 0
    drawings: tuple[Drawing, ...] = ()
    drawn: str = ""
    names: int = 1


@dataclass(frozen=True, slots=True)
class Quoted:
    """Preformatted text on lines of its own: an answer with the matches of its checks, a diff."""

    label: Line
    text: str
    kind: Literal["", "answer", "diff"] = ""
    checks: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The number of scores by severity and extent; only drawn, beside a table with the same numbers."""

    name: str
    counts: tuple[tuple[Severity, tuple[int, ...]], ...]
    bands: tuple[tuple[Severity, tuple[Band, ...]], ...]


@dataclass(frozen=True, slots=True)
class HeatMaps:
    """Several heat maps side by side on one scale."""

    maps: tuple[HeatMap, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """The blocks of one trial. `place` is its link target."""

    heading: Line
    blocks: "tuple[Block, ...]"
    place: str = ""


Block = Heading | Paragraph | Points | Table | Quoted | HeatMaps | Card


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report with a title; `paged` ones begin a page in print. Blocks may be a lazy iterator."""

    title: str
    blocks: Iterable[Block]
    paged: bool = False
