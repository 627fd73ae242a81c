"""The case editor: a form for a whole case, which is new, a copy, or in the suite's file."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import ClassVar, get_args

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tui.app.bindings import bind
from tui.app.case_editor.case_state import (
    KIND_NOTES,
    LONGEST_FIELD,
    CaseField,
    CaseState,
    CheckEntry,
    check_line,
)
from tui.app.context import AppContext
from tui.app.dialogs import ConfirmScreen
from tui.app.keymap import key_of
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.presentation.checks_lines import check_rows
from tui.app.presentation.field_text import text_refusal
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.app.run_controls import broken_words
from tui.app.screens import AppScreen
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.form import Field, Form, FormDialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.text_views import PieceLine
from tui.model.errors import AssayError, FieldsRefused
from tui.model.sanitize import remove_unseen, sanitize_line
from tui.model.suggest import did_you_mean
from tui.model.suite import Case, Suite, TaskType
from tui.model.values import JsonObject
from tui.session.check_edits import CaseEdit, CaseFault, CasePath, is_editable, is_filled_in

_WIDE = 140
_TALL, _TALL_NARROW, _FILLED = 40, 55, 36
_TITLES: Mapping[CaseEdit, str] = {"edit": "Edit case", "copy": "Duplicate of case", "new": "New case after"}
_NO_CHECK = "No check: every complete answer is unchecked."
_UNSAVED = "A case was edited and not saved."
_WHOLE_ANSWER = "The expectation of a whole answer is edited in the file."
_HEIGHTS = {"prompt": 12, "text": 6, "files": 5}


class _HeadLine(PieceLine):
    """What is edited, in which file, and which keys of the case the form does not show."""

    DEFAULT_CSS = "_HeadLine { background: $background; padding: 0 2; }"
    title = name = file = others = ""

    def line_for(self, width: int) -> Line:
        rest = f"  also in the file: {self.others}" if self.others else ""
        line: Line = ((self.title, "accent"), (f" {self.name}", "strong"), (f"  {self.file}", "dim"), (rest, "dim"))
        return line if width_of(text_of(line)) <= width - 4 else (*line[:2], (rest or f"  {self.file}", "dim"))


class CheckList(LineListView):
    """The checks of the case: Enter edits one."""

    DEFAULT_CSS = "CheckList { height: auto; min-height: 3; max-height: 12; background: $background; }"

    def __init__(self, state: CaseState) -> None:
        super().__init__()
        self._state = state
        self.faults: Mapping[int, str] = {}

    @property
    def line_count(self) -> int:
        return max(1, len(self._state.checks))

    def line_at(self, place: int, width: int) -> Line:
        if not self._state.checks:
            return ((_NO_CHECK, "dim"),)
        return check_line(self._state.checks[place], self.faults.get(place, ""), width)


class CaseEditorScreen(AppScreen[str | None]):
    """Edit a case of a suite file in a form. The result is the id of the case that was saved, or None.

    `value` is the case as the file has it, or the first value of a new case or a copy, which is added after `case`.
    Fields are validated when they are left, with the messages of `assay validate`.
    """

    DEFAULT_CSS = """
    CaseEditorScreen { background: $background; color: $foreground; }
    CaseEditorScreen #body { height: 1fr; scrollbar-size-vertical: 1; }
    CaseEditorScreen #fields, CaseEditorScreen #checks {
        height: auto; padding: 0 1; border: round $quiet-border; border-title-color: $foreground;
        border-subtitle-color: $dim;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    CaseEditorScreen.-wide #body { layout: horizontal; }
    CaseEditorScreen.-wide #fields { width: 3fr; }
    CaseEditorScreen.-wide #checks { width: 2fr; }
    CaseEditorScreen Form PromptInput, CaseEditorScreen Form TextField { background: $raised; }
    CaseEditorScreen Form PromptInput:focus, CaseEditorScreen Form TextField:focus { background: $selected; }
    CaseEditorScreen Form PromptInput:focus > .input--placeholder { color: $foreground; text-style: italic; }
    CaseEditorScreen Form TextField:focus .text-area--placeholder { color: $foreground; text-style: italic; }
    CaseEditorScreen #checks > Static { display: none; height: auto; padding: 1 1 0 1; color: $dim; }
    CaseEditorScreen.-filled #checks > Static { display: block; }
    CaseEditorScreen.-filled #fields { height: 1fr; }
    CaseEditorScreen.-filled.-wide #fields { height: 100%; }
    CaseEditorScreen.-filled Form { height: 1fr; overflow-y: auto; scrollbar-size-vertical: 1; }
    CaseEditorScreen.-filled Form > Horizontal.-large { height: 1fr; min-height: 4; }
    CaseEditorScreen.-filled TextField.-large { height: 100%; max-height: 100%; }
    CaseEditorScreen.-tall Form > Horizontal { margin-top: 1; }
    CaseEditorScreen.-tall Form > Horizontal:first-child { margin-top: 0; }
    CaseEditorScreen.-tall TextField { min-height: 3; }
    CaseEditorScreen.-tall Form > Horizontal.-large { min-height: 10; }
    """
    TITLE = "Case editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("a", "add_check", "case.add-check", "Add a check", "add check"),
        bind("D", "remove_check", "case.remove-check", "Remove the check", "remove check"),
        bind("delete", "remove_check", "case.remove-check-too", "Remove the check"),
        bind("ctrl+s", "save", "case.save", "Save the case to the suite's file", "save"),
        bind("tab", "app.focus_next", "case.next", "Next field", "next field", "Tab", priority=True),
        bind("shift+tab", "app.focus_previous", "case.before", "Previous field", priority=True),
        bind("escape", "leave", "case.leave", "Close the case editor", "close"),
    ]
    AUTO_FOCUS = ""

    def __init__(
        self, context: AppContext, open_suite: OpenSuite, case: Case, edit: CaseEdit, value: JsonObject
    ) -> None:
        super().__init__()
        assert open_suite.suite is not None
        self.context, self._path, self._case, self._edit = context, open_suite.path, case, edit
        self._suite: Suite = open_suite.suite
        self._state = CaseState(self._suite.format, value)
        self._own = str(value.get("id")) if edit == "edit" else None
        self._visited: set[str] = set()
        self._saving = self._saved = self._edits_check = False
        self._head = _HeadLine()
        self._form = Form([*map(self._field, self._state.fields)])
        self._checks = CheckList(self._state)
        self._check_box = Vertical(id="checks")
        self._kind_note = Static(Content(), markup=False)

    def _field(self, field: CaseField) -> Field:
        """Return the field of the form for a field of the case."""
        lines = 1 if field.kind in ("line", "tags") else _HEIGHTS.get(field.name) or _HEIGHTS.get(field.kind, 12)
        if field.name.startswith("input"):
            lines = _HEIGHTS["prompt"]
        suggestions: tuple[str, ...] = ()
        if field.name == "category":
            suggestions = tuple(dict.fromkeys(case.category for case in self._suite.cases))
        elif field.name == "testType":
            suggestions = get_args(TaskType)
        text, refusal = self._state.text_of(field), self._state.refusal(field)
        return Field(
            field.name,
            field.label,
            field.expected,
            text,
            lines,
            refusal,
            suggestions,
            LONGEST_FIELD,
            keeps_spaces=field.kind == "text",
        )

    def compose(self) -> ComposeResult:
        """Compose the fields and the checks: below each other, or side by side on a wide screen."""
        yield self._head
        with VerticalScroll(id="body", can_focus=False):
            with Vertical(id="fields") as box:
                box.border_title = Content("Case")
                yield self._form
            with self._check_box:
                self._check_box.border_title = Content("Checks")
                yield self._checks
                yield self._kind_note
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the case, and focus the title."""
        self.context.unsaved_work.append(self._describe_unsaved)
        self._head.title, self._head.name = _TITLES[self._edit], sanitize_line(self._case.title, 60)
        self._head.file = sanitize_line(self._path.name, 60)
        self._head.others = ", ".join(sanitize_line(key, 40) for key in self._state.other_keys())
        self._head.draw()
        add, remove = key_of(self, "case.add-check"), key_of(self, "case.remove-check")
        self._check_box.border_subtitle = Content(f"Enter edit · {add} add · {remove} remove")
        self._checks.lines_changed(0)
        self._describe_check()
        self._form.start()

    def on_unmount(self) -> None:
        """Forget the unsaved case."""
        self.context.unsaved_work.remove(self._describe_unsaved)

    def on_resize(self, event: Resize) -> None:
        """Show the checks beside the fields where the screen is wide, and large fields where it is tall."""
        is_wide = event.size.width >= _WIDE
        self.set_class(is_wide, "-wide")
        self.set_class(event.size.height >= (_TALL if is_wide else _TALL_NARROW), "-tall")
        self.set_class(event.size.height >= _FILLED, "-filled")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: those of the checks are characters elsewhere."""
        del parameters
        return action not in ("add_check", "remove_check") or self.focused is self._checks

    def _describe_unsaved(self) -> str:
        return _UNSAVED if self._is_changed and not self._saved else ""

    @property
    def _is_changed(self) -> bool:
        return self._form.is_changed or tuple(self._state.checks) != self._state.first_checks

    @on(Form.FieldLeft)
    def validate_left(self, message: Form.FieldLeft) -> None:
        """Validate the case when a field is left; fields that were not visited yet have no error."""
        message.stop()
        self._visited.add(message.name)
        self._validate()

    @work(group="validate", exclusive=True)
    async def _validate(self) -> None:
        self._show_faults(await self._find_faults(self._draft(), self._suite))

    async def _find_faults(self, draft: JsonObject, suite: Suite) -> Mapping[CasePath, CaseFault]:
        unclear = self._state.unclear_files(self._form.texts())
        edits = self.context.session.check_edits
        faults = await asyncio.to_thread(edits.case_faults, suite, draft, self._own)
        return {**faults, **{path: CaseFault(what, is_error=True) for path, what in unclear.items()}}

    async def _is_refused(self, draft: JsonObject, suite: Suite) -> bool:
        """Return whether the case has errors in a version of its suite, and show them."""
        faults = await self._find_faults(draft, suite)
        if not any(fault.is_error for fault in faults.values()):
            return False
        self._show_faults(faults, focus=True)
        self.notify("Not saved. Correct the marked fields.", severity="warning", markup=False, timeout=4)
        return True

    def _draft(self) -> JsonObject:
        return self._state.value_with(self._form.texts())

    def _show_faults(self, faults: Mapping[CasePath, CaseFault], *, focus: bool = False) -> None:
        """Show faults at the visited fields and the checks."""
        fields: dict[str, str] = {}
        checks: dict[int, str] = {}
        for path, fault in faults.items():
            place, what = self._state.place_of(path), fault.what if fault.is_error else f"warning: {fault.what}"
            if isinstance(place, int):
                checks.setdefault(place, what)
            elif place in self._visited or not place:
                line = f"line {path[1] + 1}: " if len(path) > 1 and isinstance(path[1], int) and place else ""
                fields.setdefault(place, f"{line}{what}")
        self._checks.faults = checks
        self._checks.refresh()
        self._form.show_faults(fields, focus=focus)
        if focus and checks and not any(fields):
            self._checks.focus()

    @on(LineListView.Chosen)
    @work(group="check")
    async def edit_check(self, message: LineListView.Chosen) -> None:
        """Edit the chosen check: in the check editor if the file has it as one line, else in a form."""
        with self._keep_checks() as is_free:
            if is_free:
                await self._edit_check(message.place)

    async def _edit_check(self, place: int) -> None:
        checks = self._state.checks
        if not checks:
            await self._edit_in_form(CheckEntry(self._state.kinds[0], ""), 0)
        elif place < len(checks):  # others may have been removed by a quick key
            entry = checks[place]
            if not entry.has_text:
                self.notify(_WHOLE_ANSWER, severity="warning", markup=False)
            elif not await self._open_check_editor(entry):
                await self._edit_in_form(entry, place)

    @contextmanager
    def _keep_checks(self) -> Iterator[bool]:
        """Let nothing else change the list of checks meanwhile; yield whether nothing else is about to do so."""
        if self._edits_check:
            yield False
            return
        self._edits_check = True
        try:
            yield True
        finally:
            self._edits_check = False

    async def _open_check_editor(self, entry: CheckEntry) -> bool:
        """Edit a check that is saved in the file with its recorded answers; return whether it can be edited there."""
        from tui.app.check_editor.screen import CheckEditorScreen

        suites, edits = self.context.open_suites, self.context.session.check_edits
        open_suite = suites.get(self._path)
        suite = open_suite.suite if open_suite is not None and not open_suite.broken else None
        at = self._state.place_in_file(entry)
        if open_suite is None or suite is None or self._edit != "edit" or at is None:
            return False
        try:
            case = await asyncio.to_thread(edits.find_case, suite, self._case, self._state.base)
        except AssayError:
            return False
        rows = check_rows(case)
        row = rows[at] if at < len(rows) else None
        if row is None or row.check.target != entry.text or remove_unseen(entry.text) != entry.text:
            return False
        if not is_editable(row.check) or is_filled_in(case, row.number):
            return False
        model = next(iter(self.context.selection.models), "")
        saved = await self.app.push_screen_wait(CheckEditorScreen(self.context, open_suite, case, row, model))
        if saved is not suite:
            self._suite, self._case = saved, case
            try:
                self._state.adopt_checks(await asyncio.to_thread(edits.read_case, saved, case, "edit"))
            except AssayError as error:
                notify_error(self, error)
            self._checks_changed(self._checks.cursor)
        return True

    async def _edit_in_form(self, entry: CheckEntry, at: int) -> None:
        """Edit a check in a form; one that is not in the list is inserted at the index `at`."""
        state, before = self._state, list(self._state.checks)
        is_new = not any(each is entry for each in before)
        if is_new:
            state.checks.insert(at, entry)
        kinds, lines = state.kinds, 6 if "\n" in entry.text else 1
        refusal, expected = text_refusal(entry.text, LONGEST_FIELD, is_line=lines == 1), "a pattern, a text, or JSON"
        fields = (
            Field("kind", "Kind", f"{kinds[0]}, {kinds[1]}, …", entry.kind, suggestions=kinds, notes=KIND_NOTES),
            Field("text", "Text", expected, entry.text, lines, refusal, longest=LONGEST_FIELD, keeps_spaces=True),
            Field("limit", "Limit", "ms, USD, tokens or a share; or empty", entry.limit),
        )
        title, about = "New check" if is_new else "Edit check", f"Kinds: {', '.join(kinds)}"
        form = FormDialog(title, about, fields, partial(self._change_check, at, self._form.texts()))
        changed = await self.app.push_screen_wait(form)
        if changed is None:
            state.checks = before
        else:
            state.checks[at] = changed
        self._checks_changed(at)

    def _change_check(self, at: int, form_texts: Mapping[str, str], texts: Mapping[str, str]) -> CheckEntry:
        """Return the check at an index with the texts of its form. Raises FieldsRefused. Called in a thread."""
        state, checks = self._state, list(self._state.checks)
        if texts["kind"] not in (*state.kinds, checks[at].kind):
            meant = did_you_mean(texts["kind"], state.kinds)
            raise FieldsRefused({"kind": f"Unknown kind. {meant or 'Use one of the kinds above.'}"})
        checks[at] = state.changed_check(checks[at], texts["kind"], texts["text"], texts["limit"])
        draft = state.value_with(form_texts, checks)
        faults = self.context.session.check_edits.case_faults(self._suite, draft, self._own)
        own = {path: each.what for path, each in faults.items() if each.is_error and state.place_of(path, checks) == at}
        if own:
            raise FieldsRefused({"limit" if path[-1] == "threshold" else "text": what for path, what in own.items()})
        return checks[at]

    def _checks_changed(self, cursor: int) -> None:
        self._checks.lines_changed(cursor)
        self._checks.refresh(layout=True)
        self._describe_check()
        self._validate()

    @on(LineListView.Reached)
    def _describe_check(self) -> None:
        """Display below the list what the highlighted check requires."""
        at, checks = self._checks.cursor, self._state.checks
        kind = checks[at].kind if 0 <= at < len(checks) else ""
        self._kind_note.update(Content(KIND_NOTES.get(kind, "")))

    @work(group="check")
    async def action_add_check(self) -> None:
        """Add a check after the highlighted one, to the same step."""
        with self._keep_checks() as is_free:
            if not is_free:
                return
            at = self._checks.cursor + 1 if self._state.checks else 0
            beside = self._state.checks[at - 1] if at else None
            kind = beside.kind if beside is not None and beside.kind in self._state.kinds else self._state.kinds[0]
            await self._edit_in_form(CheckEntry(kind, "", step=beside.step if beside else 0), at)

    def action_remove_check(self) -> None:
        """Remove the highlighted check."""
        if not self._state.checks or self._edits_check:
            return
        if not self._state.checks[self._checks.cursor].has_text:
            self.notify(_WHOLE_ANSWER, severity="warning", markup=False)
            return
        del self._state.checks[self._checks.cursor]
        self._checks_changed(self._checks.cursor)

    @work(group="save", exclusive=True)
    async def action_save(self) -> None:
        """Write the case to the file and close, or show why it cannot be saved."""
        if self._saving:
            return
        self._saving = True
        try:
            await self._save()
        finally:
            self._saving = False

    async def _save(self) -> None:
        if self._edit == "edit" and not self._is_changed:
            self.dismiss(None)
            return
        self._visited |= {field.name for field in self._state.fields}
        draft = self._draft()
        if await self._is_refused(draft, self._suite):
            return
        suites, edits = self.context.open_suites, self.context.session.check_edits
        try:
            read = await asyncio.to_thread(suites.read, self._path)
            if read.suite is None or read.broken:
                self.notify(broken_words(read), title="Not saved", severity="warning", markup=False, timeout=8)
                return
            if await self._is_refused(draft, read.suite):  # another program may have added a case with its id
                return
            args = read.suite, self._case, self._edit, self._state.base, draft
            saved = await asyncio.to_thread(edits.save_case, *args)
        except AssayError as error:
            notify_error(self, error)
            return
        self._saved = True
        await asyncio.to_thread(suites.read, self._path)
        suites.display([self._path])
        self.context.post(SuitesRead([self._path], again=False))
        self.notify(f"Saved: {sanitize_line(self._path.name, 80)}", markup=False, timeout=3)
        self.dismiss(saved)

    @on(PromptInput.Left)
    def leave_field(self, message: PromptInput.Left) -> None:
        """Close the editor; if it stays open, the field has the focus again."""
        message.stop()
        self.action_leave(message.line)

    @work(group="leave", exclusive=True)
    async def action_leave(self, field: PromptInput | None = None) -> None:
        """Close the editor; ask first if the case is not saved."""
        if self._is_changed:
            question = ConfirmScreen("Discard?", _UNSAVED, yes="discard", no="keep")
            if not await self.app.push_screen_wait(question):
                if field is not None:
                    field.start()
                return
        self.dismiss(None)
