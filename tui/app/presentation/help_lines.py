"""The lines of the help: the keys of a screen, and the meaning of the marks."""

from collections.abc import Sequence
from textwrap import wrap

from tui.app.presentation.marks import legend
from tui.app.presentation.pieces import Line, fill, width_of

_GROUPS = {
    "matrix": "Matrix",
    "compare": "Compare",
    "runs": "Runs",
    "review": "Review",
    "run": "Running",
    "look": "View",
    "pane": "Answers",
    "answer": "Answers",
    "tabs": "Tabs",
    "risk": "Tabs",
    "tree": "Suites",
    "list": "Lists",
    "diff": "Changes",
    "text": "Text",
    "app": "Global",
}


def key_lines(keys: Sequence[tuple[str, str, str]], width: int) -> list[Line]:
    """Return the lines of the help, `width` cells wide: a heading for each group, then its keys with descriptions.

    `keys` has the group, the displayed keys and the description of each binding.
    """
    column = min(max((width_of(shown) for _, shown, _ in keys), default=0) + 2, max(8, width // 3))
    grouped: dict[str, list[tuple[str, str]]] = {head: [] for head in _GROUPS.values()}
    for group, shown, does in keys:
        grouped.setdefault(_GROUPS.get(group, "More"), []).append((shown, does))
    lines: list[Line] = []
    for head, members in grouped.items():
        if members:
            lines += [*([()] if lines else []), ((head, "strong"),)]
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
