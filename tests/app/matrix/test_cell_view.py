"""The cursor by cell, and the answer and the failed checks of the cell below the rows."""

from dataclasses import replace

import pytest
from textual.widgets import Static

from tests.app.matrix.matrix_app import running_app
from tests.app.matrix.samples import MODELS, hostile, large, matrix_of, repeated
from tests.app.matrix.test_screen import heads_of
from tests.support.kept_runs import HOSTILE
from tests.support.pilots import until
from tests.support.scripted_session import result_of, step_of
from tui.app.matrix.cell_view import CellContent, CellView, CellZoom, cell_lines, trial_to_show
from tui.app.matrix.columns import lay_out
from tui.app.matrix.screen import MatrixScreen
from tui.app.presentation.model_faults import ModelFault
from tui.app.presentation.pieces import text_of, width_of
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.answer_view import AnswerView
from tui.model.results import CheckResult, TrialKey
from tui.model.sanitize import sanitize_text
from tui.model.state import RunState

KEY = TrialKey("one", "a")
FAILED = CheckResult("expected_pattern", "password", "failed", "not found")


def content(text: str, *checks: CheckResult, error: str | None = None) -> CellContent:
    """A cell with one failed trial."""
    state, result = RunState(), result_of(KEY, "failed", step_of(text, *checks), error=error)
    state.take_results([result])
    return CellContent("a", "Hash a password", state.trials[KEY], result, 1)


def view(screen: MatrixScreen) -> str:
    return "".join(str(each.render()) for each in screen.query(CellView))


def test_a_cell_has_its_status_its_failed_checks_and_the_beginning_of_its_answer() -> None:
    passed = CheckResult("forbidden_pattern", "md5", "passed")
    lines = [text_of(line) for line in cell_lines(content("Use bcrypt.\n" * 50, passed, FAILED), 60, 7)]
    assert lines[0] == "✗ failed  a  Hash a password · 0.9 s"
    assert lines[1] == "✗ expected  password  not found"
    assert lines[2:6] == ["Use bcrypt."] * 4
    assert len(lines) == 7
    assert lines[6].endswith("…")


def test_a_cut_answer_ends_with_text() -> None:
    lines = [text_of(line) for line in cell_lines(content("Use bcrypt.\n\nIt is slow."), 60, 3)]
    assert lines[-1] == "Use bcrypt. …"


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [12, 40, 200])
def test_a_cell_fits_its_room_whatever_it_contains(width: int, rows: int) -> None:
    checks = [replace(FAILED, target=HOSTILE, detail=HOSTILE)] * 9
    shown = content(HOSTILE * 40, *checks, error=HOSTILE)._replace(model=HOSTILE, case=HOSTILE)
    lines = cell_lines(shown, width, rows)
    assert len(lines) <= rows
    for line in map(text_of, lines):
        assert width_of(line) <= width
        assert sanitize_text(line) == line
        assert "\n" not in line


def test_the_worst_repeat_of_a_cell_is_shown() -> None:
    state = repeated().state
    trial = trial_to_show(state.repeats("case-1", MODELS[1]))
    assert trial is not None
    assert (trial.key.repeat, trial.status) == (1, "failed")
    assert trial_to_show(()) is None


@pytest.mark.parametrize("width", [75, 115, 155, 240])
@pytest.mark.parametrize("models", [1, 2, 3, 5])
def test_columns_share_the_whole_width(width: int, models: int) -> None:
    layout = lay_out(width, models, 30)
    assert layout.name + layout.shown * layout.cell == width
    pages = {layout.showing(column).first for column in range(models)}
    assert all(column in layout.showing(column).visible for column in range(models))
    assert len(pages) == -(-models // layout.shown)


async def test_the_cursor_goes_from_cell_to_cell_and_turns_the_pages() -> None:
    async with running_app(large(60, 6), (80, 24)) as app:
        screen, pilot = app.place, app.hand
        await pilot.press("right", "right")
        assert (app.matrix.model, heads_of(screen)[0].split()[0]) == ("provider/model-2", "1–3")
        await pilot.press("right")
        await until(pilot, lambda: "◂ 4–6 of 6" in heads_of(screen)[0])
        await until(pilot, lambda: "model-3  Case number 0" in view(screen))
        await pilot.press("left")
        await until(pilot, lambda: "1–3 of 6 ▸" in heads_of(screen)[0])
        await pilot.press("down", *["left"] * 9)
        assert (app.matrix.model, screen.panel.table.case_id) == ("provider/model-0", "case-1")
        await until(pilot, lambda: "model-0  Case number 1" in view(screen))


async def test_a_click_selects_a_cell_and_a_second_one_opens_its_case() -> None:
    async with running_app(matrix_of()) as app:
        pilot, columns = app.hand, app.place.panel.table.columns
        at = columns.name + columns.cell + 1
        await pilot.click("#cells", offset=(at, 3))
        assert (app.matrix.model, app.place.panel.table.case_id) == (MODELS[1], "case-2")
        await pilot.click("#cells", offset=(at + columns.cell, 3))
        assert (app.matrix.model, app.chosen) == (MODELS[2], [])
        await pilot.click("#cells", offset=(at + columns.cell, 3))
        await until(pilot, lambda: app.chosen == ["case-2"])


async def test_models_that_cannot_run_have_a_note_in_their_heads() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        app.session.needs[MODELS[1]] = "SOME_KEY"
        screen.post_message(SuitesRead([*app.session.suites], again=True))
        await until(pilot, lambda: "no key" in heads_of(screen)[0])
        assert app.matrix.faults == {MODELS[1]: ModelFault(f"{MODELS[1]}: no provider found", "SOME_KEY")}
        await pilot.press("right", *["down"] * 5)
        await until(pilot, lambda: f"{MODELS[1]} needs SOME_KEY." in view(screen))


async def test_no_hostile_text_is_below_the_matrix() -> None:
    async with running_app(hostile()) as app:
        await until(app.hand, lambda: "error" in view(app.place))
        assert sanitize_text(view(app.place)) == view(app.place)


async def test_the_cell_is_beside_the_rows_where_all_models_have_room() -> None:
    async with running_app(large(60, 3), (160, 45)) as app:
        screen, pilot = app.place, app.hand
        await until(pilot, lambda: "Case number 0" in view(screen))
        cell, table = screen.query_one(CellView), screen.panel.table
        assert cell.region.y >= table.region.bottom
        await pilot.resize_terminal(250, 70)
        await until(pilot, lambda: cell.region.x >= table.region.right and cell.region.y < table.region.y)
        assert table.columns.shown == 3
        assert cell.region.height > 60
        await pilot.press("down", "right")
        await until(pilot, lambda: "model-1  Case number 1" in view(screen))
        await pilot.resize_terminal(160, 45)
        await until(pilot, lambda: cell.region.y >= table.region.bottom)
        assert app.matrix.model == "provider/model-1"


async def test_many_models_keep_the_whole_width() -> None:
    async with running_app(large(60, 6), (200, 70)) as app:
        screen = app.place
        await until(app.hand, lambda: "Case number 0" in view(screen))
        assert screen.panel.table.columns.shown == 6
        assert screen.query_one(CellView).region.y >= screen.panel.table.region.bottom


async def test_a_cell_is_zoomed_and_the_cursor_still_goes_from_cell_to_cell() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        await until(pilot, lambda: view(screen))
        model, case = app.matrix.model, screen.panel.table.case_id
        await pilot.press("z")
        await until(pilot, lambda: isinstance(screen.focused, AnswerView))
        assert screen.panel.has_class("-zoomed")
        await until(pilot, lambda: MODELS[0] in zoomed(screen))
        await pilot.press("right", "full_stop")
        await until(pilot, lambda: MODELS[1] in zoomed(screen))
        assert app.matrix.model != model
        assert screen.panel.table.case_id != case
        await pilot.press("slash")
        assert not screen.panel.filtering
        await pilot.press("escape")
        await until(pilot, lambda: screen.focused is screen.panel.table)
        await until(pilot, lambda: not screen.query(CellZoom))
        assert "-zoomed" not in screen.panel.classes


def zoomed(screen: MatrixScreen) -> str:
    """Return the status of the zoomed cell."""
    return "".join(str(each.render()) for each in screen.query("CellZoom Static").results(Static))
