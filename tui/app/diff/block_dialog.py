"""Which block of an answer the target file would be made of."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.app.diff.lines import block_line
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineList
from tui.model.sanitize import show_line
from tui.workspace.answer.blocks import Block


class _Blocks(LineList):
    blocks: Sequence[Block] = ()
    in_use: int | None = None

    @property
    def line_count(self) -> int:
        return len(self.blocks)

    def line_at(self, place: int, width: int) -> Line:
        return block_line(self.blocks[place], self.blocks[place].number == self.in_use, width)


class BlockChooser(ModalScreen[int | None]):
    """Gives the number of the block that was chosen, or None."""

    DEFAULT_CSS = """
    BlockChooser { align: center middle; background: $background 60%; }
    BlockChooser > Vertical {
        width: 86; max-width: 94%; height: auto; max-height: 80%; padding: 1 1; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    BlockChooser _Blocks { height: auto; max-height: 20; background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Leave", id="blocks.leave", tooltip="Leave it as it is"),
    ]

    def __init__(self, blocks: Sequence[Block], in_use: int | None, target: str) -> None:
        super().__init__()
        self._target = target
        self._list = _Blocks()
        self._list.blocks, self._list.in_use = blocks, in_use

    def compose(self) -> ComposeResult:
        """The blocks."""
        with Vertical() as box:
            box.border_title = Content(f"A block for {show_line(self._target, 60)}")
            box.border_subtitle = Content("Enter shows its diff · Esc leaves")
            yield self._list

    def on_mount(self) -> None:
        """Start on the block that is shown."""
        numbers = [block.number for block in self._list.blocks]
        self._list.lines_changed(numbers.index(self._list.in_use) if self._list.in_use in numbers else 0)
        self._list.focus()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """This one."""
        self.dismiss(self._list.blocks[message.place].number)

    def action_leave(self) -> None:
        """None."""
        self.dismiss(None)
