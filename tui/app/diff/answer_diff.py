"""The changes of one answer: its files as diffs, a preview with another code block, and the patch for `git apply`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.app.diff.rows import Sides, find_sides
from tui.model.diffs import FileDiff
from tui.model.errors import WorkspaceError
from tui.model.progress import TrialProgress
from tui.model.results import Change, NotApplied, TrialKey
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case
from tui.session.changes import Block, choose_blocks, find_blocks, read_diff


@dataclass(frozen=True, slots=True)
class ShownDiff:
    """The changes of an answer to a case.

    `block` is the index of the code block that is previewed as the target file; None for the saved changes.
    """

    case: Case
    trial: TrialKey
    answer: str
    changes: tuple[Change, ...] = ()
    refused: tuple[NotApplied, ...] = ()
    block: int | None = None

    def read_files(self) -> tuple[FileDiff, ...]:
        """Return the changes as diffs; a change that cannot be parsed is a file without hunks. Takes about 1 µs per
        line."""
        return tuple(
            next(iter(read_diff(change.diff)), FileDiff(change.path, change.kind, (), change.path))
            for change in self.changes
        )

    def find_sides(self, file: FileDiff) -> Sides | None:
        """Return the full text of both sides, if it is saved or in the answer. Call this in a thread."""
        block = self.block if file.path == self.case.target_file else None
        return find_sides(self.case, self.answer, file, block)


def kept_diff(case: Case, trial: TrialProgress | None) -> ShownDiff | None:
    """Return the saved changes of a trial; None while it has no result."""
    result = trial.result if trial is not None else None
    if trial is None or result is None:
        return None
    answer = result.current_steps[-1].response if result.current_steps else ""
    return ShownDiff(case, trial.key, answer, result.changes, result.not_applied)


def blocks_of(shown: ShownDiff) -> tuple[Block, ...]:
    """Return the code blocks of the answer."""
    return find_blocks(shown.answer)


def block_in_use(shown: ShownDiff) -> int | None:
    """Return the number of the block that is used for the target file, or None."""
    target = shown.case.target_file
    if target is None or not any(change.path == target for change in shown.changes):
        return None
    chosen = choose_blocks(blocks_of(shown), target, shown.block).files.get(target)
    return chosen.number if chosen else None


def with_block(kept: ShownDiff, block: int) -> ShownDiff | str:
    """Return the changes that the answer would make with a block as the target file, or why they are unknown.

    Imports pygit2 on first use: call this in a thread.
    """
    from tui.session.changes import preview_block

    target = kept.case.target_file
    name = sanitize_line(target or "", 200)
    try:
        made = preview_block(kept.case, kept.answer, kept.changes, block)
        refused = tuple(choose_blocks(blocks_of(kept), target, block).refused)
    except (WorkspaceError, IndexError) as error:
        return sanitize_line(str(error))
    if made is None:
        if not any(change.path == target for change in kept.changes):
            return f"The original of {name} is not saved, so other blocks cannot be compared with it."
        return f"Block {block + 1} does not change {name}, or its original is not saved."
    changes = tuple(made if change.path == target else change for change in kept.changes)
    return ShownDiff(kept.case, kept.trial, kept.answer, changes, refused, block)


_REPLACED = "\ufffd"


def patch_text(changes: Sequence[Change]) -> str:
    """Return the diffs of all files as one patch in git's format."""
    return "".join(change.diff if change.diff.endswith("\n") else f"{change.diff}\n" for change in changes)


def is_lossy(changes: Sequence[Change]) -> bool:
    """Return whether the diff may have lost bytes that are not UTF-8."""
    return any(_REPLACED in change.diff for change in changes)


def patch_name(case: str, model: str) -> str:
    """Return a file name for the patch, of letters, digits, `-`, `_` and `.` only."""
    words = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.")[:60] for part in (case, model))
    return f"{'-'.join(word for word in words if word) or 'changes'}.patch"


def save_patch(place: Path, changes: Sequence[Change]) -> None:
    """Write a patch to a new file, byte for byte. Raises OSError; FileExistsError if the file exists."""
    with place.open("xb") as file:
        file.write(patch_text(changes).encode("utf-8", "surrogateescape"))
