"""The files that an answer changed, and the diff of them beside each other."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize

from tui.app.diff.answer_diff import ShownDiff
from tui.app.diff.lines import file_line, place_line, refused_line
from tui.app.diff.view import DiffView
from tui.app.presentation.pieces import Line
from tui.app.widgets.line import PieceLine
from tui.app.widgets.list_view import LineList
from tui.app.widgets.text_views import Reading
from tui.model.diffs import FileDiff
from tui.model.sanitize import show_line

if TYPE_CHECKING:
    pass

_WIDE = 90
_LARGE = 200_000  # characters from which on a diff is read in a thread


class _Files(LineList):
    files: Sequence[FileDiff] = ()
    refused = 0

    @property
    def line_count(self) -> int:
        return len(self.files) + bool(self.refused)

    def line_at(self, place: int, width: int) -> Line:
        if place < len(self.files):
            return file_line(self.files[place], width)
        return refused_line(self.refused, width)


class _PlaceLine(PieceLine):
    shown: ShownDiff | None = None
    view: DiffView

    def line_for(self, width: int) -> Line:
        view, shown = self.view, self.shown
        if shown is None:
            return ()
        document, here = view.document, view.current_file
        is_file = 0 <= here < len(document.files)
        found = (view.current_match + 1, len(view.matches)) if view.searched else None
        return place_line(
            document.files[here] if is_file else None,
            show_line(shown.trial.model, 60),
            view.look,
            (max(1, view.current_hunk + 1), document.hunk_count),
            found,
            "" if shown.block is None else f"trying block {shown.block + 1}",
            width,
            crlf=is_file and document.sections[here].hidden_returns,
        )


class DiffPanel(Vertical):
    """Shows one `ShownDiff` at a time. The kept one, unless the person tries another block."""

    DEFAULT_CSS = """
    DiffPanel { height: 1fr; }
    DiffPanel > Horizontal { height: 1fr; }
    DiffPanel _Files { width: 34; display: none; border-right: solid $quiet-border; }
    DiffPanel.-several.-wide _Files { display: block; }
    DiffPanel > Reading { display: none; }
    DiffPanel > TypingLine, DiffPanel > TypingLine:focus { padding: 0 1; }
    DiffPanel.-empty > Reading { display: block; }
    DiffPanel.-empty > Horizontal, DiffPanel.-empty > _PlaceLine { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.files, self.view = _Files(), DiffView()
        self.place, self._nothing = _PlaceLine(), Reading()
        self.place.view = self.view
        self.kept: ShownDiff | None = None
        self.shown: ShownDiff | None = None
        self.repository: Path | None = None
        self.contexts: dict[int, int] = {}

    def compose(self) -> ComposeResult:
        """Where one is, the files, their diff."""
        yield self.place
        with Horizontal():
            yield self.files
            yield self.view
        yield self._nothing

    # --- what is shown

    def show(self, kept: ShownDiff | None, waiting: str, repository: Path | None = None) -> None:
        """Show what is kept of a trial; the same again changes nothing. `waiting` is said while there is nothing;
        `repository` is where the run left its clone, if it did."""
        self.repository = repository
        if kept is None or not (kept.changes or kept.refused):
            self.kept = self.shown = None
            self.set_class(True, "-empty")
            self._nothing.show_lines([((waiting, "dim"),)])
            return
        self.set_class(False, "-empty")
        if not _same(kept, self.kept):
            self.kept = kept
            self.take(kept)

    def take(self, shown: ShownDiff, *, stay: bool = False) -> None:
        """Show this now: what is kept, or what another block would change."""
        self.shown, self.place.shown = shown, shown
        self.contexts = {}
        self.refresh_bindings()
        if sum(len(change.diff) for change in shown.changes) < _LARGE:
            self._take_files(shown, shown.read_files(), stay)
        else:
            self._read_large(shown, stay)

    @work(group="read-diff", exclusive=True)
    async def _read_large(self, shown: ShownDiff, stay: bool) -> None:
        self._take_files(shown, await asyncio.to_thread(shown.read_files), stay)

    def _take_files(self, shown: ShownDiff, files: Sequence[FileDiff], stay: bool) -> None:
        self.files.files, self.files.refused = files, len(shown.refused)
        self.files.lines_changed(self.files.cursor if stay else 0)
        self.set_class(len(files) > 1, "-several")
        self.view.show_files(files, shown.refused, shown.find_sides, stay=stay)
        self.place.draw()

    def on_resize(self, event: Resize) -> None:
        """The list of files needs room."""
        self.set_class(event.size.width >= _WIDE, "-wide")

    def on_diff_view_place_changed(self, message: DiffView.PlaceChanged) -> None:
        """Tell it, and follow it in the list."""
        message.stop()
        self.files.go_to(max(0, message.file))
        self.place.draw()

    def on_diff_view_look_changed(self, message: DiffView.LookChanged) -> None:
        """Tell it."""
        message.stop()
        self.place.draw()

    def on_line_list_reached(self, message: LineList.Reached) -> None:
        """Show the file under the cursor."""
        message.stop()
        self.view.go_to_file(message.place)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Read the file that was chosen."""
        message.stop()
        self.view.go_to_file(message.place)
        self.view.focus()


def _same(one: ShownDiff, other: ShownDiff | None) -> bool:
    """Without comparing diffs: a result's values are made once."""
    return (
        other is not None
        and one.changes is other.changes
        and one.refused is other.refused
        and one.answer is other.answer
        and one.case is other.case
    )
