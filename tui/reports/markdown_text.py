"""Outside text inside Markdown: nothing of it is markup, nothing leaves its place."""

import re
from collections.abc import Sequence

from tui.model.shown import show_line, show_text

_MARKUP = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK = re.compile(r"^(?:([-+=#])|(\d+)(?=[.)](?: |$)))")


def inline(text: str, limit: int = 300) -> str:
    """Text on one line, for headings, lists and cells."""
    line = show_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _MARKUP.sub(r"\\\1", line)
    return _BLOCK.sub(lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\", line)


def code(text: str, limit: int = 300) -> str:
    """Text on one line in a code span; not for cells, where a `|` would end it."""
    line = show_line(text, limit)
    ticks = "`" * (_longest_run(line) + 1)
    edge = " " if not line or line[0] in "` " or line[-1] in "` " else ""
    return f"{ticks}{edge}{line}{edge}{ticks}"


def fence(text: str, language: str = "") -> str:
    """Text on lines of its own, as it is."""
    shown = show_text(text)
    ticks = "`" * max(3, _longest_run(shown) + 1)
    return f"{ticks}{language}\n{shown.rstrip(chr(10))}\n{ticks}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> str:
    """A table of cells that are Markdown already; all but the first columns are set right, `numbers` of them."""
    ruler = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ruler, *rows))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
