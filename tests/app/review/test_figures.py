"""The figures of Review: hidden while a review is blind, and which model gave which answer afterwards."""

from pathlib import Path

import pytest

from tests.app.explore.explored import Seen
from tests.app.review.reviewed_runs import (
    CASES,
    ITEMS,
    ME,
    NAMES,
    drawn,
    give,
    keep_run,
    reviewed,
    screen,
    target,
    title,
)
from tests.support.scripted_session import ScriptedSession
from tui.app.export_dialog import ExportScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.review.figure_lines import review_figures
from tui.model.errors import ConfigError


async def assert_hidden(seen: Seen, session: ScriptedSession, *, acted: bool) -> None:
    """Try to open the figures and the export, by keys, by actions and by the function that computes them."""
    review = screen(seen)
    await seen.press("I", "O", "f", "o")
    for action in ("figures", "export"):
        await review.run_action(action)
    review.action_figures()
    review.action_export()
    await seen.pilot.pause()
    assert seen.app.screen is review
    assert not any(name in drawn(seen) for name in NAMES)
    if acted:
        with pytest.raises(ConfigError, match="hidden"):
            review_figures(session.reviews, review.review_session.review.record, ME)


async def test_which_model_gave_which_answer_is_shown_after_the_reveal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exports = tmp_path / "exports"
    exports.mkdir()
    monkeypatch.chdir(exports)
    async with reviewed(tmp_path, keep_run(tmp_path)) as (seen, session):
        order = [item.key.trial for item in screen(seen).review_session.review.items]
        await assert_hidden(seen, session, acted=False)
        await seen.until(lambda: target(seen) is not None)
        await give(seen, "3")
        await assert_hidden(seen, session, acted=True)
        await seen.until(lambda: target(seen) is not None)
        await give(seen, *"21043"[: ITEMS - 1])
        await seen.until(lambda: f"{ITEMS}/{ITEMS}" in title(seen))
        await assert_hidden(seen, session, acted=True)
        assert list_files(exports) == [], "nothing was written"
        await seen.press("exclamation_mark", "y")
        await seen.until(lambda: not screen(seen).review_session.hidden and not screen(seen).keys.busy)
        screen(seen).action_figures()
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen) and seen.app.screen.page is not None)
        await seen.until(lambda: "Answers by band" in drawn(seen))
        await seen.press("right_square_bracket")
        await seen.until(lambda: "Reviewers" in drawn(seen) and "zebra-one" in drawn(seen))
        figures = seen.app.screen
        assert isinstance(figures, FiguresScreen)
        assert figures.page is not None
        table = figures.page.table
        assert table.head == ("No.", "Case", "Model", "Band", "Mean", "Scored", "Reviewers")
        names = {case.id: case.name for case in CASES}
        expected = {trial: str(number) for number, trial in enumerate(dict.fromkeys(order), 1)}
        assert {row[:3] for row in table.rows} == {
            (number, names[trial.case], trial.model) for trial, number in expected.items()
        }
        await seen.press("s", "enter")
        await seen.until(lambda: "sorted by No." in drawn(seen))
        await seen.press("O")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
        await seen.press("enter", "enter")
        await seen.until(lambda: "Saved" in drawn(seen))
        [file] = list_files(exports)
        page = file.read_text()
        for text in ("## Answers", "## Bands", "## Models", "| No. | Case | Model |", "zebra-one", "walrus-two"):
            assert text in page
        numbers = [line.split("|")[1].strip() for line in page.partition("## Answers")[2].splitlines()[4:8]]
        assert numbers == ["1", "2", "3", "4"], "in the order of the screen"


def list_files(folder: Path) -> list[Path]:
    return [*folder.iterdir()]


@pytest.mark.long
async def test_a_review_with_names_has_no_numbers_of_a_queue(tmp_path: Path) -> None:
    async with reviewed(tmp_path, keep_run(tmp_path), blind=False) as (seen, session):
        await give(seen, "3")
        found = review_figures(session.reviews, screen(seen).review_session.review.record, ME)
        answers = next(page.table for page in found.pages if page.table.title == "Answers")
        assert answers.head[0] == "Case"
        assert sorted(row[-1] for row in answers.rows) == ["0", "0", "0", "1"]
        assert [row[2] for row in answers.rows if row[-1] == "1"] != ["–"]
