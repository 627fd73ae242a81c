"""The dialog that writes a report or a set of figures to a file: format, options, file name, and what was written."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tui.app.keymap import key_of, with_keys
from tui.app.presentation.pieces import Line, Role
from tui.app.presentation.text_rows import cut_rows, text_rows
from tui.app.screens import Dialog
from tui.app.theme.styles import content_of_lines
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.current_folder import absolute_path
from tui.model.errors import AssayError
from tui.model.sanitize import remove_unseen, sanitize_line

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9]+")
_FRAME = 6  # columns beside the text of the dialog
_MOST_WIDTH = 92
_MESSAGE_ROWS = 6
_LIST_HINT = "Enter {enter} · Tab next field · Esc close"
_COPY_HINT = "Enter {enter} · Tab next field · {{copy_command}} copy command · Esc close"
_NAME_HINT = "Enter save · Tab next field · Esc back"
_WRITTEN_HINT = "Enter or Esc close"


class Format(NamedTuple):
    """A file format: its name, the extension of its files, and a description of its use."""

    name: str
    suffix: str
    says: str


class Option(NamedTuple):
    """A part that an export can include, and the formats that have no choice about it, each with the reason."""

    name: str
    label: str
    fixed: dict[str, str]


class Export(Protocol):
    """What the dialog writes. `warning` is a sentence that is displayed first, or an empty text."""

    title: str
    warning: str
    stem: str
    formats: Sequence[Format]
    options: Sequence[Option]
    chosen: frozenset[str]

    def write(self, file: Path, format: str, chosen: frozenset[str], *, replaces: bool) -> None:
        """Write the file with the options in `chosen`. Blocks.

        Raises AssayError, and FileExistsError if the file exists and `replaces` is false.
        """
        ...

    def written(self) -> None:
        """Note that the file was written."""
        ...

    def command(self, file: str, format: str, chosen: frozenset[str]) -> str:
        """Return the command line that writes the same file; empty if there is none."""
        ...


def file_stem(name: str) -> str:
    """Return a name as the beginning of a file name."""
    return _NOT_FOR_NAMES.sub("-", name).strip("-").lower()[:60]


def with_suffix(name: str, suffix: str, known: Sequence[str]) -> str:
    """Return a file name with the extension of a format, in place of the extension of another one."""
    path = Path(name)
    if not name.strip() or not path.name or name.endswith(("/", "\\")):
        return name
    stem = name[: -len(path.suffix)] if path.suffix.lower() in known else name
    return name if path.suffix and path.suffix.lower() not in known else stem + suffix


def format_line(format: Format) -> Line:
    """Return the line of a format in the list."""
    return ((f" {format.name:<10}", "strong"), (format.says, "dim"))


def option_line(option: Option, key: str, format: str, chosen: frozenset[str]) -> Line:
    """Return the line of an option: a box, its key and label, or why the format has no choice."""
    fixed = option.fixed.get(format, "")
    role: Role = "dim" if fixed else "plain"
    box = "[x]" if option.name in chosen and not fixed else "[ ]" if not fixed else " – "
    return ((f" {box} ", role), (f"{key} ", "accent"), (option.label, role), (f"  {fixed}", "dim"))


def size_words(size: int) -> str:
    """Return the size of a file: `412 bytes`, `12.3 kB`, `4.5 MB`."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _write(export: Export, name: str, format: str, chosen: frozenset[str], replaces: bool) -> tuple[Path, int]:
    """Write an export, and return the absolute path and the size of its file."""
    file = Path(name).expanduser()
    export.write(file, format, chosen, replaces=replaces)
    return absolute_path(file), file.stat().st_size


class ExportScreen(Dialog[Path | None]):
    """Write an export to a file, and dismiss with the file or None."""

    DEFAULT_CSS = """
    ExportScreen > Vertical { width: 92; max-height: 96%; }
    ExportScreen LineListView { height: auto; background: $raised; }
    ExportScreen #options { margin-top: 1; }
    ExportScreen #options.-none { display: none; }
    ExportScreen Static { height: auto; margin-top: 1; }
    ExportScreen PromptInput, ExportScreen PromptInput:focus { background: $background; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="export.leave", tooltip="Close"),
        Binding("a", "include('answers')", "Answers", id="export.answers", tooltip="Include or omit full answers"),
        Binding("r", "include('risk')", "Risk", id="export.risk", tooltip="Include or omit the risk analysis"),
        Binding("t", "include('times')", "Times", id="export.times", tooltip="Include or omit timestamps"),
        Binding("y", "copy_command", "Copy", id="export.copy", tooltip="Copy the command line that writes the file"),
    ]

    def __init__(self, export: Export) -> None:
        super().__init__()
        self._export, self._chosen = export, export.chosen
        self._list, self._options = LineListView(id="formats"), LineListView(id="options", on_chosen=self._toggle_at)
        self._line = PromptInput("file name", self._list, max_length=4_000)
        self._status = Static(Content(), markup=False, id="message")
        self._message = export.warning
        self._writing = False
        self._written: Path | None = None

    def compose(self) -> ComposeResult:
        """Yield the formats, the options, the file name and the message."""
        with Vertical() as box:
            box.border_title = Content(self._export.title)
            yield self._list
            self._options.set_class(not self._export.options, "-none")
            yield self._options
            yield self._line
            yield self._status

    def on_mount(self) -> None:
        """Focus the list of formats."""
        self._list.show_lines([format_line(each) for each in self._export.formats])
        self._list.go_to(0)
        self._line.value = self._export.stem + self._format.suffix
        self._draw()
        self._list.focus()

    def on_resize(self, event: Resize) -> None:
        """Wrap the message to the new width."""
        del event
        self._draw()

    def on_descendant_focus(self) -> None:
        """Show what Enter and Esc do in the focused field."""
        self._show_hint()

    def _show_hint(self) -> None:
        if self.focused is self._line:
            hint = _WRITTEN_HINT if self._is_written else _NAME_HINT
        else:
            hint = _COPY_HINT if self._export.command("file", self._format.name, self._chosen) else _LIST_HINT
            hint = hint.format(enter="toggle" if self.focused is self._options else "file name")
        self.query_one(Vertical).border_subtitle = Content(with_keys(self, hint))

    @property
    def _is_written(self) -> bool:
        """Whether the file that the input names was written by this dialog."""
        return self._written is not None and self._line.value == str(self._written)

    @property
    def _format(self) -> Format:
        return self._export.formats[max(0, self._list.cursor)]

    def _draw(self) -> None:
        format = self._format.name
        keys = {each.name: key_of(self, f"export.{each.name}") for each in self._export.options}
        lines = [option_line(each, keys[each.name], format, self._chosen) for each in self._export.options]
        self._options.show_lines(lines)
        self._options.lines_changed(max(0, self._options.cursor))
        width = min(_MOST_WIDTH, self.size.width * 96 // 100) - _FRAME
        role: Role = "passed" if self._written else "plain"
        lines = text_rows(sanitize_line(self._message, 2_000), width, role)
        if command := self._command():
            lines += text_rows(f"$ {sanitize_line(command, 4_000)}", width, "dim")
        self._status.update(content_of_lines(cut_rows(lines, _MESSAGE_ROWS)))
        self._show_hint()

    def _command(self) -> str:
        name = self._line.value.strip()
        return self._export.command(self._completed(name), self._format.name, self._chosen) if name else ""

    def _completed(self, name: str) -> str:
        """Return a typed file name with the extension of the format if it has none."""
        return name if Path(name).suffix else with_suffix(name, self._format.suffix, self._suffixes)

    @property
    def _suffixes(self) -> list[str]:
        return [each.suffix for each in self._export.formats]

    @on(LineListView.Reached, "#formats")
    def use_format(self, message: LineListView.Reached) -> None:
        """Give the file name the extension of the highlighted format; Enter edits the name, and Enter again saves.

        The list also receives an Enter that was typed before the focus had moved to the name.
        """
        is_second_enter = self.focused is self._line
        self._line.value = with_suffix(self._line.value, self._format.suffix, self._suffixes)
        self._draw()
        if isinstance(message, LineListView.Chosen):
            self._line.start()
            if is_second_enter:
                self._line.post_message(PromptInput.Entered(self._line.value))

    def _toggle_at(self, place: int) -> None:
        self.action_include(self._export.options[place].name)

    def action_include(self, name: str) -> None:
        """Include a part, or omit it."""
        option = next((each for each in self._export.options if each.name == name), None)
        if option is not None and self._format.name not in option.fixed:
            self._chosen ^= {name}
            self._draw()

    @on(PromptInput.Typed)
    def show_command(self) -> None:
        """Show the command line for the typed file name."""
        self._draw()

    @on(PromptInput.Left)
    def close_when_written(self) -> None:
        """Close the dialog if the file was written; else the focus is on the formats now."""
        if self._written is not None:
            self.dismiss(self._written)

    @on(PromptInput.Entered)
    def write_file(self, message: PromptInput.Entered) -> None:
        """Write the file that was entered; Enter again closes the dialog."""
        if not message.text.strip():
            self._say("Enter a file name.")
        elif not self._writing:
            self._write(self._completed(message.text.strip()))

    @work(group="write", exclusive=True)
    async def _write(self, name: str) -> None:
        if self._is_written:
            self.dismiss(self._written)
            return
        self._writing = True
        self._written = None
        try:
            if await self._try(name, replaces=False) is False and await self._may_replace(name):
                await self._try(name, replaces=True)
        finally:
            self._writing = False

    async def _try(self, name: str, *, replaces: bool) -> bool | None:
        """Return True once written, False if the file exists already, None if it cannot be written."""
        self._say("Writing …")
        try:
            self._written, size = await asyncio.to_thread(
                _write, self._export, name, self._format.name, self._chosen, replaces
            )
        except FileExistsError:
            return False
        except (AssayError, RuntimeError, ValueError, OSError) as error:
            self._say(str(error))
            return None
        self._export.written()
        self._line.value = str(self._written)
        self._line.cursor_position = len(self._line.value)
        self._say(f"Saved {self._written}, {size_words(size)}. Press Enter or Esc to close.")
        return True

    async def _may_replace(self, name: str) -> bool:
        from tui.app.dialogs import ConfirmScreen

        self._say("")
        question = f"{sanitize_line(name, 300)} already exists."
        return await self.app.push_screen_wait(ConfirmScreen("Replace?", question, yes="replace", no="keep"))

    def _say(self, text: str) -> None:
        self._message = text
        self._draw()

    def action_copy_command(self) -> None:
        """Copy the command line that writes the same file."""
        if command := self._command():
            self.app.copy_to_clipboard(remove_unseen(command))
            self.notify("Copied: command line.", markup=False, timeout=3)

    def action_leave(self) -> None:
        """Close the dialog with the written file."""
        self.dismiss(self._written)
