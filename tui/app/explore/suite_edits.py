"""Edits of the selected suite's file: in the user's editor, in the check editor, and in the form for a case."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from textual.screen import Screen

from tui.app.context import AppContext
from tui.app.editor import edit
from tui.app.keymap import key_of
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.presentation.checks_lines import CheckRow, check_rows
from tui.model.errors import AssayError
from tui.model.sanitize import remove_unseen, sanitize_line
from tui.model.suite import Case

if TYPE_CHECKING:
    from tui.session.check_edits import CaseEdit

What = Literal["file", "check", "case", "copy", "new case"]
_EDITS: Mapping[What, "CaseEdit"] = {"case": "edit", "copy": "copy", "new case": "new"}
_SAVED_RUN = "A saved run cannot be edited. Open its suite to edit the cases."
_NO_CHECK = "This case has no check that can be edited here. Press {key} to edit the file."
_FILLED_IN = "This check contains text of the data set. Press {key} to edit the file."
_NOT_HERE = "This check is not a single line of visible text. Press {key} to edit the file."


class SuiteEdits:
    """Edit the file of the selected suite; every edit is reported on `screen`."""

    def __init__(self, context: AppContext, screen: Screen[Any]) -> None:
        self._context, self._screen = context, screen

    async def edit(self, what: What, row: CheckRow | None, model: str) -> str | None:
        """Edit the suite's file at the selected case, and return the id of a case that was saved.

        `row` is the highlighted check, without one the first check that can be edited, and `model` the current one.
        """
        selection = self._context.selection
        open_suite, case = selection.open_suite, selection.case
        if open_suite is None:
            return None
        if open_suite.label:
            self._screen.notify(_SAVED_RUN, markup=False)
        elif what == "file":
            fault = await edit(self._screen.app, open_suite.path, open_suite.line_of(case))
            if fault:
                self._warn(sanitize_line(fault))
        elif open_suite.broken:
            self._warn("The file has errors. Correct them first.")
        elif case is None:
            self._warn("Select a case first.")
        elif what == "check":
            await self._edit_check(open_suite, case, row, model)
        else:
            return await self._edit_case(open_suite, case, _EDITS[what])
        return None

    async def _edit_check(self, open_suite: OpenSuite, case: Case, row: CheckRow | None, model: str) -> None:
        from tui.app.check_editor.screen import CheckEditorScreen
        from tui.session.check_edits import is_editable, is_filled_in

        editable = (
            each for each in check_rows(case) if is_editable(each.check) and not is_filled_in(case, each.number)
        )
        row = row or next(editable, None)
        if row is None:
            self._warn(_NO_CHECK.format(key=key_of(self._screen, "look.edit")))
        elif is_filled_in(case, row.number):
            self._warn(_FILLED_IN.format(key=key_of(self._screen, "look.edit")))
        elif not is_editable(row.check) or remove_unseen(row.check.target) != row.check.target:
            self._warn(_NOT_HERE.format(key=key_of(self._screen, "look.edit")))
        else:
            await self._screen.app.push_screen_wait(CheckEditorScreen(self._context, open_suite, case, row, model))

    async def _edit_case(self, open_suite: OpenSuite, case: Case, edit: "CaseEdit") -> str | None:
        """Edit a case, a copy or a new case in the form, and return its id if it was saved."""
        from tui.app.case_editor.screen import CaseEditorScreen

        suite, edits = open_suite.suite, self._context.session.check_edits
        if suite is None:
            return None
        try:
            value = await asyncio.to_thread(edits.read_case, suite, case, edit)
        except AssayError as error:
            notify_error(self._screen, error)
            return None
        editor = CaseEditorScreen(self._context, open_suite, case, edit, value)
        return await self._screen.app.push_screen_wait(editor)

    def _warn(self, text: str) -> None:
        self._screen.notify(text, severity="warning", markup=False)
