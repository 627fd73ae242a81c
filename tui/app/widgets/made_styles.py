"""Looks of some kind of ink in the theme that is worn, each made once."""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from rich.style import Style

Ink = TypeVar("Ink", bound=Hashable)


class MadeStyles(Generic[Ink]):
    """`colours` are `#rrggbb` by their names in the theme, `ground` is what rows stand on. A subclass says how the look
    of an ink is made."""

    def __init__(self, colours: Mapping[str, str], ground: str) -> None:
        self.colours = colours
        self._made: dict[Ink, Style] = {}
        self.blank = Style(color=colours["foreground"], bgcolor=ground)
        self.thumb = Style(color=colours["dim"], bgcolor=ground)

    def make(self, ink: Ink) -> Style:
        """The look of an ink that was not asked for yet."""
        raise NotImplementedError

    def style(self, ink: Ink) -> Style:
        """The look of an ink."""
        style = self._made.get(ink)
        if style is None:
            style = self._made[ink] = self.make(ink)
        return style
