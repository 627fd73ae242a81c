"""The worker processes: started when they are needed, given work fairly, replaced when a pattern was too much."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Sequence
from itertools import count

from tui.checks.jobs import Job
from tui.checks.process import WorkerProcess, describe_end
from tui.checks.protocol import BATCH, COUNTING, IDLE, Note, Reply, pack_request
from tui.checks.searches import SECONDS_A_PATTERN, SECONDS_A_TEXT, TOO_LONG, Matches, Search, too_long

_MOST_WORKERS = max(2, min(4, os.cpu_count() or 1))
_BATCH = 16
_BATCH_BYTES = 1 << 20
_GROW_SECONDS = 0.1
_WATCH_SECONDS = 0.5
# Looks at the clock, not beats of it: after the machine slept only one look has passed.
_STUCK_LOOKS = 10
_LOST_LOOKS = 60
_MOST_LOSSES = 2
_MOST_FALSE_STARTS = 3

CLOSED = "the checks were stopped first"


class Pool:
    """Searches texts in worker processes. A pattern that runs too long or crashes its process has a failure for a
    result; the others of the same text, and other texts, are not touched by that."""

    def __init__(self) -> None:
        self._queue: deque[Job] = deque()
        self._workers: list[WorkerProcess] = []
        self._numbers = count(1)
        self._suspects: set[tuple[str, str]] = set()
        self._false_starts = 0
        self._pumping = self._growing = self._watching = False
        self._looks: dict[WorkerProcess, tuple[Note, int]] = {}
        self._is_closed = False

    async def search(self, text: str, searches: Sequence[Search]) -> tuple[Matches, ...]:
        """What came of each search, in their order."""
        job = Job(text, searches)
        if self._is_closed:
            job.settle_all(CLOSED)
        else:
            self._queue.append(job)
            self._pump_soon()
        return await job.done

    def close(self) -> None:
        """End all processes; what is still searched for gets a failure. May be called again."""
        self._is_closed = True
        waiting = [*self._queue, *(job for worker in self._workers for job in worker.jobs.values())]
        self._queue.clear()
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        for job in waiting:
            job.settle_all(CLOSED)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that run now."""
        return tuple(worker.pid for worker in self._workers)

    def _pump_soon(self) -> None:
        """All that is asked in one turn of the loop goes out together."""
        if not self._pumping:
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._pumping = False
        if self._is_closed:
            return
        if self._queue and not self._workers:
            self._start_worker()
        for worker in self._workers:
            if self._queue and not worker.jobs:
                self._give(worker)
        if self._queue and not self._growing and len(self._workers) < _MOST_WORKERS:
            self._growing = True
            asyncio.get_running_loop().call_later(_GROW_SECONDS, self._grow)

    def _grow(self) -> None:
        """All processes have been busy for a while and there is more to do: one more."""
        self._growing = False
        if self._queue and not self._is_closed:
            if all(worker.jobs for worker in self._workers):
                self._start_worker()
            self._pump()

    def _start_worker(self) -> None:
        try:
            self._workers.append(WorkerProcess(self._take, self._bury))
        except OSError as error:
            if not self._workers:
                self._give_up(str(error))

    def _give_up(self, reason: str) -> None:
        for job in self._queue:
            job.settle_all(f"the process that evaluates patterns cannot be started ({reason})")
        self._queue.clear()

    def _give(self, worker: WorkerProcess) -> None:
        frames: list[bytes] = []
        size = 0
        while self._queue and len(frames) < _BATCH and size < _BATCH_BYTES:
            job = self._queue[0]
            is_suspect = bool(self._suspects) and any(
                (each.engine, each.pattern) in self._suspects for _, each in job.open
            )
            if is_suspect and frames:
                break  # it goes alone, so that nothing waits behind it
            self._queue.popleft()
            if job.done.done():  # whoever asked has gone
                continue
            number = next(self._numbers)
            worker.jobs[number] = job
            frames.append(pack_request(number, job.spent, job.one_by_one, job.open, job.text))
            size += len(frames[-1])
            if is_suspect:
                break
        if frames:
            worker.send(b"".join(frames))
            self._watch()

    def _take(self, worker: WorkerProcess, replies: list[Reply]) -> None:
        self._false_starts = 0
        self._looks.pop(worker, None)
        for reply in replies:
            job = worker.jobs[reply.job]
            job.settle(reply.number, reply.matches)
            if reply.matches.failure == TOO_LONG:
                self._suspect(job.searches[reply.number])
            if not job.open:
                del worker.jobs[reply.job]
        if not worker.jobs and self._queue:
            self._pump_soon()

    def _bury(self, worker: WorkerProcess) -> None:
        note = worker.note
        status = worker.stop()
        self._workers.remove(worker)
        if not worker.has_answered and note.phase == IDLE:
            self._false_starts += 1
        if note.phase != IDLE and note.job in worker.jobs:
            self._blame(worker.jobs[note.job], note, status, worker.is_stuck)
        elif note.phase == IDLE:
            for job in worker.jobs.values():
                _lose(job, status)
        self._queue.extend(job for job in worker.jobs.values() if not job.done.done())
        if self._false_starts >= _MOST_FALSE_STARTS:
            self._false_starts = 0
            self._give_up(describe_end(status))
        self._pump()

    def _blame(self, job: Job, note: Note, status: int, is_stuck: bool) -> None:
        """The process died of this pattern, unless somebody else ended it: then it is tried once more."""
        is_slow = is_stuck or status == -signal.SIGPROF
        job.spent = note.spent
        if not is_slow and status in (-signal.SIGKILL, -signal.SIGTERM):
            job.losses += 1
            if job.losses < _MOST_LOSSES:
                return
        if note.phase == BATCH:
            job.one_by_one = True
            return
        self._suspect(job.searches[note.number])
        seconds = min(SECONDS_A_PATTERN, SECONDS_A_TEXT - note.spent)
        job.spent += seconds
        if note.phase == COUNTING:
            job.settle(note.number, Matches(1, ((note.start, note.end),), counted=False))
        elif is_slow:
            job.settle(note.number, Matches(failure=too_long(seconds)))
        else:
            reason = describe_end(status) + (", as a rule for want of memory" if status == -signal.SIGABRT else "")
            job.settle(note.number, Matches(failure=f"the pattern ended the process that evaluated it ({reason})"))

    def _suspect(self, search: Search) -> None:
        self._suspects.add((search.engine, search.pattern))

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            asyncio.get_running_loop().call_later(_WATCH_SECONDS, self._look)

    def _look(self) -> None:
        """End what neither moves nor is ended by the system, for example because somebody stopped it."""
        self._watching = False
        busy = [worker for worker in self._workers if worker.jobs]
        looks = {}
        for worker in busy:
            note, times = worker.note, 0
            if worker in self._looks and self._looks[worker][0] == note:
                times = self._looks[worker][1] + 1
            looks[worker] = (note, times)
            if times >= (_LOST_LOOKS if note.phase == IDLE else _STUCK_LOOKS):
                worker.is_stuck = True
                worker.kill()
        self._looks = looks
        if busy:
            self._watch()


def _lose(job: Job, status: int) -> None:
    """The process died with the job in hand, but of none of its patterns."""
    job.losses += 1
    if job.losses > _MOST_LOSSES:
        job.settle_all(f"the process that evaluates patterns ended again and again ({describe_end(status)})")
