"""Finds the suite files below a folder."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_SUFFIXES = frozenset((".yaml", ".yml", ".json"))
_SKIPPED_FOLDERS = frozenset(
    (
        "node_modules",
        "__pycache__",
        "venv",
        "env",
        "site-packages",
        "bower_components",
        "vendor",
        "dist",
        "build",
        "target",
    )
)
_SNIFFED_BYTES = 256 * 1024
_ANY_KEY = re.compile(rb"""(?:^(?:[ \t]*- +)?|[{,]\s*)(?:"[^"\n]+"|'[^'\n]+'|[\w$.-]+)[ \t]*:""", re.MULTILINE)
# Keys of a suite: in YAML at the top or in an item of a list, in JSON wherever an object has them. It begins with a
# set of characters, because then the search runs from one of them to the next, in a third of the time.
_SUITE_KEY = re.compile(
    rb"""[\n{,](?:(?<=\n)(?:- +|  )?|(?<!\n)\s*)["']?"""
    rb"""(?:test[_-]?cases?|models|repo_?clone|steps?|inputs?|assert|expected)["']?\s*:""",
    re.IGNORECASE,
)


def find_suites(path: Path) -> list[Path]:
    """The suite files below a folder, each folder's files before its subfolders, by name; a file is itself the answer.

    Hidden files and folders, `node_modules` and the like are passed over, and so is a file that is clearly no suite:
    one in UTF-8 with keys of which none is a key of either format. A file that is broken, empty or doubtful is
    listed, so that it is reported.
    """
    if not path.is_dir():
        return [path]
    return list(_walk(path))


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            path = Path(root, name)
            if path.suffix.lower() in _SUFFIXES and not name.startswith(".") and not _is_clearly_none(path):
                yield path


def _is_clearly_none(path: Path) -> bool:
    if not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(_SNIFFED_BYTES)
        beginning[:-4].decode()
    except (OSError, UnicodeDecodeError):
        return False
    return _ANY_KEY.search(beginning) is not None and _SUITE_KEY.search(b"\n" + beginning) is None
