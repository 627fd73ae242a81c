"""The changes of an answer as a patch that `git apply` takes."""

import re
from collections.abc import Sequence
from pathlib import Path

from tui.model.results import Change

_REPLACED = "\ufffd"


def patch_text(changes: Sequence[Change]) -> str:
    """The diffs of all files, as git wrote them."""
    return "".join(change.diff if change.diff.endswith("\n") else f"{change.diff}\n" for change in changes)


def is_lossy(changes: Sequence[Change]) -> bool:
    """Whether there may have been bytes that are not UTF-8: those are not in the diff as they were."""
    return any(_REPLACED in change.diff for change in changes)


def patch_name(case: str, model: str) -> str:
    """A name for its file: of letters, digits, `-`, `_` and `.` alone."""
    words = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.")[:60] for part in (case, model))
    return f"{'-'.join(word for word in words if word) or 'changes'}.patch"


def save_patch(place: Path, changes: Sequence[Change]) -> None:
    """Write the patch to a new file, byte for byte. Raises OSError, FileExistsError where there is a file already."""
    with place.open("xb") as file:
        file.write(patch_text(changes).encode("utf-8", "surrogateescape"))
