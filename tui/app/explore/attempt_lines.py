"""The lines of the Attempts tab: one for each attempt of each repeat of each model, and the details of one."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from tui.app.presentation.figures import seconds
from tui.app.presentation.marks import mark_of, word_of
from tui.app.presentation.pieces import Line, Piece, fill, width_of
from tui.model.call_tree import call_lines
from tui.model.prices import add_costs, dollars
from tui.model.progress import AttemptProgress, TrialProgress
from tui.model.results import Retry
from tui.model.sanitize import sanitize_line

_MOST_CALLS, _MOST_TOOL_LINES, _LONGEST_TOOL_LINE = 50, 200, 400  # the review and the reports show all of them


class AttemptRow(NamedTuple):
    """An attempt of a trial, with the display name of its model."""

    name: str
    trial: TrialProgress
    attempt: AttemptProgress


def attempt_rows(named: Iterable[tuple[str, TrialProgress]]) -> list[AttemptRow]:
    """Return all attempts of these trials, in order."""
    return [AttemptRow(name, trial, attempt) for name, trial in named for attempt in trial.attempts]


def name_width(rows: Sequence[AttemptRow], width: int) -> int:
    """Return the width of the column of models in cells."""
    return min(max((width_of(row.name) for row in rows), default=0), width // 3)


def attempt_line(row: AttemptRow, names: int, *, repeats: bool) -> Line:
    """Return the line of an attempt: verdict, time, retries, error; with `repeats` also its repeat."""
    attempt, finished = row.attempt, row.attempt.finished
    mark = mark_of(finished.verdict if finished else "running")
    word = word_of(finished.verdict) if finished else "running"
    count = len(_retries(attempt))
    pieces: list[Piece] = [(fill(row.name, names), "plain")]
    if repeats:
        pieces.append((f"  repeat {row.trial.key.repeat}", "dim"))
    pieces += [
        (f"  {attempt.number}/{attempt.of}  ", "dim"),
        mark,
        (f" {fill(word, 11)}", mark[1]),
        (f"{seconds(finished.answer_ms if finished else None)} s", "dim"),
    ]
    if finished and finished.asking:
        pieces.append((f"  rerun {finished.asking}", "accent"))
    if count:
        pieces.append((f"  {count} transport {'retry' if count == 1 else 'retries'}", "flaky"))
    if finished and finished.error:
        pieces.append((f"  {sanitize_line(finished.error)}", "error"))
    return tuple(pieces)


def retry_lines(attempt: AttemptProgress) -> list[Line]:
    """Return one line for each retried request of an attempt."""
    return [
        ((f"waited {retry.waited_ms / 1000:.1f} s  ", "dim"), (sanitize_line(retry.reason), "plain"))
        for retry in _retries(attempt)
    ]


def served_lines(attempt: AttemptProgress) -> list[Line]:
    """Return what the servers of an attempt report about themselves, each once, and its cost if known."""
    results = [step.result for step in attempt.steps if step.result is not None]
    servers = dict.fromkeys(result.served_by.words for result in results if result.served_by)
    lines: list[Line] = [(("answered by  ", "dim"), (sanitize_line(words), "plain")) for words in servers if words]
    paid = add_costs(result.cost_usd for result in results)
    return lines if paid is None else [*lines, (("cost         ", "dim"), (dollars(paid), "plain"))]


def tool_lines(attempt: AttemptProgress) -> list[Line]:
    """Return the calls in the steps of an attempt so far as trees, as far as more than the names of tools is known."""
    calls = [step.tool_calls if step.result is None else step.result.tool_calls for step in attempt.steps]
    tree = (line for each in calls for line in call_lines(each[:_MOST_CALLS]))
    lines: list[Line] = [((_tree_line(line), "plain"),) for line in islice(tree, _MOST_TOOL_LINES)]
    return [(("tool calls", "dim"),), *lines] if lines else []


def _tree_line(line: str) -> str:
    """Return a line of a tree, made safe; its indentation stays."""
    text = line.lstrip(" ")
    indent = " " * (2 + len(line) - len(text))
    return indent + sanitize_line(text, _LONGEST_TOOL_LINE - len(indent))


def _retries(attempt: AttemptProgress) -> list[Retry]:
    return [retry for step in attempt.steps for retry in (step.result.retries if step.result else step.retries)]
