"""Forms: fields with labels and errors, and a dialog with a form."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import ClassVar, NamedTuple, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantBlur, Paste
from textual.message import Message
from textual.strip import Strip
from textual.suggester import SuggestFromList
from textual.widgets import Static, TextArea

from tui.app.bindings import bind
from tui.app.notifications import notify_typist
from tui.app.presentation.field_text import is_shown_whole
from tui.app.screens import Dialog
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.errors import FieldsRefused
from tui.model.sanitize import remove_unseen, sanitize_line, sanitize_text

LONGEST_TEXT = 1_500
"""Characters of a text in a field of a dialog."""
_LONGEST_FAULT = 300
_LARGE = 8
_ENDS_WITH_SPACES = "The spaces at the ends are a part of the text."
Saved = TypeVar("Saved")


class Field(NamedTuple):
    """A field of a form: its name, its label, what is expected, and its first text.

    With `lines` above 1 the text may have several lines, of which so many are displayed at most. `refusal` is why the
    text cannot be edited; only `longest` characters of it are displayed, and no longer text can be pasted.
    `suggestions` are completed as they are typed, and `notes` are displayed below the field while it has their text.
    With `keeps_spaces`, white space at both ends is a part of the text, unless there is nothing else.
    """

    name: str
    label: str
    expected: str
    text: str = ""
    lines: int = 1
    refusal: str = ""
    suggestions: Sequence[str] = ()
    longest: int = LONGEST_TEXT
    notes: Mapping[str, str] = MappingProxyType({})
    keeps_spaces: bool = False

    def read(self, typed: str) -> str:
        """Return the text that was typed into the field."""
        stripped = typed.strip()
        return typed if self.keeps_spaces and stripped else stripped

    def note(self, typed: str) -> str:
        """Return what is displayed below the field while it has this text."""
        if self.lines == 1 and (text := self.read(typed)) != text.strip():
            return _ENDS_WITH_SPACES
        return self.notes.get(typed.strip(), "")


class TextField(TextArea):
    """A field of several lines, as high as its text up to a number of lines."""

    DEFAULT_CSS = """
    TextField, TextField:focus {
        height: auto; min-height: 2; max-height: 12; border: none; padding: 0 1; scrollbar-size-vertical: 1;
        background: $background; color: $foreground;
        & .text-area--cursor { background: $accent; color: $background; }
        & .text-area--placeholder { color: $dim; }
        & .text-area--selection { background: $selected; }
    }
    """

    def __init__(self, placeholder: str, lines: int, longest: int, *, read_only: bool = False) -> None:
        super().__init__(
            compact=True,
            tab_behavior="focus",
            placeholder=Content(placeholder),
            read_only=read_only,
            highlight_cursor_line=False,
            classes="-large" if lines >= _LARGE else None,
        )
        if lines < _LARGE:
            self.styles.max_height = lines
        self._longest = longest

    @property
    def value(self) -> str:
        """The text."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self.load_text(text)

    def start(self) -> None:
        """Focus the field immediately."""
        self.screen.set_focus(self)

    def render_line(self, y: int) -> Strip:
        """Return a line of the field; behind a dialog the field may have no width, to which Textual cannot wrap."""
        return super().render_line(y) if self.content_size.width else Strip.blank(self.size.width)

    def on_paste(self, event: Paste) -> None:
        """Insert a text without characters that a terminal does not show or obeys, or nothing of one that is too long.

        Textual lays out the whole text at each key, so a long one would make the app slow.
        """
        event.text = remove_unseen(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        if len(self.text) - len(self.selected_text) + len(event.text) > self._longest:
            event.prevent_default()
            warning = f"Not pasted: this field has room for {self._longest:,} characters."
            notify_typist(self, warning)


class LineField(PromptInput):
    """A field of one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority, the app would hand further keys to this field before the focus moves.
        bind("up", "app.focus_previous", "form.up", "Previous field", priority=True),
        bind("down", "app.focus_next", "form.down", "Next field", priority=True),
    ]


class ScreenField(LineField):
    """A field of one line in a form that is not a dialog: the footer shows the keys of the form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "app.focus_next", "next field", id="form.next", tooltip="Next field", show=False, priority=True
        ),
        Binding("escape", "leave", "close", id="form.close", tooltip="Close the form", priority=True),
    ]


class Form(Vertical):
    """Fields with a label at the left, and an error or a note below.

    In a dialog, Enter calls `on_entered` with the texts by name. Without `on_entered` it goes to the next field.
    """

    DEFAULT_CSS = """
    Form { height: auto; }
    Form Horizontal { height: auto; }
    Form .label { width: 17; }
    Form PromptInput, Form PromptInput:focus { width: 1fr; background: $background; }
    Form PromptInput.-textual-compact, Form PromptInput.-textual-compact:focus { padding: 0 1; }
    Form TextField { width: 1fr; }
    Form > .below { width: 100%; height: auto; padding: 0 0 0 18; color: $dim; display: none; }
    Form > .below.-shown { display: block; }
    Form > .below.fault { color: $error-mark; }
    """

    class FieldLeft(Message):
        """Posted when the focus leaves a field."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, fields: Sequence[Field], on_entered: Callable[[dict[str, str]], object] | None = None) -> None:
        super().__init__()
        self._fields, self._on_entered = fields, on_entered
        self._input_class = ScreenField if on_entered is None else LineField
        self._inputs = {field.name: self._input_for(field) for field in fields}
        self._below = {name: Static(Content(), markup=False, classes="below") for name in (*self._inputs, "")}
        self._first_texts: dict[str, str] = {}
        self._faults: Mapping[str, str] = {}
        self._judged_texts: dict[str, str] = {}
        for field in fields:
            typed = self._inputs[field.name]
            is_whole = not field.refusal and is_shown_whole(field.text, is_line=field.lines == 1)
            typed.value = field.text if is_whole else _displayed_part(field)
            typed.disabled = bool(field.refusal) and field.lines == 1
            self._first_texts[field.name] = typed.value

    def _input_for(self, field: Field) -> "PromptInput | TextField":
        if field.lines > 1:
            return TextField(field.expected, field.lines, field.longest, read_only=bool(field.refusal))
        typed = self._input_class(field.expected, self, max_length=max(field.longest, len(field.text)))
        if field.suggestions:
            typed.suggester = SuggestFromList(field.suggestions, case_sensitive=False)
        return typed

    def compose(self) -> ComposeResult:
        """Compose a row for each field with the text below it, and the error that belongs to no field."""
        for field in self._fields:
            with Horizontal(classes="-large" if field.lines >= _LARGE else None):
                yield Static(Content(field.label), markup=False, classes="label")
                yield self._inputs[field.name]
            yield self._below[field.name]
        yield self._below[""]

    def on_mount(self) -> None:
        """Show why fields cannot be edited and the notes about their texts, and watch their texts."""
        self._write_texts_below()
        for typed in self._inputs.values():
            if isinstance(typed, PromptInput):
                self.watch(typed, "value", self._write_texts_below, init=False)

    def start(self) -> None:
        """Focus the first field that can be edited."""
        first = next((typed for typed in self._inputs.values() if not typed.disabled), None)
        if first is not None:
            first.start()

    def texts(self) -> dict[str, str]:
        """Return the texts by the names of their fields. A text that was not changed is the first one, exactly."""
        return {
            field.name: field.text
            if self._inputs[field.name].value == self._first_texts[field.name]
            else field.read(self._inputs[field.name].value)
            for field in self._fields
        }

    @property
    def is_changed(self) -> bool:
        """Return whether a text differs from the first one."""
        return any(self._inputs[name].value != first for name, first in self._first_texts.items())

    def show_faults(self, faults: Mapping[str, str], *, focus: bool = True) -> None:
        """Display these errors below their fields, and focus the first field with an error unless `focus` is unset."""
        self._faults = faults
        self._judged_texts = {name: typed.value for name, typed in self._inputs.items()}
        self._write_texts_below()
        wrong = next((name for name in self._inputs if name in faults), None)
        if wrong is not None and focus:
            self._inputs[wrong].start()

    @on(TextArea.Changed)
    def _write_texts_below(self) -> None:
        """Display below each field its error, why it cannot be edited, or the note about its text.

        The error of a field whose text differs from the one that the error is about is hidden.
        """
        fields = {field.name: field for field in self._fields}
        for name, below in self._below.items():
            field, text = fields.get(name), self._inputs[name].value if name else ""
            is_outdated = text != self._judged_texts.get(name, "")
            error = "" if is_outdated else self._faults.get(name, "")
            error = error or (field.refusal if field else "")
            note = field.note(text) if field else ""
            below.update(Content(sanitize_line(error or note, _LONGEST_FAULT)))
            below.set_class(bool(error or note), "-shown")
            below.set_class(bool(error), "fault")

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Post that a field was left."""
        name = next((name for name, typed in self._inputs.items() if typed is event.widget), None)
        if name is not None:
            self.post_message(self.FieldLeft(name))

    @on(PromptInput.Entered)
    def enter(self, message: PromptInput.Entered) -> None:
        """Hand over the texts."""
        message.stop()
        if self._on_entered is not None:
            self._on_entered(self.texts())


def _displayed_part(field: Field) -> str:
    """Return what is displayed of a text that cannot be edited."""
    if field.lines == 1:
        return sanitize_line(field.text, field.longest)
    rest = "…" if len(field.text) > field.longest else ""
    return sanitize_text(field.text[: field.longest]) + rest


class FormDialog(Dialog[Saved | None]):
    """A dialog with a form. Its result is what `save` returns, or None if it is closed without changes.

    `save` is called in a thread with the texts by field, and raises FieldsRefused, whose faults are displayed below
    their fields. `about` is a text above the fields.
    """

    DEFAULT_CSS = """
    FormDialog > Vertical { width: 92; max-height: 90%; }
    FormDialog Form > Horizontal { margin-top: 1; }
    FormDialog.-plain Form > Horizontal:first-child { margin-top: 0; }
    FormDialog #about { height: auto; max-height: 6; color: $dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="form.leave", tooltip="Close without changes"),
        bind("tab", "app.focus_next", "form.tab", "Next field", priority=True),
        bind("shift+tab", "app.focus_previous", "form.back", "Previous field", priority=True),
    ]

    def __init__(
        self, title: str, about: str, fields: Sequence[Field], save: Callable[[Mapping[str, str]], Saved]
    ) -> None:
        super().__init__()
        self._title, self._about, self._save = sanitize_line(title, 80), sanitize_text(about), save
        self._form = Form(fields, self._start_to_save)
        self.set_class(not about, "-plain")
        self._is_saving = self._is_left = False
        self._warned_of: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """Compose the text above the fields, and the form."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("↑ ↓ field · Enter apply · Esc close")
            if self._about:
                yield Static(Content(self._about), markup=False, id="about")
            yield self._form

    def on_mount(self) -> None:
        """Focus the first field."""
        self._form.start()

    @on(PromptInput.Left)
    def leave(self, message: PromptInput.Left) -> None:
        """Close the form without changes; while it is being saved, as soon as that has ended."""
        message.line.start()
        self.action_leave()

    def action_leave(self) -> None:
        """Close the form; if texts were changed, warn of that first."""
        texts = self._form.texts()
        if self._form.is_changed and not self._is_saving and texts != self._warned_of:
            self._warned_of = texts
            notify_typist(self, "Nothing is saved yet. Esc again closes the form.", timeout=4)
            return
        self._is_left = True
        if not self._is_saving:
            super().action_leave()

    def _start_to_save(self, texts: Mapping[str, str]) -> None:
        if not self._is_saving:
            self._is_saving = True
            start_worker(self, partial(self._save_texts, texts), group="save")

    async def _save_texts(self, texts: Mapping[str, str]) -> None:
        """Save the texts and close the form, or display why they are refused."""
        try:
            saved = await asyncio.to_thread(self._save, texts)
        except FieldsRefused as refused:
            if self._is_left:
                super().action_leave()
            self._form.show_faults(refused.faults)
        else:
            self.dismiss(saved)
        finally:
            self._is_saving = False
