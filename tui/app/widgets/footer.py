"""The footer: the active keys, as many as fit, and shorter descriptions if there is little room.

A click on a key runs its action.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widget import Widget

from tui.app.keymap import bindings_in_order
from tui.app.presentation.pieces import width_of


class Key(NamedTuple):
    """A displayed key, its description, and its action."""

    shown: str
    does: str
    action: str

    @property
    def width(self) -> int:
        """Return the width in cells."""
        return width_of(self.shown) + 1 + width_of(self.does)

    @property
    def shortened(self) -> "Key":
        """Return the key with its short description."""
        return self._replace(does=_SHORT.get(self.does, self.does))


_SHORT = {
    "add check": "add",
    "commands": "menu",
    "differing": "differ",
    "next case": "case",
    "next change": "change",
    "next field": "next",
    "next match": "match",
    "preferences": "ranking",
    "previous tab": "prev tab",
    "remove check": "remove",
    "rerun failed": "failed",
    "run all": "all",
    "saved filters": "saved",
    "statistics": "stats",
    "whitespace": "space",
}
"""Descriptions that are displayed where there is no room for the whole ones."""


def fit_keys(keys: Sequence[Key], last: Sequence[Key], width: int) -> tuple[list[Key], int]:
    """Return the keys to display, and the gap between them.

    Descriptions are shortened before keys are left out, and in a narrow terminal the gap is smaller too.
    """
    found = keys_that_fit(keys, last, width)
    if len(found) == len(keys) + len(last):
        return found, 2
    short, short_last = [key.shortened for key in keys], [key.shortened for key in last]
    found = keys_that_fit(short, short_last, width)
    if len(found) == len(keys) + len(last) or width >= _NARROW:
        return found, 2
    return keys_that_fit(short, short_last, width, 1), 1


def keys_that_fit(keys: Sequence[Key], last: Sequence[Key], width: int, gap: int = 2) -> list[Key]:
    """Return as many of `keys` as fit before `last`, and those of `last` that fit."""
    room = width - 1
    kept_last: list[Key] = []
    for key in last:
        if key.width + gap <= room:
            kept_last.append(key)
            room -= key.width + gap
    kept: list[Key] = []
    for key in keys:
        if key.width + gap > room:
            break
        kept.append(key)
        room -= key.width + gap
    return [*kept, *kept_last]


_NARROW = 100
_LAST = ("app.help", "app.palette")


class KeyFooter(Widget):
    """The footer with the bindings of the active screen that have a label."""

    DEFAULT_CSS = """
    KeyFooter { height: 1; background: $raised; color: $foreground; dock: bottom; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    def on_mount(self) -> None:
        """Redraw when the focus, and with it the active bindings, changes."""
        self.screen.bindings_updated_signal.subscribe(self, self._update)

    def _update(self, screen: Screen[object]) -> None:
        if screen is self.screen:
            self.refresh()

    def _keys(self) -> tuple[list[Key], int]:
        first: list[Key] = []
        last: dict[str, Key] = {}
        for binding in (each.binding for each in bindings_in_order(self.screen) if each.binding.show and each.enabled):
            key = Key(self._shown(binding), binding.description, binding.action)
            if binding.id in _LAST:
                last[binding.id] = key
            elif key not in first:
                first.append(key)
        return fit_keys(first, [last[name] for name in _LAST if name in last], self.size.width)

    def _shown(self, binding: Binding) -> str:
        return self.app.get_key_display(binding)

    def render(self) -> Content:
        """Return the keys in the accent color, each with its description."""
        parts: list[Content] = [Content(" ")]
        keys, gap = self._keys()
        for key in keys:
            parts += [Content.styled(key.shown, "$accent"), Content.styled(f" {key.does}{' ' * gap}", "$dim")]
        return Content("").join(parts)

    async def on_click(self, event: Click) -> None:
        """Run the action of the clicked key."""
        at = 1
        keys, gap = self._keys()
        for key in keys:
            if at <= event.x < at + key.width:
                await self._press(key.action)
                return
            at += key.width + gap

    async def _press(self, action: str) -> None:
        for node, binding, _, _ in self.screen.active_bindings.values():
            if binding.action == action:
                await self.app.run_action(action, default_namespace=node)
                return
