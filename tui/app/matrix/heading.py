"""The header of the matrix: which run is seen, against which, how the trials stand, and by what the rows are sorted."""

from dataclasses import dataclass

from tui.app.presentation.pieces import Line, Piece, width_of
from tui.model.progress import Counts
from tui.model.shown import show_line

_ID = 12


@dataclass(frozen=True, slots=True)
class MatrixHeading:
    """What the header shows. `run` and `baseline` are ids, empty where there is none; `words` counts passed, failed,
    flaky and error over everything shown; `counts` are those of the run while it goes on."""

    suite: str = ""
    run: str = ""
    baseline: str = ""
    words: tuple[int, int, int, int] = (0, 0, 0, 0)
    counts: Counts | None = None
    order: str = ""


def short_id(run_id: str) -> str:
    """As much of an id as tells runs apart: they begin with the time."""
    return run_id[:_ID]


def matrix_header(shown: MatrixHeading, width: int) -> Line:
    """The line in at most so many cells: what matters least is left out first."""
    name: list[Piece] = [(" Assay", "accent"), ("  matrix", "plain"), (f"  {show_line(shown.suite, 40)}", "strong")]
    run: list[Piece] = [(f" · run {short_id(shown.run)}" if shown.run else " · latest results", "dim")]
    against: list[Piece] = [(f" against baseline {short_id(shown.baseline)}", "dim")] if shown.baseline else []
    progress = _progress(shown.counts)
    tally = _tally(shown.words)
    order: list[Piece] = [(f"   {shown.order}", "dim")]
    for parts in (
        (name, run, against, progress, tally, order),
        (name, against, progress, tally, order),
        (name, progress, tally, order),
        (name, progress, tally),
        (name, progress, _tally(shown.words, short=True)),
        (name, progress),
    ):
        line: Line = tuple(piece for part in parts for piece in part)
        if sum(width_of(text) for text, _ in line) <= width:
            return line
    return tuple(name[:2])


def _progress(counts: Counts | None) -> list[Piece]:
    if counts is None:
        return []
    return [(f"   ▶ {counts.done:>{len(str(counts.trials))}}/{counts.trials}", "accent")]


def _tally(words: tuple[int, int, int, int], *, short: bool = False) -> list[Piece]:
    passed, failed, flaky, errors = words
    said = ("", "", "", "") if short else (" passed", " failed", " flaky", " error" if errors == 1 else " errors")
    pieces: list[Piece] = [(f"   ✓ {passed}{said[0]}", "passed"), (f"  ✗ {failed}{said[1]}", "failed")]
    if flaky:
        pieces.append((f"  ◐ {flaky}{said[2]}", "flaky"))
    if errors:
        pieces.append((f"  ! {errors}{said[3]}", "error"))
    return pieces
