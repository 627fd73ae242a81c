"""The layout of Explore: details below or beside the answers, and borders that can be moved."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.pilots import screen_rows
from tests.support.scripted_session import ScriptedSession, result_of, step_of
from tui.app.explore.layout import BESIDE_FROM
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.splitter import Splitter
from tui.model.results import TrialKey

MODELS = ("mock-a", "mock-b")
LONG = "\n\n".join(f"Line {number} of the answer." for number in range(200))


def answered(folder: Path) -> ScriptedSession:
    session = session_for(folder)
    session.kept = tuple(
        result_of(TrialKey(case, model), "passed", step_of(LONG)) for case in ("one", "two") for model in MODELS
    )
    return session


def is_beside(seen: Seen) -> bool:
    answers, details = seen.screen.answers.region, seen.screen.details.region
    return bool(details.area) and details.x == answers.right and details.bottom == answers.bottom


def is_below(seen: Seen) -> bool:
    answers, details = seen.screen.answers.region, seen.screen.details.region
    return bool(details.area) and details.y == answers.bottom and details.x == answers.x


async def shown(seen: Seen) -> None:
    await seen.until(lambda: "Line 0 of" in seen.text(0), "the answers are displayed")


@pytest.mark.parametrize(
    ("width", "beside"),
    [(BESIDE_FROM - 1, False), (BESIDE_FROM, True), pytest.param(300, True, marks=pytest.mark.long)],
)
async def test_details_are_beside_the_answers_where_the_terminal_is_wide(
    tmp_path: Path, width: int, beside: bool
) -> None:
    async with explored(answered(tmp_path), (width, 50)) as seen:
        await shown(seen)
        assert (is_beside(seen), is_below(seen)) == (beside, not beside)


async def test_another_width_keeps_focus_scroll_and_tab(tmp_path: Path) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        await seen.press("2", "pagedown", "]")
        view, details = seen.pane(1).view, seen.screen.details
        await seen.until(lambda: view.scroll_y > 0)
        before = view.render_line(0).text.strip()
        for width, arranged in ((250, is_beside), (160, is_below)):
            await seen.pilot.resize_terminal(width, 50)
            await seen.until(lambda arranged=arranged: arranged(seen))
            assert seen.app.focused is view
            assert details.current == "prompt"
            assert view.render_line(0).text.strip() == before
        await seen.press("z")
        await seen.until(lambda: not seen.screen.details.region.area)
        await seen.pilot.resize_terminal(250, 50)
        await seen.until(lambda: seen.pane(1).region.width == 250)
        assert not seen.screen.details.region.area
        await seen.press("z")
        await seen.until(lambda: is_beside(seen))


async def test_no_frame_has_the_layout_of_another_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        frames: list[tuple[int, bool]] = []

        def record() -> None:
            frames.append((seen.screen._compositor.size.width, is_beside(seen)))

        monkeypatch.setattr(seen.app, "post_display_hook", record)
        for width in (250, 160, 220):
            await seen.pilot.resize_terminal(width, 50)
            await seen.until(lambda width=width: (width, width >= BESIDE_FROM) in frames)
        assert {beside == (width >= BESIDE_FROM) for width, beside in frames} == {True}


@pytest.mark.long
async def test_the_zoomed_details_fill_the_screen_in_both_layouts(tmp_path: Path) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        seen.screen.details.query_one("TabBar").focus()
        await seen.press("z")
        for size in ((160, 50), (250, 60), (80, 24)):
            await seen.pilot.resize_terminal(*size)
            await seen.until(lambda size=size: seen.screen.details.region.size == (size[0], size[1] - 2))
        await seen.pilot.resize_terminal(160, 50)
        await seen.press("z")
        await seen.until(lambda: is_below(seen))


async def test_the_filter_of_a_zoomed_pane_is_typed_where_it_is_displayed(tmp_path: Path) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        await seen.press("1", "z")
        await seen.until(lambda: not seen.screen.suites.display)
        await seen.press("slash", *"tag:x")
        await seen.until(lambda: any("tag:x" in row for row in screen_rows(seen.app.screen)))
        assert not seen.screen.arrangement.is_zoomed


def borders(seen: Seen) -> Iterator[Splitter]:
    yield from seen.screen.query(Splitter)


async def test_borders_are_moved_by_keys_and_remembered_for_each_layout(tmp_path: Path) -> None:
    file = tmp_path / "data" / "pane-sizes.json"
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        screen, focused = seen.screen, seen.app.focused
        suites, details = screen.suites.region.width, screen.details.region.height
        await seen.press("W", "right", "right", "W", "up", "W")
        await seen.until(lambda: screen.suites.region.width == suites + 4)
        await seen.until(lambda: screen.details.region.height == details + 1)
        assert seen.app.focused is focused
        await seen.pilot.resize_terminal(250, 50)
        await seen.until(lambda: is_beside(seen))
        beside = screen.details.region.width
        await seen.press("W", "W", "left", "enter")
        await seen.until(lambda: screen.details.region.width == beside + 2)
        await seen.until(lambda: file.exists() and len(json.loads(file.read_text())) == 3, "three sizes are saved")
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        assert seen.screen.suites.region.width == suites + 4
        assert seen.screen.details.region.height == details + 1


@pytest.mark.long
async def test_the_border_of_the_suites_is_dragged(tmp_path: Path) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        border = next(borders(seen))
        await seen.pilot.mouse_down(border, offset=(0, 10))
        await seen.pilot.hover(offset=(69, 12))
        await seen.until(lambda: seen.screen.suites.region.width == 70)
        await seen.pilot.mouse_up(offset=(69, 12))
        assert seen.screen.answers.region.x == 70


@pytest.mark.parametrize("share", [pytest.param(1e-9, marks=pytest.mark.long), 0.999999])
@pytest.mark.parametrize(
    "size",
    [(60, 20), (250, 70), *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 24), (160, 45), (200, 24)))],
)
async def test_every_part_is_usable_whatever_the_file_contains(
    tmp_path: Path, share: float, size: tuple[int, int]
) -> None:
    file = tmp_path / "data" / "pane-sizes.json"
    file.parent.mkdir()
    names = ("explore.suites", "explore.details.below", "explore.details.beside")
    file.write_text(json.dumps(dict.fromkeys(names, share)))
    async with explored(answered(tmp_path), size) as seen:
        await shown(seen)
        screen = seen.screen
        for part, width, height in ((screen.suites, 20, 18), (screen.details, 34, 7), (screen.answers, 34, 5)):
            assert part.region.width >= width
            assert part.region.height >= height
            assert screen.region.contains_region(part.region)


@pytest.mark.long
async def test_hidden_parts_have_no_border_to_move(tmp_path: Path) -> None:
    async with explored(answered(tmp_path), (160, 50)) as seen:
        await shown(seen)
        await seen.press("S")
        await seen.until(lambda: not seen.screen.suites.region.area)
        assert [bool(border.region.area) for border in borders(seen)] == [False, True]
        await seen.press("z", "W")
        assert not isinstance(seen.app.focused, Splitter)


async def test_a_filter_that_is_typed_stays_open_in_a_narrow_terminal(tmp_path: Path) -> None:
    session = answered(tmp_path)
    async with explored(session, (110, 32)) as seen:
        await shown(seen)
        await seen.press("/", "e")
        await seen.pilot.resize_terminal(54, 32)
        await seen.until(lambda: seen.screen.suites.region.size == (54, 30), "the filter has the screen")
        await seen.press("R", "X")
        assert seen.screen.suites.query_one(PromptInput).value == "eRX"
        assert not session.plans
        await seen.press("escape")
        await seen.until(lambda: not seen.screen.suites.display and seen.screen.answers.region.width == 54)
        await seen.press("/", "o")
        await seen.until(lambda: seen.screen.suites.region.width == 54)
        await seen.press("enter")
        await seen.until(lambda: not seen.screen.suites.display, "the answers are back")
