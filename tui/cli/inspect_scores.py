"""Scores for Inspect: one model's, as its scorer `precomputed_scores` reads them."""

from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.narration import say
from tui.model.errors import ConfigError
from tui.model.sanitize import show_line

if TYPE_CHECKING:
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
        what = f"The run has no model {show_line(model, 200)}" if model else "Inspect's logs are of one model each"
        raise ConfigError(what, fix=f"Name one with --model: {show_line(', '.join(names), 600)}.")
    reviewed = reviews.reviewed(run_id)
    if left_out := sum(item.model == model for item, _ in reviewed.board.outdated_scores()):
        say(f"Left out: {left_out} score{'' if left_out == 1 else 's'} of answers that were replaced since")
    return render_inspect(kept, reviewed, model)


def note_suffix(output: Path | None) -> None:
    """Inspect goes by the file's name."""
    if output is not None and output.suffix.lower() != ".jsonl":
        say("Note: Inspect reads these lines only from a file whose name ends in .jsonl.")
