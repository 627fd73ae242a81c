"""Checking that a program is a Python that can run agent files."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from tui.model.interpreters import OLDEST_PYTHON, interpreter_fault
from tui.processes.guarded import run_guarded

_TIMEOUT_S = 20.0
_MOST_BYTES = 10_000
_PROGRAM = "import sys; sys.stdout.write('assay-python %d.%d ' % sys.version_info[:2])"
_VERSION = re.compile(rb"assay-python (\d{1,3})\.(\d{1,3}) ")


async def running_fault(path: str, environ: Mapping[str, str]) -> str | None:
    """Return why a program cannot run agent files, as a clause that follows its path, or None.

    Starts the program, which must have been allowed.
    """
    if fault := interpreter_fault(path):
        return fault
    output = bytearray()

    def take(data: bytes) -> None:
        output.extend(data[: _MOST_BYTES - len(output)])

    try:
        async with asyncio.timeout(_TIMEOUT_S):
            await run_guarded((path, "-S", "-E", "-c", _PROGRAM), environ, Path("/"), take)
    except TimeoutError:
        return f"is not a Python: it did not end within {_TIMEOUT_S:g} s"
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    found = _VERSION.search(output)
    if found is None:
        return "is not a Python"
    version = tuple(map(int, found.groups()))
    if version < OLDEST_PYTHON:
        return f"is Python {version[0]}.{version[1]}; agents need Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer"
    return None
