"""Open a file in the user's editor: build its command line, and run it in the terminal of the app."""

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from tui.model.current_folder import absolute_path

_PLUS_LINE = {
    "vi",
    "vim",
    "nvim",
    "view",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "kak",
    "joe",
    "ne",
    "mg",
    "ed",
}
_COLON_LINE = {"hx", "helix", "subl", "zed"}
_GOTO = {"code", "codium", "code-insiders", "cursor"}


def editor_command(environ: Mapping[str, str], file: Path, line: int) -> list[str]:
    """Return the command line that opens a file at a line in `$VISUAL`, `$EDITOR` or `vi`.

    The list is executed without a shell. Raises ValueError when the variable cannot be parsed.
    """
    words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "") or ["vi"]
    name = Path(words[0]).stem.lower()
    path = str(absolute_path(file))
    if name in _PLUS_LINE:
        return [*words, f"+{line}", path]
    if name in _GOTO:
        wait = [] if {"--wait", "-w"} & set(words) else ["--wait"]
        return [*words, *wait, "--goto", f"{path}:{line}"]
    return [*words, f"{path}:{line}" if name in _COLON_LINE else path]


async def _run(command: list[str]) -> int:
    """Run the editor with the terminal, and return its exit status. It ends with Assay: an editor that stays would read
    what is typed at the shell."""
    if sys.platform == "win32":
        process = await asyncio.create_subprocess_exec(*command)
        return await process.wait()
    from tui.app.foreground import run_in_foreground

    return await run_in_foreground(command)


async def edit(app: App[object], file: Path, line: int) -> str | None:
    """Run the editor until it is closed, and return an error message, or None on success. Runs continue meanwhile."""
    try:
        command = editor_command(os.environ, file, line)
    except ValueError as error:
        return f"Cannot parse $EDITOR: {error}. Fix its quotes."
    status: int | BaseException
    try:
        with app.batch_update(), app.suspend():
            try:
                status = await _run(command)
            except BaseException as error:  # Textual resumes the app only if no error leaves `suspend`
                if not app.is_running:  # it ends: the terminal is the shell's
                    raise
                status = error
    except SuspendNotSupported:
        return "This terminal cannot open an editor."
    finally:
        app.refresh(layout=True)
    if isinstance(status, OSError):
        return f"Cannot start {command[0]}: {status.strerror}. Set $EDITOR to an installed editor."
    if isinstance(status, BaseException):
        raise status
    if status < 0:
        return f"{command[0]} was ended by signal {-status}."
    return None if status == 0 else f"{command[0]} exited with status {status}."
