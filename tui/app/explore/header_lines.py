"""The header of Explore as a line: name of the app, suite, progress of the run, and the time left."""

from dataclasses import dataclass

from tui.app.presentation.marks import rerun_pieces
from tui.app.presentation.pace import NO_PACE, Pace, pause_words, time_words
from tui.app.presentation.pieces import Line, Piece, width_of
from tui.model.events import RepositoryCloned
from tui.model.sanitize import sanitize_line
from tui.model.state import Counts

_BAR = "━"


@dataclass(frozen=True, slots=True)
class Heading:
    """The content of the header; times are in seconds.

    `elapsed` is None if no run was started. `cloning` is the number of received objects of a repository and their
    total, 0 if unknown. While the run is `paused`, `answering` trials are still receiving answers, and `pause_key`
    continues the run; it is `unsaved` while results cannot be stored. With `rerun`, `counts` are those of the rerun
    trials only.
    """

    suite: str = ""
    cases: int = 0
    models: int = 0
    counts: Counts | None = None
    running: bool = False
    elapsed: float | None = None
    queued: int = 0
    outcome: str = ""
    cloning: tuple[int, int] | None = None
    following: bool = False
    pace: Pace = NO_PACE
    paused: bool = False
    answering: int = 0
    pause_key: str = ""
    rerun: bool = False
    unsaved: bool = False


def header_line(shown: Heading, width: int) -> Line:
    """Return the header in at most `width` cells; the least important parts are omitted first."""
    name: list[Piece] = [(" Assay", "accent"), ("  ", "plain"), (sanitize_line(shown.suite, 40), "strong")]
    size: list[Piece] = [(f"  {shown.cases} cases × {shown.models} models", "dim")] if shown.cases else []
    size = [(_singular(text), role) for text, role in size]
    progress = _progress(shown)
    tally = _tally(shown.counts) if progress and shown.cloning is None else []
    time, (pace_short, pace) = _time(shown), _pace(shown)
    # If not everything fits, a reduced concurrency is more important than the time left.
    clock_alone = _time(shown, clock_alone=True) if shown.pace.narrowed else time
    bar_room = min(28, width - sum(map(_width, (name, size, progress, tally, time, pace))) - 8)
    bar = _bar(shown, bar_room) if progress and bar_room >= 8 else []
    pauses = _pauses(shown)
    kept_parts: list[list[list[Piece]]] = [
        [name, size, progress, tally, bar, *pauses[:1], time, pace],
        [name, progress, tally, *pauses[:1], time, pace],
        [name, progress, tally, *pauses[:1], time, pace_short],
        [name, progress, tally, *pauses[:1], clock_alone, pace_short],
        [name, progress, tally, *pauses[:1], time],
        *([name, progress, tally, pause] for pause in pauses),
        *([name, progress, pause] for pause in pauses),
        [name, progress, tally],
    ]
    for kept in kept_parts:
        if sum(map(_width, kept)) + 3 <= width:
            gap: Piece = (" " * (max(2, min(6, width - sum(map(_width, kept)) - 3)) if progress else 0), "plain")
            names = 2 if kept[1] is size else 1
            return tuple(piece for part in (*kept[:names], [gap], *kept[names:]) for piece in part)
    return tuple(name + (pauses[-1] if pauses else progress))


def clone_note(cloned: RepositoryCloned) -> str:
    """Return the notes of a finished clone; empty if there are none."""
    kept = [f"Saved in {cloned.kept_folder}"] if cloned.kept_folder else []
    notes = [sanitize_line(each, 600) for each in (*cloned.notes, *kept)]
    return "\n".join([sanitize_line(f"{cloned.url}, branch {cloned.branch}"), *notes]) if notes else ""


def _singular(text: str) -> str:
    return text.replace(" 1 cases", " 1 case").replace("× 1 models", "× 1 model")


def _width(line: list[Piece]) -> int:
    return sum(width_of(text) for text, _ in line)


def _progress(shown: Heading) -> list[Piece]:
    if shown.cloning is not None:
        received, total = shown.cloning
        return [("▶ ", "accent"), (f"cloning {received:,}{f'/{total:,}' if total else ''} objects", "accent")]
    counts = shown.counts
    if counts is None or not counts.trials:
        return []
    digits = len(str(counts.trials))
    mark: Piece = ("‖ " if shown.paused else "▶ ", "accent") if shown.running else ("■ ", "dim")
    which = "rerun " if shown.rerun else ""
    return [mark, (f"{which}{counts.done:>{digits}}/{counts.trials}", "accent" if shown.running else "dim")]


def _tally(counts: Counts | None) -> list[Piece]:
    if counts is None:
        return []
    pieces: list[Piece] = [(f"  ✓ {counts.passed}", "passed"), (f"  ✗ {counts.failed}", "failed")]
    if counts.flaky:
        pieces.append((f"  ◐ {counts.flaky}", "flaky"))
    if counts.errors:
        pieces.append((f"  ! {counts.errors}", "error"))
    if counts.unchecked:
        pieces.append((f"  ○ {counts.unchecked}", "plain"))
    return [*pieces, *rerun_pieces(counts.passed_since, counts.failed_since)]


def _bar(shown: Heading, room: int) -> list[Piece]:
    done, of = shown.cloning or ((shown.counts.done, shown.counts.trials) if shown.counts else (0, 0))
    if not of:
        return []
    filled = round(min(1.0, done / of) * room)
    return [("   ", "plain"), (_BAR * filled, "accent"), (_BAR * (room - filled), "quiet"), (" ", "plain")]


def _time(shown: Heading, *, clock_alone: bool = False) -> list[Piece]:
    if shown.elapsed is None or (shown.counts is None and shown.cloning is None):
        return []
    running = shown.running and not shown.paused
    estimates = running and not shown.cloning and not clock_alone
    text = f"  {time_words(shown.elapsed, shown.counts, running=estimates)}"
    if clock_alone:
        return [(text, "dim")]
    if running:
        text += f" · {shown.queued} queued" if shown.queued else ""
        text += " · following" if shown.following else ""
    elif not shown.running and shown.outcome not in ("", "finished"):
        text += f" · {shown.outcome}"
    return [(text, "dim")]


def _pace(shown: Heading) -> tuple[list[Piece], list[Piece]]:
    if not shown.running or not shown.pace.full:
        return [], []
    return [(f"  {shown.pace.short}", "dim")], [(f"  {shown.pace.full}", "dim")]


def _pauses(shown: Heading) -> list[list[Piece]]:
    """Return the texts for a paused run, from the longest to the shortest."""
    if not (shown.running and shown.paused):
        return []
    return [
        [(f"  {words}", "accent")] for words in pause_words(shown.answering, shown.pause_key, unsaved=shown.unsaved)
    ]
