"""`assay review`: scores carried out of the history and into it, and how far reviewers agree."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.run_options import prepare_output
from tui.cli.streams import say
from tui.model.errors import ConfigError
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.model.risk import Interval
    from tui.session.reviews import Reviews
    from tui.store.protocol import Store


def inspect_lines(store: "Store", reviews: "Reviews", run_id: str, model: str | None) -> str:
    """The lines of a model's answers. Raises ConfigError where it is not clear which model is meant: Inspect's logs
    are of one each."""
    from tui.reports.inspect import render_inspect

    kept = store.read_run(run_id)
    names = kept.record.models
    if model is None and len(names) == 1:
        model = names[0]
    if model not in names:
        what = f"The run has no model {sanitize_line(model, 200)}" if model else "Inspect's logs are of one model each"
        raise ConfigError(what, fix=f"Name one with --model: {sanitize_line(', '.join(names), 600)}.")
    reviewed = reviews.reviewed(run_id)
    if left_out := sum(item.model == model for item, _ in reviewed.board.outdated_scores()):
        say(f"Left out: {left_out} score{'' if left_out == 1 else 's'} of answers that were replaced since")
    return render_inspect(kept, reviewed, model)


def note_suffix(output: Path | None) -> None:
    """Inspect goes by the file's name."""
    if output is not None and output.suffix.lower() != ".jsonl":
        say("Note: Inspect reads these lines only from a file whose name ends in .jsonl.")


_MOST_LINES = 1_000


@click.group()
def review() -> None:
    """Carry scores of manual risk scoring out and in as files made for git, and see how far reviewers agree."""


@review.command("export")
@click.argument("run")
@click.option(
    "--reviewer", metavar="NAME", help="Only of this reviewer; in a template, whose it is (else the usual one)."
)
@click.option("--template", is_flag=True, help="A line to fill in for each answer and criterion, instead of scores.")
@click.option("--inspect", is_flag=True, help="One model's, for Inspect's scorer precomputed_scores.")
@click.option("-m", "--model", metavar="NAME", help="With --inspect: whose answers, where the run has several models.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="The file; else stdout.")
def export_scores(
    run: str, reviewer: str | None, template: bool, inspect: bool, model: str | None, output: Path | None
) -> None:
    """Write the scores of a kept run as JSON lines, in order; RUN is its id, the beginning of it, or `last`.

    In a template replace each `null` after "extent" by 0, 1, 2, 3, 4 or "n/a", write who scored as "reviewer", and
    give the file to 'assay review import'. Lines that stay null are passed over.

    With --inspect a line is what counts of one answer: its sample is the case's id, its epoch the repeat, its value
    the greatest weight × extent of its criteria. Name the file *.jsonl and give it to `precomputed_scores` (inspect_ai
    from 0.3.259 on).
    """
    from tui.cli.headless import record_look
    from tui.session.open_history import open_reviews

    if inspect and (template or reviewer):
        raise click.UsageError("--inspect tells what counts of all scores: leave --template and --reviewer out.")
    if model and not inspect:
        raise click.UsageError("--model goes with --inspect.")

    if output is not None:
        output = prepare_output(output, ".jsonl")
    with open_reviews(os.environ) as (store, reviews):
        run_id = store.find_run(run)
        record_look(reviews, run_id, "assay review export")
        if inspect:
            text = inspect_lines(store, reviews, run_id, model)
        else:
            text = reviews.export(run_id, reviewer, template=template)
        _tell_problems(reviews, run_id)
    lines = text.count("\n")
    if output is None:
        click.echo(text.encode(), nl=False)
    else:
        _write(output, text)
    if inspect:
        note_suffix(output)
    what = "to fill in" if template else "for Inspect" if inspect else "of scoring"
    say(f"{lines} line{'' if lines == 1 else 's'} {what}{f': {output}' if output else ''}")


@review.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--reviewer", metavar="NAME", help="Who scored, for lines that name no reviewer.")
def import_scores(files: tuple[Path, ...], reviewer: str | None) -> int:
    """Add what others scored to the runs that are kept here; `-` is stdin.

    All or nothing: a bad line in one of the files, and nothing is added. Importing twice adds nothing, and the order
    of files does not matter. A score counts only for the answer that it names; a line that names none belongs to the
    answer that was the current one at its scored_at.
    """
    from tui.session.open_history import open_reviews
    from tui.session.score_exchange import ScoresRefused

    with open_reviews(os.environ) as (_, reviews):
        try:
            imported = reviews.import_files(files, reviewer)
        except ScoresRefused as refused:
            for bad in refused.bad[:_MOST_LINES]:
                say(str(bad))
            if len(refused.bad) > _MOST_LINES:
                say(f"… and {len(refused.bad) - _MOST_LINES} lines more are wrong.")
            say("Nothing was imported.")
            return 2
    runs = "" if len(imported.runs) < 2 else f" in {len(imported.runs)} runs"
    said = [f"{imported.new} new{runs}"]
    if imported.known:
        said.append(f"{imported.known} known already")
    if imported.unscored:
        said.append(f"{imported.unscored} not scored, passed over")
    say(f"Lines: {', '.join(said)}")
    if imported.reviewers:
        say(f"Reviewers: {', '.join(f'{sanitize_line(name, 60)} ({count} new)' for name, count in imported.reviewers)}")
    return 0


@review.command("packet")
@click.argument("run")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="The file; else stdout.")
def write_packet(run: str, output: Path | None) -> None:
    """Write what a blind reviewer elsewhere needs as JSON lines: one for each answer, shuffled, under opaque ids.

    Names of models, providers and vendors are masked. The reviewer replaces each `null` after "extent" by 0, 1, 2, 3, 4
    or "n/a"; 'assay review import --reviewer NAME FILE' takes the file in, here: only this data folder knows whose
    answers they are.
    """
    from tui.session.open_history import open_reviews

    if output is not None:
        output = prepare_output(output, ".jsonl")
    with open_reviews(os.environ) as (store, reviews):
        text = reviews.make_packet(store.find_run(run))
    if output is None:
        click.echo(text.encode(), nl=False)
    else:
        _write(output, text)
    count = text.count("\n")
    say(f"{count} answer{'' if count == 1 else 's'} to score blind{f': {output}' if output else ''}")


@review.command("agreement")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def agreement(run: str, as_json: bool) -> None:
    """Show how far the reviewers of a run agree: Krippendorff's alpha (ordinal) with its 95% interval.

    A unit is answer × criterion; the interval resamples cases; n/a counts as missing, and disagreement on n/a is shown
    beside it; decisions between reviewers do not count.
    """
    from tui.model.risk import na_words, own_words
    from tui.reports.json_report import build_agreement
    from tui.reports.json_text import json_text
    from tui.session.open_history import open_reviews

    with open_reviews(os.environ) as (store, reviews):
        run_id = store.find_run(run)
        _tell_problems(reviews, run_id)
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
        why = "not enough data" if pair.items < 2 else "no figure, as all these extents are the same"
        kappa = why if pair.kappa is None else f"weighted kappa {pair.kappa:.2f}"
        click.echo(
            f"{sanitize_line(pair.a, 60)} and {sanitize_line(pair.b, 60)}: {kappa} ({pair.items} scored by both)"
        )


def _words(alpha: "Interval") -> str:
    from tui.model.risk import reliability

    if alpha.value is None:
        return "no figure: fewer than two items scored by two people, or all with the same extent"
    interval = "" if alpha.low is None or alpha.high is None else f" ({alpha.low:.2f} to {alpha.high:.2f})"
    return f"alpha {alpha.value:.2f}{interval}: {reliability(alpha.value)}"


def _tell_problems(reviews: "Reviews", run_id: str) -> None:
    for problem in reviews.problems(run_id)[:_MOST_LINES]:
        say(problem)


def _write(output: Path, text: str) -> None:
    from tui.model.errors import StoreError
    from tui.session.files import write_out

    try:
        write_out(output, text)
    except OSError as error:
        what = f"The scores cannot be written ({error.strerror})"
        raise StoreError(what, where=str(output), fix="They are kept: export them again.") from error
