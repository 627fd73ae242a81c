"""The dialog before Review begins: who scores and how."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.keymap import keys_of
from tui.app.presentation.pieces import Role
from tui.app.presentation.text_rows import cut_rows
from tui.app.review.lines import (
    BLIND,
    NAMED,
    StartChoice,
    next_repeats,
    problem_lines,
    repeat_line,
    start_lines,
    why_unavailable,
)
from tui.app.screens import Dialog
from tui.app.theme.styles import content_of_lines
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.session.run_review import RunReview

_OTHER_ROWS = 14  # rows of the dialog besides its text


class ReviewStartScreen(Dialog[StartChoice | None]):
    """Ask who scores a run, and whether blind.

    `named` selects the line that shows names; `repeats` percent of the answers are proposed to be shown twice.
    """

    DEFAULT_CSS = """
    ReviewStartScreen > Vertical { width: 92; max-height: 96%; }
    ReviewStartScreen Static { height: auto; }
    ReviewStartScreen .head { margin-top: 1; color: $dim; }
    ReviewStartScreen LineListView { height: 2; background: $raised; }
    ReviewStartScreen PromptInput, ReviewStartScreen PromptInput:focus { background: $background; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="start.leave", tooltip="Close without starting"),
        Binding("n", "name", "Name", id="start.name", tooltip="Change the reviewer name"),
        Binding("b", "go_to(0)", "Blind", id="start.blind", tooltip="Blind"),
        Binding("r", "repeat", "Repeat", id="start.repeat", tooltip="Change the share of answers shown twice"),
    ]

    def __init__(self, review: RunReview, name: str, *, named: bool, repeats: int = 0) -> None:
        super().__init__()
        self._repeats, self._repeat_line = repeats, Static(Content(), markup=False)
        self._review, self._wants_blind, self._placed = review, not named, 0
        self._list = LineListView(on_chosen=self._begin)
        self._line = PromptInput("your name, saved with each score", self._list)
        self._line.value = name
        self._status, self._error = Static(Content(), markup=False), Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """Yield the status of the scoring, the name and the ways to begin."""
        with Vertical() as box:
            box.border_title = Content("Review")
            name, repeats = keys_of(self, "start.name", "start.repeat")
            box.border_subtitle = Content(f"Enter start · {name} name · {repeats} repeats · Esc close")
            yield self._status
            yield Static(Content("Reviewer"), markup=False, classes="head")
            yield self._line
            yield Static(Content("Mode"), markup=False, classes="head")
            yield self._list
            yield self._repeat_line
            yield self._error

    def on_mount(self) -> None:
        """Select the way that was asked for, and the name where it is missing."""
        self._update()
        self._select(blind=self._wants_blind)
        (self._list if self._line.value.strip() else self._line).focus()

    def _select(self, *, blind: bool) -> None:
        """Select a way to begin, or the other one if that is unavailable."""
        self._wants_blind = blind
        if why_unavailable(self._review, self._name_typed, blind=blind):
            blind = not blind
        self._placed = 0 if blind else 1
        self._list.go_to(self._placed)

    @property
    def _name_typed(self) -> str:
        return " ".join(self._line.value.split())

    def on_resize(self) -> None:
        """Wrap the text for the size."""
        self._update()

    def _update(self) -> None:
        name, review = self._name_typed, self._review
        width = min(92, self.size.width * 96 // 100) - 6
        lines = start_lines(review, name, width)
        room = self.size.height * 96 // 100 - _OTHER_ROWS - len(lines)
        lines += cut_rows(problem_lines(review.problems, width), room)
        self._status.update(content_of_lines(lines))
        blind: Role = "dim" if why_unavailable(review, name, blind=True) else "plain"
        named: Role = "dim" if why_unavailable(review, name, blind=False) else "plain"
        self._repeat_line.update(content_of_lines([repeat_line(self._repeats, width)]))
        self._list.show_lines([((f" {BLIND}", blind),), ((f" {NAMED}", named),)])

    @on(PromptInput.Typed)
    def update_name(self, message: PromptInput.Typed) -> None:
        """Show the status for the name that was typed."""
        self._update()
        self._error.update(Content())
        if isinstance(message, PromptInput.Entered):
            # A way that was only chosen because the other one was unavailable may be the wrong one for this name.
            is_moved = self._list.cursor != self._placed
            self._select(blind=self._list.cursor == 0 if is_moved else self._wants_blind)
            self._list.focus()

    @on(PromptInput.Left)
    def leave_name(self) -> None:
        """Show the status for the name as it was left."""
        self._update()

    def _begin(self, place: int) -> None:
        """Begin, unless the name is missing or the way unavailable."""
        name, blind = self._name_typed, place == 0
        if not name:
            self._error.update(Content("Enter a reviewer name: press n."))
        elif reason := why_unavailable(self._review, name, blind=blind):
            self._error.update(Content(f"{reason} Press Enter to start in this mode."))
            self._list.go_to(1 if blind else 0)
        else:
            self.dismiss(StartChoice(name, blind, self._repeats))

    def action_name(self) -> None:
        """Type another name."""
        self._line.start()

    def action_repeat(self) -> None:
        """Propose another percentage."""
        self._repeats = next_repeats(self._repeats)
        self._update()

    def action_go_to(self, place: int) -> None:
        """Select one of the two ways."""
        self._list.go_to(place)
