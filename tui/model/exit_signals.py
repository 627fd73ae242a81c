"""The signals that ask Assay to end, with the exit code for each."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


def exit_signals(**more: int) -> dict[int, int]:
    """Return the exit code for each signal by its number. `more` are codes of further signals by name.

    A signal that this process was started to ignore is left out: SIGHUP under nohup, SIGINT in a background job.
    """
    numbers = {getattr(signal, name, None): code for name, code in {**_CODES, **more}.items()}
    return {
        number: code for number, code in numbers.items() if number and signal.getsignal(number) is not signal.SIG_IGN
    }


@contextmanager
def handle_exit_signals(end: Callable[[int], object], **more: int) -> Iterator[None]:
    """Call `end` with the exit code for each of these signals that arrives inside the `with` block.

    Call this in a coroutine. Does nothing on Windows, whose event loops have no signal handlers.
    """
    if sys.platform == "win32":
        yield
        return
    import asyncio  # here, because the import would delay `assay --version`

    loop, codes = asyncio.get_running_loop(), exit_signals(**more)
    for number, code in codes.items():
        loop.add_signal_handler(number, end, code)
    try:
        yield
    finally:
        for number in codes:
            loop.remove_signal_handler(number)
