"""Styles of the current theme: for roles (content and segments), and for the pieces of a text or a diff."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content

from tui.app.presentation.pieces import Line, Piece, Role
from tui.app.text.highlight import CodeRole
from tui.app.text.page import MarkLook, TextStyle

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
    """Return a line as styled content; its pieces may contain line breaks."""
    return Content.assemble(*((text, _STYLES[role]) for text, role in line if text))


def content_of_lines(lines: Iterable[Line]) -> Content:
    """Return several lines as styled content."""
    return Content("\n").join(content_of(line) for line in lines)


def rich_styles(app: "App[object]") -> dict[Role, Style]:
    """Return the style of each role in the current theme; cache it until the styles change."""
    variables = app.theme_variables
    return {
        role: Style(color=Color.parse(variables[name]).rich_color, bold=role == "strong" or None)
        for role, name in VARIABLES.items()
    }


def grounded_styles(app: "App[object]", base: Style, ground: str = "") -> dict[Role, Style]:
    """Return the style of each role on the background of `base`, or on a color of the theme."""
    if ground:
        base += Style(bgcolor=Color.parse(app.theme_variables[ground]).rich_color)
    return {role: base + style for role, style in rich_styles(app).items()}


def segments_of(line: Line, styles: Mapping[Role, Style]) -> list[Segment]:
    """Return a line as segments for `render_line`."""
    return [Segment(text, styles[role]) for text, role in line if text]


Key = TypeVar("Key", bound=Hashable)


class MadeStyles(Generic[Key]):
    """A cache of Rich styles; a subclass makes the style of a key.

    `colours` maps the color names of the theme to `#rrggbb`; `ground` is the background of the rows.
    """

    def __init__(self, colours: Mapping[str, str], ground: str) -> None:
        self.colours = colours
        self._made: dict[Key, Style] = {}
        self.blank = Style(color=colours["foreground"], bgcolor=ground)
        self.thumb = Style(color=colours["dim"], bgcolor=ground)

    def make(self, key: Key) -> Style:
        """Make the style of a key that is not cached yet."""
        raise NotImplementedError

    def style(self, key: Key) -> Style:
        """Return the style of a key, from the cache if it is there."""
        style = self._made.get(key)
        if style is None:
            style = self._made[key] = self.make(key)
        return style


CODE_COLOURS: Mapping[str, str] = {role: f"code-{role}" for role in get_args(CodeRole)}
"""The name of the theme color of each role of a piece of code."""

_BASES: Mapping[str, str] = {
    "text": "foreground",
    "dim": "dim",
    "strong": "foreground",
    "emphasis": "foreground",
    "link": "accent",
    **CODE_COLOURS,
}
_EFFECTS: Mapping[str, Style] = {
    "strong": Style(bold=True),
    "emphasis": Style(italic=True),
    "link": Style(underline=True),
}
# Bold and underline distinguish the marks in terminals without colors.
_MARKS: Mapping[MarkLook, tuple[str, Style]] = {
    "expected": ("match-expected", Style(bold=True)),
    "forbidden": ("match-forbidden", Style(underline=True)),
    "current": ("match-current", Style(bold=True, underline=True)),
}
_EXTRA = ("accent", "quiet-border", "screen-selection-background")


class TextStyles(MadeStyles[TextStyle]):
    """Rich styles of text on a background; `ground` is `#rrggbb`, `variables` are those of the theme."""

    def __init__(self, variables: Mapping[str, str], ground: str) -> None:
        colours = {name: variables[name] for name in (*_BASES.values(), *_EXTRA)}
        for name, _ in _MARKS.values():
            colours |= {name: variables[name], f"{name}-background": variables[f"{name}-background"]}
        super().__init__(colours, ground)
        self._ground = ground
        self.cursor = Style(color=colours["accent"], bgcolor=ground)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextStyles) and (self.colours, self._ground) == (other.colours, other._ground)

    __hash__ = None  # type: ignore[assignment]

    def make(self, key: TextStyle) -> Style:
        """Make the style of a piece of text: its color, then that of the mark, then that of the selection."""
        style = Style(color=self.colours[_BASES[key.base]], bgcolor=self._ground)
        if key.base in _EFFECTS:
            style += _EFFECTS[key.base]
        if key.mark is not None:
            name, effect = _MARKS[key.mark]
            style += Style(color=self.colours[name], bgcolor=self.colours[f"{name}-background"]) + effect
        if key.selected:
            style += Style(bgcolor=self.colours["screen-selection-background"], color=self.colours["foreground"])
        return style
