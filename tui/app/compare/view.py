"""Two answers as a diff, with whose they are above and the choice below; and the cases to walk through."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.app.compare.lines import Names, choice_line, heads_line, stop_line, title_line
from tui.app.compare.pairs import CaseEntry, ComparisonSession
from tui.app.diff.view import DiffView
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.diffs import FileDiff
from tui.session.answers import Answer
from tui.session.preferences import Choice


class StopList(LineListView):
    """The cases to walk through."""

    stops: Sequence[CaseEntry] = ()
    blind = False

    @property
    def line_count(self) -> int:
        """All that both have answered."""
        return len(self.stops)

    def line_at(self, place: int, width: int) -> Line:
        """One case."""
        return stop_line(self.stops[place], self.blind, width)

    def show_walk(self, walk: ComparisonSession) -> None:
        """Show where one is."""
        self.stops, self.blind = walk.stops, walk.blind
        self.lines_changed(walk.at)
        self.go_to(walk.at)


class CompareTitle(PieceLine):
    """Suite and progress."""

    walk: ComparisonSession | None = None
    said = "reading the history …"

    def show(self, walk: ComparisonSession | None, said: str = "") -> None:
        """Another state."""
        self.walk, self.said = walk, said
        self.draw()

    def line_for(self, width: int) -> Line:
        """The line in at most so many cells."""
        return title_line(self.walk, self.said, width)


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
    """Shows one pair of answers at a time."""

    DEFAULT_CSS = """
    CompareView { height: 1fr; border: round $quiet-border; &:focus-within { border: round $focused-border; } }
    CompareView > TextPanel { display: none; padding: 1 2; }
    CompareView.-nothing > TextPanel { display: block; }
    CompareView.-nothing > DiffView, CompareView.-nothing > PieceLine { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = DiffView()
        self._heads, self._choice, self._nothing = _Heads(), _ChoiceLine(), TextPanel()

    def compose(self) -> ComposeResult:
        """Heads, diff, choice."""
        yield self._heads
        yield self.view
        yield self._nothing
        yield self._choice

    def show_nothing(self, lines: Sequence[Line]) -> None:
        """Why there is nothing."""
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
        """These two, the first on the left."""
        self.set_class(False, "-nothing")
        self._heads.names, self._heads.answers, self._heads.blind = names, answers, blind
        self._heads.draw()
        self.view.show_files([file], (), stay=stay)

    def show_choice(self, choice: Choice | None, swapped: bool, note: str) -> None:
        """What was preferred, and what else is to say."""
        self._choice.choice, self._choice.swapped, self._choice.note = choice, swapped, note
        self._choice.draw()
