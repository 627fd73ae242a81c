"""The pages of documentation for users, and the fenced blocks in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language (empty where none is given) and its text."""

    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, without their indentation."""
    for match in FENCED.finditer(page.read_text(encoding="utf-8")):
        indent = match[1]
        yield Block(match[2], "".join(line.removeprefix(indent) for line in match[3].splitlines(keepends=True)))


def prose(page: Path) -> str:
    """Return the text of a page without its fenced blocks."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))
