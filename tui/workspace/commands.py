"""Execution of commands whose exit status is a check: in the files that an answer changed, or on the answer's text."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.environ import without_keys
from tui.model.results import CheckResult, CheckState
from tui.model.secrets import Secrets
from tui.model.suite import Check, CommandCheck
from tui.processes.guard import NOT_RUN, NOT_RUN_STATUS
from tui.processes.guarded import run_guarded
from tui.processes.stoppable import run_stoppable
from tui.workspace.temporary import temporary_folder

if TYPE_CHECKING:
    from tui.workspace.git.base import Base

_KEPT_BYTES = 32 * 1024
# What a build or a test run needs to find its tools. Everything else is left out: keys have many names.
_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|SYSTEMROOT|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA"
    r"|PROGRAMFILES|VIRTUAL_ENV|PYENV_ROOT|JAVA_HOME|GOPATH|GOROOT|GOCACHE|CARGO_HOME|RUSTUP_HOME|NVM_DIR|NODE_PATH"
    r"|DOTNET_ROOT|GEM_HOME|ANDROID_HOME|XDG_\w+|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|SSL_CERT_(FILE|DIR)",
    re.IGNORECASE,
)


async def run_command(
    base: "Base",
    commit: str | None,
    command: CommandCheck,
    *,
    environ: Mapping[str, str] | None = None,
    secrets: Collection[str] = (),
) -> CheckResult:
    """Run the command in a shell in a new folder with the commit's files (None: the base's), with a time limit.

    Only exit status 0 passes. `detail` says how it ended and holds the first and last part of its output. The command
    and its children are killed at the end, at the limit, and on cancellation; then the folder is removed. Raises
    WorkspaceError if the files cannot be written.
    """
    hidden = Secrets(secrets)
    async with temporary_folder() as folder:
        files, scratch = folder / "repository", folder / "tmp"
        files.mkdir()
        scratch.mkdir()
        notes = await run_stoppable(partial(_check_out, base, commit or str(base.commit.id), files))
        passed = _environment(environ, secrets, scratch)
        # A git process started by the command must not find a repository above the folder.
        passed["GIT_CEILING_DIRECTORIES"] = str(folder)
        state, detail = await _run(_shell(command.run), passed, files, command.timeout_ms, notes=notes)
        return CheckResult("command", command.run, state, hidden.hide(detail))


async def check_answer(
    check: Check,
    answer: str,
    folder: Path,
    *,
    environ: Mapping[str, str] | None = None,
    secrets: Collection[str] = (),
) -> CheckResult:
    """Run the program and arguments of an assertion in a folder, with the answer as UTF-8 on its standard input.

    Only exit status 0 passes; a program that takes more than a minute or cannot be started is `timed_out`. `detail`
    says how it ended and holds the first and last part of its output. Raises WorkspaceError if there is no temporary
    folder.
    """
    words = [str(word) for word in check.expected] if isinstance(check.expected, list) else []
    async with temporary_folder() as scratch:
        passed = _environment(environ, secrets, scratch)
        answered = answer.encode("utf-8", "replace")
        state, detail = await _run(words, passed, folder, CommandCheck("").timeout_ms, stdin=answered)
    return CheckResult(check.kind, check.target, state, Secrets(secrets).hide(detail))


def _environment(environ: Mapping[str, str] | None, secrets: Collection[str], scratch: Path) -> dict[str, str]:
    passed = command_environment(os.environ if environ is None else environ, secrets)
    folders = {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    # What the user allowed is the source: a bytecode cache beside it may contain other code.
    return passed | folders | {"PYTHONPYCACHEPREFIX": str(scratch / "bytecode")}


async def _run(
    words: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    timeout_ms: int,
    *,
    stdin: bytes = b"",
    notes: Sequence[str] = (),
) -> tuple[CheckState, str]:
    """Run a program, and return the state of its check with how it ended and the first and last part of its output.

    A program that cannot be started, or is killed at the limit of time, has decided nothing: `timed_out`.
    """
    output = _Output()
    begun = time.monotonic()
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            status: int | None = await run_guarded(words, environ, folder, output.take, stdin=stdin)
    except TimeoutError:
        status = None
    except OSError as error:
        return "timed_out", f"cannot be started ({error})"
    printed = output.text().rstrip()
    if status == NOT_RUN_STATUS and printed.startswith(NOT_RUN):
        return "timed_out", f"cannot be started ({printed.removeprefix(NOT_RUN)})"
    seconds = time.monotonic() - begun
    if status is None:
        ended = f"was killed after {timeout_ms:,} ms"
    elif status < 0:
        ended = f"was killed by signal {-status} after {seconds:.1f} s"
    else:
        ended = f"exit status {status} after {seconds:.1f} s"
    detail = "\n".join(part for part in (ended, *notes, printed) if part)
    return "timed_out" if status is None else "passed" if status == 0 else "failed", detail


def command_environment(environ: Mapping[str, str], secrets: Collection[str] = ()) -> dict[str, str]:
    """Return the environment of every command, without the variables that name its folders."""
    return clean_environment(environ, secrets) | {"CI": "true", "TERM": "dumb"}


def clean_environment(environ: Mapping[str, str], secrets: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that programs need to find each other, without keys."""
    return {name: value for name, value in without_keys(environ, secrets).items() if _PASSED_ON.fullmatch(name)}


def _shell(run: str) -> tuple[str, ...]:
    if os.name == "nt":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", run)
    return ("/bin/sh", "-c", run)


def _check_out(base: "Base", commit: str, files: Path, is_stopped: Callable[[], bool]) -> tuple[str, ...]:
    from tui.workspace.git.checkout import check_out, open_again

    # A separate handle, so that applying another answer does not wait until these files are written.
    repository = open_again(base)
    try:
        done = check_out(repository, commit, files, is_stopped)
    finally:
        repository.free()
    if not done.left_out:
        return ()
    path, reason = done.left_out[0]
    more = f", and {len(done.left_out) - 1:,} more files" if len(done.left_out) > 1 else ""
    return (f"Not written: {path} ({reason}){more}.",)


class _Output:
    """The beginning and the end of a command's output."""

    def __init__(self) -> None:
        self._head, self._tail, self._size = bytearray(), bytearray(), 0

    def take(self, data: bytes) -> None:
        self._size += len(data)
        room = _KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        del self._tail[:-_KEPT_BYTES]

    def text(self) -> str:
        lost = self._size - len(self._head) - len(self._tail)
        # `…` beside each cut, so that the part of a key before or after it is recognized.
        gap = f"…\n{lost:,} bytes omitted\n…".encode() if lost else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")
