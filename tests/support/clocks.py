"""Clocks that advance only when something sleeps, when a test moves them, or when nothing else is left to do."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, TypeVarTuple, Unpack

from tui.providers.http.limits import RetryLimits

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")
# The kernel passes data between two sockets of a process at once; so much time is for a busy one.
_IDLE_S = 0.02
NOON = 1_763_640_000.0  # 20 November 2025, 12:00:00 UTC


@dataclass
class FakeTime:
    """A clock that only `sleep` moves; `waits` holds every sleep, `luck` is where in its range a random wait falls."""

    luck: float = 1.0
    elapsed: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Run the other tasks once, then advance the clock."""
        self.waits.append(seconds)
        await asyncio.sleep(0)
        self.elapsed += seconds

    def uniform(self, low: float, high: float) -> float:
        """Return the number at `luck` between the bounds."""
        return low + (high - low) * self.luck

    def patience(self, **changes: Any) -> RetryLimits:
        """Return the retry limits of the product on this clock."""
        base = RetryLimits(
            sleep=self.sleep,
            uniform=self.uniform,
            monotonic=lambda: self.elapsed,
            now=lambda: NOON + self.elapsed,
        )
        return replace(base, **changes)


class LoopClock:
    """The clock of the running event loop, which only `advance` moves: no deadline passes while the machine is busy."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        loop.time = lambda: self._now  # type: ignore[method-assign]

    def advance(self, seconds: float) -> None:
        """Move the clock; deadlines that it passes expire when the loop runs next."""
        self._now += seconds


class Elapsed(asyncio.Event):
    """An event for a script: until it is set, each wait for it advances the clock; `then_set`: and sets it."""

    def __init__(self, clock: LoopClock, seconds: float, *, then_set: bool = False) -> None:
        super().__init__()
        self._clock, self._seconds, self._then_set = clock, seconds, then_set

    async def wait(self) -> Literal[True]:
        """Advance the clock, let expired deadlines take effect, and wait."""
        if not self.is_set():
            self._clock.advance(self._seconds)
            if self._then_set:
                self.set()
            await asyncio.sleep(0)
        return await super().wait()


class IdleLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while there is anything to do: no deadline passes on a busy machine.

    When all tasks wait and no socket has data, the clock jumps to the next deadline. Servers and clients therefore
    have to be in the same loop. While a thread works for the loop, the clock runs as usual.
    """

    def __init__(self) -> None:
        self._now, self._in_threads = 0.0, 0
        super().__init__(_IdleSelector(self._skip))

    def time(self) -> float:
        """Return the seconds since the loop was created that deadlines have waited."""
        return self._now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Arguments]], _Result], *args: *_Arguments
    ) -> asyncio.Future[_Result]:
        """Run a function in a thread, as any event loop."""
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._leave_thread)
        return future

    def _leave_thread(self, future: asyncio.Future[Any]) -> None:
        del future
        self._in_threads -= 1

    def _skip(self, seconds: float, select: Callable[[float], list[Any]]) -> list[Any]:
        ready = select(seconds if self._in_threads else min(seconds, _IDLE_S))
        if not ready:
            self._now += seconds
        return ready


class _IdleSelector(selectors.DefaultSelector):
    """A selector that leaves it to `skip` how long it waits for data."""

    def __init__(self, skip: Callable[[float, Callable[[float], list[Any]]], list[Any]]) -> None:
        super().__init__()
        self._skip = skip

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready, at the latest when the clock has advanced by `timeout`."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        return self._skip(timeout, super().select)
