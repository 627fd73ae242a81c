"""The signals that ask Assay to end, with the exit code for each."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context

_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
_OUTPUTS = (1, 2)
_PATIENCE_MS = 1_000
_discarding: list[int] = []


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
    this one, all are ignored instead: the process is about to end, with the exit code of the first one. Output that
    nobody reads is then discarded: Python writes the rest of it when it exits.
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
        if is_ending and sys.platform != "win32":
            _discard_unread_output(signal.SIGTERM)


@contextmanager
def handle_exit_signals(end: Callable[[int], object], **more: int) -> Iterator[None]:
    """Call `end` with the exit code for the first of these signals that arrives inside the `with` block.

    The later ones do nothing, neither in the block nor after it: closing must not be cut short. If no signal arrives,
    the handlers after the block are those of before. Each signal also discards output that nobody reads. Call this in a
    coroutine. Does nothing on Windows, where a signal does not wake an event loop.
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
        _discard_unread_output(number)

    before = {number: signal.signal(number, receive) for number in codes}
    try:
        yield
    finally:
        if uncalled:
            _restore(before)
        else:
            _restore(dict.fromkeys(codes, _continue_closing))
            # A loop closes this descriptor before it gives it up: Python would report a signal in between as an error.
            signal.set_wakeup_fd(-1)


def _continue_closing(number: int, _frame: object) -> None:
    """Handle a signal that arrives while Assay closes."""
    _discard_unread_output(number)


def _discard_unread_output(number: int) -> None:
    """Redirect stdout and stderr to the null device if they accept nothing for a second: nobody reads them.

    A write that waits for the reader would keep the process from ending. Python repeats it after a signal (PEP 475),
    and it then reaches the null device; for a write of another thread, that thread gets the signal too.
    """
    import select  # here, because the imports would delay short commands
    import threading

    if _discarding:  # interrupted by the next signal
        return
    _discarding.append(number)
    try:
        stuck = []
        for descriptor in _OUTPUTS:
            writable = select.poll()
            writable.register(descriptor, select.POLLOUT)
            if not writable.poll(_PATIENCE_MS):
                stuck.append(descriptor)
        for descriptor in stuck:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, descriptor)
            os.close(nothing)
        if stuck:
            for thread in threading.enumerate():
                if thread is not threading.main_thread() and thread.ident is not None:
                    signal.pthread_kill(thread.ident, number)
    except OSError:
        pass  # no file descriptors left: the signal is handled all the same
    finally:
        _discarding.clear()


def _restore(handlers: Mapping[int, object]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
