"""What can be copied of the selected case: the answer, its code blocks, the prompt, and a command that repeats it."""

import glob
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from textual.screen import Screen

from tui.app.dialogs import ChoiceScreen
from tui.app.open_suites import OpenSuite
from tui.app.presentation.figures import counted
from tui.app.presentation.pieces import Line
from tui.model.sanitize import remove_unseen, sanitize_line
from tui.model.servers import is_agent_of
from tui.model.suite import Case

_MOST_BLOCKS = 20
MOST_CHARACTERS = 1_000_000  # terminals refuse more


class Copy(NamedTuple):
    """A text that can be copied, its name, and a detail about it."""

    name: str
    detail: str
    text: str

    @property
    def line(self) -> Line:
        """Return the line of the menu."""
        return ((f" {self.name}", "strong"), (f"  {sanitize_line(self.detail, 60)}", "dim"))


def copies(open_suite: OpenSuite, case: Case, model: str, answer: str) -> list[Copy]:
    """Return the texts that can be copied. Control characters are removed: a pasted text could run a command."""
    found: list[Copy] = []
    if answer:
        found.append(Copy("Answer", counted(len(answer), "character"), answer))
        found += _code_blocks(answer)
    found.append(Copy("Prompt", counted(len(case.inputs), "character"), case.inputs))
    command = repeat_command(open_suite, case, model)
    found.append(Copy("Command", command, command))
    return [each._replace(text=remove_unseen(each.text[:MOST_CHARACTERS])) for each in found]


async def copy_one(screen: Screen[Any], found: Sequence[Copy]) -> None:
    """Ask which of the texts to copy, and copy it to the clipboard; call this in a worker."""
    place = await screen.app.push_screen_wait(ChoiceScreen("Copy", [each.line for each in found], 0, verb="copy"))
    if place is not None:
        chosen = found[place]
        screen.app.copy_to_clipboard(chosen.text)
        size = counted(len(chosen.text), "character")
        screen.notify(f"Copied: {chosen.name.lower()}, {size}.", markup=False, timeout=3)


def repeat_command(open_suite: OpenSuite, case: Case, model: str) -> str:
    """Return the command line that runs the case on the model again."""
    suite = open_suite.suite
    path = str(suite.path if suite else open_suite.path)
    words = ["assay", "run", f"./{path}" if path.startswith("-") else path]  # a file may be named like an option
    words += [] if suite and is_agent_of(suite, model) else ["-m", model]
    return shlex.join([*words, "--case", glob.escape(case.id)])


def _code_blocks(answer: str) -> Iterator[Copy]:
    from tui.session.changes import find_blocks

    blocks = find_blocks(answer)
    for block in blocks[:_MOST_BLOCKS]:
        size = counted(block.text.count("\n"), "line")
        name = f"Code block {block.number + 1}" if len(blocks) > 1 else "Code block"
        yield Copy(name, f"{block.language}, {size}" if block.language else size, block.text)
