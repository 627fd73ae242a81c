"""The looks of a diff's ink in the theme that is worn, each made once."""

from collections.abc import Mapping

from rich.style import Style

from tui.app.diff.ink import DiffInk, Front, Ground
from tui.app.diff.tints import grounds
from tui.app.theme.palette import COLOURS, contrast
from tui.app.widgets.made_styles import MadeStyles

_FRONTS: Mapping[Front, str] = {
    "text": "foreground",
    "strong": "foreground",
    "dim": "dim",
    "quiet": "quiet-border",
    "accent": "accent",
    "added": "passed",
    "removed": "failed",
    "keyword": "code-keyword",
    "function": "code-function",
    "type": "code-type",
    "string": "code-string",
    "number": "code-number",
    "comment": "code-comment",
    "operator": "code-operator",
}
_READABLE = 4.5
# Bold and underline tell these apart where there are no colours.
_BOLD: frozenset[Ground] = frozenset(("added-word", "removed-word"))
_FOUND: Mapping[Ground, str] = {"match": "match-expected", "current": "match-current"}


class DiffStyles(MadeStyles[DiffInk]):
    """Rich styles for a diff; `variables` are those of the theme."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__({name: variables[name] for name in COLOURS}, variables["background"])
        self._grounds = grounds(self.colours)

    def make(self, ink: DiffInk) -> Style:
        """Its colour on its ground, in bold where colours alone would not tell."""
        ground = self._grounds[ink.ground]
        if ink.ground in _FOUND:
            return Style(color=self.colours[_FOUND[ink.ground]], bgcolor=ground, bold=True, underline=True)
        front = self.colours[_FRONTS[ink.front]]
        if ink.ground in _BOLD and contrast(front, ground) < _READABLE:
            front = self.colours["foreground"]
        bold = ink.ground in _BOLD or ink.front == "strong"
        return Style(color=front, bgcolor=ground, bold=bold or None)
