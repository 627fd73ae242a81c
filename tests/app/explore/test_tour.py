"""The tour of Explore: its steps, its keys, and what it explains; the bell at the end of a long run."""

from pathlib import Path

import pytest

from tests.app.explore.explored import explored, session_for
from tests.support.pilots import screen_rows
from tui.app.explore.tour import STEPS, TourScreen
from tui.app.run_messages import RunEnded
from tui.model.subjects import Config


async def test_the_tour_has_six_steps_that_can_be_left_and_repeated(tmp_path: Path) -> None:
    assert len(STEPS) == 6
    async with explored(session_for(tmp_path)) as seen:
        await seen.until(lambda: "F1 for a tour" in seen.text(0).replace("\n", " "))
        for _ in range(2):
            await seen.press("f1")
            await seen.until(lambda: isinstance(seen.app.screen, TourScreen))
            for number, step in enumerate(STEPS, 1):
                title = f"Tour {number} of 6: {step.title}"
                await seen.until(lambda title=title: any(title in row for row in screen_rows(seen.app.screen)))
                explained = [widget.id for widget in seen.screen.query(".-explained")]
                assert explained == [step.part]
                await seen.press("enter")
            await seen.until(lambda: seen.app.screen is seen.screen)
            assert not seen.screen.query(".-explained")
        await seen.press("f1", "enter", "left", "escape")
        await seen.until(lambda: seen.app.screen is seen.screen)


async def test_the_tour_names_the_keys_of_the_config(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.config = Config(keymap={"look.filter": "f7"})
    async with explored(session) as seen:
        await seen.until(lambda: any("f7 filter " in row for row in screen_rows(seen.app.screen)))
        await seen.press("f1")
        await seen.until(lambda: any("f7  filter the cases" in row for row in screen_rows(seen.app.screen)))


@pytest.mark.parametrize(
    ("seconds", "focused", "rings"),
    [(61.0, False, True), (59.0, False, False), pytest.param(61.0, True, False, marks=pytest.mark.long)],
)
async def test_the_bell_rings_after_a_long_run_that_nobody_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, focused: bool, rings: bool
) -> None:
    async with explored(session_for(tmp_path)) as seen:
        rung: list[bool] = []
        monkeypatch.setattr(seen.app, "bell", lambda: rung.append(True))
        monkeypatch.setattr(type(seen.screen.context.runs), "elapsed", lambda *_: seconds)
        seen.app.app_focus = focused
        for outcome in ("finished", None):
            seen.app.post_message(RunEnded(tmp_path / "quickstart.yaml", outcome))
            await seen.pilot.pause()
        assert len(rung) == rings
