"""The lines of the Checks tab: a row for each check with a cell for each model, and the details of one check."""

from collections.abc import Iterable, Sequence
from json import dumps
from typing import NamedTuple

from tui.app.presentation.marks import kind_word, unevaluated_words
from tui.app.presentation.names import fitted_names, model_names
from tui.app.presentation.pieces import Line, Piece, Role, fill, text_of, width_of
from tui.model.progress import LiveCheck, StepProgress, TrialProgress
from tui.model.results import MOST_SPANS, RAN_UNCHANGED
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.suite import FORBIDDING, Case, Check

_LONGEST = 60
_LEAST_TARGET = 14
_LEAST_WORDS = 6
_DETAIL_LINES = 200
# Widths of a model's column and of the gap before it, the widest first.
_CELLS = ((16, 2), (13, 2), (9, 2), (4, 2), (1, 1))
_SHORTER = {"! pattern ran too long": "! too long", "! not evaluated": "! no result", "not evaluated": "–"}
# The suffix while text still arrives: the verdict comes from a search of the complete text.
_SO_FAR = " so far"


class CheckRow(NamedTuple):
    """A check of a step; both numbers count from 0.

    An `earlier` check is none of the case any more: a displayed result is that of a run before the case was changed.
    """

    step: int
    number: int
    check: Check
    earlier: bool = False


def check_rows(case: Case, trials: Iterable[TrialProgress | None] = ()) -> list[CheckRow]:
    """Return all checks of a case in their order, and after those of a step the earlier ones that judged a trial."""
    ran = {id(each.case): each.case for each in trials if each is not None and each.case is not None}
    others = [each for each in ran.values() if each.steps != case.steps]
    rows = []
    for number, step in enumerate(case.steps):
        rows += [CheckRow(number, at, check) for at, check in enumerate(step.checks)]
        known = set(map(_identity, step.checks)) if others else set()
        for other in others:
            for at, check in enumerate(other.steps[number].checks if number < len(other.steps) else ()):
                if (identity := _identity(check)) not in known:
                    known.add(identity)
                    rows.append(CheckRow(number, at, check, earlier=True))
    return rows


def _identity(check: Check) -> tuple[str, str, float | None, str]:
    """Return what makes a check the same; its expected value may not be hashable."""
    return check.kind, check.target, check.threshold, dumps(check.expected, sort_keys=True)


def number_of(row: CheckRow, trial: TrialProgress | None) -> int | None:
    """Return the number of a row's check in the case as the trial ran it; None if that did not have the check."""
    ran = trial.case if trial is not None else None
    checks = ran.steps[row.step].checks if ran is not None and row.step < len(ran.steps) else None
    if checks is None:
        return None if row.earlier else row.number
    if row.number < len(checks) and checks[row.number] == row.check:
        return row.number
    return next((number for number, check in enumerate(checks) if check == row.check), None)


def live_check(row: CheckRow, trial: TrialProgress | None) -> LiveCheck | None:
    """Return the state of a row's check in a trial, or None if there is none."""
    step, number = step_of(trial, row.step), number_of(row, trial)
    return step.checks.get(number) if step is not None and number is not None else None


def target_of(check: Check) -> str:
    """Return what a check looks for, on one line."""
    if check.kind in ("memory", "tools_used", "expected"):
        value = dumps(check.expected, ensure_ascii=False)
        return f"{check.target} = {value}" if check.target else value
    return check.target


def step_of(trial: TrialProgress | None, step: int) -> StepProgress | None:
    """Return a step of the last attempt, or None."""
    if trial is None or trial.attempt is None or step >= len(trial.attempt.steps):
        return None
    return trial.attempt.steps[step]


def cell_line(row: CheckRow, trial: TrialProgress | None) -> Line:
    """Return the result of a check for one model."""
    step, number = step_of(trial, row.step), number_of(row, trial)
    if trial is None or (step is None and not trial.is_open):
        return (("·", "dim"),)
    if number is None:
        return (("not evaluated", "dim"),)
    live = (step.checks.get(number) if step is not None else None) or LiveCheck()
    if live.decided is None:
        return _provisional(row.check, live, step, trial)
    if live.decided == "timed_out":
        return ((f"! {unevaluated_words(row.check.kind, live.detail)}", "error"),)
    if row.check.kind in FORBIDDING:
        return _forbidden(live, step)
    return _failed(row.check, live) if live.decided == "failed" else _found(live, step)


def _provisional(check: Check, live: LiveCheck, step: StepProgress | None, trial: TrialProgress) -> Line:
    if live.state == "timed_out":
        return ((f"… too long{_SO_FAR}", "error"),)
    if live.state == "forbidden":
        return ((f"… found{_SO_FAR}", "failed"), (_place(live, step), "failed"))
    if check.kind in FORBIDDING:
        return ((f"… none{_SO_FAR}", "dim"),)
    if live.state == "found":
        return ((f"… {_count(live)}{_SO_FAR}", "passed"), (_place(live, step), "dim"))
    return (("… waiting", "dim"),) if trial.is_open else (("not evaluated", "dim"),)


def _forbidden(live: LiveCheck, step: StepProgress | None) -> Line:
    if live.state == "forbidden":
        return (("✗ found", "failed"), (_place(live, step), "failed"))
    return (("✓ none", "passed"),)


def _failed(check: Check, live: LiveCheck) -> Line:
    if check.kind == "expected_pattern":
        return (("✗ missing", "failed"),)
    lines = sanitize_text(live.detail).strip().splitlines()
    got = next((line for line in lines if line.strip().casefold().startswith("got")), lines[0] if lines else "")
    return (("✗ ", "failed"), (sanitize_line(got, 120), "failed"))


def _found(live: LiveCheck, step: StepProgress | None) -> Line:
    if live.detail.endswith(RAN_UNCHANGED):
        return (("✓", "passed"), (" no change", "flaky"))
    if not live.spans:
        return (("✓", "passed"),)
    return ((f"✓ {_count(live)}", "passed"), (_place(live, step), "dim"))


def _count(live: LiveCheck) -> str:
    return f"{len(live.spans)}{'+' if len(live.spans) >= MOST_SPANS else ''}"


def _place(live: LiveCheck, step: StepProgress | None) -> str:
    if not live.spans or step is None:
        return ""
    return f"  line {step.line_of(live.spans[0][0])}"


class Columns(NamedTuple):
    """The widths of the columns in cells: the kind, the target, each model, and the gap before a model."""

    kind: int
    target: int
    cell: int
    gap: int


def columns(rows: Sequence[CheckRow], models: int, width: int, steps: int = 1) -> Columns:
    """Return the widths of the columns for a total width. Every model has a column; narrow cells are shortened."""
    kind = max((len(_kind(row, steps)) for row in rows), default=4) + 1
    longest = max((width_of(sanitize_line(target_of(row.check), _LONGEST)) for row in rows), default=0)
    models, room = max(1, models), width - kind - 1
    for cell, gap in _CELLS:
        target = room - models * (cell + gap)
        if target >= min(longest, _LEAST_TARGET):
            break
    target = max(1, min(longest, target))
    return Columns(kind, target, max(cell, (room - target) // models - gap), gap)


def is_cut(row: CheckRow, widths: Columns) -> bool:
    """Return whether the table cuts off the target of a check."""
    target = target_of(row.check)
    return "\n" in target or width_of(sanitize_line(target)) > widths.target


def _kind(row: CheckRow, steps: int) -> str:
    words = f"earlier {kind_word(row.check.kind)}" if row.earlier else kind_word(row.check.kind)
    return f"{row.step + 1} {words}" if steps > 1 else words


def row_line(row: CheckRow, trials: Sequence[TrialProgress | None], widths: Columns, steps: int) -> Line:
    """Return one row of the table."""
    pieces: list[Piece] = [(fill(_kind(row, steps), widths.kind), "dim"), (" ", "plain")]
    pieces.append((fill(sanitize_line(target_of(row.check)), widths.target), "plain"))
    for trial in trials:
        pieces.append((" " * widths.gap, "plain"))
        pieces += _fitted(cell_line(row, trial), widths.cell)
    return tuple(pieces)


def _fitted(line: Line, width: int) -> list[Piece]:
    """Return a cell in exactly `width` cells.

    A long one omits the position first, then uses shorter words, then the mark alone.
    """
    if len(line) > 1 and line[1][0].startswith("  line") and width_of(text_of(line)) > width:
        line = line[:1]
    if width_of(text_of(line)) > width:
        text, role = line[0]
        text = _SHORTER.get(text, text.removesuffix(_SO_FAR))
        line = ((text, role), *line[1:])
        if width_of(text_of(line)) > width and (width < _LEAST_WORDS or len(line) == 1):
            line = ((text if width_of(text) <= width and len(line) == 1 else text[:1], role),)
    taken: list[Piece] = []
    for text, role in line:
        room = width - sum(width_of(each) for each, _ in taken)
        if room > 0:
            taken.append((text if width_of(text) <= room else fill(text, room), role))
    taken.append((" " * max(0, width - sum(width_of(each) for each, _ in taken)), "plain"))
    return taken


def head_line(models: Sequence[str], widths: Columns) -> Line:
    """Return the headings of the columns: names, or the numbers of the panes if the columns are too narrow."""
    pieces: list[Piece] = [(" " * (widths.kind + 1 + widths.target), "plain")]
    by_number = len(models) > 1 and widths.cell < _LEAST_WORDS
    names = [str(number) for number, _ in enumerate(models, 1)] if by_number else fitted_names(models, widths.cell)
    for name in names:
        pieces += [(" " * widths.gap, "plain"), (fill(name, widths.cell), "strong")]
    return tuple(pieces)


def detail_lines(
    row: CheckRow, named: Sequence[tuple[str, TrialProgress | None]], *, whole: bool = False
) -> list[Line]:
    """Return the details of a check: with `whole` its full target, then for each model the text of a failure.

    Blank lines separate the models.
    """
    lines: list[Line] = []
    if whole:
        lines.append(((f"{kind_word(row.check.kind)}  ", "dim"), (sanitize_text(target_of(row.check)), "plain")))
    for name, (_, trial) in zip(model_names([model for model, _ in named]), named, strict=True):
        live = live_check(row, trial)
        detail = live.detail if live is not None else ""
        if live is not None and live.decided == "passed":
            detail = RAN_UNCHANGED if detail.endswith(RAN_UNCHANGED) else ""
        if not detail:
            continue
        lines += [()] if lines else []
        lines += [((name, "strong"),)] if len(named) > 1 else []
        lines += [((text, _role(text)),) for text in sanitize_text(detail).splitlines()[:_DETAIL_LINES]]
    return lines


def _role(text: str) -> Role:
    start = text.lstrip()
    if start.startswith(("+", "expected")):
        return "passed"
    if start.startswith(("-", "got")):
        return "failed"
    return "dim" if start.startswith(("@@", "?")) else "plain"
