"""Times, tokens and speeds of an attempt, and their texts of fixed width, which keep their place while they change."""

from dataclasses import dataclass

from tui.app.presentation.marks import mark_of, status_of
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.model.prices import add_costs, dollars
from tui.model.progress import AttemptProgress, StepProgress, TrialProgress
from tui.model.results import rerun_note

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one attempt: milliseconds, tokens, tokens per second, USD; None if unknown.

    `exact` is true if the provider counted the tokens.
    """

    duration_ms: float | None = None
    first_token_ms: float | None = None
    tokens: int | None = None
    speed: float | None = None
    exact: bool = False
    cost_usd: float | None = None


def figures_of(attempt: AttemptProgress | None, now: float) -> Figures:
    """Return the figures of an attempt, summed over its steps; `now` is in monotonic seconds."""
    if attempt is None or not attempt.steps:
        return Figures()
    timings = [_timing(step, now) for step in attempt.steps]
    duration = sum(each for each, _ in timings)
    first = timings[0][1]
    counted = [step.result.usage.output_tokens if step.result else None for step in attempt.steps]
    exact = all(count is not None for count in counted)
    if exact:
        tokens: int | None = sum(count or 0 for count in counted)
    else:
        size = sum(step.size for step in attempt.steps)
        tokens = max(attempt.tokens_seen, round(size / _CHARACTERS_PER_TOKEN)) or None
    writing = sum(each - (begun or 0.0) for each, begun in timings)
    speed = tokens / writing * 1000 if tokens and writing >= 50 else None
    cost = add_costs(step.result.cost_usd if step.result else None for step in attempt.steps)
    return Figures(duration or None, first, tokens, speed, exact, cost)


def _timing(step: StepProgress, now: float) -> tuple[float, float | None]:
    """Return the duration of a step and its time to the first token, in milliseconds."""
    if step.result is not None:
        return step.result.timing.duration_ms, step.result.timing.first_token_ms
    if step.sent_at is None:
        return 0.0, None
    first = None if step.first_at is None else (step.first_at - step.sent_at) * 1000
    return (now - step.sent_at) * 1000, first


def seconds(milliseconds: float | None, width: int = 4, digits: int = 1) -> str:
    """Return a duration as seconds in exactly `width` cells: ` 0.9`, `12.3`, ` 123`, ` 17m`.

    `digits` is the number of decimals below one second.
    """
    if milliseconds is None:
        return "–".rjust(width)
    value = milliseconds / 1000
    if value < 0.995:
        return f"{value:.{digits}f}".rjust(width)
    if value < 99.95:
        return f"{value:.1f}".rjust(width)
    if value < 1000:
        return f"{value:.0f}".rjust(width)
    return f"{value / 60:.0f}m".rjust(width)


def count(value: int | None, width: int, approximate: bool = False) -> str:
    """Return a count in exactly `width` cells: `~` before an estimate, and thousands as `k` if it does not fit."""
    if value is None:
        return "–".rjust(width)
    sign = "~" if approximate else ""
    text = f"{sign}{value}"
    if len(text) > width:
        text = f"{sign}{value / 1000:.0f}k" if value < 999_500 else f"{sign}{value / 1_000_000:.0f}M"
    return text.rjust(width)


def figure_line(trial: TrialProgress | None, attempt: AttemptProgress | None, now: float, width: int) -> Line:
    """Return the line below a pane for one attempt: `✓  0.9 s · TTFT 0.15 · 128 tok/s ·   96 tok · $0.0042`.

    Parts are omitted until the line fits in `width` cells; an unknown cost is omitted, too.
    """
    if trial is None:
        return ()
    earlier = attempt is not None and attempt is not trial.attempt and attempt.finished is not None
    mark = mark_of(attempt.finished.verdict if earlier and attempt and attempt.finished else status_of(trial))
    shown = figures_of(attempt, now)
    speed = count(None if shown.speed is None else round(shown.speed), 3)
    parts: list[str] = [
        f"{seconds(shown.duration_ms)} s",
        f"TTFT {seconds(shown.first_token_ms, digits=2)}",
        f"{speed} tok/s",
        f"{count(shown.tokens, 4, not shown.exact)} tok",
        *([] if shown.cost_usd is None else [dollars(shown.cost_usd)]),
    ]
    prefix = f" repeat {trial.key.repeat}" if trial.key.repeat > 1 else ""
    prefix += f" {attempt.number}/{attempt.of}" if attempt and attempt.of > 1 else ""
    if shown.duration_ms is None and not trial.is_open and not attempt:
        return (mark,)
    note = rerun_note(trial.ended) if trial.ended is not None and not trial.is_open and not earlier else ""
    if trial.has_another_prompt:
        note = f"answer to another prompt{f' · {note}' if note else ''}"
    note = f" {note} ·" if note else ""
    for dropped in (None, "$", "TTFT", "tok/s", " tok"):
        parts = [part for part in parts if dropped is None or not _is(part, dropped)]
        line: Line = (mark, (prefix, "dim"), (note, "strong"), (" " + " · ".join(parts), "dim"))
        if width_of(text_of(line)) <= width:
            return line
    return (mark, (note.removesuffix(" ·"), "strong")) if note and width_of(note) <= width else (mark,)


def _is(part: str, dropped: str) -> bool:
    """Return whether a part of the figure line is the one that `dropped` identifies."""
    return part.endswith(" tok") if dropped == " tok" else dropped in part


def clock(value: float) -> str:
    """Return elapsed seconds as `0:14`, `12:03` or `1:02:03`."""
    whole = max(0, int(value))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def counted(number: int, word: str) -> str:
    """Return a number with its word: `1 case`, `1,200 cases`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def minutes(milliseconds: float) -> str:
    """Return a duration: `40 s`, `11 min`, `2 h 05`."""
    seconds = max(0, round(milliseconds / 1000))
    if seconds < 60:
        return f"{seconds} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 60 else f"{whole // 60} h {whole % 60:02}"
