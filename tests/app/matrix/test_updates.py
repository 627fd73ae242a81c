"""The updates of the matrix: cells, totals and statistics follow the trials, and nothing runs while nothing changes."""

from tests.app.matrix.matrix_app import running_app
from tests.app.matrix.samples import MODELS, matrix_of, result
from tests.support.pilots import until
from tui.app.presentation.pieces import text_of
from tui.model.results import TrialKey


async def test_a_changed_trial_changes_its_totals_and_its_statistics() -> None:
    async with running_app(matrix_of()) as app:
        matrix, updates = app.matrix, app.place.updates
        await until(app.hand, lambda: not updates.active, "nothing changes")
        assert matrix.statistics.figures[MODELS[0]].tally.passed == 6
        trial = TrialKey("case-0", MODELS[0])
        matrix.state.trials.pop(trial)
        matrix.state.take_results([result(trial, "✓")])
        updates.trial_changed(trial)
        assert updates.active
        await until(app.hand, lambda: matrix.statistics.figures[MODELS[0]].tally.passed == 7, "computed again")
        assert "✓ 18 passed" in text_of(app.place.header.line_for(200))
        await until(app.hand, lambda: not updates.active, "nothing changes any more")


async def test_a_changed_matrix_is_counted_again() -> None:
    async with running_app(matrix_of()) as app:
        matrix, updates = app.matrix, app.place.updates
        matrix.show(matrix.suite, matrix.state, MODELS[:2])
        updates.matrix_changed()
        await until(app.hand, lambda: tuple(matrix.statistics.figures) == MODELS[:2], "two models are left")
        assert app.place.panel.table.columns.models == 2
