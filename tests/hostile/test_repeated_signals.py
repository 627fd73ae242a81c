"""Signals one after the other until Assay has ended: the exit code of the first one, and no process left."""

import asyncio
import json
import shlex
import signal
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import psutil
import pytest

from tests.hostile.home import Home, make_home
from tests.support.model_server import ModelServer, say
from tests.support.processes import running, wait_until
from tests.support.repositories import make_repository
from tests.support.terminal import Terminal
from tui.providers.local_models import BUNDLED

DAEMONS = """
trap '' TERM HUP INT
for n in 1 2 3 4 5 6; do setsid sh -c 'trap "" TERM HUP INT; sleep 1000 & sleep 1000' & done
touch {started}
sleep 1000
"""
AGENT = """
import subprocess
subprocess.run(["sh", {script!r}])
def agent(input, memory):
    return {{"output": "Hello"}}
"""
# Signals that arrive together are handled in the order of their numbers: the first one has the lowest.
SHORT = (signal.SIGHUP, signal.SIGTERM)
SEQUENCES = [
    pytest.param(
        numbers, id="-".join(number.name for number in numbers), marks=() if numbers == SHORT else pytest.mark.long
    )
    for numbers in (
        SHORT,
        (signal.SIGTERM,),
        (signal.SIGINT, signal.SIGINT, signal.SIGTERM),
        (signal.SIGHUP, signal.SIGTERM, signal.SIGINT),
    )
]
EXITS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def write_daemons(home: Home) -> Path:
    """Write the script that starts the daemons and never ends."""
    script = home.folder / "daemons.sh"
    script.write_text(DAEMONS.format(started=shlex.quote(str(home.folder / "started"))))
    (home.folder / "agents" / "agent.py").write_text(AGENT.format(script=str(script)))
    return script


def python_agent(home: Home) -> Sequence[str]:
    write_daemons(home)
    return ("run", "agents/greet.yaml", "--allow-commands")


def agent_command(home: Home) -> Sequence[str]:
    return ("run", "agents/greet.yaml", "--agent", f"cmd:sh {write_daemons(home)}")


def command_of_a_case(home: Home) -> Sequence[str]:
    make_repository(home.folder / "repo", {"hello.py": "print('old')\n"})
    case = {"id": "c", "name": "c", "category": "c", "prompt": "p", "applyChanges": True, "targetFile": "hello.py"}
    case["command"] = shlex.join(("sh", str(write_daemons(home))))
    suite = {"name": "s", "description": "d", "models": ["one/m"], "repoClone": {"repoUrl": "./repo"}}
    (home.folder / "suite.json").write_text(json.dumps({**suite, "testCases": [case]}))
    return ("run", "suite.json", "--allow-local", "--allow-commands")


def local_model(_home: Home) -> Sequence[str]:
    return ("run", "suites/s.json", "-m", f"local/{BUNDLED}")


def app(home: Home) -> Sequence[str]:
    write_daemons(home)
    return ("agents",)


KINDS = (
    python_agent,
    *(pytest.param(kind, marks=pytest.mark.long) for kind in (agent_command, command_of_a_case, app)),
    local_model,
)


def enter(home: Home, terminal: Terminal, kind: Callable[[Home], Sequence[str]]) -> None:
    """Wait until the processes of the run are there."""
    if kind is app:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for_question("Allow it?")
        terminal.press("y")
    # Assay, both guards and the model; or those with the daemons.
    wait_until(lambda: len(running(home.marker)) >= (4 if kind is local_model else 20))


def run_kind(home: Home, kind: Callable[[Home], Sequence[str]], numbers: Sequence[signal.Signals]) -> None:
    words = kind(home)
    report = ("-f", "json", "-o", "report.json") if words[0] == "run" else ()
    # A case's command keeps little of the environment, but its locale.
    with home.open(*words, *report, env={"LC_ASSAY_TEST": home.marker}) as terminal:
        enter(home, terminal, kind)
        assay = psutil.Process(terminal.pid)
        following = cycle(numbers)

        def has_ended() -> bool:
            terminal.signal(next(following))
            return assay.status() == psutil.STATUS_ZOMBIE

        wait_until(has_ended)  # a signal each time
        assert terminal.wait_exit() == EXITS[numbers[0]], terminal.screen.text
        assert terminal.unrestored() == []
        assert b"Traceback" not in terminal.raw, terminal.screen.text
        assert b"Unknown child process" not in terminal.raw
    wait_until(lambda: running(home.marker) == [])
    assert [record.state for record, _ in home.runs()] == ["interrupted"]
    assert not report or json.loads((home.folder / "report.json").read_text())["run"]["state"] == "interrupted"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbers", SEQUENCES)
async def test_any_number_of_signals_leaves_no_process(
    tmp_path: Path, kind: Callable[[Home], Sequence[str]], numbers: Sequence[signal.Signals]
) -> None:
    async with ModelServer(say("```python\nprint('new')\n```")) as server:
        home = make_home(tmp_path, server.url)
        await asyncio.to_thread(run_kind, home, kind, numbers)
