"""What is said of one kept run: with what it was begun, what took part, what it cost."""

from collections.abc import Mapping

from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, width_of
from tui.app.runs.lines import SHORT_ID, day_and_time
from tui.model.prices import told_cost, told_price
from tui.model.run import RunDetails, RunRecord
from tui.model.sanitize import show_line
from tui.model.subjects import Subject, told_settings

_LABEL_WIDTH = 10


def setup_lines(run: RunRecord, details: RunDetails | None, width: int) -> list[Line]:
    """What is known of a run: suite and hash, options, command, models with their settings, costs and prices, what
    answered, and what else took part."""
    suite: list[Piece] = [
        (" suite    ", "dim"),
        (cut_middle(show_line(run.suite_path, 500), max(10, width - 30)), "plain"),
    ]
    lines: list[Line] = [(*suite, (f"  sha256 {show_line(run.suite_sha256[:SHORT_ID])}", "dim"))]
    end = f" to {day_and_time(run.finished_at).strip()}" if run.finished_at else ""
    lines.append(
        ((" run      ", "dim"), (show_line(run.id), "plain"), (f"  {day_and_time(run.started_at).strip()}{end}", "dim"))
    )
    if details is None:
        return lines
    setup = details.setup
    options = setup.options
    said = [
        f"timeout {options.timeout_ms / 1000:g} s",
        f"attempts {options.attempts}",
        f"repeats {options.repeats}",
        f"concurrency {options.concurrency}",
        "models in parallel" if options.parallel_models else "models one by one",
        "streamed" if options.stream else "not streamed",
    ]
    lines.append(((" options  ", "dim"), (" · ".join(said), "plain")))
    command = show_line(setup.command, 500) or "in the app"
    lines.append(((" by       ", "dim"), (f"Assay {show_line(setup.assay, 40)}", "plain"), (f"  {command}", "dim")))
    for number, subject in enumerate(setup.subjects):
        label: Piece = (" models   " if number == 0 else "          ", "dim")
        lines.append((label, *_subject(subject, details)))
    lines += _versions(setup.versions, width)
    return [_fitted(line, width) for line in lines]


def _versions(versions: Mapping[str, str], width: int) -> list[Line]:
    """What took part besides Assay, as many on a line as fit; files, which are told by long digests, stand alone."""
    said = [show_line(f"{name} {version}", 300) for name, version in versions.items() if name != "assay"]
    rows: list[str] = []
    for each in said:
        joined = f"{rows[-1]} · {each}" if rows else each
        if rows and width_of(joined) + _LABEL_WIDTH <= width and "sha256" not in joined:
            rows[-1] = joined
        else:
            rows.append(each)
    return [((" with     " if number == 0 else "          ", "dim"), (row, "dim")) for number, row in enumerate(rows)]


def _subject(subject: Subject, details: RunDetails) -> tuple[Piece, ...]:
    spent, served = details.costs.get(subject.name), details.served.get(subject.name)
    said = " · ".join(told_settings(subject.settings, "its own" if subject.settings.system else None))
    where = f"  {show_line(subject.provider, 60)} {show_line(subject.model_id, 120)}"
    price = f"  {show_line(told_price(subject.price), 200)}" if subject.price else ""
    cost = f"  cost {told_cost(spent)}" if spent and spent.trials else ""
    answered = served.model if served and served.model not in ("", subject.model_id) else ""
    return (
        (show_line(subject.name, 200), "strong"),
        (where, "dim"),
        (f" answers as {show_line(answered, 120)}" if answered else "", "dim"),
        (f"  {said}" if said else "", "plain"),
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
