"""A pool of worker processes: started on demand, scheduled fairly, and replaced after a pattern crashes one."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path

import tui
from tui.checks.engine import engine_folder
from tui.checks.protocol import (
    BATCH,
    COUNTING,
    IDLE,
    SECONDS_A_PATTERN,
    SECONDS_A_TEXT,
    TOO_LONG,
    Matches,
    Note,
    Reply,
    Search,
    SpanRoom,
    encode_text,
    pack_request,
    too_long,
    unpack_replies,
)


class Job:
    """The searches in one text.

    `done` resolves to the results in the order of `searches`. `spent` is the processor time in seconds used by workers
    that died; `one_by_one` is true after a worker died of an unknown pattern of the job.
    """

    def __init__(self, text: str, searches: Sequence[Search]) -> None:
        self.searches = tuple(searches)
        self.losses = 0
        self.spent = 0.0
        self.one_by_one = False
        self.done: asyncio.Future[tuple[Matches, ...]] = asyncio.get_running_loop().create_future()
        self._text = text
        self._results: list[Matches | None] = [None] * len(self.searches)
        self._open = len(self.searches)
        self._room = SpanRoom()

    @cached_property
    def text(self) -> bytes:
        """The text, encoded as it is sent."""
        return encode_text(self._text)

    @property
    def open(self) -> list[tuple[int, Search]]:
        """The numbered searches without a result."""
        return [(number, self.searches[number]) for number, each in enumerate(self._results) if each is None]

    @property
    def is_settled(self) -> bool:
        """Whether all searches have a result."""
        return not self._open

    def settle(self, number: int, matches: Matches) -> None:
        """Set the result of one search; a second result is ignored."""
        if self._results[number] is None:
            self._results[number] = self._room.cut_matches(matches)
            self._open -= 1
            if self.is_settled and not self.done.done():
                self.done.set_result(tuple(each for each in self._results if each is not None))

    def settle_all(self, failure: str) -> None:
        """Set a failure as the result of all open searches."""
        for number, _ in self.open:
            self.settle(number, Matches(failure=failure))


_BOOT = "import sys; sys.path += sys.argv[2:]; from tui.checks.worker import main; main(int(sys.argv[1]))"
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TMPDIR")
_CHUNK = 1 << 18


class WorkerProcess:
    """A worker process, started at once. Raises OSError if it cannot be started.

    `on_replies` is called with its replies, `on_end` once when it ends for any reason other than `stop`.
    """

    def __init__(
        self,
        on_replies: "Callable[[WorkerProcess, list[Reply]], None]",
        on_end: "Callable[[WorkerProcess], None]",
    ) -> None:
        self.jobs: dict[int, Job] = {}
        self.is_stuck = False
        self.has_answered = False
        self._on_replies, self._on_end = on_replies, on_end
        self._loop = asyncio.get_running_loop()
        self._unsent = bytearray()
        self._received = bytearray()
        self._note = _open_note()
        try:
            self._link, self._process = _start(self._note)
        except OSError:
            os.close(self._note)
            raise
        self._loop.add_reader(self._link, self._read)

    @property
    def note(self) -> Note:
        """The activity that the worker noted last, also after its death."""
        return Note.read(self._note)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, frame: bytes) -> None:
        """Send a frame; the part that the socket does not accept now is sent later."""
        if not self._unsent:
            try:
                frame = frame[self._link.send(frame) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # it has ended: the reader reports that
            if frame:
                self._loop.add_writer(self._link, self._write)
        self._unsent += frame

    def kill(self) -> None:
        """Kill the process; `on_end` is called afterwards."""
        self._process.kill()

    def stop(self) -> int:
        """End the process and return its exit status, or the negative number of a signal."""
        self._loop.remove_reader(self._link)
        self._loop.remove_writer(self._link)
        self._link.close()
        self._process.kill()
        status = self._process.wait()
        os.close(self._note)
        return status

    def _read(self) -> None:
        try:
            chunk = self._link.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._link)
            self._on_end(self)
            return
        self._received += chunk
        replies = list(unpack_replies(self._received))
        if replies:
            self.has_answered = True
            self._on_replies(self, replies)

    def _write(self) -> None:
        try:
            del self._unsent[: self._link.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()
        if not self._unsent:
            self._loop.remove_writer(self._link)


def describe_end(status: int) -> str:
    """Return in words how a process ended."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _open_note() -> int:
    """Open a small file without a name, in memory if possible, so that a full disk does not matter."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assay-note", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _start(note: int) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """Start a worker in a session of its own, so that Ctrl-C and Ctrl-Z at the terminal do not reach it.

    It does not get the user's environment, site hooks or current folder, so that it loads no code from there.
    """
    folders = [str(Path(tui.__file__).parent.parent), engine_folder()]
    near, far = socket.socketpair()
    with far:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, str(note), *folders],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(note,),
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                start_new_session=True,
            )
        except OSError:
            near.close()
            raise
    near.setblocking(False)
    return near, process


_MOST_WORKERS = max(2, min(4, os.cpu_count() or 1))
_BATCH = 16
_BATCH_BYTES = 1 << 20
_GROW_SECONDS = 0.1
_WATCH_SECONDS = 0.5
# Looks are counted, not seconds: a suspended machine counts as one look.
_STUCK_LOOKS = 10
_LOST_LOOKS = 60
_MOST_LOSSES = 2
_MOST_FALSE_STARTS = 3

CLOSED = "the checks were cancelled"


class Pool:
    """Searches texts in worker processes.

    A pattern that takes too long or crashes its process results in a failure; the other patterns of the same text and
    other texts are not affected.
    """

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
        """Return the result of each search, in their order."""
        job = Job(text, searches)
        if self._is_closed:
            job.settle_all(CLOSED)
        else:
            self._queue.append(job)
            self._pump_soon()
        return await job.done

    def close(self) -> None:
        """End all processes; open searches get a failure. May be called repeatedly."""
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
        """The ids of the running processes."""
        return tuple(worker.pid for worker in self._workers)

    def _pump_soon(self) -> None:
        """Schedule one send for all requests of this iteration of the event loop."""
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
        """Start another process if all have been busy for a while and jobs are waiting."""
        self._growing = False
        if self._queue and not self._is_closed:
            if all(worker.jobs for worker in self._workers):
                self._start_worker()
            self._pump()

    def _start_worker(self) -> None:
        try:
            self._workers.append(WorkerProcess(self._take, self._remove_worker))
        except OSError as error:
            if not self._workers:
                self._give_up(str(error))

    def _give_up(self, reason: str) -> None:
        for job in self._queue:
            job.settle_all(f"cannot start the process that evaluates patterns ({reason})")
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
                break  # it is sent alone, so that no other search waits for it
            self._queue.popleft()
            if job.done.done():  # the caller has gone
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
            if job.is_settled:
                del worker.jobs[reply.job]
        if not worker.jobs and self._queue:
            self._pump_soon()

    def _remove_worker(self, worker: WorkerProcess) -> None:
        note = worker.note
        status = worker.stop()
        self._workers.remove(worker)
        if not worker.has_answered and note.phase == IDLE:
            self._false_starts += 1
        if note.phase != IDLE and note.job in worker.jobs:
            self._settle_crash(worker.jobs[note.job], note, status, worker.is_stuck)
        elif note.phase == IDLE:
            for job in worker.jobs.values():
                _count_loss(job, status)
        self._queue.extend(job for job in worker.jobs.values() if not job.done.done())
        if self._false_starts >= _MOST_FALSE_STARTS:
            self._false_starts = 0
            self._give_up(describe_end(status))
        self._pump()

    def _settle_crash(self, job: Job, note: Note, status: int, is_stuck: bool) -> None:
        """Fail the pattern that the process died of; if the process was ended from outside, retry it once."""
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
            reason = describe_end(status) + (", usually for lack of memory" if status == -signal.SIGABRT else "")
            job.settle(note.number, Matches(failure=f"the pattern crashed the process that evaluated it ({reason})"))

    def _suspect(self, search: Search) -> None:
        self._suspects.add((search.engine, search.pattern))

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            asyncio.get_running_loop().call_later(_WATCH_SECONDS, self._check_progress)

    def _check_progress(self) -> None:
        """End processes without progress that the system does not end, for example because they were suspended."""
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


def _count_loss(job: Job, status: int) -> None:
    """Count a loss: the process died with the job, but of none of its patterns."""
    job.losses += 1
    if job.losses > _MOST_LOSSES:
        job.settle_all(f"the process that evaluates patterns crashed repeatedly ({describe_end(status)})")
