"""The app is killed in the middle of a run, in a real terminal against a real server, and started again."""

import asyncio
import re
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.explore.test_saved_runs_end_to_end import CASE, SUITE, environ_of
from tests.support.model_server import Asked, ModelServer, say
from tests.support.replies import HANG, Reply
from tests.support.terminal import Screen, Terminal, run_here
from tui.model.results import TrialKey
from tui.model.run import RunRecord
from tui.store.sqlite import SqliteStore

CASES, ANSWERED = 12, 9
TRIALS = CASES * 2
ROOT = Path(__file__).parents[2]


class Hanging:
    """A server's script: a number of answers, then silence until it is released."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.silent_after = ANSWERED

    def __call__(self, request: Asked) -> Reply:
        self.asked.append((request.model, request.prompt))
        return Reply(raw=(HANG,)) if len(self.asked) > self.silent_after else say("all is fine")(request)


def done_of(screen: Screen) -> int:
    """How many trials the header says are over."""
    found = re.search(rf"(\d+)/{TRIALS}\b", screen.text)
    return int(found[1]) if found else 0


def kept_in(environ: dict[str, str]) -> tuple[RunRecord, set[TrialKey]]:
    """What the only run says of itself, and which of its trials have a result."""
    with closing(SqliteStore(Path(environ["ASSAY_DATA_DIR"]) / "runs.sqlite")) as store:
        [record] = store.list_runs()
        return record, {outcome.trial for outcome in store.read_outcomes(record.id)}


def run_and_kill(environ: dict[str, str], suites: Path) -> int:
    """How many trials were seen to be over before the end."""
    with Terminal(run_here("-m", "tui", suites), size=(140, 40), cwd=ROOT, env=environ) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("R")
        terminal.wait_until(lambda screen: done_of(screen) >= ANSWERED, "some trials are over")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_exit() == -signal.SIGKILL
        return done_of(terminal.screen)


def resume(environ: dict[str, str], suites: Path) -> None:
    with Terminal(run_here("-m", "tui", suites), size=(140, 40), cwd=ROOT, env=environ) as terminal:
        terminal.wait_for("case 0")
        terminal.press("H")
        terminal.wait_for("◐ interrupted")
        terminal.press("r")
        terminal.wait_for("saved runs")
        terminal.wait_for(f"{TRIALS - ANSWERED}/{TRIALS - ANSWERED}")
        terminal.press("H")
        terminal.wait_for("■ finished")
        terminal.press("escape")
        terminal.wait_while("■ finished")
        terminal.press("m")
        terminal.wait_for(f"✓ {TRIALS} passed")
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.long
async def test_a_run_killed_in_the_middle_resumes_with_exactly_what_is_missing(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "kept.yaml").write_text(SUITE % "\n".join(CASE % (n, n, n) for n in range(CASES)))
    script = Hanging()
    async with ModelServer(script) as server:
        environ = environ_of(tmp_path, server.url)
        seen = await asyncio.to_thread(run_and_kill, environ, suites)
        record, known = kept_in(environ)
        assert (record.state, record.trials) == ("interrupted", TRIALS)
        assert len(known) == record.passed == seen == ANSWERED, "what was shown is kept"
        script.asked.clear()
        script.silent_after = 2 * TRIALS
        await asyncio.to_thread(resume, environ, suites)
        again = Counter(script.asked)
    record, everything = kept_in(environ)
    assert (record.state, record.passed, record.trials, len(everything)) == ("finished", TRIALS, TRIALS, TRIALS)
    missing = {(trial.case.removeprefix("c"), trial.model.partition("?")[0]) for trial in everything - known}
    asked = Counter({(prompt.rpartition(" ")[2], f"one/{model}"): count for (model, prompt), count in again.items()})
    assert asked == dict.fromkeys(missing, 1)
