"""The answer that is scored: its prompt above it, the files that it changed beside or below it."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from tui.app.diff.answer_diff import ShownDiff
from tui.app.diff.lines import file_line
from tui.app.diff.view import DiffView
from tui.app.presentation.pieces import Line
from tui.app.review.answers import AnswerContent
from tui.app.widgets.answer_view import AnswerView
from tui.app.widgets.text_views import PieceLine
from tui.model.diffs import FileDiff


class _FileLine(PieceLine):
    files: Sequence[FileDiff] = ()
    index = 0

    def line_for(self, width: int) -> Line:
        if not self.files:
            return ()
        count = f" {self.index + 1}/{len(self.files)} " if len(self.files) > 1 else " "
        return ((count, "dim"), *file_line(self.files[self.index], width - len(count)))


class AnswerPanel(Vertical):
    """Show one answer at a time; its changes below it on a tall screen, else in its place."""

    DEFAULT_CSS = """
    AnswerPanel {
        width: 1fr; height: 1fr; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    AnswerPanel AnswerView { height: 3fr; }
    AnswerPanel DiffView { height: 2fr; }
    AnswerPanel _FileLine, AnswerPanel DiffView { display: none; }
    AnswerPanel.-changes.-tall _FileLine, AnswerPanel.-changes.-tall DiffView,
    AnswerPanel.-changes.-diff _FileLine, AnswerPanel.-changes.-diff DiffView { display: block; }
    AnswerPanel.-changes.-diff AnswerView { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.view, self.diff, self._file = AnswerView(), DiffView(), _FileLine()

    def compose(self) -> ComposeResult:
        """Yield the text and the changes."""
        yield self.view
        yield self._file
        yield self.diff

    def show(self, answer: AnswerContent, changes: ShownDiff, files: Sequence[FileDiff]) -> None:
        """Show an answer from its beginning, and the files that it changed."""
        self.view.show(answer.text, above=answer.before)
        self.view.note("" if answer.text.strip() else "(no text)")
        self.view.mark(answer.marks)
        self.view.scroll_now(0)
        self.view.follow(False)
        has_changes = bool(files or changes.refused)
        self.set_class(has_changes, "-changes")
        self.remove_class("-diff")
        if has_changes:
            self._file.files, self._file.index = files, 0
            self._file.draw()
            self.diff.show_files(files, changes.refused, changes.find_sides)

    def clear(self, note: str = "") -> None:
        """Show no answer and no prompt, with a `note` in their place."""
        self.view.clear()
        self.view.note(note)
        self.remove_class("-changes")

    def set_titles(self, title: str, subtitle: str) -> None:
        """Name the answer and its case in the border."""
        self.border_title, self.border_subtitle = Content(title), Content(subtitle)

    @property
    def changed_files(self) -> int:
        """Return how many files the answer changed."""
        return len(self._file.files) if self.has_class("-changes") else 0

    def toggle_prompt(self) -> bool:
        """Scroll to the answer, or from there back to the prompt. Return False if both are in sight."""
        self.close_diff()
        answer = min(self.view.head_rows - 1, int(self.view.max_scroll_y))
        if answer <= 0:
            return False
        self.view.scroll_by_hand(0 if self.view.top_row >= answer else answer)
        return True

    def close_diff(self) -> None:
        """Show the text again if the diff is shown in its place."""
        if self.has_class("-diff"):
            self.toggle_diff()

    def toggle_diff(self) -> None:
        """Show the changes in the place of the text, or the text again."""
        self.toggle_class("-diff")
        self.screen.set_focus(self.diff if self.has_class("-diff") else self.view)

    def on_diff_view_place_changed(self, message: DiffView.PlaceChanged) -> None:
        """Name the file that is at the top of the changes."""
        message.stop()
        self._file.index = max(0, min(message.file, len(self._file.files) - 1))
        self._file.draw()

    def on_diff_view_look_changed(self, message: DiffView.LookChanged) -> None:
        """Keep the message from the screen, which does not store how changes are shown."""
        message.stop()
