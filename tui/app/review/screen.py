"""The Review screen: answers are judged by criteria, one after the other, blind if wanted."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.events import Key

from tui.app.holding import NotificationHold
from tui.app.presentation.pieces import Line
from tui.app.review.answers import mask_lines
from tui.app.review.lines import guidance_lines, rule_lines, trail_lines
from tui.app.screens.review_keys import REVIEW_KEYS, TELLING
from tui.app.screens.review_moving import ReviewMoving
from tui.app.screens.text_screen import TextScreen
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, ItemKey
from tui.session.reviews import Reviews
from tui.session.run_history import RunHistory
from tui.session.run_review import RunReview

_HIDDEN = "Names are hidden, and this would show them. ! reveals them."
_OF_AN_ITEM = (
    "give",
    "note",
    "withdraw",
    "trail",
    "look_at_extents",
    "turn_diff",
    "turn_prompt",
    "zoom",
    "match",
    "masks",
)
_REVEAL = (
    "Names, verdicts and other people's scores are shown from then on. It is recorded, and cannot be taken back; your "
    "scores stay as they are."
)
_LEAVE_BLIND = "The other screens show names. Your scores are saved, and the review continues blind where you left it."
_LOOK = "Leaving is recorded as a look at names, and reports count it; quitting (q) shows no names."
_EXPLORE = "left blind review for Explore"


class ReviewScreen(ReviewMoving):
    """Begins at `start` where that is given, else with the first open item."""

    BINDINGS: ClassVar[list[BindingType]] = REVIEW_KEYS

    def __init__(self, review: RunReview, reviews: Reviews, history: RunHistory, start: ItemKey | None = None) -> None:
        super().__init__(review)
        self._reviews, self._history = reviews, history
        if start is not None:
            self.review_session.go_to(start)

    def on_mount(self) -> None:
        """What others tell has to wait while names are hidden."""
        if self.review_session.hidden and isinstance(self.app, NotificationHold):
            self.app.hold_notices()

    def learn_keys(self) -> None:
        """The config may give keys; they can be asked for when there is an item."""
        actions = {key: active.binding.action.partition("(")[0] for key, active in self.active_bindings.items()}
        self.bound_keys = frozenset(key for key, action in actions.items() if action in ("give", "withdraw"))
        self.opening_keys = frozenset(key for key, action in actions.items() if action in ("note", "filter"))

    def on_unmount(self) -> None:
        """Now they may be told."""
        if isinstance(self.app, NotificationHold):
            self.app.let_notices_go()

    def notify(self, message: str, **how: Any) -> None:
        """This screen tells nothing that is hidden."""
        (self.app.tell if isinstance(self.app, NotificationHold) else self.app.notify)(message, **how)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While names are hidden nothing is offered that tells; in the queue Enter takes what is under the cursor."""
        if self._why_not(action):
            return None
        if action in _OF_AN_ITEM and self.review_session.item is None:
            return False
        if action == "go_on" and self.queue.lines.has_focus:
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """A key that does nothing now says why."""
        active = self.active_bindings.get(event.key)
        if active is not None and not active.enabled and self.writer is None and not self.busy:
            self.notify(self._why_not(active.binding.action.partition("(")[0]), markup=False, timeout=4)

    def _why_not(self, action: str) -> str:
        """Why there is no sense in it now; empty where there is."""
        if self.review_session.hidden:
            return _HIDDEN if action in TELLING else ""
        return "Names are shown already." if action == "reveal" else ""

    # --- to read

    def _read(self, title: str, lines: Callable[[int], Sequence[Line]], key: str) -> None:
        self.touched()
        self.app.push_screen(TextScreen(title, lines, key))

    def action_guidance(self) -> None:
        """What the extents mean."""
        review, item = self.review_session.review, self.review_session.item
        self._read("Guidance", lambda width: guidance_lines(review.guidance, item, width), "g")

    def action_rule(self) -> None:
        """How severity and extent make a band."""
        item, rule = self.review_session.item, self.review_session.review.rule
        here = item.criterion.severity if item else None
        self._read("Severity × extent", lambda width: rule_lines(rule, width, here), "t")

    def action_trail(self) -> None:
        """Everything that happened to the item; while names are hidden, what the reviewer did."""
        item, review = self.review_session.item, self.review_session.review
        if item is None or self.busy:
            return
        acts = review.board.trail(item.key)
        if self.review_session.hidden:
            acts = tuple(act for act in acts if act.reviewer == review.reviewer)
        self._read("Trail", lambda width: trail_lines(item, acts, review.rule, width), "T")

    def action_masks(self) -> None:
        """Where names are masked, and of what kind they are."""
        opened = self._opened
        if opened is not None:
            self._read("Masked names", lambda width: mask_lines(opened.read, width), "m")

    def action_figures(self) -> None:
        """Bands, means, agreement."""
        from tui.app.review.dialogs import RiskFiguresScreen

        self.app.push_screen(RiskFiguresScreen(self._reviews, self.review_session.review.record))

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """A report of the run."""
        from tui.app.runs.export_dialog import ExportScreen

        written = await self.app.push_screen_wait(ExportScreen(self._history, self.review_session.review.record))
        if written is not None:
            self.notify(f"Written: {sanitize_line(str(written), 300)}", markup=False)

    # --- names

    def action_reveal(self) -> None:
        """Ask once more, then show them."""
        from tui.app.screens.confirm import ConfirmScreen

        def take(yes: bool | None) -> None:
            if yes:
                self.do(self.review_session.review.reveal, lambda _: self._revealed())

        self.app.push_screen(ConfirmScreen("Reveal the names?", _REVEAL, yes="reveal", no="stay blind"), take)

    def _revealed(self) -> None:
        self.review_session.refresh()
        self._opened, self._seen = None, None
        self.show_item()
        if isinstance(self.app, NotificationHold):
            self.app.let_notices_go()
        self.notify("Names are shown now. This is recorded.", markup=False, timeout=4)

    # --- the end

    def action_leave(self) -> None:
        """Out of the zoom or the filter; else back, after a question where something would be told or lost."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.review_session.wanted or self.queue.line.value:
            self.queue.close_filter()
            self.ask("")
        else:
            self._leave()

    def _leave(self) -> None:
        from tui.app.screens.confirm import ConfirmScreen

        blind = _LEAVE_BLIND if self.review_session.hidden and self.review_session.review.items else ""
        look = _LOOK if self.review_session.review.is_blind_open else ""
        question = "\n\n".join(filter(None, (blind, look, self.unkept())))
        if not question:
            self.dismiss(None)
            return

        def take(yes: bool | None) -> None:
            if yes and look:
                self.do(lambda: self.review_session.review.look(_EXPLORE), self._left)
            elif yes:
                self.dismiss(None)

        self.app.push_screen(ConfirmScreen("Leave Review?", question, yes="leave", no="stay"), take)

    def _left(self, _: Act | None) -> None:
        self.dismiss(None)
