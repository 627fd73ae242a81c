"""The looks of ink in the theme that is worn, each made once."""

from collections.abc import Mapping

from rich.style import Style

from tui.app.text.page import Base, Ink, MarkLook
from tui.app.widgets.made_styles import MadeStyles

_BASES: Mapping[Base, str] = {
    "text": "foreground",
    "dim": "dim",
    "keyword": "code-keyword",
    "function": "code-function",
    "type": "code-type",
    "string": "code-string",
    "number": "code-number",
    "comment": "code-comment",
    "operator": "code-operator",
}
# Bold and underline tell the marks apart where there are no colours.
_MARKS: Mapping[MarkLook, tuple[str, Style]] = {
    "expected": ("match-expected", Style(bold=True)),
    "forbidden": ("match-forbidden", Style(underline=True)),
    "current": ("match-current", Style(bold=True, underline=True)),
}
_EXTRA = ("accent", "quiet-border", "screen-selection-background")


class InkStyles(MadeStyles[Ink]):
    """Rich styles for ink on a ground; `ground` is `#rrggbb`, `variables` those of the theme."""

    def __init__(self, variables: Mapping[str, str], ground: str) -> None:
        colours = {name: variables[name] for name in (*_BASES.values(), *_EXTRA)}
        for name, _ in _MARKS.values():
            colours |= {name: variables[name], f"{name}-background": variables[f"{name}-background"]}
        super().__init__(colours, ground)
        self._ground = ground
        self.cursor = Style(color=colours["accent"], bgcolor=ground)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InkStyles) and (self.colours, self._ground) == (other.colours, other._ground)

    __hash__ = None  # type: ignore[assignment]

    def make(self, ink: Ink) -> Style:
        """Its colour, then its mark's, then that of what is selected."""
        style = Style(color=self.colours[_BASES[ink.base]], bgcolor=self._ground)
        if ink.mark is not None:
            name, effect = _MARKS[ink.mark]
            style += Style(color=self.colours[name], bgcolor=self.colours[f"{name}-background"]) + effect
        if ink.selected:
            style += Style(bgcolor=self.colours["screen-selection-background"], color=self.colours["foreground"])
        return style
