"""The Risk tab: the criteria of a case, and for each answer the scores that may be seen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from tui.app.explore.risk_lines import BesideRow, beside_line, beside_rows, detail_lines, hidden_line, models_beside
from tui.app.open_suites import Selection
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import FittedReading
from tui.model.risk import BandRule
from tui.model.scores import ItemKey

if TYPE_CHECKING:
    from tui.session.run_review import RunReview


class _Table(LineListView):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,v", "choose", "review", id="risk.review", tooltip="Score this answer", key_display="Enter"),
        Binding("T", "trail", "trail", id="risk.trail", tooltip="Everything that happened to this item"),
    ]
    rows: Sequence[BesideRow] = ()
    rule = BandRule()
    models: Sequence[str] = ()

    class TrailAsked(Message):
        """Everything that happened to the row under the cursor."""

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        return beside_line(self.rows[place], self.rule, self.models, width)

    def action_trail(self) -> None:
        self.post_message(self.TrailAsked())


class RiskTab(Vertical):
    """Shows what it is given of a run's scoring; says what is to be scored, and whose trail is to be read."""

    DEFAULT_CSS = """
    RiskTab { height: 1fr; }
    RiskTab > _Table { height: auto; max-height: 60%; }
    RiskTab > FittedReading { margin-top: 1; min-height: 1; }
    """

    class ReviewAsked(Message):
        """This item is to be scored, or any of the case where there is none."""

        def __init__(self, item: ItemKey | None) -> None:
            super().__init__()
            self.item = item

    class TrailAsked(Message):
        """The trail of this item is to be read."""

        def __init__(self, item: ItemKey) -> None:
            super().__init__()
            self.item = item

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table, self._detail = _Table(), FittedReading()
        self.review: RunReview | None = None
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Rows, and all of the one under the cursor."""
        yield self._table
        yield self._detail

    def take(self, review: "RunReview | None") -> None:
        """What is known of the run's scoring from now on."""
        self.review, self._shown = review, ()

    def show(self, selection: Selection) -> None:
        """Show the case that is looked at; the same again costs nothing."""
        case, review = selection.case, self.review
        shown = (selection.path, case, selection.models, review)
        if shown == self._shown:
            return
        again = self._shown[:2] == shown[:2]
        self._shown = shown
        table = self._table
        table.rows = beside_rows(case, selection.models, review) if case else ()
        table.models, table.rule = models_beside(selection.models, review), review.rule if review else BandRule()
        table.display = bool(table.rows)
        table.lines_changed(table.cursor if again else 0)
        self._tell()

    def _tell(self) -> None:
        table, review = self._table, self.review
        row = table.rows[table.cursor] if 0 <= table.cursor < len(table.rows) else None
        if row is None:
            self._detail.show_fitted(lambda _: [(("This case names no risk criteria.", "dim"),)])
            return
        end = [line for line in (hidden_line(table.rows), _invitation(review)) if line]
        self._detail.show_fitted(lambda width: [*detail_lines(row, table.rule, width), (), *end])

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Tell about the row under the cursor."""
        message.stop()
        self._tell()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Score it."""
        message.stop()
        self._tell()
        self.post_message(self.ReviewAsked(self._table.rows[message.place].item))

    def on__table_trail_asked(self, message: _Table.TrailAsked) -> None:
        """Of an answer, not of a criterion."""
        message.stop()
        rows = self._table.rows
        item = rows[self._table.cursor].item if 0 <= self._table.cursor < len(rows) else None
        if item is not None:
            self.post_message(self.TrailAsked(item))


def _invitation(review: "RunReview | None") -> Line:
    if review is None:
        return (("Run the case to score its answers.", "dim"),)
    return (("Enter", "accent"), (" scores the answer, ", "dim"), ("T", "accent"), (" tells its trail", "dim"))
