"""A dialog to choose the displayed models: those of the suite, the variants of the config, or any by name."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.open_suites import MOST_PANES
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.sanitize import sanitize_line


class _Names(LineListView):
    """The list of model names."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Select", id="models.take", tooltip="Select or deselect the model", show=False),
        Binding("enter", "screen.accept", "Done", id="models.done", tooltip="Show the selected models", show=False),
    ]


class ModelChooser(Dialog[tuple[str, ...] | None]):
    """A dialog to choose models. The result is the names in the order of their selection, or None."""

    DEFAULT_CSS = """
    ModelChooser { align: center middle; background: $background 60%; }
    ModelChooser > Vertical {
        width: 64; max-width: 94%; height: auto; max-height: 80%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    ModelChooser _Names { height: auto; max-height: 16; background: $raised; }
    ModelChooser Static { height: auto; color: $dim; margin-top: 1; }
    ModelChooser PromptInput, ModelChooser PromptInput:focus { background: $background; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="models.leave", tooltip="Close without changes"),
        Binding("slash,a", "type", "Type", id="models.type", tooltip="Enter a model name"),
    ]

    def __init__(self, names: Sequence[str], chosen: Sequence[str]) -> None:
        super().__init__()
        self._names = list(dict.fromkeys((*chosen, *names)))
        self._chosen = list(chosen)
        self._list = _Names(on_chosen=lambda place: self._turn(self._names[place]))
        self._hint = Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """Compose the list of names, and an input for another one."""
        with Vertical() as box:
            box.border_title = Content("Models")
            box.border_subtitle = Content("Space select · Enter show · Esc close")
            yield self._list
            yield PromptInput("a: enter another model (provider/model or a variant)", self._list)
            yield self._hint

    def on_mount(self) -> None:
        """Fill the list and focus it."""
        self._draw()
        self._list.focus()

    def _draw(self) -> None:
        lines: list[Line] = []
        for name in self._names:
            place = self._chosen.index(name) + 1 if name in self._chosen else 0
            mark = (f" {place} ", "accent") if place else (" · ", "dim")
            lines.append((mark, (sanitize_line(name), "strong" if place else "plain")))  # type: ignore[arg-type]
        self._list.show_lines(lines)
        self._hint.update(Content(f"{len(self._chosen)} of at most {MOST_PANES} selected"))

    def _turn(self, name: str) -> None:
        """Select or deselect a model."""
        if name in self._chosen:
            self._chosen.remove(name)
        elif len(self._chosen) < MOST_PANES:
            self._chosen.append(name)
        self._draw()

    def on_prompt_input_entered(self, message: PromptInput.Entered) -> None:
        """Add and select the typed model; accept the selection if nothing was typed."""
        name = message.text.strip()
        if not name:
            self.action_accept()
            return
        if name not in self._names:
            self._names.append(name)
        if name not in self._chosen:
            self._turn(name)
        self.query_one(PromptInput).value = ""
        self._list.focus()

    def action_type(self) -> None:
        """Focus the input for another model."""
        self.query_one(PromptInput).start()

    def action_accept(self) -> None:
        """Close the dialog with the selected models."""
        self.dismiss(tuple(self._chosen) or None)
