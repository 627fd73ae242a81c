"""The looks of ink in the theme that is worn, each made once."""

from collections.abc import Mapping

from rich.style import Style

from tui.app.text.page import Base, Ink, MarkLook

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


class InkStyles:
    """Rich styles for ink on a ground; `ground` is `#rrggbb`, `variables` those of the theme."""

    def __init__(self, variables: Mapping[str, str], ground: str) -> None:
        self._colours = {name: variables[name] for name in (*_BASES.values(), *_EXTRA)}
        for name, _ in _MARKS.values():
            self._colours |= {name: variables[name], f"{name}-background": variables[f"{name}-background"]}
        self._ground = ground
        self._made: dict[Ink, Style] = {}
        self.blank = Style(color=self._colours["foreground"], bgcolor=ground)
        self.cursor = Style(color=self._colours["accent"], bgcolor=ground)
        self.thumb = Style(color=self._colours["dim"], bgcolor=ground)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InkStyles) and (self._colours, self._ground) == (other._colours, other._ground)

    __hash__ = None  # type: ignore[assignment]

    def style(self, ink: Ink) -> Style:
        """The look of an ink."""
        style = self._made.get(ink)
        if style is None:
            style = self._made[ink] = self._make(ink)
        return style

    def _make(self, ink: Ink) -> Style:
        style = Style(color=self._colours[_BASES[ink.base]], bgcolor=self._ground)
        if ink.mark is not None:
            name, effect = _MARKS[ink.mark]
            style += Style(color=self._colours[name], bgcolor=self._colours[f"{name}-background"]) + effect
        if ink.selected:
            style += Style(bgcolor=self._colours["screen-selection-background"], color=self._colours["foreground"])
        return style
