"""Where the folders that ship with Assay are: inside the wheel, or beside the package in a checkout."""

from pathlib import Path

import tui


def shipped_folder(name: str) -> Path:
    """`themes` or `test-suites` as shipped."""
    package = Path(tui.__file__).parent
    inside = package / "_shipped" / name
    return inside if inside.is_dir() else package.parent / name
