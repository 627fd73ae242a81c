"""The Compare screen: two answers to a case, their differences, and which is better; case after case."""

import asyncio
import secrets
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize

from tui.app.bindings import bind
from tui.app.compare.lines import Names, leaderboard_of, nothing_lines, source_line, source_names
from tui.app.compare.pairs import AnswerPairs, CaseEntry, ComparisonSession, next_answer
from tui.app.compare.view import CaseList, CompareTitle, CompareView
from tui.app.context import AppContext
from tui.app.keymap import shared, with_keys
from tui.app.navigator import Navigator, ScreenName, Subject
from tui.app.notifications import notify_error
from tui.app.presentation.table_lines import Figures
from tui.app.screens import AppScreen
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.splitter import Room, Splitter
from tui.model.errors import AssayError
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Suite
from tui.session.answers import Answer, Source
from tui.session.preferences import Choice

_NARROW, _BESIDE = 100, 110
_LEAST_CASES, _LEAST_ANSWERS = 20, 60
_HIDDEN = "Names are hidden in blind mode. Press {toggle_blind} to show them."


class CompareScreen(AppScreen[None]):
    """Compare the answers of two sources, beginning at `case` if both have answered it."""

    DEFAULT_CSS = """
    CompareScreen { background: $background; color: $foreground; }
    CompareScreen #cases {
        padding: 0 1;
        border: round $quiet-border; border-title-color: $foreground;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    CompareScreen.-narrow #cases, CompareScreen.-narrow Splitter,
    CompareScreen.-zoomed #cases, CompareScreen.-zoomed Splitter { display: none; }
    CompareScreen #body { height: 1fr; layers: panels borders; }
    """
    TITLE = "Compare"
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("look.next-case", "step(1)", label="next case"),
        shared("look.case-before", "step(-1)"),
        bind("a", "prefer('a')", "compare.prefer-a", "Prefer the left answer and go to the next pair"),
        bind("b", "prefer('b')", "compare.prefer-b", "Prefer the right answer and go to the next pair"),
        bind("t", "prefer('tie')", "compare.tie", "Record a tie and go to the next pair"),
        bind("x", "prefer('both_bad')", "compare.both-bad", "Record both as bad and go to the next pair"),
        bind(
            "B",
            "toggle_blind",
            "compare.blind",
            "Toggle blind mode: hide names and verdicts, shuffle the sides",
            "blind",
        ),
        shared("look.figures", "show_leaderboard", "Show the ranking of models by preference", label="preferences"),
        bind("1", "choose_source(0)", "compare.source-a", "Choose the answers on side A", "choose A"),
        bind("2", "choose_source(1)", "compare.source-b", "Choose the answers on side B", "choose B"),
        bind("3", "next_answer(0)", "compare.repeat-a", "Next repeat or attempt of A"),
        bind("4", "next_answer(1)", "compare.repeat-b", "Next repeat or attempt of B"),
        bind("o", "toggle_fold", "compare.fold", "Fold or show unchanged lines", "fold"),
        shared("pane.zoom", "zoom", "Show the left answer alone, then the right one, then both", label="zoom"),
        bind("Q", "toggle_question", "compare.question", "Show the whole prompt, or one line of it", "prompt"),
        shared("look.export", "export", label=""),
        shared("look.matrix", "open('matrix')"),
        shared("look.review", "open('review')"),
        shared("look.runs", "open('runs')"),
        shared("look.jump", "jump"),
        shared("look.search", "app.search"),
        shared("look.compare", "leave", "Close Compare", label=""),
        bind("escape", "back", "compare.leave", "Leave the zoom, or go back", "back"),
    ]
    AUTO_FOCUS = "DiffView"

    def __init__(self, suite: Suite, a: Source, b: Source, case: str | None, context: AppContext) -> None:
        super().__init__()
        self.title_line, self.entries, self.view = CompareTitle(), CaseList(), CompareView()
        self._cases = Vertical(self.entries, id="cases")
        self._cases.border_title = Content("Cases")
        self._border = Splitter(self._cases, context.session.pane_sizes)
        self._pairs = AnswerPairs(context.session.history.answers, suite, context.scores.reviewer)
        self._scores, self._navigator = context.scores, Navigator(context, self)
        self._sources, self._first_case = [a, b], case
        self._runs: dict[str, RunRecord] = {}
        self._comparison: ComparisonSession | None = None
        self._seed: int | None = None
        self._answers: tuple[Answer, Answer] | None = None
        self._versions: tuple[Case, Case] | None = None
        self._folded = True

    def compose(self) -> ComposeResult:
        """Yield the title, the cases and the answers."""
        yield self.title_line
        with Horizontal(id="body"):
            yield self._cases
            yield self._border
            yield self.view
        yield KeyFooter()

    def on_mount(self) -> None:
        """Read the cases that both sources have answered."""
        self.view.diff.set_look(prose=True, numbers=False, beside=self.app.size.width >= _BESIDE)
        self._open()

    def on_resize(self, event: Resize) -> None:
        """Arrange the list of cases beside the answers; hide it where the screen is narrow."""
        width = event.size.width
        self.set_class(width < _NARROW, "-narrow")
        usual = max(34, min(int(width * 0.26), 48))
        self._border.fit(Room("compare.cases", "right", width, usual, _LEAST_CASES, _LEAST_ANSWERS))

    @property
    def comparison(self) -> ComparisonSession | None:
        """The pass through the cases, once it is read."""
        return self._comparison

    @work(group="open", exclusive=True)
    async def _open(self) -> None:
        entry = self._comparison.entry if self._comparison else None
        case = entry.case if entry else self._first_case
        try:
            comparison = await asyncio.to_thread(self._pairs.open, self._sources[0], self._sources[1], self._seed)
            self._runs = await asyncio.to_thread(self._pairs.runs)
        except AssayError as error:
            self.title_line.show(None, sanitize_line(str(error), 400))
            return
        if case is not None:
            comparison.go_to_case(case)
        self._comparison = comparison
        self._show()

    @property
    def _names(self) -> tuple[Names, Names]:
        a, b = (source_names(each, self._sources, self._runs.get(each.run)) for each in self._sources)
        return a, b

    def _show(self, *, stay: bool = False, moved: bool = False) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        self.title_line.show(comparison)
        self.entries.show_comparison(comparison)
        self._answers = None
        if comparison.entry is None:
            self.view.show_nothing(nothing_lines(self._names))
        else:
            self._show_case(comparison, comparison.entry, stay, moved)

    @work(group="case", exclusive=True)
    async def _show_case(self, comparison: ComparisonSession, entry: CaseEntry, stay: bool, moved: bool) -> None:
        try:
            if moved and await asyncio.to_thread(self._pairs.is_outdated, comparison):
                self._open()  # the list has to say the same as the answers
                return
            pair = await asyncio.to_thread(self._pairs.read, comparison, entry.case, folded=self._folded)
        except AssayError as error:
            notify_error(self, error)
            return
        swapped = comparison.swapped(entry.case)
        names, answers = self._names, (pair.a, pair.b)
        if swapped:
            names, answers = (names[1], names[0]), (pair.b, pair.a)
        displayed = next((each for each in self._pairs.suite.cases if each.id == entry.case), None)
        if pair.versions is None:
            self.view.question.show(pair.case or displayed)
        else:
            self.view.question.show_versions(*(reversed(pair.versions) if swapped else pair.versions))
        self.view.show(pair.diff, names, answers, blind=comparison.blind, stay=stay)
        self.view.show_choice(pair.choice_of(entry), swapped, pair.note)
        self._answers, self._versions = pair.both, pair.versions
        if not comparison.blind:
            for run_id in pair.run_ids:
                self._scores.record_names(run_id, "Compare")

    def action_step(self, by: int) -> None:
        """Go to the next case, or back to the one before."""
        if self._comparison is not None and self._comparison.step(by):
            self._show(moved=True)

    @on(LineListView.Reached, "CaseList")
    def go_to_reached(self, message: LineListView.Reached) -> None:
        """Go to the case under the cursor."""
        if self._comparison is not None and message.place != self._comparison.position:
            self._comparison.position = message.place
            self._show(moved=True)

    def action_toggle_fold(self) -> None:
        """Show everything, or only the differences with a few lines around them."""
        self._folded = not self._folded
        self._show(stay=True)

    @work(group="prefer")
    async def action_prefer(self, choice: Choice) -> None:
        """Save a preference, and go to the next case."""
        comparison, answers = self._comparison, self._answers
        if comparison is None or answers is None:
            is_reading = any(worker.group in ("open", "case") and worker.is_running for worker in self.workers)
            message = "The answers are still being read." if is_reading else "No two answers to compare here."
            self.notify(message, severity="warning", markup=False)
            return
        if self._versions is not None:
            message = "Not saved: the answers are to different versions of this case."
            self.notify(message, severity="warning", markup=False)
            return
        if not any(answer.text.strip() for answer in answers):
            self.notify("Neither side has an answer: nothing to prefer.", severity="warning", markup=False)
            return
        preferred = comparison.preference(choice, *answers)
        self._answers = None
        try:
            await asyncio.to_thread(self._pairs.save, preferred)
        except AssayError as error:
            self._answers = answers
            notify_error(self, error)
            return
        comparison.record(preferred)
        if not comparison.step(1):
            self.notify("Last case reached.", markup=False, timeout=3)
        self._show(moved=True)

    def action_toggle_question(self) -> None:
        """Show the whole prompt, or only one line."""
        self.view.question.toggle()

    def action_toggle_blind(self) -> None:
        """Hide names and verdicts and shuffle the sides, or show them again."""
        self._seed = secrets.randbelow(1_000_000) if self._seed is None else None
        self._open()

    @work(group="leaderboard", exclusive=True)
    async def action_show_leaderboard(self) -> None:
        """Show the ranking of the models from all preferences in this suite."""
        from tui.app.figures_screen import FiguresScreen

        if self._seed is not None:
            self.notify(with_keys(self, _HIDDEN), markup=False)
            return
        suite = self._pairs.suite

        def load() -> Figures:
            return leaderboard_of(self._pairs.ranked()).figures(suite.name)

        await self.app.push_screen(FiguresScreen(load))

    @work(group="source", exclusive=True)
    async def action_choose_source(self, side: int) -> None:
        """Choose a source from all that have answered the suite."""
        from tui.app.dialogs import ChoiceScreen

        if self._seed is not None:
            self.notify(with_keys(self, _HIDDEN), markup=False)
            return
        sources = await asyncio.to_thread(self._pairs.sources)
        if not sources:
            return
        base = replace(self._sources[side], repeat=1, attempt=0)
        current = next((index for index, (source, _) in enumerate(sources) if source == base), 0)
        lines = [source_line(source, run, 80) for source, run in sources]
        index = await self.app.push_screen_wait(ChoiceScreen(f"Answers on side {'AB'[side]}", lines, current))
        if index is not None:
            self._sources[side] = sources[index][0]
            self._open()

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """Export a report of a compared run; ask which if there are two."""
        if self._seed is not None:
            self.notify(with_keys(self, _HIDDEN), markup=False)
            return
        run_ids = [source.run for source in self._sources if source.run]
        if not run_ids and self._answers is not None:
            run_ids = [answer.place.run for answer in self._answers]
        await self._navigator.export(run_ids)

    def action_next_answer(self, side: int) -> None:
        """Show the next repeat or attempt of the side that is shown: any other would reveal whose answer it is."""
        comparison = self._comparison
        if comparison is None or comparison.entry is None:
            return
        case = comparison.entry.case
        if comparison.swapped(case):
            side = 1 - side
        outcomes = (comparison.pair.a_outcomes, comparison.pair.b_outcomes)[side].get(case, ())
        source = next_answer(self._sources[side], outcomes)
        if source == self._sources[side]:
            self.notify("No other answer to this case on that side.", markup=False, timeout=3)
            return
        self._sources[side] = source
        self._open()

    @work(group="navigate", exclusive=True)
    async def action_open(self, name: ScreenName) -> None:
        """Open another screen for the run of side A and the current case."""
        entry, run = self._comparison.entry if self._comparison else None, self._runs.get(self._sources[0].run)
        await self._navigator.open(name, Subject(self._pairs.suite.path, run, entry.case if entry else None))

    def action_jump(self) -> None:
        """Ask for a case, and go to it."""
        from tui.app.find.jump_dialog import jump_to_case

        if self._comparison is not None and self._comparison.entry is not None:
            answered = {entry.case for entry in self._comparison.entries}
            cases = [case for case in self._pairs.suite.cases if case.id in answered]
            jump_to_case(self, cases, self._comparison.entry.case, self._go_to_case)

    def _go_to_case(self, case_id: str) -> None:
        if self._comparison is not None:
            self._comparison.go_to_case(case_id)
            self._show()

    def action_zoom(self) -> None:
        """Show the left answer alone, then the right one, then both."""
        if self._comparison is not None and self._comparison.entry is not None:
            self._zoom(self.view.next_zoom())

    def _zoom(self, side: int | None) -> None:
        self.view.zoom(side)
        self.set_class(self.view.is_zoomed, "-zoomed")

    def action_back(self) -> None:
        """Show both answers again, or go back."""
        if self.view.is_zoomed:
            self._zoom(None)
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
