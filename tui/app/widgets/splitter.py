"""A border between two parts of a screen that the mouse and keys move, and that remembers where it was."""

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Click, MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.app.bindings import bind
from tui.app.notifications import notify_error
from tui.app.workers import start_worker
from tui.model.errors import AssayError
from tui.session.pane_sizes import PaneSizes

Side = Literal["left", "right", "top"]

_COLUMNS_A_KEY, _ROWS_A_KEY = 2, 1
_IDLE: dict[Side, tuple[str, str, str]] = {"left": ("╭", "│", "╰"), "right": ("╮", "│", "╯"), "top": ("╭", "─", "╮")}
_HEAVY: dict[Side, str] = {"left": "┃", "right": "┃", "top": "━"}


@dataclass(frozen=True, slots=True)
class Room:
    """The cells that a panel shares with what is beside it.

    `side` is the border of the panel that moves. The panel has `usual` cells of `total` until the user chooses other
    ones, never fewer than `least`, and leaves `rest` cells, as far as there are so many. Sizes include the border.
    """

    name: str
    side: Side
    total: int
    usual: int
    least: int
    rest: int

    def bounded(self, size: int) -> int:
        """Return the size nearest to `size` that leaves both parts their least size."""
        if self.total < self.least + self.rest:
            size = self.usual
        else:
            size = max(self.least, min(size, self.total - self.rest))
        return max(1, min(size, self.total))


class Splitter(Widget):
    """Cover one border of a panel; it can be dragged, and moved by keys while it has the focus.

    Its parent contains the panel, too, is as large as the room, and has the style `layers: panels borders`. The owner
    calls `fit` whenever the room changes, and for each `Moved` if other parts depend on it.
    """

    DEFAULT_CSS = """
    Splitter {
        layer: borders; position: absolute; width: 1; height: 100%; background: $background; color: $accent;
    }
    Splitter.-top { width: 100%; height: 1; }
    """
    ALLOW_SELECT: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("left,up,h,k", "move(-1)", "border.back", "Move the border left or up", label="move", shown="←↑↓→"),
        bind("right,down,l,j", "move(1)", "border.on", "Move the border right or down"),
        bind("equals_sign,0", "reset", "border.reset", "Restore the usual size", label="usual size", shown="="),
        bind("escape,enter", "leave", "border.leave", "Stop moving borders", label="done", shown="esc"),
    ]

    class Moved(Message):
        """Posted when the user has moved the border."""

    def __init__(self, panel: Widget, sizes: PaneSizes, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panel, self._sizes = panel, sizes
        self._room: Room | None = None
        self._before: Widget | None = None
        self._size_before_drag: int | None = None

    def on_mount(self) -> None:
        """Draw the border again when its panel gets or loses the focus."""
        self.watch(self.screen, "focused", self._redraw, init=False)

    def _redraw(self) -> None:
        self.refresh()

    @property
    def panel_size(self) -> int:
        """Return the size of the panel with this border, in cells."""
        room = self._room
        if room is None:
            return 0
        share = self._sizes.share(room.name)
        return room.bounded(room.usual if share is None else round(share * room.total))

    def fit(self, room: Room) -> None:
        """Give the panel its part of the room, and cover its border at the side of the room."""
        self._room = room
        size, styles = self.panel_size, self._panel.styles
        self.set_class(room.side == "top", "-top")
        styles.width, styles.height = ("1fr", size) if room.side == "top" else (size, "1fr")
        place = size - 1 if room.side == "right" else room.total - size
        self.styles.offset = (0, place) if room.side == "top" else (place, 0)
        self.refresh()

    def release(self) -> None:
        """Leave the size of the panel to the stylesheet, because what is beside it is hidden."""
        self._panel.styles.width = self._panel.styles.height = None
        self.styles.offset = (0, 0)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw a row of the border: in the color of the panel's other borders, heavy while it can be moved."""
        width, height = self.size
        side: Side = self._room.side if self._room is not None else "right"
        active = self.has_focus or self.mouse_hover or self._size_before_drag is not None
        first, middle, last = _IDLE[side]
        middle = _HEAVY[side] if active else middle
        if side == "top":
            text = first + middle * (width - 2) + last if width > 1 else middle
        else:
            text = first if y == 0 else last if y == height - 1 else middle
        color = self.styles.color if active else self._panel.styles.border_bottom[1]
        background = self.background_colors[1]
        style = Style(color=color.rich_color, bgcolor=background.rich_color)
        return Strip([Segment(text, style)], width)

    # The mouse

    def on_enter(self) -> None:
        """Show that the border can be moved."""
        self._redraw()

    def on_leave(self) -> None:
        """Draw the border as usual."""
        self.refresh()

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start to drag the border."""
        event.stop()
        self._size_before_drag = self.panel_size
        self.capture_mouse()
        self.refresh()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border to the mouse while it is dragged."""
        if self._size_before_drag is not None and self._room is not None:
            event.stop()
            panel = self._panel.region
            match self._room.side:
                case "left":
                    self._move_to(panel.right - event.screen_x)
                case "right":
                    self._move_to(event.screen_x + 1 - panel.x)
                case "top":
                    self._move_to(panel.bottom - event.screen_y)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Stop to drag the border, and remember its place."""
        if self._size_before_drag is not None:
            event.stop()
            moved, self._size_before_drag = self._size_before_drag != self.panel_size, None
            self.release_mouse()
            self.refresh()
            if moved:
                self._save()

    def on_click(self, event: Click) -> None:
        """Restore the usual size with a double click."""
        event.stop()
        if event.chain == 2:
            self.action_reset()

    # The keys

    def take_focus(self) -> None:
        """Move the border by keys from now on."""
        focused = self.screen.focused
        self._before = focused._before if isinstance(focused, Splitter) else focused
        self.can_focus = True  # only now: Tab goes from panel to panel
        self.focus()

    def on_blur(self) -> None:
        """Stop to move the border by keys."""
        self.can_focus = False

    def action_leave(self) -> None:
        """Give the focus back to the widget that had it."""
        before = self._before
        self.screen.set_focus(before if before is not None and before.is_mounted and before.display else None)
        self.can_focus = False

    def action_move(self, by: int) -> None:
        """Move the border by a step to the left or up, or to the right or down."""
        if self._room is not None:
            step = _ROWS_A_KEY if self._room.side == "top" else _COLUMNS_A_KEY
            grows = by if self._room.side == "right" else -by
            self._move_to(self.panel_size + grows * step)
            self._save()

    def action_reset(self) -> None:
        """Restore the usual size."""
        if self._room is not None:
            self._sizes.choose(self._room.name, None)
            self._moved()
            self._save()

    def _move_to(self, size: int) -> None:
        room = self._room
        if room is not None and (size := room.bounded(size)) != self.panel_size:
            self._sizes.choose(room.name, size / room.total)
            self._moved()

    def _moved(self) -> None:
        if self._room is not None:
            self.fit(self._room)
            self.post_message(self.Moved())

    def _save(self) -> None:
        start_worker(self, self._save_sizes, group="save sizes")

    async def _save_sizes(self) -> None:
        try:
            await asyncio.to_thread(self._sizes.save)
        except AssayError as error:
            notify_error(self.screen, error, "warning")


def splitters_of(screen: Screen[Any]) -> list[Splitter]:
    """Return the splitters that are displayed on a screen."""
    return [splitter for splitter in screen.query(Splitter) if splitter.region.area]


def focus_next_splitter(screen: Screen[Any]) -> None:
    """Focus the splitter after the focused one; after the last one, give the focus back to the panels."""
    splitters, focused = splitters_of(screen), screen.focused
    at = splitters.index(focused) + 1 if isinstance(focused, Splitter) and focused in splitters else 0
    if at < len(splitters):
        splitters[at].take_focus()
    elif isinstance(focused, Splitter):
        focused.action_leave()
