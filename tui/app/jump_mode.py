"""Jump mode: a letter on each displayed pane, tab, list and field of a screen; pressing it goes there."""

from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.errors import NoWidget
from textual.events import Key
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Label

from tui.app.bindings import bind
from tui.app.screens import Dialog
from tui.app.widgets.tab_bar import TabBar

_HOME_ROW = "asdfghjkl"
LETTERS = _HOME_ROW + "".join(letter for letter in ascii_lowercase if letter not in _HOME_ROW) + ascii_uppercase
_WIDTH = 3


class Place(NamedTuple):
    """A widget that can have the focus, or the tab `tab` of a bar, and where its letter is drawn."""

    widget: Widget
    offset: Offset
    tab: str = ""


def places_of(screen: Screen[Any]) -> list[Place]:
    """Return the displayed places of a screen in the order of the focus, each with a free offset."""
    taken: set[Offset] = set()
    places: list[Place] = []
    for place in _places(screen):
        offset = place.offset
        while offset in taken:
            offset += Offset(_WIDTH + 1, 0)
        taken |= {offset + Offset(shift, 0) for shift in range(1 - _WIDTH, _WIDTH)}
        places.append(place._replace(offset=offset))
    return places[: len(LETTERS)]


def go_to_place(place: Place | None) -> None:
    """Focus a place, and open its tab."""
    if place is not None and place.widget.is_attached:
        place.widget.focus()
        if place.tab and isinstance(place.widget, TabBar):
            place.widget.choose(place.tab)


def _places(screen: Screen[Any]) -> Iterator[Place]:
    for widget in screen.focus_chain:
        try:
            region = screen.find_widget(widget).visible_region
        except NoWidget:  # mounted since the last layout
            continue
        if not region:
            continue
        if isinstance(widget, TabBar):
            for tab, shift in widget.tab_offsets():
                if shift < region.width:
                    yield Place(widget, region.offset + Offset(shift, 0), tab)
        else:
            yield Place(widget, region.offset)


class JumpModeScreen(Dialog[Place | None]):
    """A transparent dialog with a letter on each place of the screen below. The result is the chosen place, or None."""

    DEFAULT_CSS = """
    JumpModeScreen { align: left top; background: transparent; }
    JumpModeScreen Label {
        position: absolute; width: 3; height: 1; text-align: center;
        background: $accent; color: $background; text-style: bold;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("escape", "leave", "jump-mode.leave", "Leave jump mode")]

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self.places = dict(zip(LETTERS, places_of(below), strict=False))

    def compose(self) -> ComposeResult:
        """Compose the letters."""
        for letter, place in self.places.items():
            label = Label(letter, markup=False)
            label.styles.offset = place.offset
            yield label

    def on_key(self, event: Key) -> None:
        """Close with the place of the letter; with none for any other key."""
        event.stop()
        self.dismiss(self.places.get(event.character or ""))
