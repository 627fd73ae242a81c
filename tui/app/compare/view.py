"""Widgets of the Compare screen: two answers as a diff with their names and the choice, and the list of cases."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.app.compare.lines import Names, choice_line, entry_line, heads_line, title_line
from tui.app.compare.pairs import CaseEntry, ComparisonSession
from tui.app.diff.view import DiffView
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.question_line import QuestionPanel
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.diffs import FileDiff
from tui.session.answers import Answer
from tui.session.preferences import Choice


class CaseList(LineListView):
    """List the cases that both sources have answered."""

    entries: Sequence[CaseEntry] = ()
    blind = False

    @property
    def line_count(self) -> int:
        """Return how many cases there are."""
        return len(self.entries)

    def line_at(self, place: int, width: int) -> Line:
        """Return the line of a case."""
        return entry_line(self.entries[place], self.blind, width)

    def show_comparison(self, comparison: ComparisonSession) -> None:
        """Show the cases, with the cursor on the current one."""
        self.entries, self.blind = comparison.entries, comparison.blind
        self.lines_changed(comparison.position)
        self.go_to(comparison.position)


class CompareTitle(PieceLine):
    """Show the suite and the progress."""

    comparison: ComparisonSession | None = None
    message = "reading run history …"

    def show(self, comparison: ComparisonSession | None, message: str = "") -> None:
        """Show another state, or only a message."""
        self.comparison, self.message = comparison, message
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        return title_line(self.comparison, self.message, width)


class _Heads(PieceLine):
    names: tuple[Names, Names] = ((), ())
    answers: tuple[Answer | None, Answer | None] = (None, None)
    blind = False

    def line_for(self, width: int) -> Line:
        return heads_line(self.names, self.answers, self.blind, width)


class _ChoiceLine(PieceLine):
    choice: Choice | None = None
    swapped = False
    note = ""

    def line_for(self, width: int) -> Line:
        return choice_line(self.choice, self.swapped, self.note, width)


class CompareView(Vertical):
    """Show one pair of answers at a time."""

    DEFAULT_CSS = """
    CompareView { height: 1fr; border: round $quiet-border; &:focus-within { border: round $focused-border; } }
    CompareView > TextPanel { display: none; padding: 1 2; }
    CompareView.-nothing > TextPanel { display: block; }
    CompareView.-nothing > DiffView, CompareView.-nothing > PieceLine,
    CompareView.-nothing > QuestionPanel { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.question, self.diff = QuestionPanel(), DiffView()
        self._heads, self._choice, self._nothing = _Heads(), _ChoiceLine(), TextPanel()

    def compose(self) -> ComposeResult:
        """Yield the prompt, the names, the diff and the choice."""
        yield self.question
        yield self._heads
        yield self.diff
        yield self._nothing
        yield self._choice

    def show_nothing(self, lines: Sequence[Line]) -> None:
        """Show why there is nothing to compare."""
        self.set_class(True, "-nothing")
        self._nothing.show_lines(lines)

    def show(
        self,
        file: FileDiff,
        names: tuple[Names, Names],
        answers: tuple[Answer | None, Answer | None],
        *,
        blind: bool,
        stay: bool = False,
    ) -> None:
        """Show two answers, the first on the left; `stay` keeps the scroll position."""
        self.set_class(False, "-nothing")
        self._heads.names, self._heads.answers, self._heads.blind = names, answers, blind
        self._heads.draw()
        self.diff.show_files([file], (), stay=stay)

    def show_choice(self, choice: Choice | None, swapped: bool, note: str) -> None:
        """Show the choice, and a note about the answers."""
        self._choice.choice, self._choice.swapped, self._choice.note = choice, swapped, note
        self._choice.draw()
