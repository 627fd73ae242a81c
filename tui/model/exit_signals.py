"""The signals that ask Assay to end, with the exit code for each."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context

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
def raise_exit_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT, and SystemExit on the other signals, inside the `with` block.

    After the block the handlers are those of before. If a signal has arrived, also in a block of this module within
    this one, all are ignored instead: the process is about to end, with the exit code of the first one.
    """
    codes = exit_signals()
    received: list[int] = []

    def receive(number: int, _frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(codes[number])

    before = {number: signal.signal(number, receive) for number in codes}
    try:
        yield
    finally:
        is_ending = received or any(signal.getsignal(number) is not receive for number in codes)
        _restore(dict.fromkeys(codes, signal.SIG_IGN) if is_ending else before)


@contextmanager
def handle_exit_signals(end: Callable[[int], object], **more: int) -> Iterator[None]:
    """Call `end` with the exit code for the first of these signals that arrives inside the `with` block.

    The later ones do nothing, neither in the block nor after it: closing must not be cut short. If no signal arrives,
    the handlers after the block are those of before. Call this in a coroutine. Does nothing on Windows, where a signal
    does not wake an event loop.
    """
    if sys.platform == "win32":
        yield
        return
    import asyncio  # here, because the import would delay `assay --version`

    loop, context, codes = asyncio.get_running_loop(), copy_context(), exit_signals(**more)
    uncalled = [end]

    # The loop restores the default action when its own handlers are removed: the next signal would kill the process.
    def receive(number: int, _frame: object) -> None:
        # One step takes `end`: another signal can interrupt this function between any two.
        with suppress(IndexError):
            loop.call_soon_threadsafe(uncalled.pop(), codes[number], context=context)

    before = {number: signal.signal(number, receive) for number in codes}
    try:
        yield
    finally:
        if uncalled:
            _restore(before)
        else:
            _restore(dict.fromkeys(codes, _do_nothing))
            # A loop closes this descriptor before it gives it up: Python would report a signal in between as an error.
            signal.set_wakeup_fd(-1)


def _do_nothing(_number: int, _frame: object) -> None:
    """Handle a signal that arrives while Assay closes."""


def _restore(handlers: Mapping[int, object]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
