"""A run whose history cannot be written any more: the report contains every answer that was received."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tui
from tests.support.command_line import CommandLine

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


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_answers_that_could_not_be_stored_are_in_the_report(assay: CommandLine) -> None:
    (assay.home / "agent.py").write_text(AGENT)
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
    environ = assay.environ({"PYTHONPATH": str(Path(tui.__file__).parents[1])})
    call = [sys.executable, "-c", RUN, "run", "s.json", "--agent", "agent.py", "-f", "json", "-r"]
    done = subprocess.run(call, capture_output=True, text=True, env=environ, cwd=assay.home, check=False)
    assert done.returncode == 3, done.stderr
    report = json.loads(done.stdout)
    count = len(report["results"]) - 1
    shown = f"{count} result{'' if count == 1 else 's'}"
    assert f"Note: the report of this command contains {shown} that could not be stored." in done.stderr
    results = {result["case"]: result["attempts"][0]["steps"][0]["response"] for result in report["results"]}
    assert report["run"]["state"] == "interrupted"
    assert report["summary"]["passed"] == len(results)
    assert results["first"] == "yes"
    assert len(results["second"]) == 4 + (2 << 20)
    stored = json.loads(assay.run("report", "last", "-f", "json").out)
    assert [result["case"] for result in stored["results"]] == ["first"]
