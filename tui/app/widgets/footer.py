"""The footer: the active keys, as many as fit. A click on a key runs its action."""

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
        """Return the width in cells, including the gap after the key."""
        return width_of(self.shown) + 1 + width_of(self.does) + 2


def keys_that_fit(keys: Sequence[Key], last: Sequence[Key], width: int) -> list[Key]:
    """Return as many of `keys` as fit before `last`, and those of `last` that fit."""
    room = width - 1
    kept_last: list[Key] = []
    for key in last:
        if key.width <= room:
            kept_last.append(key)
            room -= key.width
    kept: list[Key] = []
    for key in keys:
        if key.width > room:
            break
        kept.append(key)
        room -= key.width
    return [*kept, *kept_last]


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

    def _keys(self) -> list[Key]:
        first: list[Key] = []
        last: dict[str, Key] = {}
        for binding in (each.binding for each in bindings_in_order(self.screen) if each.binding.show and each.enabled):
            key = Key(self._shown(binding), binding.description, binding.action)
            if binding.id in _LAST:
                last[binding.id] = key
            elif key not in first:
                first.append(key)
        return keys_that_fit(first, [last[name] for name in _LAST if name in last], self.size.width)

    def _shown(self, binding: Binding) -> str:
        return self.app.get_key_display(binding)

    def render(self) -> Content:
        """Return the keys in the accent color, each with its description."""
        parts: list[Content] = [Content(" ")]
        for key in self._keys():
            parts += [Content.styled(key.shown, "$accent"), Content.styled(f" {key.does}  ", "$dim")]
        return Content("").join(parts)

    async def on_click(self, event: Click) -> None:
        """Run the action of the clicked key."""
        at = 1
        for key in self._keys():
            if at <= event.x < at + key.width - 2:
                await self._press(key.action)
                return
            at += key.width

    async def _press(self, action: str) -> None:
        for node, binding, _, _ in self.screen.active_bindings.values():
            if binding.action == action:
                await self.app.run_action(action, default_namespace=node)
                return
