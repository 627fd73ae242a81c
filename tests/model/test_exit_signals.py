"""The first signal ends the program; the later ones do not cut its end short."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import pytest

from tui.model import exit_signals
from tui.model.exit_signals import handle_exit_signals, raise_exit_signals

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _same_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        # A signal to a thread that has not run since is still pending: ignoring it discards it.
        signal.signal(number, signal.SIG_IGN)
        signal.signal(number, handler)


def kill_with(*numbers: int) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)


@contextmanager
def calling_at(step: int, call: Callable[[], object]) -> Iterator[None]:
    """Interrupt the functions that are called inside the `with` block by a call before their bytecode number `step`."""
    left, before = step, sys.gettrace()

    def trace(frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        nonlocal left
        frame.f_trace_opcodes = True
        left -= event == "opcode"
        if event == "opcode" and left == 0:
            call()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.fixture
def full_pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end of a pipe that accepts nothing more, in place of stdout and stderr."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    monkeypatch.setattr(exit_signals, "_OUTPUTS", (writer,))
    monkeypatch.setattr(exit_signals, "_PATIENCE_MS", 20)
    yield writer
    os.close(reader)
    os.close(writer)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
async def test_a_signal_ends_a_write_that_nobody_reads(full_pipe: int) -> None:
    codes: list[int] = []
    main = threading.get_ident()
    with handle_exit_signals(codes.append):
        # Before the write begins or while it waits: the handler redirects it either way.
        threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGTERM)).start()
        os.write(full_pipe, b"nobody reads this")
        await asyncio.sleep(0)
    assert codes == [143]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
async def test_a_signal_ends_the_write_of_another_thread(full_pipe: int) -> None:
    writer = threading.Thread(target=os.write, args=(full_pipe, b"nobody reads this"), daemon=True)
    with handle_exit_signals(lambda _code: None):
        writer.start()
        kill_with(signal.SIGTERM)
        await asyncio.to_thread(writer.join, 20)
    assert not writer.is_alive()


async def test_a_signal_leaves_output_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr(exit_signals, "_OUTPUTS", (writer,))
    with handle_exit_signals(lambda _code: None):
        kill_with(signal.SIGTERM)
    os.write(writer, b"read")
    assert os.read(reader, 10) == b"read"
    os.close(reader)
    os.close(writer)


async def test_only_the_first_signal_in_the_block_is_handled_and_none_after_it() -> None:
    codes: list[int] = []
    with handle_exit_signals(codes.append):
        kill_with(signal.SIGTERM, signal.SIGHUP, signal.SIGTERM)
        await asyncio.sleep(0)
    kill_with(signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    await asyncio.sleep(0)
    assert codes == [143]


async def test_of_two_signals_at_the_same_moment_one_is_handled() -> None:
    for step in range(1, 100):
        codes: list[int] = []
        with handle_exit_signals(codes.append):
            handler = signal.getsignal(signal.SIGTERM)
            assert callable(handler)
            with calling_at(step, lambda: kill_with(signal.SIGHUP)):
                handler(signal.SIGTERM, None)
            await asyncio.sleep(0)
        assert codes in ([143], [129]), step


async def test_after_a_signal_the_next_ones_write_nothing_to_the_loop_which_is_about_to_be_closed() -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    with handle_exit_signals(lambda _code: None):
        kill_with(signal.SIGTERM)
    assert signal.set_wakeup_fd(-1) == -1
    loop.remove_signal_handler(signal.SIGUSR1)


async def test_the_handlers_are_those_of_before_if_no_signal_arrives() -> None:
    with raise_exit_signals():
        before = [signal.getsignal(number) for number in NUMBERS]
        with handle_exit_signals(print):
            assert [signal.getsignal(number) for number in NUMBERS] != before
        assert [signal.getsignal(number) for number in NUMBERS] == before


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)]
)
def test_a_signal_is_raised_and_the_later_ones_are_ignored(number: int, error: type[BaseException]) -> None:
    with pytest.raises(error), raise_exit_signals():
        kill_with(number)
    kill_with(*NUMBERS)


async def test_signals_are_ignored_after_a_block_in_which_one_was_handled() -> None:
    with raise_exit_signals(), handle_exit_signals(lambda _code: None):
        kill_with(signal.SIGHUP)
    kill_with(*NUMBERS)


async def test_a_signal_after_the_first_one_is_raised_by_raise_exit_signals() -> None:
    with handle_exit_signals(lambda _code: None):
        kill_with(signal.SIGHUP)
    with pytest.raises(SystemExit, match="143"), raise_exit_signals():
        kill_with(signal.SIGTERM)
