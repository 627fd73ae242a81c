"""A list in the terminal to choose the models of a run from, for `assay run -i`."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static

from tui.app.theme.themed_app import ThemedApp
from tui.model.sanitize import sanitize_line

_KEYS = "Space select · a all or none · Enter run · Esc cancel"


class ModelPicker(ThemedApp[list[str]]):
    """An app with a list of models. The result is the chosen names in list order, at least one; None after a cancel."""

    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    CSS = """
    Screen:inline { height: auto; max-height: 80vh; border: none; }
    Static { height: 1; padding: 0 1; }
    #keys { color: $dim; }
    OptionList { height: auto; max-height: 1fr; border: none; padding: 0 1; }
    OptionList:inline { max-height: 60vh; }
    """

    def __init__(
        self, names: Sequence[str], selected: Collection[str], *, theme: str, theme_folders: Sequence[Path]
    ) -> None:
        super().__init__(theme=theme, theme_folders=theme_folders)
        self._names, self._selected = names, selected

    def compose(self) -> ComposeResult:
        yield Static("Models of this run", id="title")
        yield _ModelList(self._names, self._selected)
        yield Static(_KEYS, id="keys")

    def action_accept(self) -> None:
        """Exit with the selected models, or ask for at least one."""
        if chosen := self.query_one(_ModelList).chosen:
            self.exit(chosen)
        else:
            self.query_one("#title", Static).update("Select at least one model")

    def action_cancel(self) -> None:
        """Exit without a choice."""
        self.exit(None)


class _ModelList(OptionList):
    """A list of model names with a checkbox each.

    A key takes effect at once, so that keys typed ahead keep their order: Textual's SelectionList toggles by a message
    that a later key can overtake.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark"),
        Binding("a", "toggle_all"),
        Binding("enter", "app.accept"),
        Binding("escape,q,ctrl+c,ctrl+q", "app.cancel"),
    ]

    def __init__(self, names: Sequence[str], selected: Collection[str]) -> None:
        self._names = names
        self._marked = [name in selected for name in names]
        super().__init__(*map(self._prompt, range(len(names))))
        self.highlighted = 0

    @property
    def chosen(self) -> list[str]:
        """Return the selected names in list order."""
        return [name for name, marked in zip(self._names, self._marked, strict=True) if marked]

    def action_mark(self) -> None:
        """Select or deselect the highlighted model."""
        if self.highlighted is not None:
            self._mark(self.highlighted, not self._marked[self.highlighted])

    def action_toggle_all(self) -> None:
        """Select all models, or none if all are selected."""
        selected = not all(self._marked)
        for index in range(len(self._names)):
            self._mark(index, selected)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Select or deselect the clicked model."""
        self._mark(event.option_index, not self._marked[event.option_index])

    def _mark(self, index: int, marked: bool) -> None:
        self._marked[index] = marked
        self.replace_option_prompt_at_index(index, self._prompt(index))

    def _prompt(self, index: int) -> Content:
        return Content(f"[{'x' if self._marked[index] else ' '}] {sanitize_line(self._names[index], 200)}")
