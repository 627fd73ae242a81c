"""A question with two answers, over everything else."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.model.sanitize import sanitize_text


class ConfirmScreen(ModalScreen[bool]):
    """Asks; `y` and Enter on nothing else say yes, everything that leaves says no."""

    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; background: $background 60%; }
    ConfirmScreen > Vertical {
        width: 72; max-width: 92%; height: auto; max-height: 90%; padding: 1 2;
        background: $raised; border: round $focused-border;
        border-title-color: $accent;
    }
    ConfirmScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes", tooltip="Do it"),
        Binding("n,escape,q", "answer(False)", "No", id="confirm.no", tooltip="Do not do it"),
    ]

    def __init__(self, title: str, question: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._title, self._question = title, question
        self._yes, self._no = yes, no

    def compose(self) -> ComposeResult:
        """The question, and the two keys."""
        with Vertical() as box:
            box.border_title = Content(f"{self._title}")
            yield Static(Content(sanitize_text(self._question)), markup=False)
            yield Static(
                Content.assemble(
                    "\n", ("y", "bold $accent"), (f" {self._yes}    ", "$foreground"), ("n", "bold $accent"),
                    (f" {self._no}", "$foreground"),
                ),
                markup=False,
            )  # fmt: skip

    def action_answer(self, yes: bool) -> None:
        """Answer and go."""
        self.dismiss(yes)
