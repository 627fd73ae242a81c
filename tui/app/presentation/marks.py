"""The marks `✓ ✗ ◐ ○ ◌ ● ! ·` and the words that stand for states."""

from collections.abc import Iterable

from tui.app.presentation.pieces import Piece, Role
from tui.model.filtering import StatusWord
from tui.model.progress import TrialProgress
from tui.model.suite import CheckKind, Severity
from tui.model.trials import HasFirstVerdict, counted_as

_MARKS: dict[StatusWord, Piece] = {
    "unasked": ("·", "dim"),
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
_WORDS: dict[StatusWord, str] = {
    "unasked": "not asked yet",
    "timed_out": "timed out",
    "delayed": "waits",
    "flaky": "passed, flaky",
}
_SEVERITIES: dict[Severity, Piece] = {
    "critical": ("crit", "failed"),
    "high": ("high", "flaky"),
    "medium": ("med", "dim"),
    "low": ("low", "dim"),
}
_KINDS: dict[CheckKind, str] = {
    "expected_pattern": "must",
    "forbidden_pattern": "never",
    "output.includes": "includes",
    "output.matches": "matches",
    "output.equals": "equals",
    "tools_used": "tools",
    "memory": "memory",
    "expected": "expected",
    "command": "command",
    "recorded": "recorded",
}


def status_of(trial: TrialProgress | None) -> StatusWord:
    """The one word for a trial."""
    if trial is None:
        return "unasked"
    return "flaky" if trial.flaky and trial.status == "passed" else trial.status


def counted_status(trial: TrialProgress) -> StatusWord:
    """The word for what a trial counts as, where a rerun came to something else than the first judged answer."""
    return trial.status if trial.is_open or trial.ended is None else outcome_status(trial.ended)


def outcome_status(outcome: HasFirstVerdict) -> StatusWord:
    """The word for what a result counts as."""
    return "flaky" if counted_as(outcome) == "flaky" else outcome.first_verdict


def mark_of(status: StatusWord) -> Piece:
    """The mark of a status."""
    return _MARKS[status]


def word_of(status: StatusWord) -> str:
    """The status in words."""
    return _WORDS.get(status, status)


def severity_piece(severity: Severity) -> Piece:
    """A severity as the tree shows it."""
    return _SEVERITIES[severity]


def kind_word(kind: CheckKind) -> str:
    """A kind of check in one word."""
    return _KINDS[kind]


def tally(statuses: Iterable[StatusWord]) -> tuple[Piece, ...]:
    """How many stand how, for a folded row: `✓4 ✗2 ◐1`; nothing where nothing was asked."""
    counts: dict[Piece, int] = {}
    for status in statuses:
        if status not in ("unasked", "waiting"):
            counts[_MARKS[status]] = counts.get(_MARKS[status], 0) + 1
    order: list[Role] = ["running", "passed", "flaky", "failed", "error", "plain"]
    shown = sorted((piece for piece in counts if piece[1] in order), key=lambda piece: order.index(piece[1]))
    pieces: list[Piece] = []
    for mark, role in shown:
        pieces.append((f"{' ' if pieces else ''}{mark}{counts[mark, role]}", role))
    return tuple(pieces)
