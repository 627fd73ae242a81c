"""Widgets of the Runs screen: the list of saved runs, its headings, its title, and the details of one run."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.app.presentation.pieces import Line, Piece
from tui.app.runs.lines import RunFilter, heads_line, run_line, setup_lines, shown_runs
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.run import RunDetails, RunRecord
from tui.model.sanitize import sanitize_line


class RunLines(LineListView):
    """List saved runs, the newest first; the cursor stays on its run when the list changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="runs.open", tooltip="Open the run in Explore", key_display="Enter"),
    ]
    DEFAULT_CSS = "RunLines { height: 1fr; }"

    def __init__(self, on_chosen: Callable[[int], object]) -> None:
        super().__init__(on_chosen=on_chosen)
        self.all_runs: Sequence[RunRecord] = ()
        self._baselines: frozenset[str] = frozenset()
        self._filter = RunFilter()
        self._shown: list[RunRecord] = []

    @property
    def run(self) -> RunRecord | None:
        """The highlighted run, None if there is none."""
        return self._shown[self.cursor] if 0 <= self.cursor < len(self._shown) else None

    @property
    def line_count(self) -> int:
        """Return how many runs match the filter."""
        return len(self._shown)

    def line_at(self, place: int, width: int) -> Line:
        """Return the line of a run."""
        run = self._shown[place]
        return run_line(run, run.id in self._baselines, width)

    def show_runs(self, runs: Sequence[RunRecord], baselines: frozenset[str]) -> None:
        """Show other runs, or other baselines."""
        if (runs, baselines) != (self.all_runs, self._baselines):
            self.all_runs, self._baselines = runs, baselines
            self._choose()

    def set_filter(self, run_filter: RunFilter) -> None:
        """Show only the runs that match a filter."""
        self._filter = run_filter
        self._choose()

    def _choose(self) -> None:
        before = self.run
        self._shown = shown_runs(self.all_runs, self._filter, self._baselines)
        ids = [run.id for run in self._shown]
        self.lines_changed(ids.index(before.id) if before and before.id in ids else self.cursor)

    def clicked(self, place: int, column: int) -> None:
        """Highlight a run with the first click, and open it with the second."""
        del column
        if place == self._clicked:
            self.post_chosen(place)
        else:
            self.post_reached(place)
        self._clicked = place

    def post_reached(self, place: int) -> None:
        """Post that a run was reached; a click on it now opens it."""
        self._clicked = place
        super().post_reached(place)

    _clicked = -1


class RunHeads(PieceLine):
    """Show the column headings."""

    DEFAULT_CSS = "RunHeads { background: $background; }"

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        return heads_line(width)


class RunsTitle(PieceLine):
    """Show the number of runs, or why they cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        self._status: Piece = ("Loading saved runs…", "dim")

    def show_counts(self, runs: int, shown: int) -> None:
        """Show the number of runs, and how many of them match the filter."""
        counts = f"{runs} saved run{'' if runs == 1 else 's'}" if runs else "no saved runs yet"
        self._status = (counts + (f" · {shown} shown" if shown != runs else ""), "dim")
        self.draw()

    def show_error(self, why: str) -> None:
        """Show why the saved runs cannot be read."""
        self._status = (sanitize_line(why, 500), "error")
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        del width
        return ((" Assay", "accent"), ("  Runs  ", "strong"), self._status)


class RunSetupLines(TextPanel):
    """Show the details of the highlighted run."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__()
        self._shown_run: tuple[RunRecord, RunDetails | None] | None = None

    def show(self, run: RunRecord | None, details: RunDetails | None) -> None:
        """Show the details of a run, or that none is selected."""
        self._shown_run = (run, details) if run else None
        self._draw_lines()

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        self._draw_lines()

    def _draw_lines(self) -> None:
        width = self.scrollable_content_region.width
        lines: Sequence[Line] = (
            setup_lines(*self._shown_run, max(20, width - 1)) if self._shown_run else [((" No run selected.", "dim"),)]
        )
        self.show_lines(lines)
