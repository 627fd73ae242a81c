"""Changes that answers make to files, for the screens: their diffs, the blocks they come from, and other previews.

What needs the git library is loaded when it is called.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.model.results import Change
from tui.model.suite import Case
from tui.workspace.answer.blocks import Block, find_blocks
from tui.workspace.answer.choose import choose_blocks
from tui.workspace.answer.widen import new_lines, old_lines, widen_hunks
from tui.workspace.git.patch import read_diff
from tui.workspace.temporary import temporary_folder
from tui.workspace.words import changed_words

if TYPE_CHECKING:
    from tui.workspace.git.diff import TextDiff

__all__ = [
    "Block",
    "changed_words",
    "choose_blocks",
    "diff_texts",
    "find_blocks",
    "new_lines",
    "old_lines",
    "preview_block",
    "read_diff",
    "temporary_folder",
    "widen_hunks",
]


def diff_texts(old: bytes, new: bytes, context: int) -> "TextDiff":
    """Return the difference of two texts as hunks with `context` lines around each change.

    Takes about 0.7 µs per line shown: run it in a thread for large texts.
    """
    from tui.workspace.git import diff

    return diff.diff_texts(old, new, context)


def preview_block(case: Case, answer: str, changes: Sequence[Change], block: int) -> Change | None:
    """Return the change that a block makes to the target file; None if the stored changes do not show the old file."""
    from tui.workspace.answer import preview

    return preview.preview_block(case, answer, changes, block)
