"""The location of the folders bundled with Assay: inside the wheel, or beside the package in a checkout."""

from pathlib import Path

import tui


def shipped_folder(name: str) -> Path:
    """Return the path of a bundled folder: `themes` or `test-suites`."""
    package = Path(tui.__file__).parent
    inside = package / "_shipped" / name
    return inside if inside.is_dir() else package.parent / name
