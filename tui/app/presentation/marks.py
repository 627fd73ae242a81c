"""The marks `✓ ✗ ◐ ○ ◌ ◦ ● ! · ↻` and the words for the status of trials, checks and severities."""

from collections.abc import Iterable, Sequence
from typing import get_args

from tui.app.presentation.pieces import Line, Piece, Role
from tui.model.filter import StatusWord
from tui.model.progress import OPEN, TrialProgress
from tui.model.results import HasFirstVerdict, counted_as
from tui.model.suite import ASSERTION, CheckKind, Severity

_MARKS: dict[StatusWord, Piece] = {
    "not_run": ("·", "dim"),
    "waiting": ("◦", "dim"),
    "delayed": ("◦", "accent"),
    "running": ("●", "running"),
    "passed": ("✓", "passed"),
    "failed": ("✗", "failed"),
    "flaky": ("◐", "flaky"),
    "error": ("!", "error"),
    "timed_out": ("!", "error"),
    "incomplete": ("◌", "error"),
    "unchecked": ("○", "plain"),
    "cancelled": ("-", "dim"),
}
_WORST_FIRST: tuple[StatusWord, ...] = (
    "failed", "timed_out", "error", "incomplete", "flaky", "cancelled", "running", "delayed", "waiting", "passed",
    "unchecked", "not_run",
)  # fmt: skip
STATUS_RANKS = {status: rank for rank, status in enumerate(_WORST_FIRST)}
"""The rank of each status; the worst status has the lowest rank."""
_WORDS: dict[StatusWord, str] = {
    "not_run": "not run yet",
    "timed_out": "timed out",
    "delayed": "waits",
    "flaky": "passed, flaky",
}
RERUN: Piece = ("↻", "accent")
"""The mark of a trial whose rerun has another verdict than the one that counts."""
_LEGEND: tuple[tuple[StatusWord, str], ...] = (
    ("passed", "passed"),
    ("failed", "failed"),
    ("flaky", "flaky: passed on a later attempt"),
    ("unchecked", "unchecked: no check, so in no rate"),
    ("incomplete", "incomplete: cut off by the provider"),
    ("error", "error or timed out: not judged"),
    ("cancelled", "cancelled"),
    ("running", "running"),
    ("waiting", "waiting"),
    ("not_run", "not run yet"),
)
_SEVERITIES: dict[Severity, Piece] = {
    "critical": ("crit", "failed"),
    "high": ("high", "flaky"),
    "medium": ("med", "dim"),
    "low": ("low", "dim"),
}
_KINDS: dict[CheckKind, str] = {
    "expected_pattern": "expected",
    "forbidden_pattern": "forbidden",
    "output.includes": "includes",
    "output.matches": "matches",
    "output.equals": "equals",
    "tools_used": "tools",
    "memory": "memory",
    "expected": "expected",
    "command": "command",
    "recorded": "recorded",
    **{kind: kind.removeprefix(ASSERTION) for kind in get_args(CheckKind) if kind.startswith(ASSERTION)},
}

_PATTERNS: frozenset[CheckKind] = frozenset(("expected_pattern", "forbidden_pattern", "output.matches"))
_RAN_LONGER = "ran longer than"  # in the detail of a pattern that was stopped


def status_of(trial: TrialProgress | None) -> StatusWord:
    """Return the status of a trial; `flaky` if it passed on a later attempt."""
    if trial is None:
        return "not_run"
    return "flaky" if trial.flaky and trial.status == "passed" else trial.status


def status_of_all(statuses: Sequence[StatusWord]) -> StatusWord:
    """Return one status for several repeats.

    This is the status that all share, else the open one, else `flaky` if some passed, else the worst.
    """
    if any(status in OPEN for status in statuses):
        if "running" in statuses or any(status not in OPEN for status in statuses):
            return "running"
        return "delayed" if "delayed" in statuses else "waiting"
    if len(set(statuses)) == 1:
        return statuses[0]
    return "flaky" if "passed" in statuses or "flaky" in statuses else min(statuses, key=STATUS_RANKS.__getitem__)


def counted_status(trial: TrialProgress | None) -> StatusWord:
    """Return the status that counts for a trial: that of its first judged answer, whatever a rerun came to."""
    if trial is None:
        return "not_run"
    return trial.status if trial.is_open or trial.ended is None else outcome_status(trial.ended)


def outcome_status(outcome: HasFirstVerdict) -> StatusWord:
    """Return the status that counts for a result."""
    return "flaky" if counted_as(outcome) == "flaky" else outcome.first_verdict


def mark_of(status: StatusWord) -> Piece:
    """Return the mark of a status."""
    return _MARKS[status]


def word_of(status: StatusWord) -> str:
    """Return the words for a status."""
    return _WORDS.get(status, status)


def differs_by_rerun(trial: TrialProgress | None) -> bool:
    """Return whether a rerun of a trial has another verdict than the one that counts."""
    ended = None if trial is None or trial.is_open else trial.ended
    return ended is not None and ended.verdict != ended.first_verdict


def rerun_pieces(passed: int, failed: int, *, short: bool = False) -> Line:
    """Return the note of a header about trials that a rerun judged otherwise than what counts, if there are any."""
    numbers = [f"{number} {word}" for number, word in ((passed, "passed"), (failed, "failed")) if number]
    text = str(passed + failed) if short else f"{', '.join(numbers)} on rerun"
    return ((f"  {RERUN[0]} {text}", "dim"),) if numbers else ()


def legend() -> tuple[tuple[Piece, str], ...]:
    """Return every mark with its meaning, for the help."""
    rerun = (RERUN, "rerun differs; original counts")
    return (*((_MARKS[status], means) for status, means in _LEGEND), rerun)


def severity_piece(severity: Severity) -> Piece:
    """Return the abbreviation of a severity in its color."""
    return _SEVERITIES[severity]


def unevaluated_words(kind: CheckKind, detail: str) -> str:
    """Return the words for a check that could not be evaluated: the reason if it is a usual one."""
    if kind == "recorded":
        return "cannot be repeated"
    return "pattern ran too long" if kind in _PATTERNS and _RAN_LONGER in detail else "not evaluated"


def kind_word(kind: CheckKind) -> str:
    """Return the one-word name of a kind of check."""
    return _KINDS[kind]


def tally(statuses: Iterable[StatusWord], reruns: int = 0) -> Line:
    """Return the number of trials of each status for a collapsed row: `✓4 ✗2 ◐1 ↻1`; empty before the first run.

    `reruns` is the number of trials with a rerun whose verdict differs and does not count.
    """
    counts: dict[Piece, int] = {}
    for status in statuses:
        if status not in ("not_run", "waiting"):
            counts[_MARKS[status]] = counts.get(_MARKS[status], 0) + 1
    order: list[Role] = ["running", "passed", "flaky", "failed", "error", "plain"]
    shown = sorted((piece for piece in counts if piece[1] in order), key=lambda piece: order.index(piece[1]))
    pieces: list[Piece] = []
    for mark, role in shown:
        pieces.append((f"{' ' if pieces else ''}{mark}{counts[mark, role]}", role))
    if reruns:
        pieces.append((f" {RERUN[0]}{reruns}", RERUN[1]))
    return tuple(pieces)
