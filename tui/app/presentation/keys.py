"""The footer: which keys fit, in their order, with the ones that lead on always there."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import width_of


class Key(NamedTuple):
    """A key as it is shown, what it does, and the action that it stands for."""

    shown: str
    does: str
    action: str

    @property
    def width(self) -> int:
        """Cells with the gap after it."""
        return width_of(self.shown) + 1 + width_of(self.does) + 2


def keys_that_fit(keys: Sequence[Key], last: Sequence[Key], width: int) -> list[Key]:
    """As many of `keys` as fit before `last`; of those the first alone where even they do not fit."""
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
