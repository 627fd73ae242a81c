"""Tables kept as text: `=== name`, the content of a file, `--- expected`, and the lines that it must give."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """A file's name and content, and what is expected of it."""

    name: str
    content: str
    expected: tuple[str, ...]


def read_table(path: Path) -> list[Row]:
    """The rows of a table; a file's last line break is its own."""
    rows = []
    for part in re.split("^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        content, _, expected = rest.partition("--- expected\n")
        rows.append(Row(name, content, tuple(expected.splitlines())))
    return rows
