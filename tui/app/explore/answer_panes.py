"""The panes with the answers of up to four models side by side; further models are on further pages."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from time import monotonic
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.geometry import Region
from textual.widgets import Static

from tui.app.context import AppContext
from tui.app.explore.answer_lines import closing_note, waiting_note
from tui.app.keymap import key_of, with_keys
from tui.app.open_suites import MOST_PANES
from tui.app.presentation.figures import figure_line
from tui.app.presentation.model_faults import short_fault, ways_out
from tui.app.presentation.names import fitted_names, numbered_names
from tui.app.presentation.pieces import Line, text_of
from tui.app.presentation.transcript import marks_in, reasoning, steps_at, transcript
from tui.app.run_requests import WaitReason
from tui.app.theme.styles import content_of
from tui.app.widgets.answer_view import AnswerView
from tui.app.widgets.question_line import prompt_beginning
from tui.app.widgets.rendered_view import RenderedView
from tui.app.widgets.scroll_view import TailView
from tui.model.progress import AttemptProgress, TrialProgress
from tui.model.sanitize import sanitize_text
from tui.model.suite import Case

LEAST_WIDTH = 34
LEAST_HEIGHT = 8


class Arrangement(NamedTuple):
    """The numbers of columns and rows of panes; `single` if they do not fit and are displayed one at a time."""

    columns: int
    rows: int
    single: bool


def arrange(panes: int, width: int, height: int) -> Arrangement:
    """Return an arrangement for a size in cells: side by side if each pane is wide enough, else in two rows, else one
    at a time."""
    if panes <= 1:
        return Arrangement(1, 1, False)
    fitting = max(1, width // LEAST_WIDTH)
    if panes <= fitting:
        return Arrangement(panes, 1, False)
    columns = (panes + 1) // 2
    if columns <= fitting and height >= 2 * LEAST_HEIGHT and columns > 1:
        return Arrangement(columns, 2, False)
    if panes == 2 and height >= 3 * LEAST_HEIGHT and width >= LEAST_WIDTH:
        return Arrangement(1, 2, False)
    return Arrangement(1, 1, True)


class AnswerPane(Vertical):
    """A pane with one attempt of a trial: the last one, or the one that was chosen."""

    DEFAULT_CSS = """
    AnswerPane {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim;
        background: $background; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    AnswerPane.-only-fault AnswerView { height: 2; }
    AnswerPane > .fault { display: none; height: auto; max-height: 40%; color: $error-mark; }
    AnswerPane.-only-fault > .fault { max-height: 100%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view, self._rendered = AnswerView(), RenderedView()
        self._renders = False
        self._fault = Static(Content(), markup=False, classes="fault")
        self.model = ""
        self.leads = True
        """Whether it is the first pane that is displayed: without an answer, only that one has the prompt."""
        self._case: Case | None = None
        self._trial: TrialProgress | None = None
        self._number: tuple[int, int, int] | None = None
        self._pinned: tuple[TrialProgress, int] | None = None
        self._length = self._thought = 0
        self._figures: Line = ()

    def compose(self) -> ComposeResult:
        """Compose the answer and the error below it."""
        yield self.view
        self._rendered.display = False
        yield self._rendered
        yield self._fault

    def show(self, case: Case, trial: TrialProgress | None, *, reason: WaitReason = "", fault: str = "") -> None:
        """Display the current state of a trial; text that is displayed already does not move."""
        case = (trial.case if trial is not None else None) or case  # the file may have changed since
        if trial is not self._trial or case is not self._case:
            self._pinned = None
        attempt = self._attempt(trial)
        text, thought = transcript(case, attempt), reasoning(attempt)
        shown = self._shown(trial)
        number = (shown.key.repeat, attempt.number, attempt.turns) if shown and attempt else None
        same = trial is self._trial and number == self._number and case is self._case
        self.view.streaming = trial is not None and trial.status == "running" and self._pinned is None
        if not (same and self._extend(text, thought)):
            self.view.show(text, thought)
        self._case, self._trial, self._number = case, trial, number
        self._length, self._thought = len(text), len(thought)
        self._note(trial, attempt, reason, fault)
        self._show_rendered()
        self.mark()
        self.draw_figures()

    def render_markdown(self, renders: bool) -> None:
        """Display answers that are complete as rendered Markdown from now on, or all answers as text."""
        self._renders = renders
        self._show_rendered()

    def _show_rendered(self) -> None:
        rendered, focused = self._renders and bool(self._length) and not self.view.streaming, self.has_focus_within
        if rendered:
            self._rendered.show(self.answer)
        if rendered != self._rendered.display:
            self._rendered.display, self.view.display = rendered, not rendered
            if focused:
                self.shown_view.focus()

    @property
    def shown_view(self) -> AnswerView | RenderedView:
        """Return the view that displays the answer."""
        return self._rendered if self._rendered.display else self.view

    def _extend(self, text: str, thought: str) -> bool:
        """Append the new text; return False if the displayed text is not the beginning of the new one."""
        if len(text) < self._length or len(thought) < self._thought:
            return False
        self.view.append_reasoning(thought[self._thought :])
        self.view.append(text[self._length :])
        return True

    def append(self, text: str) -> None:
        """Append text to the displayed trial."""
        if self._pinned is None:
            self.view.note("")
            self._length += len(text)
            self.view.append(text)

    def append_reasoning(self, text: str) -> None:
        """Append reasoning to the displayed trial."""
        if self._pinned is None:
            self._thought += len(text)
            self.view.append_reasoning(text)

    def pin(self, trial: TrialProgress, number: int) -> None:
        """Display this attempt of this repeat until another case is displayed."""
        if self._case is not None and self._trial is not None:
            latest = trial.attempt
            is_usual = trial is self._trial and latest is not None and latest.number == number
            self._pinned = None if is_usual else (trial, number)
            self.show(self._case, self._trial)

    @property
    def chosen(self) -> TrialProgress | None:
        """Return the trial up to the attempt that was chosen, which is then the last one; None if none was chosen."""
        if self._pinned is None:
            return None
        trial, number = self._pinned
        return replace(trial, attempts=list(takewhile(lambda each: each.number <= number, trial.attempts)))

    @property
    def answer(self) -> str:
        """Return the displayed answer, with a heading for each step if there are several; empty without an answer."""
        return transcript(self._case, self._attempt(self._trial)) if self._case is not None else ""

    def go_to_step(self, step: int) -> None:
        """Scroll to a step, if it has started."""
        attempt = self._attempt(self._trial)
        if self._case is not None and attempt is not None and step < len(attempt.steps):
            self.view.go_to(steps_at(self._case, attempt)[step])

    def mark(self) -> None:
        """Mark the matches of the checks so far."""
        attempt = self._attempt(self._trial)
        if self._case is not None:
            self.view.mark(marks_in(self._case, attempt))

    def name_it(self, title: Content) -> None:
        """Set the title of the pane."""
        self.border_title = title

    @property
    def figures(self) -> str:
        """Return the text of the figures below the answer."""
        return text_of(self._figures)

    def draw_figures(self) -> None:
        """Bring the figures below up to date; only that line is painted, and only where it is another."""
        line = figure_line(self._shown(self._trial), self._attempt(self._trial), monotonic(), self.size.width - 4)
        if line != self._figures:
            self._figures = line
            # the public setter would repaint the answer, several times per second
            self._border_subtitle = content_of(line) if line else None
            bottom = Region(0, self.outer_size.height - 1, self.outer_size.width, 1)
            self.refresh(bottom.translate(-self.content_offset))

    def on_resize(self) -> None:
        """Fit the figures to the new width."""
        self.draw_figures()

    def _shown(self, trial: TrialProgress | None) -> TrialProgress | None:
        return self._pinned[0] if self._pinned else trial

    def _attempt(self, trial: TrialProgress | None) -> AttemptProgress | None:
        if trial is None:
            return None
        if self._pinned is None:
            return trial.attempt
        pinned, number = self._pinned
        return next((each for each in pinned.attempts if each.number == number), pinned.attempt)

    def _note(
        self, trial: TrialProgress | None, attempt: AttemptProgress | None, reason: WaitReason, fault: str
    ) -> None:
        """Display an error at the bottom, where no text hides it, and the reason for waiting below the text."""
        waits, broke = "", ""
        if self._pinned is not None and attempt is not None and attempt.finished is not None:
            broke = sanitize_text(attempt.finished.error or "")
        elif trial is not None and not trial.is_open and not reason:
            broke = closing_note(trial)
        elif fault and trial is None:
            broke = fault
        elif not self._length or (trial and trial.waits):
            waits = with_keys(self.screen, waiting_note(trial, reason))
            if trial is None and self._case is not None and self.leads:
                waits = f"{waits}\n\n{prompt_beginning(self._case)}"
        self.view.note(waits)
        self._fault.update(Content(broke))
        self._fault.display = bool(broke)
        self.set_class(bool(broke) and not self._length, "-only-fault")


class AnswerPanes(Container):
    """The panes in columns, in rows, or one at a time, as the size allows; one of them may be zoomed.

    The panes display one page of the models: that of the current model.
    """

    DEFAULT_CSS = """
    AnswerPanes { layout: grid; grid-gutter: 0; grid-size: 1 1; height: 1fr; }
    """

    def __init__(self, context: AppContext, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection, self._runs = context.selection, context.runs
        self._panes = [AnswerPane(id=f"pane-{number + 1}") for number in range(MOST_PANES)]
        self._all_models: tuple[str, ...] = ()
        self._page: tuple[str, ...] = ()
        self._current = 0  # the index of the current pane
        self._arrangement = Arrangement(1, 1, False)
        self.zoomed = False
        self.in_step = self.renders = False

    def compose(self) -> ComposeResult:
        """Compose all panes; those without a model are hidden."""
        yield from self._panes

    def on_mount(self) -> None:
        """Watch the scroll position of each pane."""
        for pane in self._panes:
            for view in pane.query(TailView):
                self.watch(view, "scroll_y", partial(self._follow, pane), init=False)

    def _follow(self, scrolled: AnswerPane) -> None:
        """Scroll the other panes with the one that the user scrolls."""
        view = scrolled.shown_view
        if not self.in_step or not (view.has_focus or view.mouse_hover):
            return
        for pane in self.displayed:
            if pane is not scrolled:
                pane.shown_view.scroll_to(y=view.scroll_y, animate=False)

    @property
    def panes(self) -> list[AnswerPane]:
        """Return the panes that have a model."""
        return self._panes[: len(self._page)]

    @property
    def current(self) -> AnswerPane | None:
        """Return the pane that has the focus, or had it last."""
        return self._panes[self._current] if self._current < len(self._page) else None

    @property
    def current_model(self) -> str:
        """Return the model of the current pane, or an empty text."""
        return self.current.model if self.current else ""

    @property
    def displayed(self) -> Iterator[AnswerPane]:
        """Return the panes that are displayed."""
        return (pane for pane in self.panes if pane.display)

    @property
    def focused(self) -> AnswerPane | None:
        """Return the pane that has the focus."""
        return next((pane for pane in self.panes if pane.has_focus_within), None)

    def show(self) -> None:
        """Display the current state of all trials of the selected case."""
        if (self._all_models, self._page) != (self._selection.models, self._selection.page):
            self._all_models, self._page = self._selection.models, self._selection.page
            self._current = min(self._current, max(0, len(self._page) - 1))
            self._arrange()
        for model, pane in zip(self._page, self._panes, strict=False):
            pane.model = model
            self.show_pane(pane)

    def show_pane(self, pane: AnswerPane) -> None:
        """Display the current state of the trial of one pane."""
        selection, case = self._selection, self._selection.case
        if case is None or selection.path is None:
            return
        trial = selection.trial(pane.model)
        if trial is not None:
            self._runs.messages.drop_text(trial.key)
        reason = self._runs.wait_reason(selection.path, case.id, pane.model)
        pane.show(case, trial, reason=reason, fault=self._fault_of(pane.model))

    def _fault_of(self, model: str) -> str:
        """Return why a model cannot be run; the first one that needs something also has the keys that help."""
        faults = self._selection.model_errors
        if (fault := faults.get(model)) is None:
            return ""
        text = short_fault(model, fault)
        if model != next((each for each in self._page if each in faults and faults[each].needs), None):
            return text
        return f"{text}\n{text_of(ways_out(*(key_of(self.screen, each) for each in ('look.models', 'run.local'))))}"

    def show_trial(self, model: str) -> None:
        """Show the trial of a model as it is now, if it has a pane."""
        pane = self.pane_of(model)
        if pane is not None:
            self.show_pane(pane)

    def pin(self, trial: TrialProgress, number: int) -> None:
        """Show an attempt in the pane of its model."""
        if trial.key.model in self._all_models:
            self._turn_to(self._all_models.index(trial.key.model))
        pane = self.pane_of(trial.key.model)
        if pane is not None:
            pane.pin(trial, number)

    def chosen_trials(self) -> dict[str, TrialProgress]:
        """Return the trials of panes that display a chosen attempt, up to that attempt, by their models."""
        return {pane.model: trial for pane in self.panes if (trial := pane.chosen) is not None}

    def draw_figures(self) -> None:
        """Bring the figures below the displayed panes up to date."""
        for pane in self.displayed:
            pane.draw_figures()

    def go_to_match(self, by: int) -> None:
        """Go to the next or the previous match in the current pane; matches are marked in text only."""
        self.render_markdown(False)
        if self.current:
            self.current.view.next_match() if by > 0 else self.current.view.previous_match()

    def go_to_step(self, step: int) -> None:
        """Scroll every pane to a step of the case, if it has started there."""
        for pane in self.displayed:
            pane.go_to_step(step)

    def pane_of(self, model: str) -> AnswerPane | None:
        """Return the pane of a model."""
        return next((pane for pane in self.panes if pane.model == model), None)

    def go_to(self, number: int) -> None:
        """Display a pane of the page, by its index, and focus it."""
        if 0 <= number < len(self._page):
            self._current = number
            self._arrange()
            self._panes[number].shown_view.focus()

    def show_model(self, model: str) -> None:
        """Make the pane of a model the current one; it gets the focus only if another pane has it."""
        if model in self._all_models:
            number = self._all_models.index(model)
            focused = self.focused is not None
            self._turn_to(number)
            self._current = number % MOST_PANES
            if focused:
                self.go_to(self._current)
            else:
                self._arrange()

    def step(self, by: int) -> None:
        """Go to the pane of the next or previous model, on its page, around the ends."""
        if self._all_models:
            at = (self._selection.first_model + self._current + by) % len(self._all_models)
            self._turn_to(at)
            self.go_to(at % MOST_PANES)

    def _turn_to(self, number: int) -> None:
        """Display the page of a model, by its index."""
        first = number - number % MOST_PANES
        if first != self._selection.first_model:
            self._selection.first_model, self._current = first, number - first
            self.show()

    def zoom(self, zoomed: bool) -> None:
        """Display only the current pane, or all panes."""
        self.zoomed = zoomed
        self._arrange()
        if zoomed and self.current:
            self.current.shown_view.focus()

    def render_markdown(self, renders: bool) -> None:
        """Display all answers as rendered Markdown, or as text."""
        self.renders = renders
        for pane in self._panes:
            pane.render_markdown(renders)

    def on_resize(self, event: Resize) -> None:
        """Arrange the panes for the new size."""
        del event
        self._arrange()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Make the pane with the focus the current one."""
        for number, pane in enumerate(self.panes):
            if event.widget is pane.shown_view:
                self._current = number

    def _arrange(self) -> None:
        count = len(self._page)
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
                self._lead(pane, is_first=number == 0 or alone, model=self._page[number])

    def _lead(self, pane: AnswerPane, *, is_first: bool, model: str) -> None:
        """Set whether a pane is the first one displayed, and display it again if that changes."""
        if pane.leads != is_first:
            pane.leads = is_first
            if pane.model == model:
                self.show_pane(pane)

    def _title(self, number: int, alone: bool) -> Content:
        names = self._page
        page = self.page_words if number == 0 or alone else ""
        if not alone or len(names) == 1:
            room = self.size.width // max(1, self._arrangement.columns) - 6 - len(page)
            return Content(page + fitted_names(names, max(8, room))[number])
        shown = [
            Content.styled(f"{place + 1} {name}".rstrip(), "$accent" if place == number else "$dim")
            for place, name in enumerate(numbered_names(names, number, self.size.width - 6 - len(page)))
        ]
        return Content(page) + Content("  ").join(shown)

    @property
    def page_words(self) -> str:
        """Return which models the page has, such as `5–8 of 10 · `; empty if it has all of them."""
        count = len(self._all_models)
        if count <= MOST_PANES:
            return ""
        first = self._selection.first_model
        return f"{first + 1}–{first + len(self._page)} of {count} · "
