"""Starting a program under a guard, which ends it and all its processes, also if Assay is killed."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

# A separate program that is started by its path and uses the standard library only.
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
    """Start a command, or with `module` the `serve` function of that Python file, under a guard.

    `words` are the command or the arguments of `serve`, which may use at most `memory_bytes` (0: no limit).
    `settings` are those of `subprocess.Popen`. Returns the transport, the protocol and the descriptor of the lifeline.

    SIGTERM to the transport ends all processes, and so does closing the lifeline, which the kernel does if Assay is
    killed. The caller has to close it. Raises OSError.
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
