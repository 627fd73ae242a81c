"""The pool of an agent's processes: one process for all steps of an attempt, reused where that is safe."""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import suppress

from tui.model.results import TrialKey
from tui.providers.processes.worker import Launch, Worker

_GRACE_S = 1.0
_SETTLE_S = 0.05


class Pool:
    """The processes of one agent.

    A process serves one trial from the first step to the last. After that, a Python agent's process serves other
    trials (its modules stay loaded, its memory comes with each request); a command's process is ended, so that each
    attempt has a process of its own. At most `limit` processes stay idle between two steps; the one that has been
    idle longest is ended first.
    """

    def __init__(self, launch: Launch, stamp: Callable[[], Hashable], limit: int) -> None:
        self._launch, self._stamp, self._limit = launch, stamp, limit
        self._reuses = launch.module is not None or launch.is_reused
        self._between: dict[TrialKey, Worker] = {}
        self._free: list[Worker] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def settle(self, trial: TrialKey) -> None:
        """Wait for a second line of a command that has just answered a step of this trial: it would be the answer to
        the next one. The requests to a Python file have ids."""
        kept = self._between.get(trial)
        if kept is not None and kept.answered_at is not None and self._launch.module is None:
            await asyncio.sleep(kept.answered_at + _SETTLE_S - asyncio.get_running_loop().time())

    async def take(self, trial: TrialKey, step: int) -> Worker:
        """Return a process for this step, and start one if needed. Raises OSError."""
        kept = self._between.pop(trial, None)
        stamp = self._stamp()
        if kept is not None:
            if step > 0 and (kept.is_alive or kept.is_out_of_turn):
                return kept
            self._let_go(kept)
        while self._free:
            worker = self._free.pop()
            if worker.is_alive and worker.stamp == stamp and not worker.is_out_of_turn:
                return worker
            self._retire(worker)
        worker = await Worker.start(self._launch)
        worker.stamp = stamp
        return worker

    def give_back(self, worker: Worker, trial: TrialKey, *, is_last: bool) -> None:
        """Return a process that has answered correctly to the pool."""
        if is_last:
            self._let_go(worker)
            return
        self._between[trial] = worker
        if len(self._between) > self._limit:
            self._let_go(self._between.pop(next(iter(self._between))))

    def _let_go(self, worker: Worker) -> None:
        if self._reuses and worker.is_alive:
            self._free.append(worker)
        else:
            self._retire(worker)

    def _retire(self, worker: Worker) -> None:
        """End a process in the background: the caller has its answer and does not wait."""
        task = asyncio.create_task(worker.end(0.0 if self._reuses else _GRACE_S))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End every process and return when all have ended."""
        for worker in (*self._between.values(), *self._free):
            self._retire(worker)
        self._between.clear()
        self._free.clear()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._ending, return_exceptions=True)
