"""The Review screen: a reviewer scores answers by criteria, one item after the other, blind on request."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key, Resize

from tui.app.bindings import bind
from tui.app.context import AppContext
from tui.app.dialogs import ChoiceScreen, ConfirmScreen
from tui.app.find.jump_dialog import jump_to_case
from tui.app.keymap import key_of, shared, with_keys
from tui.app.navigator import Navigator, ScreenName, Subject
from tui.app.presentation.figures import counted
from tui.app.presentation.pieces import Line
from tui.app.review.criterion_panel import CriterionPanel
from tui.app.review.lines import (
    Title,
    later_sentence,
    recorded_line,
    taken_back_line,
    title_line,
    unsaved_notes,
)
from tui.app.review.note_editor import LONGEST_NOTE, NoteEditor
from tui.app.review.queue import ReviewSession
from tui.app.review.queue_filter import QUEUE_FILTER
from tui.app.review.queue_panel import QueuePanel
from tui.app.review.scoring import RecordedScore, Scoring
from tui.app.review.texts import ReviewTexts, TextName
from tui.app.review.view import ReviewView
from tui.app.screens import AppScreen
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.key_queue import KeyQueue
from tui.app.widgets.splitter import Splitter
from tui.app.widgets.text_views import PieceLine
from tui.model.errors import AssayError
from tui.model.risk import EXTENTS
from tui.model.sanitize import sanitize_line
from tui.model.scores import Extent, ItemKey, ReviewItem
from tui.session.run_review import AnswerChanged, AnswersReplaced, RevealedElsewhere, RunReview, ScoredElsewhere

Result = TypeVar("Result")

_TITLE_SECONDS = 5.0
_HIDDEN = "Not available while names are hidden. Press {reveal} to reveal them."
_ITEM_ACTIONS = (
    "score",
    "note",
    "withdraw",
    "focus_extents",
    "toggle_diff",
    "toggle_prompt",
    "zoom",
    "match",
)
_REVEALING_ACTIONS = frozenset({"adjudicate", "figures", "export", "match", "open"})
"""Actions that show names, verdicts or scores of other reviewers."""
_REVEAL = (
    "Names, verdicts and scores of other reviewers become visible. This is recorded and cannot be undone. Your scores "
    "do not change; later ones are not blind."
)
_LEAVE_BLIND = (
    "Other screens show model names. Your scores are saved, and the review continues blind where you left it."
)
_LOOK = "Leaving is recorded as a look at names and counted in reports; quitting with {key} shows no names."
_EXPLORE = "left blind review for Explore"


_bind, _shared = partial(bind, priority=True), partial(shared, priority=True)
"""A binding with priority is handled before the next key is read."""


class ReviewTitle(PieceLine):
    """Show the suite, the progress and the reviewer."""

    title = Title()

    def show(self, title: Title) -> None:
        """Show another state."""
        self.title = title
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        return title_line(self.title, width)


class LastAct(PieceLine):
    """Show what was done last, as a line that is made for the width."""

    DEFAULT_CSS = "LastAct { background: $background; }"

    make_line: Callable[[int], Line] | None = None

    def show(self, make_line: Callable[[int], Line]) -> None:
        """Show another act."""
        self.make_line = make_line
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the line for a width."""
        return self.make_line(width) if self.make_line else ()


class ReviewScreen(AppScreen[None]):
    """Score the answers of a run, beginning at the item `start`, or at the first open one."""

    DEFAULT_CSS = """
    ReviewScreen { background: $background; color: $foreground; }
    ReviewScreen ToastRack { dock: top; align: left top; margin: 2 0 0 0; }
    ReviewScreen ToastHolder { align-horizontal: left; }
    """
    TITLE = "Review"
    BINDINGS: ClassVar[list[BindingType]] = [
        _bind("asterisk", "focus_extents", "review.extents", "Show the extents", "extent", "0–4"),
        *(
            _bind(str(extent), f"score('{extent}')", f"review.extent-{extent}", f"Score {extent}: {word}")
            for extent, word in enumerate(EXTENTS)
        ),
        _bind("minus", "score('n/a')", "review.not-applicable", "Score n/a: the criterion does not apply", "n/a", "-"),
        _bind("c", "note", "review.note", "Write a note", "note"),
        _bind("enter", "next_open", "review.next", "Next open item", "next", "Enter"),
        _bind("u", "undo", "review.undo", "Undo the last score", "undo"),
        _bind("G", "open_text('guidance')", "review.guidance", "Guidance: meaning of the extents", "guidance"),
        _bind("B", "open_text('rule')", "review.rule", "Show the scoring rule", "rule"),
        _bind("d", "toggle_diff", "review.diff", "Switch between answer and diff", "diff"),
        _bind("exclamation_mark", "reveal", "review.reveal", "Reveal the names (cannot be undone)", "reveal", "!"),
        _bind("a", "adjudicate", "review.adjudicate", "Switch between scoring and deciding disputed items", "decide"),
        _shared("look.figures", "figures", "Figures: bands, means, agreement"),
        _shared("look.suites", "toggle_queue", "Show or hide the queue", label="queue"),
        _shared("look.filter", "filter", f"Filter the queue ({QUEUE_FILTER.keys_in_words} word !word)"),
        _bind("escape", "leave", "review.leave", "Close; scores are saved", "leave"),
        _bind("p", "toggle_prompt", "review.prompt", "Jump to the answer or back to the prompt", "prompt"),
        _shared("look.next-case", "step(1)", "Next item"),
        _shared("look.case-before", "step(-1)", "Previous item"),
        _bind("backspace", "step(-1)", "review.back", "Previous item"),
        _shared("look.sort", "sort", "Sort the queue"),
        _bind("M", "open_text('masks')", "review.masks", "Show masked names in this answer"),
        _bind("T", "open_text('trail')", "review.trail", "Show the history of this item"),
        _bind("x", "withdraw", "review.withdraw", "Withdraw your score of this item"),
        _shared("look.export", "export", label=""),
        _shared("pane.zoom", "zoom", "Zoom the answer, or restore the layout"),
        _shared("look.matrix", "open('matrix')", label=""),
        _shared("look.compare", "open('compare')", label=""),
        _shared("look.runs", "open('runs')", label=""),
        _shared("look.review", "leave", "Close Review", label=""),
        _shared("look.jump", "jump"),
        _shared("look.search", "app.search"),
        shared("answer.next-match", "match(1)"),
        shared("answer.previous-match", "match(-1)"),
    ]
    AUTO_FOCUS = "AnswerView"

    def __init__(self, review: RunReview, context: AppContext, start: ItemKey | None = None) -> None:
        super().__init__()
        self.review_session = ReviewSession(review)
        if start is not None:
            self.review_session.go_to(start)
        self.keys = KeyQueue(self)
        self.title_line, self.last_act = ReviewTitle(), LastAct()
        sizes, self._filters = context.session.pane_sizes, context.session.filters
        self.view = ReviewView(self.review_session, self.keys, sizes, self._filters)
        self._scoring = Scoring(self.review_session)
        self._texts = ReviewTexts(self, self.review_session, self.view)
        self._hold, self._unsaved_work = context.notification_hold, context.unsaved_work
        self._reviews, self._navigator = context.session.reviews, Navigator(context, self)
        self._save_failed = self._queue_was_open = False

    def compose(self) -> ComposeResult:
        """Yield the title, the item, what was done last, and the keys."""
        yield self.title_line
        yield self.view
        yield self.last_act
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the first item; while names are hidden, hold notifications of other screens back."""
        self._unsaved_work.append(self.describe_unsaved_notes)
        if self.review_session.hidden:
            self._hold.hold()
        self.set_interval(_TITLE_SECONDS, self._show_title)
        self._show_item()

    def on_unmount(self) -> None:
        """Show the notifications that were held back, and end the reading of answers: the end of Assay waits for it."""
        self.review_session.review.close()
        self._unsaved_work.remove(self.describe_unsaved_notes)
        self._hold.release()

    def on_resize(self, event: Resize) -> None:
        """Arrange the panels for the size."""
        self.view.fit(event.size)

    def notify(self, message: str, **options: Any) -> None:
        """Show a notification at once: those of this screen reveal nothing."""
        self._hold.show_now(message, **options)

    def _show_item(self) -> None:
        noted = self.view.criterion.noted_item
        if noted is not None and noted != self.review_session.item:
            self._keep_note()
        self._show_title()
        self.view.show_item()

    def _show_title(self) -> None:
        session, review = self.review_session, self.review_session.review
        self.title_line.show(
            Title(
                review.suite.name,
                session.hidden,
                review.seed,
                review.reviewer,
                session.scored,
                len(review.items),
                session.spent_ms + (session.timer.milliseconds if session.item is not None else 0),
                session.done_in_filter if session.filter else None,
                session.deciding,
            )
        )

    @on(ReviewView.ItemShown)
    def bind_keys_to_item(self) -> None:
        """Enable the keys of an item; find out once which keys those are, since the config can change them."""
        self.refresh_bindings()
        if not self.keys.target_keys:
            actions = {key: active.binding.action.partition("(")[0] for key, active in self.active_bindings.items()}
            self.keys.target_keys = frozenset(key for key, name in actions.items() if name in ("score", "withdraw"))
            self.keys.input_keys = frozenset(key for key, name in actions.items() if name in ("note", "filter"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable what makes no sense now; while names are hidden, everything that would reveal them."""
        if isinstance(self.focused, Splitter):
            return False  # its own keys move the border
        if self._why_disabled(action):
            return None
        needs_item = action in _ITEM_ACTIONS or parameters in (("trail",), ("masks",))
        if needs_item and self.review_session.item is None:
            return False
        if action in ("score", "focus_extents") and self.keys.target is None:
            return False  # the answer is not on the screen yet
        if action == "next_open" and self.view.queue.lines.has_focus:
            return False  # Enter selects the item under the cursor there.
        return self.keys.accepts_commands

    def _why_disabled(self, action: str) -> str:
        """Return why an action is disabled; empty if it is not."""
        if self.review_session.hidden:
            return _HIDDEN if action in _REVEALING_ACTIONS else ""
        return "Names are already visible." if action == "reveal" else ""

    def on_key(self, event: Key) -> None:
        """Say why a key does nothing; pass it to the open input, or hold it while an act is being saved."""
        active = self.active_bindings.get(event.key)
        if active is not None and not active.enabled and self.keys.accepts_commands:
            why = self._why_disabled(active.binding.action.partition("(")[0])
            self._inform(with_keys(self, why), timeout=4)
        self.review_session.timer.touch()
        self.keys.handle(event)

    def _inform(self, message: str, timeout: float = 3) -> None:
        self.notify(message, markup=False, timeout=timeout)

    def _save(
        self,
        save: Callable[[], Coroutine[Any, Any, Result]],
        show: Callable[[Result], object],
        failed: str = "Not saved",
    ) -> None:
        """Save something, then show the result, or an error with the title `failed`. Keys are held meanwhile."""
        if not self.keys.busy:
            self.keys.begin_work()
            self._save_and_show(save, show, failed)

    @work(group="save")
    async def _save_and_show(
        self, save: Callable[[], Coroutine[Any, Any, Result]], show: Callable[[Result], object], failed: str
    ) -> None:
        try:
            result = await save()
        except AssayError as error:
            self._save_failed = True
            title = "Answers replaced" if isinstance(error, AnswersReplaced) else failed
            self.notify(sanitize_line(str(error), 600), title=title, severity="error", markup=False, timeout=12)
            if isinstance(error, ScoredElsewhere):
                self.review_session.show_scored_elsewhere(error.item)
            if isinstance(error, AnswersReplaced | ScoredElsewhere):
                self.last_act.show(lambda _: ())  # it is no longer what `u` undoes
            if isinstance(error, RevealedElsewhere):
                self.review_session.show_revealed_elsewhere()
                if not self.review_session.hidden:
                    self._hold.release()
            if isinstance(error, AnswerChanged | AnswersReplaced | RevealedElsewhere | ScoredElsewhere):
                self._show_title()
                self.view.reload()
        else:
            if self._save_failed:
                self.app.clear_notifications()  # The error is not true any more.
            self._save_failed = False
            show(result)
        finally:
            self.keys.end_work()

    def _shown_item(self) -> ReviewItem | None:
        """Return the item that is on the screen, unless keys have to wait."""
        item = self.review_session.item
        return item if item is not None and not self.keys.busy and self.keys.target == item.key else None

    def action_score(self, extent: str) -> None:
        """Give the item on the screen an extent, and go to the next open one."""
        self._score("n/a" if extent == "n/a" else int(extent))

    @on(CriterionPanel.ExtentClicked)
    def score_by_click(self, message: CriterionPanel.ExtentClicked) -> None:
        """Give the extent that was clicked, together with the note that is being written."""
        if self._shown_item() is not None:
            self._keep_note()
        self._score(message.extent)

    def _score(self, extent: Extent) -> None:
        item = self._shown_item()
        if item is not None:
            shown = self.view.shown_hash(item)
            self._save(lambda: self._scoring.score(item, extent, shown), self._show_recorded)

    def _show_recorded(self, recorded: RecordedScore) -> None:
        rule = self.review_session.review.rule
        self.last_act.show(lambda width: recorded_line(recorded, rule, width, key_of(self, "review.undo")))
        self._show_item()

    def action_undo(self) -> None:
        """Take back the last act of this session."""
        self._save(self._scoring.undo, self._show_undone)

    def _show_undone(self, key: ItemKey | None) -> None:
        if key is None:
            self._inform("Nothing to undo in this review session.", timeout=4)
        else:
            self._show_taken_back(key)

    def action_withdraw(self) -> None:
        """Take back the reviewer's own score of the item."""
        item = self._shown_item()
        if item is None:
            return
        if self.review_session.status(item.key).mine is None:
            self._inform("You have not scored this item.", timeout=4)
            return
        self._save(lambda: self._scoring.withdraw(item), lambda _: self._show_taken_back(item.key))

    def _show_taken_back(self, key: ItemKey) -> None:
        self.last_act.show(lambda _: taken_back_line(key))
        self._show_item()

    def action_note(self) -> None:
        """Write a note about the current item."""
        item = self.review_session.item
        if item is not None and not self.keys.busy:
            self.view.edit_note(item)

    @on(NoteEditor.Saved)
    def save_note(self, message: NoteEditor.Saved) -> None:
        """Save the note with the item's extent, or keep it until there is one."""
        item = self.view.criterion.noted_item
        self.view.close_note()
        extent = self.review_session.write_note(item, message.text) if item is not None else None
        if item is not None and extent is not None:
            shown = self.view.shown_hash(item)
            self._save(lambda: self._scoring.save_note(item, extent, shown), lambda _: self._show_item())
        else:
            self._show_item()
            self.keys.release()

    @on(NoteEditor.Cancelled)
    def cancel_note(self) -> None:
        """Leave the note as it was."""
        self.view.close_note()
        self.keys.release()

    def _keep_note(self) -> None:
        """Close the note that is being written, and keep it as a draft of its item."""
        item, editor = self.view.criterion.noted_item, self.view.criterion.editor
        if item is not None and editor.is_open:
            self.review_session.write_note(item, editor.text.strip())
            self.cancel_note()

    @on(NoteEditor.Edited)
    def count_writing(self) -> None:
        """Count the time of writing as time spent on the item."""
        self.review_session.timer.touch()

    @on(NoteEditor.Truncated)
    def note_truncated(self) -> None:
        """Say that a part of the note is missing."""
        message = f"A note has at most {LONGEST_NOTE:,} characters; the rest was cut."
        self.notify(message, severity="warning", markup=False, timeout=6)

    def describe_unsaved_notes(self) -> str:
        """Return which notes would be lost with this screen, in sentences; empty for none."""
        item, editor = self.view.criterion.noted_item, self.view.criterion.editor
        writing = item is not None and editor.is_open and editor.text.strip() != self.review_session.note(item)
        return unsaved_notes(self.review_session, writing=writing)

    def action_next_open(self) -> None:
        """Go to the next open item."""
        session = self.review_session
        here = session.item
        session.go_to_next_open()
        if here is not None and session.item is here:
            self._inform("This is the last open item.")
        self._show_item()

    def action_step(self, by: int) -> None:
        """Go to the next item or back to the one before."""
        if self.review_session.step(by):
            self._show_item()
        else:
            self._inform(f"This is the {'last' if by > 0 else 'first'} item.")

    def action_toggle_prompt(self) -> None:
        """Scroll to the beginning of the answer, or back to the prompt."""
        self.review_session.timer.touch()
        if not self.view.answer.toggle_prompt():
            self._inform("Prompt and answer are both visible.")

    def action_toggle_diff(self) -> None:
        """Show what the answer changed, or its text again."""
        self.review_session.timer.touch()
        if self.view.answer.changed_files:
            self.view.answer.toggle_diff()
        else:
            self._inform("This answer changed no file." if self.view.loaded else "The answer is not loaded yet.")

    def action_zoom(self) -> None:
        """Show the answer alone, or everything again."""
        self.review_session.timer.touch()
        self.view.zoom(not self.view.zoomed)
        self.view.focus_answer()

    def action_match(self, by: int) -> None:
        """Go to the next match of a check, or back to the one before."""
        text = self.view.answer.view
        (text.next_match if by > 0 else text.previous_match)()

    def action_focus_extents(self) -> None:
        """Move the focus to the extents, to scroll in them."""
        self.view.criterion.focus_text()

    def action_toggle_queue(self) -> None:
        """Show or hide the queue."""
        self.review_session.timer.touch()
        self.view.open_queue(not self.view.queue_open)
        if self.view.queue_open:
            self.set_focus(self.view.queue.lines)
        else:
            self.view.focus_answer()

    @on(QueuePanel.ItemReached)
    def go_to_reached(self, message: QueuePanel.ItemReached) -> None:
        """Go to the item under the cursor of the queue; if it was selected, move the focus to its answer.

        The focus stays where a later key, which can overtake this message, has moved it.
        """
        if self.keys.busy:
            return
        if message.position != self.review_session.position:
            self.review_session.position = message.position
            self._show_item()
        if message.selected and self.focused is self.view.queue.lines:
            self.view.read_answer()

    def action_filter(self) -> None:
        """Type a filter of the queue."""
        self.view.zoom(False)
        self._queue_was_open = self.view.queue_open
        self.view.open_queue(True)
        self.view.queue.open_filter()

    @on(QueuePanel.FilterChanged)
    def filter_queue(self, message: QueuePanel.FilterChanged) -> None:
        """Apply the filter while it is typed."""
        self.review_session.timer.touch()
        self._set_filter(message.text)

    @on(QueuePanel.FilterClosed)
    def close_filter(self) -> None:
        """Go back to the answer, and say what is wrong with the filter."""
        self.view.open_queue(self._queue_was_open)
        if self.review_session.filter.hint:
            hint = sanitize_line(self.review_session.filter.hint, 300)
            self.notify(hint, severity="warning", markup=False, timeout=6)
        self.view.focus_answer()
        self.keys.release()

    def _set_filter(self, text: str) -> None:
        if self.keys.busy:  # The filter reads the score board.
            self.call_after_refresh(self._set_filter, text)
        else:
            self._apply_filter(text)

    def _apply_filter(self, text: str) -> None:
        self._keep_note()  # before: the filter says whether notes are those of decisions
        self.review_session.set_filter(text, self._filters.texts)
        self._show_item()

    def action_adjudicate(self) -> None:
        """Show only the items on which reviewers disagree, to decide them; or all items again."""
        if self.review_session.deciding:
            self._show_filtered("")  # no act is being saved: keys are held meanwhile
        else:
            self._save(self._scoring.read_new_acts, lambda _: self._show_disputed(), failed="Scores not read")

    def _show_disputed(self) -> None:
        if self.review_session.disputed:
            self._show_filtered("is:disputed")
        else:
            self._show_item()
            self._inform("No open disagreement between reviewers.", timeout=4)

    def _show_filtered(self, filter_text: str) -> None:
        self.view.queue.set_filter_text(filter_text)
        self._apply_filter(filter_text)

    def action_sort(self) -> None:
        """Choose an order of the queue."""
        session = self.review_session
        orders = session.orders
        current = next((index for index, (order, _) in enumerate(orders) if order == session.order), 0)
        lines: list[Line] = [((f" {words}", "plain"),) for _, words in orders]

        def sort(index: int | None) -> None:
            if index is not None:
                session.sort(orders[index][0])
                self._show_item()

        self.app.push_screen(ChoiceScreen("Sort queue", lines, current, verb="sort"), sort)

    def action_open_text(self, name: TextName) -> None:
        """Show a text about the item or the review in a dialog."""
        if not (self.keys.busy and name == "trail"):  # an act is being added to it
            self.review_session.timer.touch()
            self._texts.open(name)

    def action_figures(self) -> None:
        """Show bands, means, agreement, and which model gave which answer."""
        from tui.app.figures_screen import FiguresScreen
        from tui.app.review.figure_lines import review_figures

        if not self.review_session.hidden:
            review = self.review_session.review
            load = partial(review_figures, self._reviews, review.record, review.reviewer)
            self.app.push_screen(FiguresScreen(load))

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """Write a report of the run."""
        if not self.review_session.hidden:
            await self._navigator.export([self.review_session.review.record.id])

    def action_reveal(self) -> None:
        """Show names, after a question that says what was not scored blind yet."""
        self._save(self._scoring.look_again, lambda _: self._ask_reveal(), "Not revealed")

    def _ask_reveal(self) -> None:
        session = self.review_session
        open_items = len(session.review.items) - session.scored
        still_open = f"{counted(open_items, 'item')} of this queue {'is' if open_items == 1 else 'are'} open."
        text = "\n\n".join(filter(None, (_REVEAL, still_open if open_items else "", later_sentence(session))))

        def reveal(confirmed: bool | None) -> None:
            if confirmed:
                self._save(self._scoring.reveal, lambda _: self._show_names())

        self.app.push_screen(ConfirmScreen("Reveal the names?", text, yes="reveal", no="stay blind"), reveal)

    def _show_names(self) -> None:
        self._show_title()
        self.view.reload()
        self._hold.release()
        self._inform("Names are now visible. This was recorded.", timeout=4)

    @work(group="navigate", exclusive=True)
    async def action_open(self, name: ScreenName) -> None:
        """Open another screen for the run and the current case."""
        item, record = self.review_session.item, self.review_session.review.record
        await self._navigator.open(name, Subject(record.suite_path, record, item.key.case if item else None))

    def action_jump(self) -> None:
        """Ask for a case, and go to its first item in the queue."""
        session, here = self.review_session, self.review_session.item

        def go(case_id: str) -> None:
            session.go_to_case(case_id)
            self._show_item()

        jump_to_case(self, session.cases, here.key.case if here else None, go)

    def action_leave(self) -> None:
        """Leave the zoom or the filter; else the screen, after a question if names would be shown or notes lost."""
        if self.view.zoomed:
            self.view.zoom(False)
        elif self.review_session.filter or self.view.queue.filter_text:
            self.view.queue.close_filter()
            self._set_filter("")
        else:
            self._leave()

    def _leave(self) -> None:
        review = self.review_session.review
        blind = _LEAVE_BLIND if self.review_session.hidden and review.items else ""
        look = _LOOK.format(key=key_of(self, "app.leave")) if review.is_blind_open else ""
        question = "\n\n".join(filter(None, (blind, look, self.describe_unsaved_notes())))
        if not question:
            self.dismiss(None)
            return

        def leave(confirmed: bool | None) -> None:
            if confirmed and look:
                self._save(lambda: self._scoring.record_look(_EXPLORE), lambda _: self.dismiss(None))
            elif confirmed:
                self.dismiss(None)

        self.app.push_screen(ConfirmScreen("Leave Review?", question, yes="leave", no="stay"), leave)
