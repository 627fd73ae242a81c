"""Assignment of an answer's blocks to files, with the reasons for blocks that are not used."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.model.errors import WorkspaceError
from tui.model.paths import written_path_fault
from tui.model.results import NotApplied
from tui.workspace.answer.blocks import Block
from tui.workspace.languages import fits, language_id

_MOST_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """`files` maps a path to the block with its new content; `refused` holds every other block."""

    files: dict[str, Block] = field(default_factory=dict)
    refused: list[NotApplied] = field(default_factory=list)


def choose_blocks(blocks: Sequence[Block], target: str | None, picked: int | None = None) -> Chosen:
    """Assign blocks to files.

    A block that names a path is assigned to it, the last one if several name it. Of the others, the longest with a
    language that fits is assigned to `target`; if there is none, the longest without a language that does not follow a
    line about a command or an output. A block that only a
    sentence assigns to a file must have the file's language or none, and takes no file from a block that names it, or,
    without a language, from one that has one. `picked` is the number of the block that the user chose for the target.
    Raises WorkspaceError if there is no such block.
    """
    if picked is not None and not (0 <= picked < len(blocks) and target):
        raise WorkspaceError(
            f"block {picked + 1} cannot be applied: the answer has {len(blocks)} blocks, and the target file is "
            f"{target!r}"
        )
    chosen = Chosen()
    unnamed: list[Block] = []
    for block in blocks:
        if block.number == picked:
            continue
        if block.path is None:
            unnamed.append(block)
        else:
            _send_to_its_path(chosen, block)
    if picked is not None and target is not None:
        _put(chosen, target, blocks[picked], f"block {picked + 1} was selected for this file")
    _send_longest(chosen, unnamed, target, picked)
    chosen.refused.sort(key=lambda refused: refused.block)
    return chosen


def refuse(block: Block, path: str | None, reason: str) -> NotApplied:
    """Return the record of a block that is not applied."""
    return NotApplied(block.number, path, block.language, reason)


def _send_to_its_path(chosen: Chosen, block: Block) -> None:
    path = (block.path or "").removeprefix("./")
    fault = written_path_fault(path)
    if fault is not None:
        chosen.refused.append(refuse(block, block.path, f"the path is not allowed: it {fault}"))
    elif block.language and language_id(block.language) == "diff" and not fits(block.language, path):
        chosen.refused.append(refuse(block, path, "is a diff, not the content of the file"))
    elif block.is_mentioned and not fits(block.language, path):
        chosen.refused.append(refuse(block, path, f"its language does not fit {path}"))
    elif (better := chosen.files.get(path)) is not None and _claim(block) < _claim(better):
        chosen.refused.append(
            refuse(block, path, f"only a sentence assigns it to the file that block {better.number + 1} has")
        )
    elif len(chosen.files) >= _MOST_FILES and path not in chosen.files:
        chosen.refused.append(refuse(block, path, f"the answer changes more than {_MOST_FILES:,} files"))
    else:
        _put(chosen, path, block, f"block {block.number + 1} has the same path and comes later")


def _put(chosen: Chosen, path: str, block: Block, reason: str) -> None:
    if (earlier := chosen.files.get(path)) is not None:
        chosen.refused.append(refuse(earlier, path, reason))
    chosen.files[path] = block


def _claim(block: Block) -> int:
    """Return how much says that a block is the content of the file whose path it has."""
    return 2 if not block.is_mentioned else int(bool(block.language))


def _is_output(block: Block) -> bool:
    """Return whether a block is no content of a file: it has no language, and follows a line about a command."""
    return block.is_use and not block.language


def _send_longest(chosen: Chosen, unnamed: Sequence[Block], target: str | None, picked: int | None) -> None:
    if target is None:
        reason = "has no path, and the case has no targetFile"
        chosen.refused.extend(refuse(block, None, reason) for block in unnamed)
        return
    taken = chosen.files.get(target)
    fault = written_path_fault(target)
    fitting = [] if fault else [block for block in unnamed if fits(block.language, target) and not _is_output(block)]
    if taken is not None:
        is_weak = _claim(taken) == 0 and taken.number != picked
        fitting = [block for block in fitting if block.language] if is_weak else []
    # Output and tracebacks have no language, and may be longer than the code.
    longest = max(fitting, key=lambda block: (bool(block.language), len(block.text)), default=None)
    if taken is not None and longest is not None:
        chosen.refused.append(
            refuse(taken, target, f"only a sentence assigns it to the file that block {longest.number + 1} has")
        )
        taken = None
    if longest is not None:
        chosen.files[target] = longest
    for block in unnamed:
        if block is longest:
            continue
        if fault is not None:
            reason = f"targetFile is not allowed: it {fault}"
        elif not fits(block.language, target):
            reason = f"its language does not fit {target}"
        elif _is_output(block):
            reason = "is a command or an output, as the line before it says"
        else:
            winner = taken or longest
            why = "has that path" if taken and taken.path else "was selected for it" if taken else "is at least as long"
            if not taken and longest and longest.language and not block.language:
                why = "has a language that fits"
            reason = f"has no path, and block {winner.number + 1 if winner else '?'} {why}"
        chosen.refused.append(refuse(block, None, reason))
