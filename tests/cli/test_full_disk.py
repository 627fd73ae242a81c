"""A run whose history cannot be written any more: the report contains every answer that was received."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tui
from tests.support.command_line import CommandLine
from tests.support.full_disk import HAS_FULL_DEVICE
from tests.support.processes import wait_until
from tui.cli.streams import count_words

# The largest file that the process may write stands for a full disk: the first answer fits, the others do not.
RUN = """
import sys
from tests.support.full_disk import limit_size_of_files
from tui.cli import headless
from tui.session.store_writer import RetryLimits
headless._STORE_PATIENCE = RetryLimits(total=0.2, between=0.05)
limit_size_of_files(1 << 20)
sys.argv[0] = "assay"
from tui.__main__ import main
main()
"""
AGENT = """
import secrets
def agent(input, memory):
    return {"output": "yes" if input == "first" else "yes " + secrets.token_hex(1 << 20)}
"""


SLOW_AGENT = """
import pathlib, time
def agent(input, memory):
    pathlib.Path("begun").touch()
    time.sleep(60)
"""


def write_files(assay: CommandLine, agent: str) -> None:
    (assay.home / "agent.py").write_text(agent)
    cases = [
        {"id": name, "name": name, "category": "c", "prompt": name, "expectedPatterns": ["yes"]}
        for name in ("first", "second", "third")
    ]
    suite = {
        "name": "s",
        "description": "d",
        "models": ["m"],
        "testCases": cases,
        "options": {"delayBetweenTestsMs": 0},
    }
    (assay.home / "s.json").write_text(json.dumps(suite))


def run_on_full_disk(assay: CommandLine, *options: str) -> "subprocess.CompletedProcess[str]":
    write_files(assay, AGENT)
    environ = assay.environ({"PYTHONPATH": str(Path(tui.__file__).parents[1])})
    call = [sys.executable, "-c", RUN, "run", "s.json", "--agent", "agent.py", "-f", "json", "-r", *options]
    return subprocess.run(call, capture_output=True, text=True, env=environ, cwd=assay.home, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_answers_that_could_not_be_stored_are_in_the_report(assay: CommandLine) -> None:
    done = run_on_full_disk(assay)
    assert done.returncode == 3, done.stderr
    report = json.loads(done.stdout)
    shown = count_words(len(report["results"]) - 1, "result")
    assert f"Note: the report of this command contains {shown} that could not be stored." in done.stderr
    results = {result["case"]: result["attempts"][0]["steps"][0]["response"] for result in report["results"]}
    assert report["run"]["state"] == "interrupted"
    assert report["summary"]["passed"] == len(results)
    assert results["first"] == "yes"
    assert len(results["second"]) == 4 + (2 << 20)
    stored = json.loads(assay.run("report", "last", "-f", "json").out)
    assert [result["case"] for result in stored["results"]] == ["first"]


@pytest.mark.skipif(not HAS_FULL_DEVICE, reason="needs a device that is always full")
def test_answers_that_are_neither_stored_nor_in_a_report_are_said_to_be_lost(assay: CommandLine) -> None:
    done = run_on_full_disk(assay, "-o", "/dev/full")
    assert done.returncode == 3, done.stderr
    run_id = json.loads(assay.run("report", "last", "-f", "json").out)["run"]["id"]
    lost = r"Error: /dev/full: Cannot write .+\. (1 result is lost: run it|2 results are lost: run them) again with "
    assert re.search(f"^{lost}'assay run --resume {run_id}'\\.$", done.stderr, re.MULTILINE), done.stderr
    assert "The run is saved" not in done.stderr


@pytest.mark.skipif(not HAS_FULL_DEVICE, reason="needs a device that is always full")
def test_a_report_that_finds_no_room_after_a_signal_keeps_the_exit_code_of_the_signal(assay: CommandLine) -> None:
    write_files(assay, SLOW_AGENT)
    process = assay.start("run", "s.json", "--agent", "agent.py", "-o", "/dev/full")
    wait_until((assay.home / "begun").exists)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "Cannot write the report (No space left on device). The run is saved" in err
