"""What is started under the guard ends with its lifeline, with everything that it started itself."""

import asyncio
import os
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.support.processes import running, wait_until
from tui.processes.guarded import run_guarded, start_guarded


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


async def test_the_end_of_the_lifeline_is_the_end_of_everything() -> None:
    marker = f"assay-{uuid4().hex}"
    script = "setsid sleep 300 & sleep 300 & echo ready; wait"
    transport, program, lifeline = await start_guarded(
        Listening, ["/bin/sh", "-c", script], {**os.environ, "MARKER": marker}
    )
    await program.heard.wait()
    # The guard, the shell and both of its children.
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) == 4)
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
