"""A dialog to go to a folder, suite or case by a part of its name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import Screen

from tui.app.find.search_panel import SearchPanel, SearchResult
from tui.app.find.targets import Target, case_targets, find_targets, target_line
from tui.app.presentation.figures import counted
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.prompt_input import PromptInput
from tui.model.suite import Case


class JumpDialog(Dialog[Target | None]):
    """A dialog with folders, suites and cases. The result is the chosen one, or None.

    `read_targets` is called in a thread, and again after suites were read. The list starts at the target with the path
    and the case id of `here`.
    """

    DEFAULT_CSS = """
    JumpDialog > Vertical { width: 100; height: 80%; max-height: 30; padding: 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="jump.leave", tooltip="Close without a jump"),
        Binding("enter", "accept", "Go", id="jump.go", tooltip="Go to the case or suite", show=False),
    ]

    def __init__(self, read_targets: Callable[[], Sequence[Target]], here: tuple[Path | None, str | None]) -> None:
        super().__init__()
        self._read_targets, self._here = read_targets, here
        self._targets: Sequence[Target] = ()
        self._targets_are_old = True
        self._panel = SearchPanel("name of a case or suite", self._search, self._line, self.dismiss)

    def compose(self) -> ComposeResult:
        """Compose the frame and the search."""
        with Vertical() as box:
            box.border_title = Content("Go to")
            box.border_subtitle = Content("↑ ↓ select · Enter go · Esc close")
            yield self._panel

    def _search(self, text: str) -> SearchResult[Target]:
        """Return the targets that match a text. Called in a thread."""
        if self._targets_are_old:
            self._targets_are_old = False
            self._targets = self._read_targets()
        found = find_targets(text, self._targets)
        if text.strip():
            note = f"{len(found)} of {len(self._targets)}" if found else "No case or suite matches."
            return SearchResult(found, note)
        here = (place for place, target in enumerate(self._targets) if (target.path, target.case_id) == self._here)
        cases = sum(target.case_id is not None for target in self._targets)
        suites = sum(target.path is not None and target.case_id is None for target in self._targets)
        count = f"{counted(suites, 'suite')}, {counted(cases, 'case')}" if suites else counted(cases, "case")
        return SearchResult(found, count, next(here, 0))

    @on(SuitesRead)
    def search_again(self) -> None:
        """Search also in suites that were read since."""
        self._targets_are_old = True
        self._panel.search_again()

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the dialog without a jump."""
        self.action_leave()

    def on_key(self, event: Key) -> None:
        """Type keys that were pressed before the dialog was displayed."""
        self._panel.type_key(event)

    def action_accept(self) -> None:
        """Go to the target under the cursor."""
        self._panel.accept()

    def _line(self, target: Target, width: int) -> Line:
        return target_line(target, self._panel.shown_text, width)


def jump_to_case(screen: Screen[Any], cases: Sequence[Case], here: str | None, go: Callable[[str], object]) -> None:
    """Ask above `screen` for one of the cases, with the cursor on the id `here`, and call `go` with the id."""

    def go_to(target: Target | None) -> None:
        if target is not None and target.case_id is not None:
            go(target.case_id)

    screen.app.push_screen(JumpDialog(lambda: case_targets(cases), (None, here)), go_to)
