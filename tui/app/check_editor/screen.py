"""The check editor: the text of a check, and which recorded verdicts it would change."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize

from tui.app.bindings import bind
from tui.app.check_editor.lines import (
    AnswerRows,
    answer_line,
    head_line,
    language_of,
    names_of,
    status_line,
    verdict_words,
)
from tui.app.context import AppContext
from tui.app.dialogs import ConfirmScreen
from tui.app.keymap import shared
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.presentation.checks_lines import CheckRow
from tui.app.presentation.pieces import Line
from tui.app.screens import AppScreen
from tui.app.suite_loader import SuitesRead
from tui.app.text.page import Mark, MarkKind
from tui.app.widgets.answer_view import AnswerView
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.text_views import PieceLine
from tui.app.workers import start_worker
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Check, Suite
from tui.session.check_edits import CheckPlace, RecordedAnswer

_DEBOUNCE_SECONDS = 0.03
_SLOW_SECONDS = 0.4
_LONGEST = 32_768  # the longest pattern that a suite may have
_NARROW = 90


class _TextLine(PieceLine):
    """A line that displays the pieces it was given."""

    DEFAULT_CSS = "_TextLine { background: $background; }"
    pieces: Line = ()

    def line_for(self, width: int) -> Line:
        del width
        return self.pieces

    def show(self, pieces: Line) -> None:
        """Display other pieces."""
        self.pieces = pieces
        self.draw()


class _CheckInput(PromptInput):
    """The text of the check."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("enter", "screen.go_to_answers", "check.answers", "Go to the recorded answers", "answers", "Enter"),
        bind("escape", "screen.leave", "check.leave-text", "Close the check editor", "back"),
    ]


class _AnswerList(LineListView):
    """The recorded answers."""

    def __init__(self, rows: AnswerRows) -> None:
        super().__init__()
        self._rows = rows
        self.names: dict[str, str] = {}
        self.with_case = False

    @property
    def line_count(self) -> int:
        return len(self._rows.answers)

    def line_at(self, place: int, width: int) -> Line:
        found = self._rows.at(place)
        return answer_line(*found, self.names, width, with_case=self.with_case) if found else ()


class CheckEditorScreen(AppScreen[Suite]):
    """Edit the text of a check. Recorded answers are judged with it at once, and the text is saved on request.

    The result is the suite as it was saved, or as it was when the editor was opened.

    The scope is the check of one case, or every equal check of the suite: it selects the answers that are judged, and
    the checks that are saved. The answers of `model` come first.
    """

    DEFAULT_CSS = """
    CheckEditorScreen { background: $background; color: $foreground; }
    CheckEditorScreen #check, CheckEditorScreen #recorded, CheckEditorScreen #answer {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    CheckEditorScreen #check { height: 3; }
    CheckEditorScreen #check PromptInput, CheckEditorScreen #check PromptInput:focus { background: $background; }
    CheckEditorScreen _TextLine { padding: 0 2; }
    CheckEditorScreen #body { height: 1fr; }
    CheckEditorScreen #recorded { width: 38%; min-width: 30; }
    CheckEditorScreen #answer { width: 1fr; }
    CheckEditorScreen.-narrow #body { layout: vertical; }
    CheckEditorScreen.-narrow #recorded { width: 100%; height: 40%; }
    """
    TITLE = "Check editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("ctrl+s,w", "save", "check.save", "Save the check to the suite's file", "save"),
        bind("ctrl+t", "toggle_scope", "check.scope", "Edit this check, or every equal check of the suite", "scope"),
        bind("down", "move(1)", "check.down", "Next recorded answer"),
        bind("up", "move(-1)", "check.up", "Previous recorded answer"),
        shared("answer.next-match", "match(1)", label="next match"),
        shared("answer.previous-match", "match(-1)"),
        bind("escape", "leave", "check.leave", "Close the check editor", "back"),
    ]
    AUTO_FOCUS = "PromptInput"

    def __init__(self, context: AppContext, open_suite: OpenSuite, case: Case, row: CheckRow, model: str) -> None:
        super().__init__()
        assert open_suite.suite is not None
        self.context, self._path, self._case = context, open_suite.path, case
        self._model = model
        self._suite: Suite = open_suite.suite
        self._place = CheckPlace(case.id, row.step, row.number)
        self._recorded = row.check
        """The check as it was when the editor was opened, which recorded results name."""
        self._saved = row.check
        self._places: tuple[CheckPlace, ...] = (self._place,)
        self._rows, self._fault, self._searching = AnswerRows(), "", True
        rows = {each.id: each.row.values for each in self._suite.cases if each.row is not None}
        self._trial = context.session.check_edits.trial(rows)
        self._shown: RecordedAnswer | None = None
        self._chosen: RecordedAnswer | None = None
        """The answer that the user moved the cursor to; without one the cursor stays on the first row."""
        self._head, self._status = _TextLine(), _TextLine()
        self._list, self._answer = _AnswerList(self._rows), AnswerView()
        self._input = _CheckInput("", self._list, max_length=_LONGEST)
        self._answer_box = Vertical(self._answer, id="answer")

    def compose(self) -> ComposeResult:
        """Compose the text of the check above the recorded answers and the highlighted one."""
        yield self._head
        with Vertical(id="check") as box:
            box.border_title = Content(language_of(self._recorded))
            yield self._input
        yield self._status
        with Horizontal(id="body"):
            with Vertical(id="recorded") as box:
                box.border_title = Content("Recorded answers")
                yield self._list
            yield self._answer_box
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the check, and read the recorded answers."""
        self._head.show(head_line(self._case, self._recorded, self._path))
        self._input.value = self._recorded.target
        self._input.handle_in_order("check.answers", "check.leave-text", "check.save")
        self.context.unsaved_work.append(self._describe_unsaved)
        self._read()
        start_worker(self, self._trial.start, group="start")

    async def on_unmount(self) -> None:
        """End the worker processes."""
        self.context.unsaved_work.remove(self._describe_unsaved)
        await self._trial.close()

    def on_resize(self, event: Resize) -> None:
        """Show the answers above each other where the screen is narrow."""
        self.set_class(event.size.width < _NARROW, "-narrow")

    @property
    def _check(self) -> Check:
        return replace(self._saved, target=self._input.value)

    @property
    def _is_saved(self) -> bool:
        return self._input.value == self._saved.target

    def _describe_unsaved(self) -> str:
        return "" if self._is_saved else "A check was edited and not saved."

    @work(group="read", exclusive=True)
    async def _read(self) -> None:
        """Read the recorded answers of the scope, and judge them."""
        self._searching = True
        self._show_status()
        try:
            edits = self.context.session.check_edits
            answers = await asyncio.to_thread(edits.read_answers, self._suite, self._places)
        except AssayError as error:
            notify_error(self, error)
            answers = ()
        for run in dict.fromkeys(answer.run for answer in answers):
            self.context.scores.record_names(run, "the check editor")
        # The answers that were displayed come first.
        here = sorted(answers, key=lambda each: (each.trial.case != self._case.id, each.trial.model != self._model))
        self._rows.show(here)
        self._list.names, self._list.with_case = names_of(answers), len(self._places) > 1
        self._list.lines_changed(0)
        self._judge()

    @on(PromptInput.Typed)
    def judge_typed(self, message: PromptInput.Typed) -> None:
        """Judge the recorded answers with the text so far."""
        message.stop()
        self._judge()

    @work(group="judge", exclusive=True)
    async def _judge(self) -> None:
        """Judge the answers with the current text, the highlighted one first. A later call cancels this one."""
        self._searching, self._fault = True, ""
        self._rows.forget()
        self.set_timer(_SLOW_SECONDS, self._show_searching)
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        check = self._check
        self._fault = await self._trial.fault(check, self._case.id) or ""
        if not self._fault:
            await self._judge_answers(check)
        self._searching = False
        self._show_results()

    async def _judge_answers(self, check: Check) -> None:
        accept = self._suite.options.accept_truncated
        first = self._list.cursor
        order = list(self._rows.order)
        if 0 <= first < len(order):
            order.insert(0, order.pop(first))
        answers = [self._rows.answers[number] for number in order]
        place = 0
        batches = self._trial.judge(self._recorded, check, answers, accept_truncated=accept)
        async with aclosing(batches):
            async for batch in batches:
                self._rows.add(dict(zip(order[place:], batch, strict=False)))
                place += len(batch)
                self._show_results()

    def _show_searching(self) -> None:
        """Draw that results are awaited: a slow pattern would leave those of the text before it."""
        if self._searching:
            self._show_results()

    def _show_results(self) -> None:
        """Draw the rows, the status and the highlighted answer; the cursor stays on the answer that was chosen."""
        self._list.lines_changed(self._rows.row_of(self._chosen) if self._chosen else 0)
        self._list.go_to(self._list.cursor)
        self._show_status()
        self._show_answer()

    def _show_status(self) -> None:
        self._status.show(
            status_line(
                self._rows,
                self._fault,
                searching=self._searching,
                is_saved=self._is_saved,
                cases=len({place.case for place in self._places}),
            )
        )

    def _show_answer(self) -> None:
        """Show the highlighted answer with the matches of the check."""
        found = self._rows.at(self._list.cursor)
        self._answer_box.display = found is not None
        if found is None:
            self._shown = None
            return
        answer, judged = found
        if answer is not self._shown:
            self._shown = answer
            self._answer.show(answer.text)
            self._answer_box.border_title = Content(sanitize_line(answer.trial.model, 80))
        if judged is not None:
            kind: MarkKind = "forbidden" if self._saved.kind == "forbidden_pattern" else "expected"
            self._answer.mark([Mark(start, end, kind) for start, end in judged.result.spans])
        elif self._fault:
            self._answer.mark([])
        self._answer_box.border_subtitle = Content(verdict_words(answer, judged))

    @on(LineListView.Reached)
    def show_reached(self, message: LineListView.Reached) -> None:
        """Show the answer under the cursor."""
        message.stop()
        self._show_answer()
        self._chosen = self._shown

    @on(LineListView.Chosen)
    def read_answer(self, message: LineListView.Chosen) -> None:
        """Show the chosen answer, and focus it."""
        self.show_reached(message)
        self._answer.focus()

    def action_go_to_answers(self) -> None:
        """Focus the recorded answers at once: the next key is for them."""
        self.set_focus(self._list)

    def action_move(self, by: int) -> None:
        """Highlight the next or previous answer, also while the check is typed."""
        self._list.action_move(by)

    def action_match(self, by: int) -> None:
        """Go to the next or previous match in the answer."""
        if by > 0:
            self._answer.next_match()
        else:
            self._answer.previous_match()

    def action_toggle_scope(self) -> None:
        """Edit the check of this case, or every equal check of the suite."""
        if len(self._places) > 1:
            self._places = (self._place,)
        else:
            self._places = self.context.session.check_edits.places(self._suite, self._saved)
            if len(self._places) <= 1:
                self.notify("No other case of the suite has this check.", markup=False, timeout=3)
                return
        self._read()

    @work(group="save", exclusive=True)
    async def action_save(self) -> None:
        """Write the check to the file, and read the suite again."""
        check, before = self._check, self._saved
        if self._is_saved:
            self.notify("The check is saved already.", markup=False, timeout=3)
            return
        if fault := await self._trial.fault(check, self._case.id):
            self.notify(f"Not saved: {sanitize_line(fault, 300)}", severity="warning", markup=False)
            return
        edits, open_suites = self.context.session.check_edits, self.context.open_suites
        try:
            digest = await asyncio.to_thread(edits.save_check, self._suite, self._places, before.target, check.target)
        except AssayError as error:
            notify_error(self, error)
            return
        self._saved = check
        read = await asyncio.to_thread(open_suites.read, self._path)
        open_suites.display([self._path])
        # With another program's change after the saved one, the places may be those of other tests.
        if read.suite is not None and read.suite.sha256 == digest:
            self._suite = read.suite
        self.context.post(SuitesRead([self._path], again=False))
        self._show_status()
        places = f" in {len(self._places):,} places" if len(self._places) > 1 else ""
        self.notify(f"Saved{places}: {sanitize_line(self._path.name, 80)}", markup=False, timeout=3)

    @work(group="leave", exclusive=True)
    async def action_leave(self) -> None:
        """Close the editor; ask first if the check is not saved."""
        if not self._is_saved:
            question = "The check was edited and not saved."
            if not await self.app.push_screen_wait(ConfirmScreen("Discard?", question, yes="discard", no="keep")):
                return
        self.dismiss(self._suite)
