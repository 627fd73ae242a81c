"""Saved runs as lines of the list, the filter of the list, and the details of one run."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tui.app.presentation.figures import clock
from tui.app.presentation.names import joined_names
from tui.app.presentation.pieces import Line, Piece, Role, cut, cut_middle, fill, spread, width_of
from tui.app.presentation.text_rows import hanging_indent
from tui.model.filter import NO_FILTERS, Completion, FilterKey, FilterLanguage, Term, fits
from tui.model.percentages import percent
from tui.model.prices import cost_text, price_text
from tui.model.run import RunDetails, RunRecord, RunState
from tui.model.sanitize import sanitize_line
from tui.model.subjects import Subject, settings_text

SHORT_ID = 12
_STATES: dict[RunState, Piece] = {
    "running": ("● running", "running"),
    "finished": ("■ finished", "dim"),
    "interrupted": ("◐ interrupted", "flaky"),
    "cancelled": ("- cancelled", "dim"),
}
_WIDE, _MIDDLING = 118, 96
_STATE_WIDTH, _TIME_WIDTH, _PASSED_WIDTH = 13, 12, 16


class Columns(NamedTuple):
    """Widths of the flexible columns in cells; 0 for a hidden column."""

    suite: int
    models: int
    took: int
    id: int


def columns_for(width: int) -> Columns:
    """Return the widths of the flexible columns in a line of `width` cells."""
    took, id_width = (8 if width >= _MIDDLING else 0), (SHORT_ID if width >= _WIDE else 0)
    fixed = 3 + _STATE_WIDTH + 2 + _TIME_WIDTH + 2 + 2 + 2 + _PASSED_WIDTH
    left = max(8, width - fixed - (took + 2 if took else 0) - (id_width + 2 if id_width else 0) - 1)
    suite = max(8, min(left // 2, 14 + left // 6))
    return Columns(suite, max(0, left - suite), took, id_width)


def heads_line(width: int) -> Line:
    """Return the line of column headings."""
    columns = columns_for(width)
    texts = [f"   {fill('state', _STATE_WIDTH)}  {fill('started', _TIME_WIDTH)}  {fill('suite', columns.suite)}  "]
    texts += [fill("models", columns.models), "  ", "passed".rjust(_PASSED_WIDTH)]
    texts += ["  ", "took".rjust(columns.took)] if columns.took else []
    texts += ["  ", fill("id", columns.id)] if columns.id else []
    return ((cut("".join(texts), width), "dim"),)


def run_line(run: RunRecord, is_baseline: bool, width: int) -> Line:
    """Return the line of a run: state, start, suite, models, passed trials, duration, id."""
    columns = columns_for(width)
    state, role = _STATES[run.state]
    models = joined_names(run.models)
    pieces: list[Piece] = [
        (" ★ " if is_baseline else "   ", "accent"),
        (fill(state, _STATE_WIDTH), role),
        (f"  {fill(day_and_time(run.started_at), _TIME_WIDTH)}  ", "plain"),
        (fill(sanitize_line(run.suite_name, 200), columns.suite), "strong"),
        ("  ", "plain"),
        (fill(models, columns.models), "plain"),
        ("  ", "plain"),
        *_passed(run),
    ]
    if columns.took:
        pieces.append((f"  {took(run):>{columns.took}}", "dim"))
    if columns.id:
        pieces.append((f"  {fill(sanitize_line(run.id[:SHORT_ID]), columns.id)}", "dim"))
    return spread(pieces, [], width)


def _passed(run: RunRecord) -> list[Piece]:
    """Return the passed trials and their share, exactly as wide as the column.

    A run that is not finished has no share: trials that have not run would count as not passed. A run without a checked
    case has no number: `unchecked` counts its errors, too.
    """
    share = f"{percent(run.passed / run.checked):>4}" if run.checked and run.state == "finished" else "   –"
    room = _PASSED_WIDTH - len(share) - 1
    counted = f"{run.passed}/{run.checked}" if run.checked or not run.unchecked else "no checks"
    role: Role = "passed" if run.checked and run.passed == run.checked else "plain"
    return [(cut(counted, room).rjust(room), role), (f" {share}", "dim")]


def day_and_time(text: str) -> str:
    """Format an ISO time as `20 Nov 10:15` in local time, or as `20 Nov 2025` in another year."""
    moment = _moment(text)
    if moment is None:
        return sanitize_line(text, _TIME_WIDTH)
    if moment.year != datetime.now().astimezone().year:
        return f"{moment.day:>2} {moment:%b %Y}"
    return f"{moment.day:>2} {moment:%b %H:%M}"


def took(run: RunRecord) -> str:
    """Return the time from start to end; for a resumed run it includes the pause."""
    begin, end = _moment(run.started_at), _moment(run.finished_at or "")
    return clock((end - begin).total_seconds()) if begin and end else ""


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def run_title(run: RunRecord) -> str:
    """Return the title of a saved run in the list of suites."""
    return f"{day_and_time(run.started_at).strip()} · {sanitize_line(run.suite_name, 60)}"


RUN_FILTER = FilterLanguage(
    FilterKey("state", "state of the run", tuple(_STATES)),
    FilterKey("suite", "name or file of the suite"),
    FilterKey("model", "model of the run"),
    FilterKey("id", "id of the run"),
    FilterKey("is", "runs that are marked as baseline", ("baseline",)),
)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A parsed filter: a run has to match all terms. `hint` says what in it has no meaning."""

    terms: tuple[Term, ...] = ()
    hint: str = ""

    def wants(self, run: RunRecord, is_baseline: bool) -> bool:
        """Return whether the filter accepts a run."""
        return all(_holds(term, run, is_baseline) != term.inverted for term in self.terms)


def parse_run_filter(text: str, saved: Mapping[str, str] = NO_FILTERS) -> RunFilter:
    """Parse a filter with the `saved` filters in it, also while it is being typed."""
    return RunFilter(*RUN_FILTER.parse(text, saved))


def complete_run_filter(
    text: str, cursor: int, runs: Sequence[RunRecord], saved: Mapping[str, str] = NO_FILTERS
) -> list[Completion]:
    """Return what the term at the cursor can become."""

    def values_of(key: str) -> Iterator[str]:
        return (value for run in runs for value in _values_of(key, run))

    return RUN_FILTER.complete(text, cursor, values_of, saved)


def _values_of(key: str, run: RunRecord) -> tuple[str, ...]:
    return {"suite": (run.suite_name,), "model": run.models, "id": (run.id[:SHORT_ID],)}.get(key, ())


def _holds(term: Term, run: RunRecord, is_baseline: bool) -> bool:
    places = {
        "state": (run.state,),
        "suite": (run.suite_name, run.suite_path),
        "model": run.models,
        "id": (run.id,),
        "is": ("baseline",) if is_baseline else (),
    }
    everything = (run.state, run.suite_name, run.suite_path, *run.models, run.id, day_and_time(run.started_at))
    return any(fits(place, term.value) for place in places.get(term.key, everything))


def shown_runs(runs: Sequence[RunRecord], run_filter: RunFilter, baselines: Collection[str]) -> list[RunRecord]:
    """Return the runs that the filter accepts, in their order."""
    return [run for run in runs if run_filter.wants(run, run.id in baselines)]


_LABEL_WIDTH = 10


def setup_lines(run: RunRecord, details: RunDetails | None, width: int) -> list[Line]:
    """Return the details of a run: suite, options, command, and models with settings, costs, prices and servers."""
    suite: list[Piece] = [
        (" suite    ", "dim"),
        (cut_middle(sanitize_line(run.suite_path, 500), max(10, width - 30)), "plain"),
    ]
    lines: list[Line] = [(*suite, (f"  sha256 {sanitize_line(run.suite_sha256[:SHORT_ID])}", "dim"))]
    end = f" to {day_and_time(run.finished_at).strip()}" if run.finished_at else ""
    lines.append(
        (
            (" run      ", "dim"),
            (sanitize_line(run.id), "plain"),
            (f"  {day_and_time(run.started_at).strip()}{end}", "dim"),
        )
    )
    if details is None:
        return lines
    setup = details.setup
    options = setup.options
    shown_options = [
        f"timeout {options.timeout_ms / 1000:g} s",
        f"attempts {options.attempts}",
        f"repeats {options.repeats}",
        f"concurrency {options.concurrency}",
        "models in parallel" if options.parallel_models else "models one by one",
        "streamed" if options.stream else "not streamed",
    ]
    lines += hanging_indent(((" options  ", "dim"),), " · ".join(shown_options), "plain", width)
    command = sanitize_line(setup.command, 500) or "in the app"
    program: Line = ((" by       ", "dim"), (f"Assay {sanitize_line(setup.assay, 40)}  ", "plain"))
    lines += hanging_indent(program, command, "dim", width)
    for number, subject in enumerate(setup.subjects):
        label: Piece = (" models   " if number == 0 else "          ", "dim")
        lines.append((label, *_subject(subject, details)))
    lines += _versions(setup.versions, width)
    return [_fitted(line, width) for line in lines]


def _versions(versions: Mapping[str, str], width: int) -> list[Line]:
    """Return the versions of other components, several per line; files have long digests and a line each."""
    versions_used = [sanitize_line(f"{name} {version}", 300) for name, version in versions.items() if name != "assay"]
    rows: list[str] = []
    for each in versions_used:
        joined = f"{rows[-1]} · {each}" if rows else each
        if rows and width_of(joined) + _LABEL_WIDTH <= width and "sha256" not in joined:
            rows[-1] = joined
        else:
            rows.append(each)
    return [((" with     " if number == 0 else "          ", "dim"), (row, "dim")) for number, row in enumerate(rows)]


def _subject(subject: Subject, details: RunDetails) -> tuple[Piece, ...]:
    spent, served = details.costs.get(subject.name), details.served.get(subject.name)
    settings = " · ".join(settings_text(subject.settings, "its own" if subject.settings.system else None))
    where = f"  {sanitize_line(subject.provider, 60)} {sanitize_line(subject.model_id, 120)}"
    price = f"  {sanitize_line(price_text(subject.price), 200)}" if subject.price else ""
    cost = f"  cost {cost_text(spent)}" if spent and spent.trials else ""
    answered = served.model if served and served.model not in ("", subject.model_id) else ""
    return (
        (sanitize_line(subject.name, 200), "strong"),
        (where, "dim"),
        (f" answers as {sanitize_line(answered, 120)}" if answered else "", "dim"),
        (f"  {settings}" if settings else "", "plain"),
        (cost, "plain" if spent and spent.usd is not None else "dim"),
        (price, "dim"),
    )


def _fitted(line: Line, width: int) -> Line:
    taken: list[Piece] = []
    room = width
    for text, role in line:
        text = cut(text, room)
        room -= width_of(text)
        taken.append((text, role))
    return tuple(taken)
