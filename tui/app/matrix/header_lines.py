"""The header of the matrix: which run is seen, against which, how the trials stand, and by what the rows are sorted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tui.app.presentation.marks import mark_of, rerun_pieces
from tui.app.presentation.pace import NO_PACE, Pace, pause_words
from tui.app.presentation.pieces import Line, Piece, width_of
from tui.model.results import Counted
from tui.model.sanitize import show_line
from tui.model.state import Counts

_ID = 12
_TALLIED: tuple[Counted, ...] = ("passed", "failed", "flaky", "error", "unchecked")


@dataclass(frozen=True, slots=True)
class MatrixHeading:
    """What the header shows. `run` and `baseline` are ids, empty where there is none; `words` counts what the trials
    shown count as, `passed_since` the failed ones that a rerun passed; `counts` are those of the run while it goes on.
    Of a `paused` run, `answering` trials are still being answered, and `pause_key` lets it go on."""

    suite: str = ""
    run: str = ""
    baseline: str = ""
    words: Mapping[Counted, int] = field(default_factory=dict)
    counts: Counts | None = None
    order: str = ""
    pace: Pace = NO_PACE
    paused: bool = False
    answering: int = 0
    pause_key: str = ""
    passed_since: int = 0


def short_id(run_id: str) -> str:
    """As much of an id as tells runs apart: they begin with the time."""
    return run_id[:_ID]


def matrix_header(shown: MatrixHeading, width: int) -> Line:
    """The line in at most so many cells: what matters least is left out first."""
    name: list[Piece] = [(" Assay", "accent"), ("  matrix", "plain"), (f"  {show_line(shown.suite, 40)}", "strong")]
    run: list[Piece] = [(f" · run {short_id(shown.run)}" if shown.run else " · latest results", "dim")]
    against: list[Piece] = [(f" against baseline {short_id(shown.baseline)}", "dim")] if shown.baseline else []
    progress = _progress(shown)
    paces: list[list[Piece]] = [[(f"   {words}", "dim")] if words and progress else [] for words in shown.pace[:2]]
    pauses: list[list[Piece]] = []
    if shown.paused and progress:
        pauses = [[(f"  {words}", "accent")] for words in pause_words(shown.answering, shown.pause_key)]
    pause, least_pause = (pauses[0], pauses[-2]) if pauses else ([], [])
    since = rerun_pieces(shown.passed_since, short=True)
    tally = [*_tally(shown.words), *rerun_pieces(shown.passed_since)]
    short_tally = [*_tally(shown.words, short=True), *since]
    order: list[Piece] = [(f"   {shown.order}", "dim")]
    for parts in (
        (name, run, against, progress, pause, tally, paces[1], order),
        (name, run, against, progress, pause, tally, paces[0], order),
        (name, against, progress, pause, tally, paces[0], order),
        (name, progress, pause, tally, paces[0], order),
        (name, progress, pause, tally, paces[0]),
        (name, progress, pause, tally),
        (name, progress, pause, [*_tally(shown.words), *since]),
        (name, progress, pause, short_tally),
        *([(name, progress, pause)] if pause else []),
        (name, progress, least_pause, short_tally),
        (name, progress, least_pause),
        (name, progress),
    ):
        line: Line = tuple(piece for part in parts for piece in part)
        if sum(width_of(text) for text, _ in line) <= width:
            return line
    return tuple(name[:2])


def _progress(shown: MatrixHeading) -> list[Piece]:
    counts = shown.counts
    if counts is None:
        return []
    return [(f"   {'‖' if shown.paused else '▶'} {counts.done:>{len(str(counts.trials))}}/{counts.trials}", "accent")]


def _tally(words: Mapping[Counted, int], *, short: bool = False) -> list[Piece]:
    """Passed and failed always, the rest where there is any."""
    pieces: list[Piece] = []
    for word in _TALLIED:
        number, (mark, role) = words.get(word, 0), mark_of(word)
        if number or word in ("passed", "failed"):
            said = "" if short else f" {word}{'s' if word == 'error' and number != 1 else ''}"
            pieces.append((f"{'  ' if pieces else '   '}{mark} {number}{said}", role))
    return pieces
