"""The answers of one to four models beside each other."""

from collections.abc import Iterator, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import DescendantFocus, Resize

from tui.app.context import AppContext
from tui.app.open_suites import MOST_PANES
from tui.app.presentation.arranging import Arrangement, arrange
from tui.app.presentation.names import fitted_names, names_of_one
from tui.app.widgets.answer_pane import AnswerPane


class AnswerPanes(Container):
    """Panes in columns, in rows, or one at a time, as there is room; one of them may be zoomed."""

    DEFAULT_CSS = """
    AnswerPanes { layout: grid; grid-gutter: 0; grid-size: 1 1; height: 1fr; }
    """

    def __init__(self, context: AppContext, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection, self._runs = context.selection, context.runs
        self._panes = [AnswerPane(id=f"pane-{number + 1}") for number in range(MOST_PANES)]
        self._models: Sequence[str] = ()
        self._current = 0
        self._arrangement = Arrangement(1, 1, False)
        self.zoomed = False
        self.in_step = False

    def compose(self) -> ComposeResult:
        """All panes that there may be; those without a model are not displayed."""
        yield from self._panes

    def on_mount(self) -> None:
        """Follow how far each pane is scrolled."""
        for pane in self._panes:
            self.watch(pane.view, "scroll_y", partial(self._follow, pane), init=False)

    def _follow(self, scrolled: AnswerPane) -> None:
        """The pane that a person scrolls takes the others with it."""
        if not self.in_step or not (scrolled.view.has_focus or scrolled.view.mouse_hover):
            return
        for pane in self.displayed:
            if pane is not scrolled:
                pane.view.scroll_to(y=scrolled.view.scroll_y, animate=False)

    @property
    def panes(self) -> list[AnswerPane]:
        """The panes that have a model."""
        return self._panes[: len(self._models)]

    @property
    def current(self) -> AnswerPane | None:
        """The pane that has, or had last, the focus."""
        return self._panes[self._current] if self._current < len(self._models) else None

    @property
    def current_model(self) -> str:
        """Return the model of the current pane, or an empty text."""
        return self.current.model if self.current else ""

    @property
    def displayed(self) -> Iterator[AnswerPane]:
        """The panes that are displayed."""
        return (pane for pane in self.panes if pane.display)

    def show(self) -> None:
        """Show the selected case, as all its trials are now."""
        if tuple(self._models) != self._selection.models:
            self._models = self._selection.models
            self._current = min(self._current, max(0, len(self._models) - 1))
            self._arrange()
        for model, pane in zip(self._models, self._panes, strict=False):
            pane.model = model
            self.show_pane(pane)

    def show_pane(self, pane: AnswerPane) -> None:
        """Show one pane's trial as it is now."""
        selection, case = self._selection, self._selection.case
        if case is None or selection.path is None:
            return
        trial = selection.trial(pane.model)
        if trial is not None:
            self._runs.messages.drop_text(trial.key)
        coming = self._runs.wait_reason(selection.path, case.id, pane.model)
        pane.show(case, trial, coming=coming, fault=selection.model_errors.get(pane.model, ""))

    def go_to_step(self, step: int) -> None:
        """Bring a step of the case to the top of every pane, where it is there already."""
        for pane in self.displayed:
            pane.go_to_step(step)

    def pane_of(self, model: str) -> AnswerPane | None:
        """The pane of a model."""
        return next((pane for pane in self.panes if pane.model == model), None)

    def go_to(self, number: int) -> None:
        """Bring the pane of that number, from 0, to the front and give it the focus."""
        if 0 <= number < len(self._models):
            self._current = number
            self._arrange()
            self._panes[number].view.focus()

    def step(self, by: int) -> None:
        """Go to the pane beside the current one, around the ends."""
        if self._models:
            self.go_to((self._current + by) % len(self._models))

    def zoom(self, zoomed: bool) -> None:
        """Show only the current pane, or all again."""
        self.zoomed = zoomed
        self._arrange()

    def on_resize(self, event: Resize) -> None:
        """Other room, another arrangement."""
        del event
        self._arrange()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The pane with the focus is the current one."""
        for number, pane in enumerate(self.panes):
            if event.widget is pane.view:
                self._current = number

    def _arrange(self) -> None:
        count = len(self._models)
        room = self.size
        self._arrangement = arrange(1 if self.zoomed else count, room.width, room.height)
        alone = self.zoomed or self._arrangement.single
        self.styles.grid_size_columns = self._arrangement.columns
        self.styles.grid_size_rows = self._arrangement.rows
        odd = not alone and self._arrangement.rows > 1 and count % self._arrangement.columns
        for number, pane in enumerate(self._panes):
            pane.display = number < count and (not alone or number == self._current)
            pane.styles.column_span = 2 if odd and number == count - 1 else 1
            if number < count:
                pane.name_it(self._title(number, alone))

    def _title(self, number: int, alone: bool) -> Content:
        names = self._models
        if not alone or len(names) == 1:
            room = self.size.width // max(1, self._arrangement.columns) - 6
            return Content(fitted_names(names, max(8, room))[number])
        shown = [
            Content.styled(f"{place + 1} {name}".rstrip(), "$accent" if place == number else "$dim")
            for place, name in enumerate(names_of_one(names, number, self.size.width - 6))
        ]
        return Content("  ").join(shown)
