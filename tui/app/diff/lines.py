"""Lines around a diff: the list of files, the line above the diff, and the list of code blocks."""

from collections.abc import Sequence

from tui.app.diff.layout import MOST_FOUND, Look
from tui.app.diff.pairs import FilePair, ShownFile, shown_file
from tui.app.diff.render import head_pieces
from tui.app.presentation.pieces import Line, Piece, Role, cut, cut_middle, fill, spread, width_of
from tui.model.diffs import FileDiff
from tui.model.sanitize import sanitize_line
from tui.session.changes import Block

_KINDS: dict[str, tuple[str, Role]] = {
    "added": ("A", "passed"),
    "modified": ("M", "accent"),
    "deleted": ("D", "failed"),
    "renamed": ("R", "accent"),
}


def file_line(file: FileDiff, width: int) -> Line:
    """Return the line of a file in the list: its kind of change, its name, its counts."""
    mark, role = _KINDS[file.kind]
    counts = _counts(file)
    room = max(1, width - 4 - sum(width_of(text) for text, _ in counts))
    return spread([(f" {mark} ", role), (cut_middle(sanitize_line(file.path, 1_000), room), "plain")], counts, width)


def pair_line(pair: FilePair, width: int) -> Line:
    """Return the line of a file in the list for two answers: the kind of change of each, and the name."""
    marks = [_KINDS[file.kind] if file else ("·", "dim") for file in pair.sides]
    name = cut_middle(sanitize_line(pair.shown.path, 1_000), max(1, width - 5))
    return ((" ", "plain"), *marks, (f" {name}", "plain"))


def pair_heads_line(pair: FilePair | None, names: tuple[str, str], width: int) -> Line:
    """Return the line above two answers' changes: on each side the model, and how many lines it changed."""
    line: list[Piece] = []
    left = max(1, (width - 1) // 2)
    for place, (name, room) in enumerate(zip(names, (left, width - 1 - left), strict=True)):
        if place:
            line.append(("│", "quiet"))
        file = pair.sides[place] if pair else None
        counts: list[Piece] = _counts(file) if file else [("not changed " if pair else "", "dim")]
        taken = sum(width_of(text) for text, _ in counts)
        line += spread([(f" {cut(sanitize_line(name, 100), max(1, room - taken - 2))}", "strong")], counts, room)
    return tuple(line)


def refused_line(count: int, width: int) -> Line:
    """Return the line of the list for the blocks that were not applied."""
    return ((" ! ", "error"), (cut(f"{count} not applied", max(0, width - 3)), "dim"))


def _counts(file: FileDiff) -> list[Piece]:
    if file.binary:
        return [("binary ", "dim")]
    return [(f"+{file.added}", "passed"), (f" -{file.removed} ", "failed")]


def place_line(
    shown: ShownFile | None,
    model: str,
    look: Look,
    hunk: tuple[int, int],
    found: tuple[int, int] | None,
    preview: str,
    width: int,
    *,
    crlf: bool = False,
) -> Line:
    """Return the line above a diff: file and counts on the left, the number of the change and the view on the right.

    Of two answers, the counts are in the line below. `hunk` and `found` are (number from 1, total); `preview` names a
    block that is previewed.
    """
    is_pair = isinstance(shown, FilePair)
    left: list[Piece] = [(f" {preview}  ", "accent")] if preview else []
    right: list[Piece] = []
    if found is not None:
        more = "+" if found[1] >= MOST_FOUND else ""
        right.append((f"{found[0]}/{found[1]}{more} found · " if found[1] else "not found · ", "accent"))
    if hunk[1]:
        right.append((f"change {hunk[0]}/{hunk[1]}", "dim"))
    modes = _modes(look, is_pair)
    if modes:
        right.append((" · ".join(["", *modes]) if right else " · ".join(modes), "dim"))
    right.append((" ", "dim"))
    if shown is None:
        return spread([*left, (f" {model}", "dim")], right, width)
    file = shown_file(shown)
    name, kind = head_pieces(file, crlf=crlf)
    counts = [] if is_pair else _counts(file)
    taken = sum(width_of(text) for text, _ in (*left, *right, *counts))
    room = max(8, width - taken - 6 - (width_of(kind) + 2 if kind else 0))
    left += [(f" {cut_middle(name, room)}", "strong")]
    if kind:
        left.append((f"  {kind}", "dim"))
    left += [("  ", "plain"), *counts]
    if (gap := width - taken - width_of(name) - width_of(model) - 12) > 0 and model:
        left.append((f" {cut(model, gap + 8)}", "dim"))
    return spread(left, right, width)


def _modes(look: Look, is_pair: bool) -> list[str]:
    """Return the words for the options of the view that are not the default."""
    words = {
        "both models": is_pair,
        "split": look.beside and not is_pair,
        "cut": not look.wrap,
        "ignore whitespace": look.ignore_space,
    }
    return [word for word, on in words.items() if on]


def block_line(block: Block, in_use: bool, width: int) -> Line:
    """Return the line of a code block: its number, language, length and first line."""
    lines = block.text.count("\n")
    first = next((line for line in block.text.split("\n", 50) if line.strip()), "")
    pieces: list[Piece] = [
        (f" {'●' if in_use else ' '} ", "accent"),
        (f"{block.number + 1:>3}  ", "strong"),
        (fill(sanitize_line(block.language or "", 100), 11), "dim"),
        (f"{lines:>5} {'line ' if lines == 1 else 'lines'}  ", "dim"),
        (sanitize_line(block.path or first, 300), "plain"),
    ]
    return spread(pieces, [], width)


def block_lines(blocks: Sequence[Block], in_use: int | None, width: int) -> list[Line]:
    """Return the lines of all code blocks; `in_use` is the number of the one that is displayed."""
    return [block_line(block, block.number == in_use, width) for block in blocks]
