"""Preview of the diff that another block of a stored answer would make, without the repository.

Import on first use: loads pygit2.
"""

import hashlib
from collections.abc import Sequence

from tui.model.diffs import FileDiff
from tui.model.results import Change
from tui.model.suite import Case
from tui.workspace.answer.apply import shape_text
from tui.workspace.answer.blocks import find_blocks
from tui.workspace.answer.widen import new_lines, old_lines
from tui.workspace.git.diff import diff_body
from tui.workspace.git.patch import read_diff, write_header

_FILE = 0o100644
_ID_LENGTH = 7


def preview_block(case: Case, answer: str, changes: Sequence[Change], block: int) -> Change | None:
    """Return the change that block number `block` makes to the target file, computed from the stored changes.

    Return None if they do not show the old file, or if the block equals it. Raises IndexError if there is no such
    block.
    """
    text = find_blocks(answer)[block].text
    stored = next((change for change in changes if change.path == case.target_file), None)
    files = read_diff(stored.diff) if stored else ()
    if stored is None or not files:
        return None
    old = _old_text(case, answer, files[0])
    if old is None and files[0].kind != "added":
        return None
    try:
        new = shape_text(text, old)
    except UnicodeEncodeError:
        return None
    if new == old:
        return None
    body = diff_body(old or b"", new)
    old_id = _short_id(old) if old is not None else None
    header = write_header(stored.path, old_id, _short_id(new), files[0].new_mode or _FILE, has_hunks=bool(body.text))
    return Change(stored.path, stored.kind, body.added, body.removed, header + body.text.decode("utf-8", "replace"))


def _old_text(case: Case, answer: str, file: FileDiff) -> bytes | None:
    """Return the file before the change, or None if it did not exist or is not known."""
    if file.kind == "added":
        return None
    lines = new_lines(case, answer, file)
    if lines is None:
        return None
    old = old_lines(file, lines)
    shown = [line for hunk in file.hunks for line in hunk.lines if line.old is not None]
    is_open = bool(shown) and not shown[-1].newline
    return ("\n".join(old) + ("" if is_open or not old else "\n")).encode("utf-8", "replace")


def _short_id(data: bytes) -> str:
    """Return the id that git gives a blob, in its usual abbreviated length."""
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()[:_ID_LENGTH]
