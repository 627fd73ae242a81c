"""The answer that is scored, with what was asked above it and what it changed below."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from tui.app.diff.answer_diff import ShownDiff
from tui.app.diff.lines import file_line
from tui.app.diff.view import DiffView
from tui.app.presentation.pieces import Line
from tui.app.review.answers import ReadAnswer
from tui.app.widgets.answer_view import AnswerView
from tui.app.widgets.scroll_view import TailView
from tui.app.widgets.text_views import PieceLine
from tui.model.diffs import FileDiff


class PartsView(AnswerView, inherit_bindings=False):
    """An answer below its prompt. The keys of a streaming answer are others' here."""

    BINDINGS = TailView.BINDINGS

    def show_answer(self, answer: ReadAnswer) -> None:
        """From its beginning."""
        self.show(answer.text, above=answer.before)
        self.note("" if answer.text.strip() else "(no text)")
        self.mark(answer.marks)
        self.scroll_now(0)
        self.follow(False)

    def forget(self) -> None:
        """Nothing, not even what was asked."""
        self.clear()

    def turn_prompt(self) -> bool:
        """To the beginning of the answer, or from there back to what was asked. False where there is nothing to turn
        to: all of it is in sight."""
        answer = min(self.head_rows - 1, int(self.max_scroll_y))
        if answer <= 0:
            return False
        self.scroll_by_hand(0 if self.top_row >= answer else answer)
        return True


class _FileLine(PieceLine):
    files: Sequence[FileDiff] = ()
    at = 0

    def line_for(self, width: int) -> Line:
        if not self.files:
            return ()
        count = f" {self.at + 1}/{len(self.files)} " if len(self.files) > 1 else " "
        return ((count, "dim"), *file_line(self.files[self.at], width - len(count)))


class ReviewAnswer(Vertical):
    """Shows one answer at a time; what it changed beside it where there is room, else in its place."""

    DEFAULT_CSS = """
    ReviewAnswer {
        width: 1fr; height: 1fr; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    ReviewAnswer PartsView { height: 3fr; }
    ReviewAnswer DiffView { height: 2fr; }
    ReviewAnswer _FileLine, ReviewAnswer DiffView { display: none; }
    ReviewAnswer.-changes.-tall _FileLine, ReviewAnswer.-changes.-tall DiffView,
    ReviewAnswer.-changes.-diff _FileLine, ReviewAnswer.-changes.-diff DiffView { display: block; }
    ReviewAnswer.-changes.-diff PartsView { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.view, self.diff, self._file = PartsView(), DiffView(), _FileLine()

    def compose(self) -> ComposeResult:
        """Text, diff."""
        yield self.view
        yield self._file
        yield self.diff

    def show(self, answer: ReadAnswer, changes: ShownDiff | None, files: Sequence[FileDiff]) -> None:
        """Another answer."""
        self.view.show_answer(answer)
        has = changes is not None and bool(files or changes.refused)
        self.set_class(has, "-changes")
        self.remove_class("-diff")
        if has and changes is not None:
            self._file.files, self._file.at = files, 0
            self._file.draw()
            self.diff.show_files(files, changes.refused, changes.find_sides)

    def show_nothing(self) -> None:
        """Between two answers."""
        self.view.forget()
        self.remove_class("-changes")

    def name_it(self, title: str, below: str) -> None:
        """Whose answer, to which case."""
        self.border_title, self.border_subtitle = Content(title), Content(below)

    @property
    def changes(self) -> int:
        """How many files it changed."""
        return len(self._file.files) if self.has_class("-changes") else 0

    def turn_diff(self) -> None:
        """The diff in the place of the text, or the text again."""
        self.toggle_class("-diff")
        self.screen.set_focus(self.diff if self.has_class("-diff") else self.view)

    def on_diff_view_place_changed(self, message: DiffView.PlaceChanged) -> None:
        """Tell in which file one is."""
        message.stop()
        self._file.at = max(0, min(message.file, len(self._file.files) - 1))
        self._file.draw()

    def on_diff_view_look_changed(self, message: DiffView.LookChanged) -> None:
        """Nobody has to know."""
        message.stop()
