"""Messages of the app do not cover extents, nor the figures of answers and models."""

import re
from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from tests.app.snapshots.picture import rows_of
from tests.app.snapshots.scenes import ANSWERED, MATRIX, REVIEW, Scene, play
from tests.app.snapshots.stage import Stage, fixed_world, run_session, staged
from tui.app.theme.palette import DEFAULT_PALETTE

__all__ = ["fixed_world"]

SIZES = ((80, 24), *(pytest.param(size, marks=pytest.mark.long) for size in ((160, 45), (120, 40), (250, 70))))
MESSAGES = ("The key of the provider was refused.", f"Exported: {'reports/' * 12}report.html")
FIGURES = {
    "review": (REVIEW, ("none", "slight", "partial", "major", "total", "n/a", "not applicable")),
    "answers": (ANSWERED, ("1.2 s", "✗ missing")),
    "matrix": (MATRIX, ("67%", "17%", "0 · 2")),
}


def places_of(stage: Stage, words: tuple[str, ...]) -> set[tuple[str, int, int]]:
    """Return where the words are on the screen, without the footer."""
    rows = [text for _, text in rows_of(stage.picture)][:-1]
    return {
        (word, number, found.start())
        for number, row in enumerate(rows)
        for word in words
        for found in re.finditer(re.escape(word), row)
    }


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
@pytest.mark.parametrize("screen", FIGURES)
async def test_two_messages_cover_no_figure(screen: str, size: tuple[int, int], fixed_world: Path) -> None:
    steps, words = FIGURES[screen]
    async with staged(run_session, fixed_world, size, DEFAULT_PALETTE.name, notifications=True) as stage:
        await play(Scene(screen, run_session, steps), stage)
        await stage.still(0.2)
        before = places_of(stage, words)
        assert before
        for message in MESSAGES:
            stage.app.screen.notify(message, markup=False, timeout=600)
        await stage.until(lambda: len(stage.app.screen.query(Toast)) == 2, "two messages")
        await stage.still(0.2)
        assert "was refused." in stage.text
        assert places_of(stage, words) == before
