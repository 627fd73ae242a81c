"""Starts another program under a guard, which ends it with everything that it started, whatever becomes of us."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

# Started by its path, with the standard library only: a program of its own.
_GUARD = Path(__file__).with_name("guard.py")


async def start_guarded(
    make: Callable[[], P],
    words: Sequence[str],
    environ: Mapping[str, str],
    *,
    module: Path | None = None,
    memory_bytes: int = 0,
    **settings: Any,
) -> tuple[asyncio.SubprocessTransport, P, int]:
    """Start the `words` of a command, or with `module` the `serve` of that Python file, which is called with the words
    and gets at most `memory_bytes` (0: no limit). `settings` are those of `subprocess.Popen`.

    SIGTERM to the transport ends everything. So does closing the lifeline, the descriptor that comes last; the kernel
    does it when we are gone. Its owner closes it in the end. Raises OSError.
    """
    watched, lifeline = os.pipe()
    if os.name == "posix":
        kind = ("command",) if module is None else ("module", str(module), str(memory_bytes))
        words = (sys.executable, "-P", str(_GUARD), str(watched), *kind, *words)
        settings |= {"pass_fds": (watched,), "start_new_session": True}
    elif module is not None:
        words = (sys.executable, "-P", str(module), *words)
    try:
        transport, program = await asyncio.get_running_loop().subprocess_exec(
            make, *words, env=dict(environ), **settings
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(watched)
    return transport, program, lifeline
