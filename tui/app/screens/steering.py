"""Keys for looking at suites and their answers."""

from textual import work

from tui.app.exploring import MOST_PANES
from tui.app.screens.looking import LookingScreen
from tui.app.widgets.suite_tree import SuiteTree
from tui.model.sanitize import sanitize_line


class SteeringScreen(LookingScreen):
    """The actions of all keys that ask nothing of a model."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where a filter is typed, its key is a letter like any other; only a case that changes files has a diff."""
        del parameters
        if action == "go_to_diff":
            return self.has_class("-case") and self.evidence.offers("diff")
        return action != "filter" or not self.suites.typing

    def action_zoom(self) -> None:
        """Zoom the current pane, or the tabs where they have the focus, or show all again."""
        if self.has_class("-only-evidence") or (self.evidence.has_focus_within and not self.answers.zoomed):
            self.toggle_class("-only-evidence")
            return
        zoomed = not self.answers.zoomed
        self.set_class(zoomed, "-zoomed")
        self.answers.zoom(zoomed)
        if zoomed and self.answers.current:
            self.answers.current.view.focus()

    def action_next_match(self) -> None:
        """Go to the next match in the current pane."""
        self.person_moved()
        if self.answers.current:
            self.answers.current.view.next_match()

    def action_previous_match(self) -> None:
        """Go to the match before."""
        self.person_moved()
        if self.answers.current:
            self.answers.current.view.previous_match()

    async def action_filter(self) -> None:
        """Type a filter."""
        self.remove_class("-no-suites")
        await self.suites.open_filter()

    async def action_back(self) -> None:
        """Out of the zoom, else out of the filter, else to the suites."""
        if self.answers.zoomed or self.has_class("-only-evidence"):
            self.action_zoom()
        elif self.suites.filtering and self.suites.has_focus_within:
            await self.suites.close_filter()
        else:
            self.suites.tree_of_suites.focus()

    def action_pane(self, number: int) -> None:
        """Go to a pane."""
        self.remove_class("-only-evidence")
        self.answers.go_to(number)

    def action_pane_beside(self, by: int) -> None:
        """Go to the pane beside."""
        self.remove_class("-only-evidence")
        self.answers.step(by)

    def action_tab_beside(self, by: int) -> None:
        """Show the tab beside."""
        self.turn_to(self.evidence.beside(by))

    def action_go_to_diff(self) -> None:
        """Show the diff, and read in it; where nothing else fits beside it, alone."""
        self.turn_to("diff")
        self.set_class(
            self.answers.zoomed or self.has_class("-low") or self.has_class("-only-evidence"), "-only-evidence"
        )
        if self.answers.zoomed:
            self.answers.zoom(False)
            self.remove_class("-zoomed")
        self.evidence.call_after_refresh(self.evidence.focus_diff)

    def action_turn_tree(self) -> None:
        """Show or hide the suites."""
        self.toggle_class("-no-suites")

    def action_turn_in_step(self) -> None:
        """Scroll the panes in step, or each alone."""
        self.answers.in_step = not self.answers.in_step
        self.notify(f"Panes scroll {'in step' if self.answers.in_step else 'each alone'}", markup=False, timeout=2)

    def action_case_beside(self, by: int) -> None:
        """Show the case before or after."""
        row = self.suites.case_beside(by)
        if row is not None:
            self.look_at(SuiteTree.RowReached(row))

    def action_choose_models(self) -> None:
        """Choose the models that stand side by side."""
        self._choose_models()

    @work(group="models", exclusive=True)
    async def _choose_models(self) -> None:
        from tui.app.screens.model_chooser import ModelChooser

        selection, session = self.selection, self.session
        if selection is None or selection.suite is None or session is None:
            return
        names = (*selection.suite.models, *session.config.variants, "local/smollm2-135m")
        chosen = await self.app.push_screen_wait(ModelChooser(names, selection.models))
        if chosen:
            selection.choose_models(chosen[:MOST_PANES])
            self.suite_chosen()
            self.suites.show(selection)
            self.show_choice()

    def action_edit(self) -> None:
        """Open the suite in the person's editor."""
        self._edit()

    @work(group="edit", exclusive=True)
    async def _edit(self) -> None:
        from tui.app.editor import edit

        selection = self.selection
        if selection is None or selection.path is None:
            return
        open_suite, case = selection.open_suite, selection.case
        problem = (
            next((each for each in open_suite.problems if each.line), None)
            if open_suite and open_suite.broken
            else None
        )
        line = case.line if case else problem.line if problem else 1
        fault = await edit(self.app, selection.path, line or 1)
        if fault:
            self.notify(sanitize_line(fault), severity="warning", markup=False)
