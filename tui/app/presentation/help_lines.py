"""The lines of the help: the keys of a screen, and the meaning of the marks."""

from collections.abc import Sequence
from textwrap import wrap

from tui.app.presentation.marks import legend
from tui.app.presentation.pieces import Line, fill, width_of


def key_lines(keys: Sequence[tuple[str, str, str]], width: int) -> list[Line]:
    """Return the lines of the help, `width` cells wide: each heading once, then its keys with descriptions.

    `keys` has the heading, the displayed keys and the description of each binding.
    """
    column = min(max((width_of(shown) for _, shown, _ in keys), default=0) + 2, max(8, width // 3))
    grouped: dict[str, list[tuple[str, str]]] = {}
    for heading, shown, does in keys:
        grouped.setdefault(heading, []).append((shown, does))
    lines: list[Line] = []
    for heading, members in grouped.items():
        lines += [*([()] if lines else []), ((heading, "strong"),)]
        for shown, does in members:
            first, *more = wrap(does, max(8, width - column)) or [""]
            lines.append(((fill(shown, column), "accent"), (first, "plain")))
            lines += [((" " * column, "plain"), (row, "plain")) for row in more]
    return lines


def legend_lines(width: int) -> list[Line]:
    """Return a heading and the meaning of each mark, `width` cells wide."""
    lines: list[Line] = [(("Marks", "strong"),)]
    for mark, means in legend():
        first, *more = wrap(means, max(8, width - 4)) or [""]
        lines.append((mark, (f"   {first}", "plain")))
        lines += [((f"    {row}", "plain"),) for row in more]
    return lines
