"""The layout of Explore: suites, answers and details, what is zoomed or hidden, and the borders between them."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import DescendantBlur, DescendantFocus
from textual.geometry import Size
from textual.widget import Widget

from tui.app.explore.answer_panes import AnswerPanes
from tui.app.explore.tabs import DetailTabs
from tui.app.splash import NARROW, TINY, WIDE
from tui.app.widgets.filter_panel import FilteredPanel
from tui.app.widgets.question_line import QuestionLine
from tui.app.widgets.splitter import Room, Splitter
from tui.session.pane_sizes import PaneSizes

BESIDE_FROM = 200
"""Columns of the terminal from which the details are beside the answers."""
_AROUND = 2  # rows of the header and the footer
_LEAST_SUITES, _LEAST_MIDDLE = 20, 34
_LEAST_ROWS, _LEAST_ANSWER_ROWS = 7, 6
_LEAST_DETAILS, _LEAST_ANSWERS = 44, 60
_SHORT, _LOW = 30, 18  # rows below which the details are higher, or in the place of the answers
_USUAL_BELOW, _USUAL_BELOW_SHORT, _USUAL_BESIDE = 0.4, 0.48, 0.36


class ExploreLayout(Horizontal):
    """Arrange the parts of Explore for the size of the terminal, and for what the user has zoomed or hidden.

    Below `BESIDE_FROM` columns the details are below the answers, from there on beside them.
    """

    DEFAULT_CSS = """
    ExploreLayout DetailTabs {
        border: round $quiet-border; border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; }
    }
    ExploreLayout, ExploreLayout #middle { layers: panels borders; }
    ExploreLayout #answers-and-prompt { width: 1fr; height: 1fr; }
    ExploreLayout.-beside #middle { layout: horizontal; }
    ExploreLayout AnswerPanes, ExploreLayout DetailTabs, ExploreLayout #details-border, ExploreLayout QuestionLine,
    ExploreLayout.-case #overview { display: none; }
    ExploreLayout.-case AnswerPanes, ExploreLayout.-case DetailTabs, ExploreLayout.-case #details-border,
    ExploreLayout.-case QuestionLine { display: block; }
    ExploreLayout.-case.-low QuestionLine { display: none; }
    ExploreLayout.-case.-low DetailTabs, ExploreLayout.-case.-low #details-border,
    ExploreLayout.-case.-zoomed DetailTabs, ExploreLayout.-case.-zoomed #details-border,
    ExploreLayout.-zoomed #suites, ExploreLayout.-zoomed #suites-border, ExploreLayout.-tiny #suites-border,
    ExploreLayout.-no-suites #suites, ExploreLayout.-no-suites #suites-border { display: none; }
    ExploreLayout.-tiny.-typing #suites { display: block; min-width: 100%; }
    ExploreLayout.-tiny.-typing #middle { display: none; }
    ExploreLayout.-case.-only-details DetailTabs, ExploreLayout.-case.-only-details #details-border { display: block; }
    ExploreLayout.-case.-only-details #answers-and-prompt, ExploreLayout.-case.-only-details #suites,
    ExploreLayout.-case.-only-details #suites-border { display: none; }
    ExploreLayout #suites.-explained, ExploreLayout DetailTabs.-explained,
    ExploreLayout .-explained AnswerPane, ExploreLayout .-explained DetailTabs { border: round $accent; }
    """

    def __init__(
        self,
        suites: FilteredPanel,
        overview: Widget,
        question: QuestionLine,
        answers: AnswerPanes,
        details: DetailTabs,
        sizes: PaneSizes,
    ) -> None:
        super().__init__(id="body")
        self._suites, self._overview, self._question = suites, overview, question
        self._answers, self._details = answers, details
        self._suites_border = Splitter(suites, sizes, id="suites-border")
        self._details_border = Splitter(details, sizes, id="details-border")

    def compose(self) -> ComposeResult:
        """Compose the suites, and beside them the overview, or the answers with their details."""
        yield self._suites
        yield self._suites_border
        with Vertical(id="middle"):
            with Vertical(id="answers-and-prompt"):
                yield self._overview
                yield self._question
                yield self._answers
            yield self._details_border
            yield self._details

    def fit(self, screen: Size) -> None:
        """Arrange the parts for the size of the screen."""
        width, height = screen
        self.set_class(height < _LOW, "-low")
        self.set_class(width < TINY, "-tiny")
        beside = width >= BESIDE_FROM
        self.set_class(beside, "-beside")
        usual = 42 if width >= WIDE else 26 if width < NARROW else 34
        rest = _LEAST_ANSWERS + _LEAST_DETAILS if beside else _LEAST_MIDDLE
        self._suites_border.fit(Room("explore.suites", "right", width, usual, _LEAST_SUITES, rest))
        if beside:
            hidden = self.has_class("-no-suites")
            middle = width if hidden else width - self._suites_border.panel_size
            usual = max(_LEAST_DETAILS, int(middle * _USUAL_BESIDE))
            details = Room("explore.details.beside", "left", middle, usual, _LEAST_DETAILS, _LEAST_ANSWERS)
        else:
            rows = height - _AROUND
            usual = max(_LEAST_ROWS, int(rows * (_USUAL_BELOW_SHORT if height < _SHORT else _USUAL_BELOW)))
            details = Room("explore.details.below", "top", rows, usual, _LEAST_ROWS, _LEAST_ANSWER_ROWS)
        self._details_border.fit(details)
        if self.only_details:
            self._details_border.release()

    @on(DescendantFocus)
    @on(DescendantBlur)
    def show_filter(self) -> None:
        """Display the suites while their filter is typed, alone in a narrow terminal: keys would be commands else."""
        self.set_class(self._suites.typing, "-typing")

    @on(Splitter.Moved)
    def fit_again(self, message: Splitter.Moved) -> None:
        """Arrange the details for the room that the suites leave."""
        message.stop()
        self.fit(self.screen.size)

    @property
    def has_case(self) -> bool:
        """Return whether the answers to a case are displayed."""
        return self.has_class("-case")

    def show_case(self, has_case: bool) -> None:
        """Display the answers and details of a case, or the overview."""
        self.set_class(has_case, "-case")

    @property
    def is_zoomed(self) -> bool:
        """Return whether a pane or the details are displayed alone."""
        return self._answers.zoomed or self.only_details

    @property
    def only_details(self) -> bool:
        """Return whether the details are displayed alone."""
        return self.has_class("-only-details")

    def show_only_details(self, alone: bool) -> None:
        """Display the details alone, or with everything else."""
        if alone != self.only_details:
            self.set_class(alone, "-only-details")
            self.fit(self.screen.size)

    def zoom(self) -> None:
        """Zoom the current pane, or the details if they have the focus, or restore the layout."""
        if self.only_details or (self._details.has_focus_within and not self._answers.zoomed):
            self.show_only_details(not self.only_details)
        else:
            self._zoom_pane(not self._answers.zoomed)

    def _zoom_pane(self, zoomed: bool) -> None:
        self.set_class(zoomed, "-zoomed")
        self._answers.zoom(zoomed)

    def reveal_details(self) -> None:
        """Display the details, alone if nothing else fits or a pane is zoomed."""
        self.show_only_details(self._answers.zoomed or self.has_class("-low") or self.only_details)
        if self._answers.zoomed:
            self._zoom_pane(False)

    def show_suites(self, shown: bool) -> None:
        """Show or hide the suites."""
        self.set_class(not shown, "-no-suites")
        self.fit(self.screen.size)

    def toggle_suites(self) -> None:
        """Show the suites, or hide them."""
        self.show_suites(self.has_class("-no-suites"))
