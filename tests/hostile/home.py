"""A home of `assay` with suites, a saved run and an agent, and the command in a terminal on it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.command_line import CommandLine, Ran
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tests.support.terminal import Terminal, run_here
from tui.model.results import TrialKey
from tui.model.run import RunRecord
from tui.model.suite import RiskCriterion
from tui.store.sqlite import SqliteStore

PROJECT = Path(__file__).parents[2]
RESULTS = PROJECT / "tests" / "imports" / "files" / "version-3.json"
SAVED = make_plan([make_case(f"s{n}", criteria=(RiskCriterion("Tone", "polite", "low"),)) for n in range(5)], ["m/a"])
_AGENT = """
import time, pathlib, subprocess
subprocess.Popen(["sleep", "1000"])
pathlib.Path(__file__).with_name("started").touch()
time.sleep(1000)
def agent(input, memory):
    return {"output": "Hello"}
"""
_AGENT_SUITE = "description: greets\nagent: agent.py\nsteps:\n  - input: Ann\n    assert: {output.includes: Hello}\n"


def write_suite(path: Path, count: int, model: str = "one/mock-a", **options: object) -> Path:
    """Write a suite whose cases want the word yes; the prompt of case N is `question N`."""
    case = {"category": "c", "expectedPatterns": ["yes"]}
    cases = [{"id": f"c{n}", "name": f"Case {n}", "prompt": f"question {n}", **case} for n in range(count)]
    path.parent.mkdir(exist_ok=True)
    suite = {"name": "S", "description": "d", "models": [model], "testCases": cases}
    path.write_text(json.dumps({**suite, "options": {"delayBetweenTestsMs": 0, **options}}))
    return path


@dataclass(frozen=True)
class Home:
    """The folders, and the marker that every process of the test has in its environment."""

    folder: Path
    environ: Mapping[str, str]
    marker: str

    @property
    def data(self) -> Path:
        """The data folder."""
        return Path(self.environ["ASSAY_DATA_DIR"])

    def open(
        self,
        *words: str | Path,
        hold: tuple[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        module: str = "tui",
    ) -> Terminal:
        """Start the command, or another module, in a terminal. With `hold`, it waits at that audit event until
        `release` is called."""
        command = ("-m", module) if hold is None else ("-m", "tests.hostile.held", self.folder, *hold)
        return Terminal(
            run_here(*command, *words), size=(120, 40), cwd=self.folder, env={**self.environ, **(env or {})}
        )

    def is_held(self) -> bool:
        """Whether the held command has arrived at its event."""
        return (self.folder / "held").exists()

    def release(self) -> None:
        """Continue the held command."""
        (self.folder / "released").touch()

    def runs(self) -> list[tuple[RunRecord, set[TrialKey]]]:
        """The runs in the history with the trials that have a result, the newest first."""
        with closing(SqliteStore(self.data / "runs.sqlite")) as store:
            assert store.notices == ()
            return [
                (record, {outcome.trial for outcome in store.read_outcomes(record.id)}) for record in store.list_runs()
            ]

    def scores(self) -> list[dict[str, object]]:
        """The lines of the score files of the saved run."""
        files = sorted((self.data / "scores" / SAVED.run_id).glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def name_server(home: Home, url: str) -> None:
    """Write the config, whose provider `one` is at the URL."""
    config = Path(home.environ["ASSAY_CONFIG_DIR"]) / "config.yaml"
    config.touch(0o600)
    config.write_text(f"providers: {{one: {{kind: openai, base_url: '{url}', api_key: none}}}}\n")


def make_home(folder: Path, url: str = "http://127.0.0.1:9/v1", *, saved: bool = False) -> Home:
    """Make a home whose provider `one` is at the URL; with `saved`, its history has a run that can be scored."""
    marker = f"assay-{uuid4().hex}"
    environ = {**CommandLine(folder).environ(), "PYTHONPATH": str(PROJECT), "ASSAY_TEST_MARKER": marker}
    home = Home(folder, environ, marker)
    Path(environ["ASSAY_CONFIG_DIR"]).mkdir()
    name_server(home, url)
    write_suite(folder / "suites" / "s.json", 3)
    (folder / "agents").mkdir()
    (folder / "agents" / "greet.yaml").write_text(_AGENT_SUITE)
    (folder / "agents" / "agent.py").write_text(_AGENT)
    if saved:
        with closing(SqliteStore(home.data / "runs.sqlite")) as store:
            store.begin_run(SAVED, STARTED)
            store.save_trials(SAVED.run_id, [make_result(trial) for trial in SAVED.trials])
            store.finish_run(SAVED.run_id, "finished", STARTED)
        (home.data / "reviewer").write_text("Ada\n")
    return home


def as_user(home: Home, user: int, *words: str, **env: str) -> Ran:
    """Run the command as another user, who may read everything, but write only what is theirs."""
    call = [sys.executable, "-m", "tui", *words]
    if os.geteuid() == 0:
        reading = "+dac_read_search"
        ids = (f"--reuid={user}", f"--regid={user}", "--clear-groups")
        call = ["setpriv", *ids, f"--inh-caps={reading}", f"--ambient-caps={reading}", *call]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1", **env}
    done = subprocess.run(call, cwd=home.folder, env=environ, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


needs_setpriv = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="needs setpriv to become another user"
)
