"""What differs between two answers, as the diff of one file."""

from dataclasses import replace

from tui.model.diffs import DiffLine, FileDiff, Hunk

_WHOLE = 1_000_000_000
_FOLDED = 3


def answer_diff(left: str, right: str, *, folded: bool) -> FileDiff:
    """The left answer as the old text, the right one as the new; identical parts are left out where it is `folded`.
    Equal answers are shown whole. Loads git's library on first use, and may take a while: for a thread."""
    from tui.workspace.git.diff import diff_texts

    left, right = _ended(left), _ended(right)
    if left == right:
        return _unchanged(left)
    context = _FOLDED if folded else _WHOLE
    # A NUL would make git call the text binary; it is shown as a picture anyway.
    found = diff_texts(_bytes(left), _bytes(right), min(context, left.count("\n") + right.count("\n") + 1))
    # What git takes for the head of a function is any line of an answer.
    hunks = tuple(replace(hunk, heading="") for hunk in found.hunks)
    return FileDiff("answer", "modified", hunks, added=found.added, removed=found.removed)


def _ended(text: str) -> str:
    """Whether the last line has an end is no difference between two answers."""
    text = text.replace("\r\n", "\n")
    return text if not text or text.endswith("\n") else text + "\n"


def _bytes(text: str) -> bytes:
    return text.replace("\0", "␀").encode("utf-8", "replace")


def _unchanged(text: str) -> FileDiff:
    lines = text.split("\n")[:-1]
    if not lines:
        return FileDiff("answer", "modified")
    numbered = tuple(DiffLine("context", line, number, number) for number, line in enumerate(lines, 1))
    return FileDiff("answer", "modified", (Hunk(1, len(lines), 1, len(lines), "", numbered),))
