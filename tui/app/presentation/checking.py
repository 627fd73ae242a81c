"""The Checks tab: a row for each check, a cell for each model, and what there is to say about a selected one."""

from collections.abc import Sequence
from json import dumps
from typing import NamedTuple

from tui.app.presentation.marks import kind_word
from tui.app.presentation.pieces import Line, Piece, Role, fill, short_names, text_of, width_of
from tui.model.shown import show_line, show_text
from tui.model.state import LiveCheck, StepProgress, TrialProgress
from tui.model.suite import Case, Check

_KIND_WIDTH = 10


class CheckRow(NamedTuple):
    """A check of a step; both numbers count from 0."""

    step: int
    number: int
    check: Check


def check_rows(case: Case) -> list[CheckRow]:
    """All checks of a case in their order."""
    found = (enumerate(step.checks) for step in case.steps)
    return [CheckRow(step, number, check) for step, checks in enumerate(found) for number, check in checks]


def target_of(check: Check) -> str:
    """What the check looks for, in one line."""
    if check.kind in ("memory", "tools_used", "expected"):
        value = dumps(check.expected, ensure_ascii=False)
        return f"{check.target} = {value}" if check.target else value
    return check.target


def step_of(trial: TrialProgress | None, step: int) -> StepProgress | None:
    """A step of the attempt that counts."""
    if trial is None or trial.attempt is None or step >= len(trial.attempt.steps):
        return None
    return trial.attempt.steps[step]


def cell_line(row: CheckRow, trial: TrialProgress | None) -> Line:
    """The state of a check for one model."""
    step = step_of(trial, row.step)
    live = step.checks.get(row.number, LiveCheck()) if step else LiveCheck()
    if trial is None or (step is None and not trial.is_open):
        return (("·", "dim"),)
    if live.decided == "timed_out" or live.state == "timed_out":
        return (("! pattern ran too long", "error"),)
    if row.check.kind == "forbidden_pattern":
        return _forbidden(live, step)
    if live.decided == "failed":
        return _failed(row.check, live)
    if live.decided == "passed" or live.state in ("found", "clear"):
        return _found(live, step)
    return (("… waiting", "dim"),) if trial.is_open else (("not decided", "dim"),)


def _forbidden(live: LiveCheck, step: StepProgress | None) -> Line:
    if live.state == "forbidden":
        return (("✗ found", "failed"), (_place(live, step), "failed"))
    return (("✓ none", "passed"),) if live.decided == "passed" else (("… none so far", "dim"),)


def _failed(check: Check, live: LiveCheck) -> Line:
    if check.kind == "expected_pattern":
        return (("✗ missing", "failed"),)
    lines = show_text(live.detail).strip().splitlines()
    got = next((line for line in lines if line.strip().casefold().startswith("got")), lines[0] if lines else "")
    return (("✗ ", "failed"), (show_line(got, 120), "failed"))


def _found(live: LiveCheck, step: StepProgress | None) -> Line:
    if not live.spans:
        return (("✓", "passed"),)
    return ((f"✓ {len(live.spans)}", "passed"), (_place(live, step), "dim"))


def _place(live: LiveCheck, step: StepProgress | None) -> str:
    if not live.spans or step is None:
        return ""
    return f"  line {step.line_of(live.spans[0][0])}"


def columns(rows: Sequence[CheckRow], models: int, width: int) -> tuple[int, int]:
    """How wide the check and each model's cell are."""
    longest = max((width_of(show_line(target_of(row.check), 60)) for row in rows), default=0)
    target = max(12, min(longest, width // 3))
    cell = max(8, (width - _KIND_WIDTH - target - 2) // max(1, models) - 2)
    return target, cell


def row_line(row: CheckRow, trials: Sequence[TrialProgress | None], widths: tuple[int, int], steps: int) -> Line:
    """One row of the table."""
    target, cell = widths
    before = f"{row.step + 1} " if steps > 1 else ""
    kind = f"{before}{kind_word(row.check.kind)}"
    pieces: list[Piece] = [(fill(kind, _KIND_WIDTH), "dim"), (" ", "plain")]
    pieces.append((fill(show_line(target_of(row.check)), target), "plain"))
    for trial in trials:
        pieces.append(("  ", "plain"))
        pieces += _fitted(cell_line(row, trial), cell)
    return tuple(pieces)


def _fitted(line: Line, width: int) -> list[Piece]:
    """A cell; where it has no room for all, it leaves the place out first."""
    if len(line) > 1 and line[1][0].startswith("  line") and width_of(text_of(line)) > width:
        line = line[:1]
    taken: list[Piece] = []
    for text, role in line:
        room = width - sum(width_of(each) for each, _ in taken)
        if room > 0:
            taken.append((text if width_of(text) <= room else fill(text, room), role))
    taken.append((" " * max(0, width - sum(width_of(each) for each, _ in taken)), "plain"))
    return taken


def head_line(models: Sequence[str], widths: tuple[int, int]) -> Line:
    """The heads of the columns."""
    target, cell = widths
    pieces: list[Piece] = [(" " * (_KIND_WIDTH + 1 + target), "plain")]
    for name in short_names([show_line(model) for model in models], cell):
        pieces += [("  ", "plain"), (fill(name, cell), "strong")]
    return tuple(pieces)


def detail_lines(row: CheckRow, named: Sequence[tuple[str, TrialProgress | None]]) -> list[Line]:
    """All there is to say about one check: what it wants, and for each model what came instead."""
    lines: list[Line] = [((f"{kind_word(row.check.kind)}  ", "dim"), (show_text(target_of(row.check)), "plain"))]
    for model, trial in named:
        step = step_of(trial, row.step)
        live = step.checks.get(row.number) if step else None
        if live is None or not live.detail or live.decided == "passed":
            continue
        lines.append(((show_line(model), "strong"),))
        lines += [((text, _role(text)),) for text in show_text(live.detail).splitlines()[:200]]
    return lines


def _role(text: str) -> Role:
    start = text.lstrip()
    if start.startswith(("+", "expected")):
        return "passed"
    if start.startswith(("-", "got")):
        return "failed"
    return "dim" if start.startswith(("@@", "?")) else "plain"
