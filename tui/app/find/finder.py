"""Find a case or suite, and show it in Explore."""

from functools import partial

from tui.app.context import AppContext
from tui.app.explore.screen import ExploreScreen
from tui.app.find.jump_dialog import JumpDialog
from tui.app.find.targets import Target
from tui.app.workers import start_worker
from tui.model.filter import Filter


class Finder:
    """Open the dialogs that find something above Explore, and show there what was chosen.

    A dialog is opened at once, so that the next key is for its input.
    """

    def __init__(self, context: AppContext, explore: ExploreScreen) -> None:
        self._context, self._explore = context, explore

    @property
    def typing(self) -> bool:
        """Return whether a key is a character of the filter."""
        return self._explore.suites.typing

    def jump(self) -> None:
        """Ask for a folder, suite or case, and go to it."""
        selection = self._context.selection
        dialog = JumpDialog(self._context.open_suites, selection.path, selection.case_id)
        self._explore.app.push_screen(dialog, self._start_to_go)

    def _start_to_go(self, target: Target | None) -> None:
        if target is not None:
            start_worker(self._explore, partial(self._go, target), group="find", exclusive=True)

    async def _go(self, target: Target) -> None:
        """Put the cursor of the tree on a target, and display it. A filter that excludes it is closed."""
        explore, selection = self._explore, self._context.selection
        open_suite = self._context.open_suites.get(target.path) if target.path else None
        case = open_suite.find_case(target.case_id) if open_suite else None
        explore.stop_auto_follow()
        if selection.filter and not (target.path and case and selection.matches_filter(target.path, case)):
            selection.filter = Filter()
            await explore.suites.close_filter()
        if open_suite is not None:
            explore.select(open_suite, case)
        elif not target.path:
            explore.suites.go_to_folder(target.folder)
        explore.suites.suite_tree.focus()
