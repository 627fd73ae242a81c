"""A report as blocks, in whatever format it is written: text is as it came, each format makes it safe."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tui.model.results import CheckResult
from tui.model.risk import Band
from tui.model.suite import Severity

Part = Literal["passed", "flaky", "failed", "error", "unchecked", "negligible", "low", "medium", "high", "critical"]
"""What a piece of a bar stands for: how trials ended, or bands of risk."""


@dataclass(frozen=True, slots=True)
class Code:
    """Text as a machine would read it."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Text to be seen first."""

    text: str


@dataclass(frozen=True, slots=True)
class Faint:
    """Text that may be passed over."""

    text: str


@dataclass(frozen=True, slots=True)
class Status:
    """Words about a verdict (`passed`, `timed_out`, …) or a band, which give the colour; words of ours only."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Jump:
    """Something of ours that leads to a place of the same report."""

    place: str
    label: Status


@dataclass(frozen=True, slots=True)
class Whole:
    """What a person wrote on purpose: it is not cut where other text would be."""

    text: str


LARGEST = 1_048_576
"""Code points that are shown of it; a line of a score file has no more."""
Piece = str | Code | Strong | Faint | Status | Jump | Whole
Line = str | tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Whisker:
    """A figure in its interval on a scale from 0 to `most`; None where there is not enough data."""

    value: float | None
    low: float | None
    high: float | None
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class Stack:
    """Counts as parts of one bar."""

    parts: tuple[tuple[Part, int], ...]


Drawing = Whisker | Stack


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section; `level` 3 or 4."""

    text: Line
    level: int = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; a `note` must not be overlooked, what is `faint` may be."""

    text: Line
    kind: Literal["", "note", "faint"] = ""


@dataclass(frozen=True, slots=True)
class Points:
    """A list."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The last `numbers` columns are set right. Where pictures can be drawn, each row has one of `drawings` in a column
    `drawn` behind the first `names`; what they show stands in the cells too."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: int = 0
    drawings: tuple[Drawing, ...] = ()
    drawn: str = ""
    names: int = 1


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text on lines of its own, as it is: an answer with the matches of its checks, a diff."""

    label: Line
    text: str
    kind: Literal["", "answer", "diff"] = ""
    checks: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How many scores have a severity and an extent; drawn only, beside a table that says the same."""

    name: str
    counts: tuple[tuple[Severity, tuple[int, ...]], ...]
    bands: tuple[tuple[Severity, tuple[Band, ...]], ...]


@dataclass(frozen=True, slots=True)
class HeatMaps:
    """Several side by side, on one scale."""

    maps: tuple[HeatMap, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What belongs to one trial. `place` is a name of ours for links."""

    heading: Line
    blocks: "tuple[Block, ...]"
    place: str = ""


Block = Heading | Paragraph | Points | Table | Quoted | HeatMaps | Card


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report under a title of ours; `paged` ones begin a page in print. Blocks may be made as they are
    read."""

    title: str
    blocks: Iterable[Block]
    paged: bool = False
