"""The header line of the Matrix screen, and the figures above its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tui.app.matrix.baseline import sum_line
from tui.app.matrix.columns import Layout, joined
from tui.app.matrix.statistics import Since
from tui.app.presentation.figures import count, seconds
from tui.app.presentation.marks import mark_of, rerun_pieces
from tui.app.presentation.model_faults import ModelFault, fault_word
from tui.app.presentation.names import fitted_names
from tui.app.presentation.pace import NO_PACE, Pace, pause_words, time_words
from tui.app.presentation.pieces import Line, Piece, Role, cut_middle, width_of
from tui.model.percentages import percent, percent_range
from tui.model.prices import Spent, cost_text
from tui.model.results import CountedVerdict
from tui.model.sanitize import sanitize_line
from tui.model.state import Counts
from tui.statistics.run_figures import ModelFigures

_ID = 12
_TALLIED: tuple[CountedVerdict, ...] = ("passed", "failed", "flaky", "error", "unchecked")


@dataclass(frozen=True, slots=True)
class MatrixHeading:
    """The content of the header.

    `run` and `baseline` are ids, empty if there is none. `words` has the number of displayed trials for each counted
    verdict, `passed_since` the number of failed ones that a rerun passed, `failed_since` that of passed ones whose last
    rerun failed, and `earlier` the number of trials that are not counted because their case has other checks now.
    `changed` cases are not compared with the baseline.
    `counts` are those of the run while it is in progress, and `elapsed` its seconds. While it is `paused`, `answering`
    trials are still receiving answers, and `pause_key` continues the run; it is `unsaved` while results cannot be
    stored.
    """

    suite: str = ""
    run: str = ""
    baseline: str = ""
    words: Mapping[CountedVerdict, int] = field(default_factory=dict)
    counts: Counts | None = None
    order: str = ""
    pace: Pace = NO_PACE
    paused: bool = False
    answering: int = 0
    pause_key: str = ""
    passed_since: int = 0
    failed_since: int = 0
    earlier: int = 0
    changed: int = 0
    elapsed: float | None = None
    unsaved: bool = False


def short_id(run_id: str) -> str:
    """Return the part of a run id that distinguishes runs: it begins with the time."""
    return run_id[:_ID]


def matrix_header(shown: MatrixHeading, width: int) -> Line:
    """Return the header in at most `width` cells; less important parts are omitted first."""
    name: list[Piece] = [(" Assay", "accent"), ("  Matrix", "strong"), (f"  {sanitize_line(shown.suite, 40)}", "plain")]
    run: list[Piece] = [(f" · run {short_id(shown.run)}" if shown.run else " · latest results", "dim")]
    against = _against(shown)
    progress = _progress(shown)
    paces: list[list[Piece]] = [[(f"   {words}", "dim")] if words and progress else [] for words in shown.pace[:2]]
    pauses: list[list[Piece]] = []
    if shown.paused and progress:
        texts = pause_words(shown.answering, shown.pause_key, unsaved=shown.unsaved)
        pauses = [[(f"  {words}", "accent")] for words in texts]
    pause, least_pause = (pauses[0], pauses[-2]) if pauses else ([], [])
    reruns = shown.passed_since, shown.failed_since
    since = [*rerun_pieces(*reruns, short=True), *_earlier(shown.earlier, short=True)]
    tally = [*_totals(shown.words), *rerun_pieces(*reruns), *_earlier(shown.earlier)]
    short_tally = [*_totals(shown.words, short=True), *since]
    order: list[Piece] = [(f"   {shown.order}", "dim")]
    time = _time(shown)
    for parts in (
        (name, run, against, progress, time, pause, tally, paces[1], order),
        (name, run, against, progress, time, pause, tally, paces[0], order),
        (name, against, progress, time, pause, tally, paces[0], order),
        (name, progress, time, pause, tally, paces[0], order),
        (name, progress, time, pause, tally, paces[0]),
        *([(name, progress, time, pause, short_tally)] if time and not shown.pace.narrowed else []),
        (name, progress, pause, tally, paces[0]),
        (name, progress, pause, tally),
        (name, progress, pause, [*_totals(shown.words), *since]),
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


def _against(shown: MatrixHeading) -> list[Piece]:
    if not shown.baseline:
        return []
    cases = "1 changed case" if shown.changed == 1 else f"{shown.changed:,} changed cases"
    left_out = f", {cases} not compared" if shown.changed else ""
    return [(f" against baseline {short_id(shown.baseline)}{left_out}", "dim")]


def _progress(shown: MatrixHeading) -> list[Piece]:
    counts = shown.counts
    if counts is None:
        return []
    return [(f"   {'‖' if shown.paused else '▶'} {counts.done:>{len(str(counts.trials))}}/{counts.trials}", "accent")]


def _time(shown: MatrixHeading) -> list[Piece]:
    """Return how long the run has taken, and about how long it will still take."""
    if shown.counts is None or shown.elapsed is None:
        return []
    return [(f"  {time_words(shown.elapsed, shown.counts, running=not shown.paused)}", "dim")]


def _totals(words: Mapping[CountedVerdict, int], *, short: bool = False) -> list[Piece]:
    """Return the number of passed and failed trials, and of each other verdict that occurs."""
    pieces: list[Piece] = []
    for word in _TALLIED:
        number, (mark, role) = words.get(word, 0), mark_of(word)
        if number or word in ("passed", "failed"):
            text = "" if short else f" {word}{'s' if word == 'error' and number != 1 else ''}"
            pieces.append((f"{'  ' if pieces else '   '}{mark} {number}{text}", role))
    return pieces


def _earlier(number: int, *, short: bool = False) -> list[Piece]:
    """Return the note about trials that are not counted because earlier checks judged them."""
    return [(f"  {number} {'earlier' if short else 'by earlier checks, not counted'}", "dim")] if number else []


class HeadNotes(NamedTuple):
    """Notes about models in their column heads: the index of the one under the cursor, and those that cannot run."""

    cursor: int = -1
    faults: Mapping[str, ModelFault] = {}


_NONE = ModelFigures()
_NO_NOTES = HeadNotes()


def head_lines(
    layout: Layout,
    models: Sequence[str],
    figures: Mapping[str, ModelFigures],
    since: Mapping[str, Since] | None,
    *,
    whole: bool,
    notes: HeadNotes = _NO_NOTES,
) -> list[Line]:
    """Return the lines above the columns of the visible models; only the most important ones unless `whole`."""
    seen = [figures.get(models[place], _NONE) for place in layout.visible]
    names = fitted_names(models, max(1, layout.cell - 1)) if models else []
    total = Since(*map(sum, zip(*since.values(), strict=True))) if since else Since()
    rows: list[tuple[str, list[Line]]] = [
        ("passed · 95%", [_passed(each) for each in seen]),
        ("flaky · errors", [_flaky(each) for each in seen]),
        ("time · p95", [_times(each) for each in seen]),
    ]
    speeds = [_speed(each) for each in seen]
    if whole:
        rows += [
            ("TTFT · tok/s", speeds),
            ("tokens in · out", [_tokens(each) for each in seen]),
            ("cost", [_cost(each) for each in seen]),
        ]
    top = [_model(models[place], names[place], layout, place, notes) for place in layout.visible if models]
    lines = [joined(layout, _scrolled(layout), top, ((_fit("since baseline", layout), "dim"),) if since else ())]
    lines += [joined(layout, ((label, "dim"),), cells, ()) for label, cells in rows]
    if since is not None:
        cells = [_since(since.get(models[place], Since())) for place in layout.visible]
        lines.append(joined(layout, (("since baseline", "dim"),), cells, _since(total)))
    return lines


def _model(model: str, name: str, layout: Layout, place: int, notes: HeadNotes) -> Line:
    """Return the name of a model, and whether it cannot run."""
    role: Role = "accent" if place == notes.cursor else "strong"
    if model not in notes.faults:
        return ((name, role),)
    why = fault_word(notes.faults[model])
    return (cut_middle(name, layout.cell - 3 - len(why)), role), (f"  {why}", "error")


def _since(since: Since) -> Line:
    return sum_line(since.better, since.worse) if since.compared else (("–", "dim"),)


def _fit(text: str, layout: Layout) -> str:
    return text if len(text) < layout.change else "since"


def _scrolled(layout: Layout) -> list[Piece]:
    """Return which models are visible, if not all of them are."""
    if layout.shown >= layout.models:
        return []
    first, last = layout.first + 1, layout.first + len(layout.visible)
    sight = f"{first}–{last}" if last > first else str(first)
    return [("◂ " if layout.first else "  ", "accent"), (f"{sight} of {layout.models}", "dim"),
            (" ▸" if last < layout.models else "", "accent")]  # fmt: skip


def _passed(shown: ModelFigures) -> Line:
    rate, interval = shown.tally.pass_rate, shown.rates.pass_rate_95
    if rate is None or interval is None:
        unchecked = shown.tally.unchecked
        return ((f"{unchecked} unchecked" if unchecked else "–", "dim"),)
    return ((percent(rate), "strong"), (f"  {percent_range(*interval).removesuffix('%')}", "dim"))


def _flaky(shown: ModelFigures) -> Line:
    count = shown.tally
    if not count.trials:
        return (("–", "dim"),)
    return (
        (str(count.flaky), "flaky" if count.flaky else "dim"),
        (" · ", "dim"),
        (str(count.errors), "error" if count.errors else "dim"),
    )


def _times(shown: ModelFigures) -> Line:
    effort = shown.effort
    if effort.median_ms is None:
        return (("–", "dim"),)
    p95 = f" · {_seconds(effort.p95_ms)}" if effort.p95_ms is not None else " · –"
    return ((_seconds(effort.median_ms), "plain"), (p95, "dim"))


def _speed(shown: ModelFigures) -> Line:
    effort = shown.effort
    if effort.first_token_ms is None and effort.speed is None:
        return (("–", "dim"),)
    speed = "–" if effort.speed is None else f"{effort.speed:.0f}"
    return ((_seconds(effort.first_token_ms, 2), "plain"), (f" · {speed}", "plain"))


def _seconds(milliseconds: float | None, digits: int = 1) -> str:
    return "–" if milliseconds is None else f"{seconds(milliseconds, digits=digits).strip()} s"


def _tokens(shown: ModelFigures) -> Line:
    effort, trials = shown.effort, shown.tally.trials
    sums = (effort.input_tokens, effort.input_tokens_known), (effort.output_tokens, effort.output_tokens_known)
    if all(total is None for total, _ in sums):
        return (("unknown" if trials else "–", "dim"),)
    read, wrote = (
        f"{'≥' if total is not None and known < trials else ''}{count(total, 5).strip()}" for total, known in sums
    )
    return ((f"{read} · {wrote}", "plain"),)


def _cost(shown: ModelFigures) -> Line:
    trials = shown.tally.trials
    if not trials:
        return (("–", "dim"),)
    spent = Spent(shown.effort.cost_usd, shown.effort.costs_known, trials)
    return ((cost_text(spent), "dim" if spent.usd is None else "plain"),)
