"""Two guard processes, one the parent of the other, that run a program and end all processes that it started.

Each guard adopts the orphans below it, and ends everything if the other one is killed: a program can kill its parent.
Run as a file, with the standard library only: `guard.py LIFELINE command ARG…` runs any program, `guard.py LIFELINE
module FILE MEMORY ARG…` calls `serve(ARG…)` of a Python file in a fork of this process, with at most MEMORY bytes (0:
no limit), and `guard.py LIFELINE private …` does so in processes whose memory others cannot read. LIFELINE is the
descriptor of a socket that nothing writes to: its end means that Assay has ended or wants the program to end. The
guards end like the program: with the same exit status or signal.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

NOT_RUN_STATUS, NOT_RUN = 70, "cannot run the program: "
"""The exit status and the beginning of the output if there is no program to run."""
_SUBREAPER, _DEATH_SIGNAL, _SET_DUMPABLE = 36, 1, 4  # prctl(2)
_KILL_TIMEOUT_S = 2.0
_POLL_S = 0.005


def main(arguments: list[str]) -> None:
    """Run the program under both guards, and end like it."""
    lifeline, kind, rest = int(arguments[0]), arguments[1], arguments[2:]
    _limit_cores()
    if kind == "private":
        _prctl(_SET_DUMPABLE, 0)  # The forks inherit it.

    # If Assay is killed while the outer guard is stopped, SIGCONT makes it notice the end of the lifeline.
    _prctl(_DEATH_SIGNAL, signal.SIGCONT)
    # If the outer guard dies, SIGTERM makes the inner one end everything. The program has no say: SIGKILL.
    _guard(lifeline, signal.SIGTERM, lambda: _guard(lifeline, signal.SIGKILL, lambda: _run(kind, rest)))


def _guard(lifeline: int, death_signal: signal.Signals, work: Callable[[], None]) -> None:
    """Do the work in a fork, which gets `death_signal` if this process dies. Does not return.

    Wait for the end of the fork, of the parent or of the lifeline, or for SIGTERM; then end everything that the fork
    started.
    """
    parent, guard = os.getppid(), os.getpid()
    bell, ringer = os.pipe()
    os.set_blocking(bell, False)
    os.set_blocking(ringer, False)
    signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    stop_signals: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            stop_signals.append(number)

    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, note)
    _prctl(_SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        _become(guard, death_signal, work)
    _close_pipes()
    status = None
    while status is None and not stop_signals and os.getppid() == parent:
        ready, _, _ = select.select([lifeline, bell], [], [], 1.0)
        if lifeline in ready:
            break
        with contextlib.suppress(BlockingIOError):
            os.read(bell, 4096)
        status, _ = _reap(child)
    if status is None and death_signal == signal.SIGTERM:
        _end_inner_guard(child)
    _kill_program(child)
    if death_signal == signal.SIGKILL and os.getppid() == parent:
        os.kill(parent, signal.SIGCONT)  # The program may have stopped it.
    _end_like(status)


def _become(guard: int, death_signal: signal.Signals, work: Callable[[], None]) -> None:
    """Do the work of a fork, in a process group of its own. Does not return."""
    status = NOT_RUN_STATUS
    try:
        os.setpgid(0, 0)
        _prctl(_DEATH_SIGNAL, death_signal)
        if os.getppid() != guard:
            return
        work()
        status = 0
    except BaseException as error:  # noqa: BLE001 - it may not return into the guard's own code
        print(f"{NOT_RUN}{type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(status)


def _run(kind: str, rest: list[str]) -> None:
    """Run the program in this process."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.closerange(3, 64)  # the lifeline and the bells belong to the guards
    if kind == "command":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        try:
            os.execvp(rest[0], rest)
        except OSError as error:
            error.filename = rest[0]
            raise
    _serve(rest[0], int(rest[1]), rest[2:])


def _serve(file: str, memory: int, arguments: list[str]) -> None:
    import importlib.util
    import resource

    if memory:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    spec = importlib.util.spec_from_file_location("_assay_serving", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.serve(*arguments)


def _limit_cores() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _prctl(option: int, value: int) -> None:
    """Call prctl, which exists on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _close_pipes() -> None:
    """Close the pipes to Assay, so that they end with the program."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)


def _reap(child: int) -> tuple[int | None, bool]:
    """Reap ended processes, orphans included.

    Returns the wait status of the program itself, once it has ended, and whether any child is left.
    """
    status = None
    try:
        while True:
            pid, ended = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status, True
            if pid == child:
                status = ended
    except ChildProcessError:
        return status, False


def _end_inner_guard(guard: int) -> None:
    """Make the inner guard end everything below it, and wait until it has, but not for ever.

    Only then does the outer guard kill it. Assay may kill the outer guard meanwhile, when it is told twice to end: the
    inner one is still at work then.
    """
    deadline = time.monotonic() + _KILL_TIMEOUT_S + 2 * _POLL_S
    for number in (signal.SIGTERM, signal.SIGCONT):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(guard, number)
    while _reap(guard)[0] is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _kill_program(child: int) -> None:
    """Kill the program's process group and all of its descendants, also those that left the group."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        _, any_left = _reap(child)
        if not any_left or time.monotonic() > deadline:
            return
        _kill_descendants()
        time.sleep(_POLL_S)


def _kill_descendants() -> None:
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    waiting = [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            waiting.append(pid)


def _processes() -> Iterator[tuple[int, int]]:
    """Return (process, parent) of all running processes, if there is a /proc."""
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                yield int(name), int(fields[1])


def _end_like(status: int | None) -> None:
    if status is None:
        os._exit(0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(_KILL_TIMEOUT_S)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main(sys.argv[1:])
