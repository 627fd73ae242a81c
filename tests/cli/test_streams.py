"""Where the report and the narration go, when nobody takes them or there is no room."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.test_run import keys_for, report_of, write_suite
from tests.support.command_line import CommandLine, Ran
from tests.support.full_disk import HAS_FULL_DEVICE, LIMIT_IN_SHELL
from tests.support.model_server import ModelServer, say
from tests.support.processes import wait_until


def in_shell(assay: CommandLine, script: str, server: ModelServer) -> Ran:
    """A line of shell in which `$assay` is the command."""
    environ = assay.environ(keys_for(server)) | {"PYTHONPATH": str(Path(__file__).parents[2])}
    line = script.replace("$assay", f"'{sys.executable}' -m tui")
    done = subprocess.run(["/bin/sh", "-c", line], cwd=assay.home, env=environ, capture_output=True, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(("answer", "code"), [("no", 1), pytest.param("yes", 0, marks=pytest.mark.long)])
async def test_a_reader_of_the_report_that_has_had_enough_changes_nothing(
    assay: CommandLine, answer: str, code: int
) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(say(answer)) as server:
        process = assay.start("run", str(suite), "-f", "json", env=keys_for(server))
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, err = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == code
    assert "2/2" in err
    assert "rror" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("stream", "command"), [("stderr", "validate no-suite.yaml"), ("stdout", "paths")])
def test_a_signal_ends_a_command_whose_output_nobody_reads(assay: CommandLine, stream: str, command: str) -> None:
    """What is left of the output is written when Python exits, while signals are ignored."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, b"." * 512):
            pass
    os.set_blocking(writer, True)
    environ = assay.environ() | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": ""}
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", *command.split()],
        cwd=assay.home,
        env=environ,
        stdout=writer if stream == "stdout" else subprocess.DEVNULL,
        stderr=writer if stream == "stderr" else subprocess.DEVNULL,
    )
    os.close(writer)
    tasks = Path(f"/proc/{process.pid}/task")
    wait_until(lambda: any("pipe_write" in (task / "wchan").read_text() for task in tasks.iterdir()))
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(30) == 143
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_a_key_that_is_added_while_assay_runs_is_removed_from_stderr(assay: CommandLine) -> None:
    program = """
import sys
from pathlib import Path
from tui.cli.streams import filter_stderr
filter_stderr()
print("before an-ordinary-word-4711", file=sys.stderr)
Path(sys.argv[1]).write_text("providers: {mine: {kind: openai, base_url: 'http://x/v1', api_key: '${MY_SERVER}'}}")
print("after an-ordinary-word-4711", file=sys.stderr)
"""
    environ = assay.environ({"MY_SERVER": "an-ordinary-word-4711"}) | {"PYTHONPATH": str(Path(__file__).parents[2])}
    config = Path(environ["ASSAY_CONFIG_DIR"]) / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, "-c", program, config], env=environ, capture_output=True, check=True)
    assert done.stderr.decode() == "before an-ordinary-word-4711\nafter [removed key]\n"


@pytest.mark.parametrize(
    "command", ["run s.yaml", "validate s.yaml", "import KEY.csv", "report KEY", "run s.yaml --no-KEY"]
)
def test_no_problem_of_a_file_or_of_the_command_line_contains_a_key(assay: CommandLine, command: str) -> None:
    key = "KEYQWERTY-1234-ABCD"
    case = f"{{id: a, name: A, category: C, prompt: hi, expectedPatterns: ['({key}'], minPassRate: {key}}}"
    text = f"name: S\ndescription: d\nmodels: [x/m]\nrepositoryContext: {{path: {key}}}\ntestCases:\n  - {case}\n"
    (assay.home / "s.yaml").write_text(text)
    (assay.home / f"{key}.csv").write_text("case,model,answer\na\n")
    ran = assay.run(*command.replace("KEY", key).split(), env={"OPENAI_API_KEY": key})
    assert key not in ran.out + ran.err
    assert "removed key" in ran.out + ran.err


def test_other_output_that_nobody_reads_is_no_failure(assay: CommandLine) -> None:
    process = assay.start("schema")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


async def test_narration_that_nobody_reads_stops_no_run(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 5)
    async with ModelServer(say("yes")) as server:
        process = assay.start("run", str(suite), "-f", "json", env=keys_for(server))
        assert process.stderr is not None
        process.stderr.close()
        process.stderr = None
        out, _ = await asyncio.to_thread(process.communicate, timeout=60)
        closed = await asyncio.to_thread(in_shell, assay, f"$assay run '{suite}' -f json 2>&-", server)
    assert process.returncode == 0
    assert report_of(Ran(0, out, ""))["summary"]["passed"] == 5
    assert (closed.code, report_of(closed)["summary"]["passed"]) == (0, 5)


async def test_a_report_that_finds_no_room_is_3_and_can_be_written_again(assay: CommandLine) -> None:
    assert HAS_FULL_DEVICE
    suite = write_suite(assay.home)
    async with ModelServer(say("yes")) as server:
        for words in ("> /dev/full", "-o /dev/full"):
            ran = await asyncio.to_thread(in_shell, assay, f"$assay run '{suite}' -f json {words}", server)
            assert ran.code == 3
            assert "Cannot write the report (No space left on device). The run is saved" in ran.err
    assert report_of(assay.run("report", "last", "-f", "json"))["summary"]["passed"] == 2


async def test_a_run_that_cannot_begin_leaves_no_empty_report(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(say("yes")) as server:
        # So many blocks of 512 bytes hold the empty history, and nothing more.
        ran = await asyncio.to_thread(in_shell, assay, f"{LIMIT_IN_SHELL} 120; $assay run '{suite}' -f json", server)
        assert (ran.code, ran.out, len(server.asked)) == (3, "", 0)
    assert "Results saved earlier are safe" in ran.err


@pytest.mark.long
async def test_a_full_history_still_gives_the_report_of_what_was_received(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 60)
    async with ModelServer(say("yes " * 20_000)) as server:
        ran = await asyncio.to_thread(in_shell, assay, f"{LIMIT_IN_SHELL} 2000; $assay run '{suite}' -f json", server)
    report = report_of(ran)
    assert (ran.code, report["run"]["state"]) == (3, "interrupted")
    stored = report_of(assay.run("report", "last", "-f", "json"))
    assert 0 < stored["summary"]["passed"] < report["summary"]["passed"] <= 60


async def test_a_folder_that_is_gone_is_a_sentence(assay: CommandLine) -> None:
    async with ModelServer(say("yes")) as server:
        ran = in_shell(assay, "mkdir gone; cd gone; rmdir ../gone; $assay run s.json -o report.json", server)
    assert ran.code in (2, 3)
    assert "Traceback" not in ran.err
