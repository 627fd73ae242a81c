"""The Diff tab: the changed files of an answer, their diff, and its actions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize

from tui.app.bindings import bind
from tui.app.diff.answer_diff import (
    ShownDiff,
    block_in_use,
    blocks_of,
    is_lossy,
    patch_name,
    patch_text,
    save_patch,
    with_block,
)
from tui.app.diff.highlight import no_sides
from tui.app.diff.lines import block_lines, file_line, pair_heads_line, pair_line, place_line, refused_line
from tui.app.diff.pairs import FilePair, ShownFile, have_other_originals, pair_files, shown_file
from tui.app.diff.view import DiffView
from tui.app.keymap import shared, with_keys
from tui.app.notifications import notify_typist
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.current_folder import absolute_path
from tui.model.diffs import FileDiff
from tui.model.results import NotApplied
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.app.widgets.prompt_input import PromptInput

_CONTEXTS = (3, 10, 30, 100, 1_000_000_000)
_WIDE = 90
_DIALOG_WIDTH = 200  # cells; the dialog cuts its lines
_OTHER_ORIGINALS = (
    "The changes of {model} cannot be shown beside these: its run had another commit, in which the same files differ."
)
_NO_OTHER = "No other displayed model has an answer to this case. Press {choose_models} to choose models."
_LARGE = 200_000  # characters; a longer diff is parsed in a thread


class FileList(LineListView):
    """The list of the changed files of an answer, and the number of its blocks that were not applied."""

    files: Sequence[ShownFile] = ()
    refused = 0

    @property
    def line_count(self) -> int:
        return len(self.files) + bool(self.refused)

    def line_at(self, place: int, width: int) -> Line:
        if place < len(self.files):
            file = self.files[place]
            return pair_line(file, width) if isinstance(file, FilePair) else file_line(file, width)
        return refused_line(self.refused, width)


class PlaceLine(PieceLine):
    """The line above a diff: the current file, its counts, and the options of the view."""

    shown: ShownDiff | None = None
    view: DiffView

    def line_for(self, width: int) -> Line:
        view, shown = self.view, self.shown
        if shown is None:
            return ()
        document, here = view.document, view.current_file
        is_file = 0 <= here < len(document.files)
        search = view.search_matches
        found = (search.current + 1, len(search.matches)) if search.text else None
        return place_line(
            document.files[here] if is_file else None,
            "" if document.has_pairs else sanitize_line(shown.trial.model, 60),
            view.look,
            (max(1, view.current_hunk + 1), document.hunk_count),
            found,
            "" if shown.block is None else f"preview of block {shown.block + 1}",
            width,
            crlf=is_file and document.sections[here].hidden_returns,
        )


class HeadsLine(PieceLine):
    """The line above the changes of two answers: the model of each side, and how many lines of the file it changed."""

    view: DiffView
    names = ("", "")

    def line_for(self, width: int) -> Line:
        document, here = self.view.document, self.view.current_file
        file = document.files[here] if 0 <= here < len(document.files) else None
        return pair_heads_line(file if isinstance(file, FilePair) else None, self.names, width)


class DiffPanel(Vertical):
    """The changes of one answer, as they were applied, or as another of its blocks would make them.

    A preview of another block never changes the verdict. The changes of another model's answer to the same case can be
    displayed on the right side; the actions on a file are then those of the left side.
    """

    DEFAULT_CSS = """
    DiffPanel { height: 1fr; }
    DiffPanel > Horizontal { height: 1fr; }
    DiffPanel FileList { width: 34; display: none; border-right: solid $quiet-border; }
    DiffPanel.-several.-wide FileList { display: block; }
    DiffPanel > Horizontal > Vertical { height: 1fr; width: 1fr; }
    DiffPanel HeadsLine { display: none; padding-right: 1; }
    DiffPanel.-pair HeadsLine { display: block; }
    DiffPanel > TextPanel { display: none; }
    DiffPanel > PromptInput, DiffPanel > PromptInput:focus { padding: 0 1; }
    DiffPanel.-empty > TextPanel { display: block; }
    DiffPanel.-empty > Horizontal, DiffPanel.-empty > PlaceLine { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("look.filter", "search", "Search the diff", label="search"),
        bind("plus", "widen(1)", "diff.more", "More context lines", "more", "+"),
        bind("minus", "widen(-1)", "diff.less", "Fewer context lines", shown="-"),
        bind("vertical_line", "toggle_pair", "diff.both", "Show another model's changes beside these", "both", "|"),
        bind("B", "pick_block", "diff.block", "Preview another code block for the target file", "block"),
        bind("c", "copy_patch", "diff.copy", "Copy all changes as a patch", "copy"),
        bind("p", "save_patch", "diff.save", "Save all changes as a patch file", "save"),
        bind("o", "open_file", "diff.open", "Open the changed file in $EDITOR", "open"),
        bind("escape", "leave_block", "diff.leave-block", "Back to the applied changes"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.files, self.view = FileList(), DiffView()
        self.place, self._nothing = PlaceLine(), TextPanel()
        self.heads = HeadsLine()
        self.place.view = self.heads.view = self.view
        self._others: Sequence[ShownDiff] = ()
        self._other_model: str | None = None
        self.other: ShownDiff | None = None
        self.kept: ShownDiff | None = None
        self.shown: ShownDiff | None = None
        self._to_save: ShownDiff | None = None
        self.repository: Path | None = None
        self.contexts: dict[int, int] = {}

    def compose(self) -> ComposeResult:
        """Compose the line above the diff, the list of files, and the diff."""
        yield self.place
        with Horizontal():
            yield self.files
            with Vertical():
                yield self.heads
                yield self.view
        yield self._nothing

    def show(
        self,
        kept: ShownDiff | None,
        waiting: str,
        repository: Path | None = None,
        others: Sequence[ShownDiff] = (),
    ) -> None:
        """Display the changes of a trial, unless they are displayed already.

        `waiting` is the text to display if there are none, `repository` the clone that the run saved, if any; `others`
        are the changes of the other models' answers to the case.
        """
        self.repository, self._others = repository, others
        before, left = self.other, self.kept
        self._find_other(kept)
        if kept is None or not (kept.changes or kept.refused or (self.other and self.other.changes)):
            self.kept = self.shown = None
            self.set_class(True, "-empty")
            self._nothing.show_lines([((waiting, "dim"),)])
            return
        self.set_class(False, "-empty")
        if not _same(kept, left) or not _same(self.other, before):
            self.kept = kept
            self.show_diff(kept)

    def _find_other(self, kept: ShownDiff | None) -> None:
        """Find the answer for the right side. The model of the left side, if it comes there, moves to the right."""
        if kept is None or self._other_model is None:
            self.other = None
            return
        if kept.trial.model == self._other_model and self.kept is not None:
            self._other_model = self.kept.trial.model
        self.other = next((each for each in self._others if each.trial.model == self._other_model), None)

    def show_diff(self, shown: ShownDiff, *, stay: bool = False) -> None:
        """Display the applied changes, or a preview; `stay` keeps the scroll position."""
        self.shown, self.place.shown = shown, shown
        self.contexts = {}
        self.refresh_bindings()
        other = self.other
        length = sum(len(change.diff) for each in (shown, other) if each for change in each.changes)
        if length < _LARGE:
            self._show_files(shown, other, _read(shown, other), stay)
        else:
            self._read_large(shown, other, stay)

    @work(group="read-diff", exclusive=True)
    async def _read_large(self, shown: ShownDiff, other: ShownDiff | None, stay: bool) -> None:
        files = await asyncio.to_thread(_read, shown, other)
        if shown is self.shown and other is self.other:  # another diff may be displayed meanwhile
            self._show_files(shown, other, files, stay)

    def _show_files(self, shown: ShownDiff, other: ShownDiff | None, files: Sequence[ShownFile], stay: bool) -> None:
        if other is not None and any(isinstance(file, FileDiff) for file in files):
            model = sanitize_line(other.trial.model, 100)
            self._notify(_OTHER_ORIGINALS.format(model=model), "warning")
            other = None
        refused = shown.refused if other is None else (*_named_refused(shown), *_named_refused(other))
        self.files.files, self.files.refused = files, len(refused)
        self.files.lines_changed(self.files.cursor if stay else 0)
        self.set_class(len(files) > 1, "-several")
        self.set_class(other is not None, "-pair")
        self.heads.names = _names(shown, other) if other else ("", "")
        find_other = other.find_sides if other else no_sides
        self.view.show_files(files, refused, shown.find_sides, find_other=find_other, stay=stay)

    def _draw_lines(self) -> None:
        """Update the lines above the diff."""
        self.place.draw()
        self.heads.draw()

    def on_resize(self, event: Resize) -> None:
        """Display the list of files only if there is room for it."""
        self.set_class(event.size.width >= _WIDE, "-wide")

    def on_diff_view_place_changed(self, message: DiffView.PlaceChanged) -> None:
        """Update the line above the diff, and the cursor of the list."""
        message.stop()
        self.files.go_to(max(0, message.file))
        self._draw_lines()

    def on_diff_view_look_changed(self, message: DiffView.LookChanged) -> None:
        """Update the line above the diff."""
        message.stop()
        self._draw_lines()

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Scroll to the highlighted file."""
        message.stop()
        self.view.go_to_file(message.place)

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Scroll to the chosen file and focus its diff."""
        message.stop()
        self.view.go_to_file(message.place)
        self.view.focus()

    @work(group="widen", exclusive=True)
    async def action_widen(self, by: int) -> None:
        """Display more or fewer context lines around the changes of the current file."""
        shown, number = self.shown, self.view.current_file
        if shown is None or not 0 <= number < len(self.files.files):
            return
        before = self.contexts.get(number, 0)
        level = max(0, min(before + by, len(_CONTEXTS) - 1))
        if level == before:
            self._notify("The whole file is shown." if by > 0 else "No fewer context lines.")
            return
        context = _CONTEXTS[level] if level else None
        wider = await asyncio.to_thread(_widen, shown, self.other, self.files.files[number], context)
        if isinstance(wider, str):
            self._notify(wider)
        elif shown is self.shown:
            self.contexts[number] = level
            self.view.replace_file(number, wider)

    @work(group="both", exclusive=True)
    async def action_toggle_pair(self) -> None:
        """Show the changes of another model's answer on the right side, or those of one answer again."""
        if self.kept is None:
            return
        if self._other_model is not None:
            self._show_other(None)
            return
        models = [other.trial.model for other in self._others]
        if not models:
            self._notify(with_keys(self.screen, _NO_OTHER))
            return
        place: int | None = 0
        if len(models) > 1:
            from tui.app.dialogs import ChoiceScreen

            lines: list[Line] = [((f" {sanitize_line(model, 100)}", "plain"),) for model in models]
            place = await self.app.push_screen_wait(ChoiceScreen("Changes of which model on the right?", lines, 0))
        if place is not None:
            self._show_other(models[place])

    def _show_other(self, model: str | None) -> None:
        """Show the changes of a model on the right side; without a model, only those of one answer."""
        self._other_model = model
        self._find_other(self.kept)
        if self.shown is not None:
            self.show_diff(self.shown, stay=True)
            self.view.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: Escape only during a preview of another block."""
        del parameters
        return action != "leave_block" or (self.shown is not None and self.shown.block is not None)

    @work(group="block", exclusive=True)
    async def action_pick_block(self) -> None:
        """Ask for another code block, and preview it as the target file."""
        from tui.app.dialogs import ChoiceScreen

        kept, shown = self.kept, self.shown
        if kept is None or shown is None:
            return
        if kept.case.target_file is None:
            self._notify("The case has no targetFile: each code block names its own file.")
            return
        blocks = await asyncio.to_thread(blocks_of, kept)
        in_use = await asyncio.to_thread(block_in_use, shown)
        numbers = [block.number for block in blocks]
        lines = block_lines(blocks, in_use, _DIALOG_WIDTH)
        current = numbers.index(in_use) if in_use in numbers else 0
        title = f"Code block for {sanitize_line(kept.case.target_file, 60)}"
        place = await self.app.push_screen_wait(ChoiceScreen(title, lines, current, verb="show diff"))
        if place is None or numbers[place] == in_use:
            return
        block = numbers[place]
        if block == await asyncio.to_thread(block_in_use, kept):
            self.action_leave_block()
            return
        tried = await asyncio.to_thread(with_block, kept, block)
        if isinstance(tried, str):
            self._notify(tried)
        elif kept is self.kept:
            self.show_diff(tried)
            self._notify(f"Preview of block {block + 1}. The verdict does not change. Press Esc to go back.")

    def action_leave_block(self) -> None:
        """Display the applied changes again."""
        if self.kept is not None:
            self.show_diff(self.kept)

    def action_copy_patch(self) -> None:
        """Copy all changes as a patch to the clipboard."""
        if self.shown is not None and self.shown.changes:
            patch = patch_text(self.shown.changes)
            self.app.copy_to_clipboard(patch)
            cleaned = " Without its control characters, so save it as a file to apply it."
            warning = self._warning() if self.app.clipboard == patch else cleaned
            self._notify(f"Copied as a patch: {_count(len(self.shown.changes))}.{warning}")

    async def action_save_patch(self) -> None:
        """Ask for a file name, and save all changes as a patch."""
        if self.shown is not None and self.shown.changes:
            self._to_save = self.shown
            line = await self._open_input("save", "name of a new file")
            line.value = patch_name(self._to_save.case.id, self._to_save.trial.model)
            line.cursor_position = len(line.value)

    def _save(self, name: str) -> None:
        """Save the changes that were shown when the name was asked for."""
        if self._to_save is None:
            return
        try:
            place = Path(name).expanduser()
            save_patch(place, self._to_save.changes)
        except FileExistsError:
            self._notify(f"{name} already exists. Choose another name.", "warning")
        except (OSError, RuntimeError, ValueError) as error:  # a user without a home folder is a RuntimeError
            self._notify(f"Cannot write {name} ({error}).", "error")
        else:
            self._notify(f"Saved {absolute_path(place)}. Apply it with: git apply.{self._warning()}")

    def _warning(self) -> str:
        lossy = self.shown is not None and is_lossy(self.shown.changes)
        return " Bytes that are not UTF-8 are missing, so it may not apply." if lossy else ""

    @work(group="open", exclusive=True)
    async def action_open_file(self) -> None:
        """Open a copy of the current file in $EDITOR, in a temporary folder."""
        from tui.app.diff.open_in_editor import open_changed_file

        shown, number = self.shown, self.view.current_file
        if shown is None or not 0 <= number < len(self.files.files):
            return
        file = self.files.files[number]
        if isinstance(file, FilePair) and file.left is None:
            text = f"{shown.trial.model} did not change this file. The number of a pane chooses the left model."
            self.app.notify(sanitize_line(text, 600), markup=False, timeout=5)
            return
        files = [shown_file(each) for each in self.files.files if not isinstance(each, FilePair) or each.left]
        fault = await open_changed_file(self.app, shown, files, number, self.view.current_line, self.repository)
        self._notify(fault or "The editor opened a copy: your edits were discarded, and the result is unchanged.")

    def _notify(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        notify_typist(self, text, severity=severity, timeout=5)

    async def action_search(self) -> None:
        """Open the search input."""
        await self._open_input("search", "search · Enter accept · n/N next/previous")

    async def _open_input(self, purpose: str, placeholder: str) -> "PromptInput":
        from tui.app.widgets.prompt_input import PromptInput

        await self._close_input()
        line = PromptInput(placeholder, self.view, id=purpose)
        await self.mount(line)
        line.start()
        return line

    async def _close_input(self) -> None:
        from tui.app.widgets.prompt_input import PromptInput

        for line in self.query(PromptInput):
            await self._remove_input(line)

    async def _remove_input(self, line: "PromptInput") -> None:
        """Remove an input; clear the search if it was left."""
        if line.left and line.id == "search":
            self._search("")
        await line.remove()

    def _search(self, text: str) -> None:
        self.view.search(text)
        self.place.draw()

    def on_prompt_input_typed(self, message: "PromptInput.Typed") -> None:
        """Search while the text is typed."""
        message.stop()
        if self.query("#search"):
            self._search(message.text)

    async def on_prompt_input_entered(self, message: "PromptInput.Entered") -> None:
        """Close the input and focus the diff; save the patch if a file name was typed."""
        message.stop()
        saves = bool(self.query("#save"))
        await self._close_input()
        self.view.focus()
        if saves and message.text.strip():
            self._save(message.text.strip())

    async def on_prompt_input_left(self, message: "PromptInput.Left") -> None:
        """Close the input, unless another one has replaced it already."""
        message.stop()
        if message.line.is_attached:
            await self._remove_input(message.line)


def _same(one: ShownDiff | None, other: ShownDiff | None) -> bool:
    """Return whether both are changes of the same result, without a comparison of the diffs."""
    if one is None or other is None:
        return one is other
    return (
        one.changes is other.changes
        and one.refused is other.refused
        and one.answer is other.answer
        and one.case is other.case
    )


def _read(shown: ShownDiff, other: ShownDiff | None) -> tuple[ShownFile, ...]:
    """Return the changes as diffs, with those of another answer as pairs if both were made to the same originals."""
    left, right = shown.read_files(), other.read_files() if other is not None else ()
    if other is None or have_other_originals(left, right):
        return left
    return pair_files(left, right, _names(shown, other))


def _names(shown: ShownDiff, other: ShownDiff) -> tuple[str, str]:
    one, two = model_names([shown.trial.model, other.trial.model])
    return one, two


def _named_refused(shown: ShownDiff) -> tuple[NotApplied, ...]:
    return tuple(replace(block, reason=f"{shown.trial.model}: {block.reason}") for block in shown.refused)


def _widen(shown: ShownDiff, other: ShownDiff | None, file: ShownFile, context: int | None) -> ShownFile | str:
    """Return a file with so many context lines (None: as in its diff), or why there are no more. Call it in a thread.

    Of a pair, the change that cannot have more stays as it is.
    """
    if isinstance(file, FileDiff):
        return _with_context(shown, file, context)
    found = [_with_context(*each, context) for each in zip((shown, other), file.sides, strict=True)]
    if all(isinstance(each, str) for each in found):
        return str(found[0] or found[1])
    left, right = (before if isinstance(each, str) else each for each, before in zip(found, file.sides, strict=True))
    return FilePair(left, right, file.names)


def _with_context(shown: ShownDiff | None, file: FileDiff | None, context: int | None) -> FileDiff | str:
    from tui.session.changes import widen_hunks

    if shown is None or file is None:
        return ""
    sides = shown.find_sides(file)
    if sides is None:
        return "No more of this file is saved."
    if file.kind != "modified":
        return "The whole file is shown."
    return file if context is None else replace(file, hunks=tuple(widen_hunks(file.hunks, sides.new, context)))


def _count(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
