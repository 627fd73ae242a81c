"""Before scoring: who it is, and whether names are hidden."""

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.app.presentation.pieces import Role
from tui.app.presentation.text_rows import cut_rows
from tui.app.review.figure_lines import figure_lines
from tui.app.review.lines import (
    BLIND,
    NAMED,
    Beginning,
    next_repeats,
    problem_lines,
    repeat_line,
    start_lines,
    why_not,
)
from tui.app.screens.text_screen import TextScreen
from tui.app.theme.styles import content_of_lines
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.errors import AssayError
from tui.model.risk import Reviewed
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.reviews import Reviews
from tui.session.run_review import RunReview

_ROWS = 14  # what the dialog has besides what it tells


class ReviewStartScreen(ModalScreen[Beginning | None]):
    """`review` says how things stand; `named` begins on the line that shows names; `repeats` percent of the
    answers are proposed to be shown twice."""

    DEFAULT_CSS = """
    ReviewStartScreen { align: center middle; background: $background 60%; }
    ReviewStartScreen > Vertical {
        width: 92; max-width: 96%; height: auto; max-height: 96%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    ReviewStartScreen Static { height: auto; }
    ReviewStartScreen .head { margin-top: 1; color: $dim; }
    ReviewStartScreen LineListView { height: 2; background: $raised; }
    ReviewStartScreen PromptInput, ReviewStartScreen PromptInput:focus { background: $background; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", id="start.leave", tooltip="Do not begin"),
        Binding("n", "name", "Name", id="start.name", tooltip="Write another name"),
        Binding("b", "go_to(0)", "Blind", id="start.blind", tooltip="Blind"),
        Binding("r", "repeat", "Repeat", id="start.repeat", tooltip="Show a share of the answers twice"),
    ]

    def __init__(self, review: RunReview, name: str, *, named: bool, repeats: int = 0) -> None:
        super().__init__()
        self._repeats, self._repeat_line = repeats, Static(Content(), markup=False)
        self._review, self._named = review, named
        self._line, self._list = PromptInput("your name, as it stands beside each score"), LineListView()
        self._line.value = name
        self._told, self._fault = Static(Content(), markup=False), Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """How it stands, who, how."""
        with Vertical() as box:
            box.border_title = Content("Review")
            box.border_subtitle = Content("Enter begins · n the name · r repeats · Esc leaves")
            yield self._told
            yield Static(Content("Who scores"), markup=False, classes="head")
            yield self._line
            yield Static(Content("How"), markup=False, classes="head")
            yield self._list
            yield self._repeat_line
            yield self._fault

    def on_mount(self) -> None:
        """Blind unless somebody asks otherwise."""
        self._tell()
        self._choose(blind=not self._named)
        (self._list if self._line.value.strip() else self._line).focus()

    def _choose(self, *, blind: bool) -> None:
        """That way, or the other one where it cannot be begun so any more."""
        if why_not(self._review, self._name_typed, blind=blind):
            blind = not blind
        self._list.go_to(0 if blind else 1)

    @property
    def _name_typed(self) -> str:
        return " ".join(self._line.value.split())

    def on_resize(self) -> None:
        """Other room."""
        self._tell()

    def _tell(self) -> None:
        name, review = self._name_typed, self._review
        width = min(92, self.size.width * 96 // 100) - 6
        lines = start_lines(review, name, width)
        room = self.size.height * 96 // 100 - _ROWS - len(lines)
        lines += cut_rows(problem_lines(review.problems, width), room)
        self._told.update(content_of_lines(lines))
        blind: Role = "dim" if why_not(review, name, blind=True) else "plain"
        named: Role = "dim" if why_not(review, name, blind=False) else "plain"
        self._repeat_line.update(content_of_lines([repeat_line(self._repeats)]))
        self._list.show_lines([((f" {BLIND}", blind),), ((f" {NAMED}", named),)])

    @on(PromptInput.Typed)
    def tell_again(self, message: PromptInput.Typed) -> None:
        """How it stands for this person."""
        self._tell()
        self._fault.update(Content())
        if isinstance(message, PromptInput.Entered):
            self._choose(blind=self._list.cursor == 0)
            self._list.focus()

    @on(PromptInput.Left)
    def leave_name(self) -> None:
        """Out of the name; without one, out of it all."""
        self._list.focus()

    @on(LineListView.Chosen)
    def begin(self, message: LineListView.Chosen) -> None:
        """Now; not in a way that it cannot be begun in any more."""
        name, blind = self._name_typed, message.place == 0
        if not name:
            self._fault.update(Content("Say who you are: n."))
        elif why := why_not(self._review, name, blind=blind):
            self._fault.update(Content(f"{why} Enter begins so."))
            self._list.go_to(1 if blind else 0)
        else:
            self.dismiss(Beginning(name, blind, self._repeats))

    def action_name(self) -> None:
        """Type it."""
        self._line.start()

    def action_repeat(self) -> None:
        """Another share."""
        self._repeats = next_repeats(self._repeats)
        self._tell()

    def action_go_to(self, place: int) -> None:
        """One of the two."""
        self._list.go_to(place)

    def action_leave(self) -> None:
        """Not now."""
        self.dismiss(None)


class RiskFiguresScreen(TextScreen):
    """They are worked out in a thread: intervals take a moment."""

    def __init__(self, reviews: Reviews, run: RunRecord) -> None:
        super().__init__("Figures of scoring", lambda _: [(("working out …", "dim"),)], "f")
        self._reviews, self._record = reviews, run

    def on_mount(self) -> None:
        """Begin."""
        self._work_out()

    @work(group="figures", exclusive=True)
    async def _work_out(self) -> None:
        try:
            reviewed: Reviewed = await asyncio.to_thread(self._reviews.reviewed, self._record.id)
        except AssayError as error:
            said = sanitize_line(str(error), 600)
            self.change(lambda _: [((said, "error"),)])
            return
        self.change(lambda width: figure_lines(reviewed, width, self._record.models))
