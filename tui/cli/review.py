"""`assay review`: export and import of scores, and agreement of reviewers."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.run_options import prepare_output
from tui.cli.streams import note, say
from tui.model.errors import ConfigError
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.model.risk import Interval
    from tui.session.reviews import Reviews
    from tui.session.score_exchange import Imported
    from tui.store.protocol import Store


def inspect_lines(store: "Store", reviews: "Reviews", run_id: str, model: str | None) -> str:
    """Return the lines of a model's answers for Inspect, whose logs are of one model each.

    Raises ConfigError if the model is ambiguous.
    """
    from tui.reports.inspect import render_inspect

    kept = store.read_run(run_id)
    names = kept.record.models
    if model is None and len(names) == 1:
        model = names[0]
    if model not in names:
        what = (
            f"The run has no model named {sanitize_line(model, 200)}"
            if model
            else "An Inspect log holds one model, and this run has several"
        )
        raise ConfigError(what, fix=f"Select one with --model: {sanitize_line(', '.join(names), 600)}.")
    reviewed = reviews.reviewed(run_id)
    if left_out := sum(item.model == model for item, _ in reviewed.board.outdated_scores()):
        say(f"Skipped: {left_out} score{'' if left_out == 1 else 's'} of answers that were replaced by a rerun")
    return render_inspect(kept, reviewed, model)


def _print_suffix_note(output: Path | None) -> None:
    """Print a note if the file's suffix is not `.jsonl`: Inspect detects the format by the file's name."""
    if output is not None and output.suffix.lower() != ".jsonl":
        say("Note: Inspect reads this format only from files named *.jsonl.")


_MOST_LINES = 1_000
_INSPECT_ALONE = (
    "--inspect cannot be combined with --template or --reviewer: it exports the combined result of all reviewers."
)


@click.group()
def review() -> None:
    """Export and import risk scores, and compute the agreement of reviewers."""


@review.command("export")
@click.argument("run")
@click.option(
    "--reviewer", metavar="NAME", help="Export only this reviewer; with --template, the reviewer who fills it in."
)
@click.option("--template", is_flag=True, help="Write one empty line per answer and criterion instead of scores.")
@click.option("--inspect", is_flag=True, help="Write scores of one model for Inspect's precomputed_scores.")
@click.option("-m", "--model", metavar="NAME", help="With --inspect: the model, if the run has several.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Output file (default: stdout).")
def export_scores(
    run: str, reviewer: str | None, template: bool, inspect: bool, model: str | None, output: Path | None
) -> None:
    """Write the scores of a saved run as JSON lines. RUN is a run id, a prefix of one, or `last`.

    In a template, replace each `null` after "extent" with 0, 1, 2, 3, 4 or "n/a", write the reviewer's name after
    "reviewer", and import the file with 'assay review import'. Lines that still have null are skipped.

    With --inspect, each line holds the result of one answer: the sample is the case id, the epoch is the repeat, the
    value is the greatest weight × extent of its criteria. Name the file *.jsonl and pass it to `precomputed_scores`
    (inspect_ai 0.3.259 or later).
    """
    from tui.cli.headless import record_look
    from tui.session.open_history import open_reviews

    if inspect and (template or reviewer):
        raise click.UsageError(_INSPECT_ALONE)
    if model and not inspect:
        raise click.UsageError("--model requires --inspect.")
    if output is not None:
        output = prepare_output(output, ".jsonl")
        if template:
            _refuse_filled_in(output)
    with open_reviews(os.environ, note) as (store, reviews):
        run_id = store.find_run(run)
        record_look(reviews, run_id, "assay review export")
        if inspect:
            text = inspect_lines(store, reviews, run_id, model)
        else:
            text = reviews.export(run_id, reviewer, template=template)
        _print_problems(reviews, run_id)
    lines = text.count("\n")
    if output is None:
        click.echo(text.encode(), nl=False)
    else:
        _write(output, text)
    if inspect:
        _print_suffix_note(output)
    what = "to fill in" if template else "for Inspect" if inspect else "of scores"
    say(f"{lines} line{'' if lines == 1 else 's'} {what}{f': {output}' if output else ''}")


@review.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--reviewer", metavar="NAME", help="Reviewer for lines that do not name one.")
def import_scores(files: tuple[Path, ...], reviewer: str | None) -> int:
    """Import scores of other reviewers into the saved runs; `-` reads stdin.

    If any line of any file is invalid, nothing is imported. Importing twice has no effect, and the order of files does
    not matter. A score counts only for the answer whose hash it names; a line without a hash belongs to the answer
    that was current at its scored_at.
    """
    from tui.session.open_history import open_reviews
    from tui.session.score_exchange import ScoresRefused

    with open_reviews(os.environ, note) as (_, reviews):
        try:
            imported = reviews.import_files(files, reviewer, confirm_own_lines)
        except ScoresRefused as refused:
            for bad in refused.bad[:_MOST_LINES]:
                say(str(bad))
            if len(refused.bad) > _MOST_LINES:
                say(f"… and {len(refused.bad) - _MOST_LINES} more invalid lines.")
            say("Nothing was imported.")
            return 2
    print_imported_scores(imported)
    return 0


def print_imported_scores(imported: "Imported", title: str = "Lines") -> None:
    """Print what an import of scores has changed: the lines, the reviewers, and names that look the same."""
    from tui.session.score_exchange import alike_warning, unmatched_warning

    runs = "" if len(imported.runs) < 2 else f" in {len(imported.runs)} runs"
    counts = [f"{imported.new} new{runs}"]
    if imported.known:
        counts.append(f"{imported.known} already known")
    if imported.unscored:
        counts.append(f"{imported.unscored} not scored, skipped")
    say(f"{title}: {', '.join(counts)}")
    for pair in imported.alike:
        say(alike_warning(*pair))
    if imported.unmatched:
        say(unmatched_warning(imported.unmatched))
    if imported.reviewers:
        say(f"Reviewers: {', '.join(f'{sanitize_line(name, 60)} ({count} new)' for name, count in imported.reviewers)}")


def confirm_own_lines(name: str, count: int) -> bool:
    """Return whether lines in the user's own name are imported: asked in a terminal, noted elsewhere."""
    lines = f"{count} new line{'' if count == 1 else 's'} in your own name, {sanitize_line(name, 60)}"
    if sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm(f"The files have {lines}. Import them as your scores?", err=True)
    say(f"Note: {lines}.")
    return True


def _refuse_filled_in(file: Path) -> None:
    """Raise ConfigError if a file is a template or a packet into which someone has written extents or notes."""
    from tui.session.score_exchange import is_filled_in

    if file.is_file() and is_filled_in(file):
        what = "Has extents or notes that were filled in"
        raise ConfigError(what, where=str(file), fix="Pass another file with -o, or remove this one.")


@review.command("packet")
@click.argument("run")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Output file (default: stdout).")
def write_packet(run: str, output: Path | None) -> None:
    """Write a packet for a blind reviewer on another machine: one JSON line per answer, shuffled, with opaque ids.

    Names of models, providers and vendors are masked. The reviewer replaces each `null` after "extent" with 0, 1, 2, 3,
    4 or "n/a". Import the file on this machine with 'assay review import --reviewer NAME FILE': only this data folder
    knows which model wrote which answer.
    """
    from tui.session.open_history import open_reviews

    if output is not None:
        output = prepare_output(output, ".jsonl")
        _refuse_filled_in(output)
    with open_reviews(os.environ, note) as (store, reviews):
        text = reviews.make_packet(store.find_run(run))
    if output is None:
        click.echo(text.encode(), nl=False)
    else:
        _write(output, text)
    count = text.count("\n")
    say(f"{count} answer{'' if count == 1 else 's'} to score blind{f': {output}' if output else ''}")


@review.command("agreement")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement(run: str, as_json: bool) -> None:
    """Compute the agreement of a run's reviewers: Krippendorff's alpha (ordinal) with its 95% interval.

    A unit is answer × criterion. The interval resamples cases, or their clusters. n/a counts as missing; disagreement
    on n/a is printed separately. Decisions on disputed items do not count.
    """
    from tui.model.risk import na_words, own_words
    from tui.reports.json_report import build_agreement
    from tui.reports.json_text import json_text
    from tui.session.open_history import open_reviews

    with open_reviews(os.environ, note) as (store, reviews):
        run_id = store.find_run(run)
        _print_problems(reviews, run_id)
        found = reviews.agreement(run_id)
        for sentence in reviews.replaced(run_id):
            say(f"Note: {sentence}")
    if as_json:
        click.echo(json_text(build_agreement(found), indent=2))
        return
    rows = [("overall", found.overall, found.on_na)]
    rows += [(name, alpha, found.on_na_by_criterion[name]) for name, alpha in found.by_criterion.items()]
    width = min(40, max(len(sanitize_line(name, 40)) for name, _, _ in rows))
    for name, alpha, on_na in rows:
        split = f"; {na_words(on_na)}" if on_na.split else ""
        click.echo(f"{sanitize_line(name, 40):<{width}}  {_words(alpha)}{split}")
    for own in found.own:
        click.echo(f"{sanitize_line(own.reviewer, 60)} with themselves: {own_words(own)}")
    for pair in found.pairs:
        why = "not enough data" if pair.items < 2 else "no value: all extents are equal"
        kappa = why if pair.kappa is None else f"weighted kappa {pair.kappa:.2f}"
        click.echo(
            f"{sanitize_line(pair.a, 60)} and {sanitize_line(pair.b, 60)}: {kappa} ({pair.items} scored by both)"
        )


def _words(alpha: "Interval") -> str:
    from tui.model.risk import reliability

    if alpha.value is None:
        return "no value: fewer than two items scored by two people, or all extents are equal"
    interval = "" if alpha.low is None or alpha.high is None else f" ({alpha.low:.2f} to {alpha.high:.2f})"
    return f"alpha {alpha.value:.2f}{interval}: {reliability(alpha.value)}"


def _print_problems(reviews: "Reviews", run_id: str) -> None:
    for problem in reviews.problems(run_id)[:_MOST_LINES]:
        say(problem)


def _write(output: Path, text: str) -> None:
    from tui.model.errors import StoreError
    from tui.session.files import write_out

    try:
        write_out(output, text)
    except OSError as error:
        what = f"Cannot write the scores ({error.strerror})"
        raise StoreError(what, where=str(output), fix="The scores are saved: export them again.") from error
