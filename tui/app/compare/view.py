"""Widgets of the Compare screen: two answers as a diff with their names and the choice, and the list of cases."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize

from tui.app.compare.lines import Names, check_lines, choice_line, entry_line, head_line, heads_line, title_line
from tui.app.compare.pairs import CaseEntry, ComparisonSession, whole_answer
from tui.app.diff.view import DiffView
from tui.app.keymap import keys_of
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.question_line import QuestionPanel
from tui.app.widgets.text_views import FittedTextPanel, PieceLine, TextPanel
from tui.model.diffs import FileDiff
from tui.session.answers import Answer
from tui.session.preferences import Choice

_TALL = 28


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
    side: int | None = None

    def line_for(self, width: int) -> Line:
        if self.side is not None:
            return head_line(self.side, self.names[self.side], self.answers[self.side], self.blind, width)
        return heads_line(self.names, self.answers, self.blind, width)


class _ChoiceLine(PieceLine):
    choice: Choice | None = None
    swapped = False
    note = ""

    def line_for(self, width: int) -> Line:
        keys = keys_of(self.screen, *(f"compare.{name}" for name in ("prefer-a", "prefer-b", "tie", "both-bad")))
        return choice_line(self.choice, self.swapped, self.note, keys, width)


class CompareView(Vertical):
    """Show one pair of answers at a time, as a diff, or one of them alone."""

    DEFAULT_CSS = """
    CompareView { height: 1fr; border: round $quiet-border; &:focus-within { border: round $focused-border; } }
    CompareView > #nothing { display: none; padding: 1 2; }
    CompareView.-nothing > #nothing { display: block; }
    CompareView > #checks { display: none; height: auto; max-height: 30%; margin: 1 0; padding: 0 1; }
    CompareView.-tall > #checks { display: block; }
    CompareView.-nothing > DiffView, CompareView.-nothing > PieceLine, CompareView.-nothing > #checks,
    CompareView.-zoomed > QuestionPanel, CompareView.-zoomed > #checks,
    CompareView.-nothing > QuestionPanel { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.question, self.diff = QuestionPanel(), DiffView()
        self._heads, self._choice = _Heads(), _ChoiceLine()
        self._nothing, self._checks = TextPanel(id="nothing"), FittedTextPanel(id="checks")
        self._file: FileDiff | None = None
        self._beside = False

    def compose(self) -> ComposeResult:
        """Yield the prompt, the names, the diff, the results of the checks, and the choice."""
        yield self.question
        yield self._heads
        yield self.diff
        yield self._nothing
        yield self._checks
        yield self._choice

    def on_resize(self, event: Resize) -> None:
        """Display the results of the checks below the answers where the view is high."""
        self.set_class(event.size.height >= _TALL, "-tall")

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
        self._file = file
        self._checks.show_fitted(lambda width: [] if blind else check_lines(answers, width))
        self._show_sides(stay=stay)

    @property
    def is_zoomed(self) -> bool:
        """Return whether one answer is displayed alone."""
        return self._heads.side is not None

    def zoom(self, side: int | None) -> None:
        """Display the left (0) or the right (1) answer alone, or with None both as a diff."""
        if not self.is_zoomed:
            self._beside = self.diff.look.beside
        self._heads.side = side
        self.set_class(self.is_zoomed, "-zoomed")
        self.diff.set_look(beside=self._beside and side is None)
        self._show_sides(stay=False)

    def next_zoom(self) -> int | None:
        """Return what follows: the left answer alone, the right one alone, both."""
        return {None: 0, 0: 1, 1: None}[self._heads.side]

    def _show_sides(self, *, stay: bool) -> None:
        self._heads.draw()
        side, file = self._heads.side, self._file
        if side is not None:
            answer = self._heads.answers[side]
            file = whole_answer(answer.text if answer is not None else "")
        if file is not None:
            self.diff.show_files([file], (), stay=stay)

    def show_choice(self, choice: Choice | None, swapped: bool, note: str) -> None:
        """Show the choice, and a note about the answers."""
        self._choice.choice, self._choice.swapped, self._choice.note = choice, swapped, note
        self._choice.draw()
