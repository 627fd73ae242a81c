"""Roles get their look from the theme here, and only here: as Content for widgets, as segments for line renderers."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.color import Color
from textual.content import Content

from tui.app.presentation.pieces import Line, Piece, Role

if TYPE_CHECKING:
    from textual.app import App

VARIABLES: Mapping[Role, str] = {
    "plain": "foreground",
    "strong": "foreground",
    "dim": "dim",
    "quiet": "quiet-border",
    "accent": "accent",
    "passed": "passed",
    "failed": "failed",
    "error": "error-mark",
    "flaky": "flaky",
    "running": "running",
    "block-dim": "dim",
    "block-passed": "passed",
    "block-flaky": "flaky",
    "block-failed": "failed",
    "chosen": "foreground",
    "chosen-dim": "dim",
    "chosen-accent": "accent",
}
_BOLD = ("strong", "chosen", "chosen-accent")


def _style(role: Role, name: str) -> str:
    if role.startswith("block-"):
        return f"bold $background on ${name}"
    ground = " on $selected" if role.startswith("chosen") else ""
    return f"{'bold ' if role in _BOLD else ''}${name}{ground}"


_STYLES: Mapping[Role, str] = {role: _style(role, name) for role, name in VARIABLES.items()}


def content_of(line: Iterable[Piece]) -> Content:
    """One line, or a text with line breaks in its pieces."""
    return Content.assemble(*((text, _STYLES[role]) for text, role in line if text))


def content_of_lines(lines: Iterable[Line]) -> Content:
    """Several lines."""
    return Content("\n").join(content_of(line) for line in lines)


def rich_styles(app: "App[object]") -> dict[Role, RichStyle]:
    """The looks of the roles in the theme that is worn; to be cached until the styles change."""
    variables = app.theme_variables
    return {
        role: RichStyle(color=Color.parse(variables[name]).rich_color, bold=role == "strong" or None)
        for role, name in VARIABLES.items()
    }


def grounded_styles(app: "App[object]", base: RichStyle, ground: str = "") -> dict[Role, RichStyle]:
    """The same on the ground of `base`, or of a colour of the theme."""
    if ground:
        base += RichStyle(bgcolor=Color.parse(app.theme_variables[ground]).rich_color)
    return {role: base + style for role, style in rich_styles(app).items()}


def segments_of(line: Line, styles: Mapping[Role, RichStyle]) -> list[Segment]:
    """One line for a line renderer."""
    return [Segment(text, styles[role]) for text, role in line if text]
