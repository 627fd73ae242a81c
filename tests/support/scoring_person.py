"""A person who scores without end, as a process: prints the id of each act once it was given."""

import sys
from contextlib import suppress
from pathlib import Path

from tui.model.errors import ConfigError
from tui.model.scores import Act
from tui.model.subjects import Config
from tui.session.reviews import Reviews
from tui.session.run_review import ScoredElsewhere
from tui.store.sqlite import SqliteStore


def score_for_ever(folder: Path, run_id: str, reviewer: str) -> None:
    """Scores, changes, takes back, undoes."""
    reviews = Reviews(SqliteStore(folder / "runs.sqlite"), folder, Config())
    review = reviews.open_review(run_id, reviewer, blind=True)
    number = 0
    while True:
        item = review.items[number % len(review.items)].key
        number += 1
        while True:
            with suppress(ScoredElsewhere):  # another window of the person has: look, and press again
                _print_id(review.give(item, number % 5, f"note {number} " * (number % 40), took_ms=number))
                break
        if number % 7 == 0:
            with suppress(ConfigError):  # likewise, or it has taken the score back
                _print_id(review.invalidate(item))
                review.undo()


def _print_id(act: Act) -> None:
    sys.stdout.write(f"{act.id}\n")
    sys.stdout.flush()


score_for_ever(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
