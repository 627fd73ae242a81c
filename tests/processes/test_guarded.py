"""A program under guards ends with its lifeline or with a guard, together with everything that it started."""

import asyncio
import logging
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.support.processes import running, wait_until
from tui.processes.guarded import let_go, run_guarded, run_private, start_guarded, wait_for_end


class Listening(asyncio.SubprocessProtocol):
    def __init__(self) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self.output = bytearray()
        self.heard = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        self.output += data
        self.heard.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.ended.set_result(None)


async def test_a_program_ends_as_it_ended_by_itself() -> None:
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", "echo $WORD; exit 7"], {"WORD": "hi"}
    )
    await program.ended
    os.close(lifeline)
    transport.close()
    assert (transport.get_returncode(), bytes(program.output)) == (7, b"hi\n")


async def test_a_program_is_run_to_its_end_with_its_input_and_output(tmp_path: Path) -> None:
    output = bytearray()
    status = await run_guarded(
        ["/bin/sh", "-c", "cat; echo err >&2; exit 3"], {}, tmp_path, output.extend, stdin=b"in\n"
    )
    assert (status, bytes(output)) == (3, b"in\nerr\n")


async def test_a_secret_is_passed_through_a_socket_to_a_process_that_is_not_dumpable(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "import ctypes, os, stat, sys\n"
        "def serve():\n"
        "    print(stat.S_ISSOCK(os.fstat(0).st_mode), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), sys.stdin.read())\n"
        "    sys.stdout.flush()\n"
        "    raise SystemExit\n"
    )
    output = bytearray()
    status = await run_private(tmp_path / "server.py", {}, tmp_path, output.extend, b"secret", memory_bytes=0)
    assert bytes(output).startswith(b"True 0 secret\n")
    assert status == 70


async def test_a_private_program_that_reads_no_secret_ends_as_it_ends(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("import os\ndef serve():\n    os.close(0)\n    os._exit(3)\n")
    secret = bytes(4 << 20)  # more than the socket holds
    assert await run_private(tmp_path / "server.py", {}, tmp_path, bytearray().extend, secret, memory_bytes=0) == 3


async def test_the_end_of_the_lifeline_is_the_end_of_everything() -> None:
    marker = f"assay-{uuid4().hex}"
    script = "setsid sleep 300 & sleep 300 & echo ready; wait"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", script], {**os.environ, "MARKER": marker}
    )
    await program.heard.wait()
    # Both guards, the shell and both of its children.
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) == 5)
    os.close(lifeline)
    await program.ended
    assert running(marker) == []
    transport.close()


async def test_a_file_is_called_by_its_serve_with_so_much_memory(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "def serve(word):\n    print(word, flush=True)\n    print(len(bytearray(1 << 30)), flush=True)\n"
    )
    transport, program, lifeline = await start_guarded(
        Listening, ["hi"], dict(os.environ), module=tmp_path / "server.py", memory_bytes=256 << 20
    )
    await program.ended
    os.close(lifeline)
    transport.close()
    assert program.output.startswith(b"hi\n")
    assert b"MemoryError" in program.output


async def test_nothing_is_left_open_where_it_cannot_be_started(tmp_path: Path) -> None:
    before = psutil.Process().num_fds()
    with pytest.raises(OSError, match="No such file"):
        await start_guarded(Listening, ["true"], {}, cwd=tmp_path / "none")
    after = psutil.Process().num_fds()
    assert after == before


LEAVES_A_DAEMON = "setsid sleep 300 & echo $$; "
HITS = {
    "kills its guard": "kill -9 $PPID; wait",
    "kills the outer guard": "kill -9 $OUTER; wait",
    "ends its guard": "kill -15 $PPID; wait",
    "ends the outer guard": "kill -15 $OUTER; wait",
}
# It opens all pipes of the outer guard, stops that guard, and stops it again whenever it was continued.
HOLDS = """
import os, signal, sys, time
outer, is_new = int(sys.argv[1]), True
for name in os.listdir(f"/proc/{outer}/fd"):
    try:
        os.open(f"/proc/{outer}/fd/{name}", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        pass
while True:
    os.kill(outer, signal.SIGSTOP)
    if is_new:
        os.write(1, b"done\\n")
    is_new = False
    time.sleep(0.001)
"""
FREEZES = {
    "stops its guard": "kill -STOP $PPID; echo done; wait",
    "stops the outer guard": "kill -STOP $OUTER; echo done; wait",
    "holds the pipes of the outer guard and keeps stopping it": f"setsid {sys.executable} -c '{HOLDS}' $OUTER & wait",
    "stops both guards": "kill -STOP $OUTER; kill -STOP $PPID; echo done; wait",
}
FIND_OUTER = "OUTER=$(cut -d' ' -f4 /proc/$PPID/stat); "
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")


@linux
@pytest.mark.parametrize("hit", HITS.values(), ids=HITS.keys())
async def test_a_program_that_kills_a_guard_leaves_nothing(hit: str) -> None:
    marker = f"assay-{uuid4().hex}"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", LEAVES_A_DAEMON + FIND_OUTER + hit], {**os.environ, "MARKER": marker}
    )
    await program.ended
    # Whichever guard is left works on after the other one has ended.
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])
    let_go(transport, lifeline)
    await wait_for_end(transport, program.ended)


@linux
@pytest.mark.parametrize("freeze", FREEZES.values(), ids=FREEZES.keys())
async def test_a_program_that_stops_a_guard_leaves_nothing(freeze: str) -> None:
    marker = f"assay-{uuid4().hex}"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", LEAVES_A_DAEMON + FIND_OUTER + freeze], {**os.environ, "MARKER": marker}
    )
    while b"done" not in program.output:
        program.heard.clear()
        await program.heard.wait()
    let_go(transport, lifeline)
    await wait_for_end(transport, program.ended)
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])


STARTS_A_PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from tui.processes.guarded import run_guarded
asyncio.run(run_guarded(["/bin/sh", "-c", sys.argv[1]], os.environ, Path("/"), lambda data: os.write(1, data)))
"""


@linux
@pytest.mark.parametrize("freeze", FREEZES.values(), ids=FREEZES.keys())
def test_a_program_that_stops_a_guard_before_assay_is_killed_leaves_nothing(freeze: str) -> None:
    marker = f"assay-{uuid4().hex}"
    call = [sys.executable, "-c", STARTS_A_PROGRAM, LEAVES_A_DAEMON + FIND_OUTER + freeze]
    environ = {**os.environ, "MARKER": marker}
    with subprocess.Popen(call, env=environ, stdout=subprocess.PIPE) as assay:
        assert assay.stdout is not None
        while b"done" not in assay.stdout.readline():
            pass
        assay.kill()
    wait_until(lambda: running(marker) == [])


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="asyncio waits for child processes in threads up to 3.11")
async def test_a_program_that_ends_while_it_is_let_go_keeps_its_exit_status(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    may_reap, real = threading.Event(), os.waitpid

    def waitpid(pid: int, options: int) -> tuple[int, int]:
        if "waitpid" in threading.current_thread().name:
            may_reap.wait()
        return real(pid, options)

    monkeypatch.setattr(os, "waitpid", waitpid)
    with caplog.at_level(logging.WARNING, "asyncio"):
        transport, program, lifeline = await start_guarded(Listening, ["/bin/sh", "-c", "exit 7"], {})
        guard = psutil.Process(transport.get_pid())
        await asyncio.to_thread(wait_until, lambda: guard.status() == psutil.STATUS_ZOMBIE)
        let_go(transport, lifeline)
        may_reap.set()
        await wait_for_end(transport, program.ended)
    assert (transport.get_returncode(), caplog.messages) == (7, [])


PROTECTED = """
import asyncio, ctypes, resource, sys
from pathlib import Path
from tui.processes.guarded import run_guarded
async def main():
    status = await run_guarded(["/bin/true"], {}, Path("/"), print)
    dumpable = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if sys.platform == "linux" else 0
    print(status, dumpable, resource.getrlimit(resource.RLIMIT_CORE)[0])
asyncio.run(main())
"""


def test_the_process_that_starts_a_program_cannot_be_dumped() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROTECTED],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2),
    )
    assert done.stdout == "0 0 0\n"


MANY_DAEMONS = """
trap '' TERM HUP INT
for n in 1 2 3 4 5 6; do setsid sh -c 'trap "" TERM HUP INT; sleep 300 & sleep 300' & done
echo ready
sleep 300
"""


@pytest.mark.parametrize("delay_ms", [0, 1, 2, 3, 4, 6, 8, 12, 20, 40])
async def test_an_outer_guard_that_is_killed_while_it_ends_everything_leaves_nothing(delay_ms: int) -> None:
    """asyncio kills it when the wait for its end is cancelled: on a second signal that ends Assay."""
    marker = f"assay-{uuid4().hex}"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", MANY_DAEMONS], {**os.environ, "MARKER": marker}
    )
    await program.heard.wait()
    let_go(transport, lifeline)
    await asyncio.sleep(delay_ms / 1000)
    transport.close()
    await asyncio.to_thread(wait_until, lambda: not running(marker))
    # The loop has to take the exit status before it is closed.
    async with asyncio.timeout(60):
        await program.ended


async def test_a_wait_for_the_end_that_is_cancelled_lets_the_guards_end_everything_first() -> None:
    """Closing the transport earlier would kill the outer guard while it is at work."""
    marker = f"assay-{uuid4().hex}"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", MANY_DAEMONS], {**os.environ, "MARKER": marker}
    )
    await program.heard.wait()
    let_go(transport, lifeline)
    waiting = asyncio.create_task(wait_for_end(transport, program.ended))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (transport.get_returncode(), running(marker)) == (0, [])
