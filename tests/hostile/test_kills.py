"""`kill -9` and two programs at once: what was shown as finished or scored is there afterwards, once."""

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from tests.hostile.home import SAVED, Home, make_home, name_server, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import Asked, ModelServer, say
from tests.support.processes import running, wait_until
from tests.support.replies import Reply
from tests.support.terminal import Terminal
from tui.store.sqlite import SqliteStore

CASES, KILLS_OF_A_RUN = 40, 5
FIRST: tuple[str, ...] = ("kills/s.json", "--concurrency", "3")


class Questions:
    """A server's script that answers no, so that each finished trial is printed with its case; it counts questions."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Reply:
        self.asked[asked.prompt.replace("question ", "c")] += 1
        return say("no", latency_s=0.005)(asked)


def results_of(home: Home) -> set[str]:
    """The cases of the only run that have a result in the history."""
    [(_, trials)] = home.runs()
    return {trial.case for trial in trials}


def run_and_kill(assay: CommandLine, words: tuple[str, ...], lines_before: int) -> set[str]:
    """Kill a run once it has printed so many lines, first its id, and return the cases that it printed as finished."""
    process = assay.start("run", *words)
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if len(lines) == lines_before:
            process.kill()
    process.communicate()
    assert process.returncode in (1, -signal.SIGKILL), lines
    return set(re.findall(r"✗ (c\d+)", "".join(lines)))


@asynccontextmanager
async def questions_to(home: Home) -> AsyncIterator[Counter[str]]:
    """Serve one command, and count what it asks: what a killed command had sent must not count for the next one."""
    script = Questions()
    async with ModelServer(script) as server:
        name_server(home, server.url)
        yield script.asked


async def kill_runs(home: Home, kills: int) -> None:
    """Kill a run and its resumptions at spread moments; each fifth time, let it finish and begin another run."""
    chance, assay, cases = random.Random(11), CommandLine(home.folder), {f"c{n}" for n in range(CASES)}
    write_suite(home.folder / "kills" / "s.json", CASES, parallel=True)
    for start in range(0, kills, KILLS_OF_A_RUN):
        known, words = set[str](), FIRST
        for _ in range(min(KILLS_OF_A_RUN, kills - start)):
            async with questions_to(home) as asked:
                shown = await asyncio.to_thread(run_and_kill, assay, words, chance.randrange(1, 9))
            assert not known & set(asked), "what has a result is not asked again"
            found = results_of(home)
            assert shown <= found, "what was shown is stored"
            assert known <= found, "what was stored stays"
            known, words = found, ("--resume", "last")
        async with questions_to(home) as asked:
            ran = await assay.run_async("run", "--resume", "last")
        assert ran.code == 1, ran.err
        assert asked == Counter(cases - known), "exactly the rest is asked, once"
        [(record, _)] = home.runs()
        assert (record.state, results_of(home)) == ("finished", cases)
        with closing(SqliteStore(home.data / "runs.sqlite")) as store:
            store.delete_run(record.id)


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.long)])
async def test_kills_of_a_run_lose_no_trial_that_was_shown_as_finished(tmp_path: Path, kills: int) -> None:
    await kill_runs(make_home(tmp_path), kills)


def open_review(terminal: Terminal) -> None:
    terminal.wait_for("Not run yet")
    terminal.press("H")
    terminal.wait_for("■ finished")
    terminal.press("v")
    terminal.wait_for("Enter start")
    terminal.press("enter")
    terminal.wait_for("Answer")


def scored_in(terminal: Terminal) -> int:
    """How many items the review shows as scored."""
    shown = re.search(r"(\d)/5", terminal.screen.text)
    return int(shown[1]) if shown else 0


def score(terminal: Terminal, key: str) -> None:
    """Press a key until an item has a score more: before an answer is on the screen, a key scores nothing."""
    before = scored_in(terminal)
    while scored_in(terminal) <= before:
        terminal.press(key)
        with suppress(AssertionError):
            terminal.wait_until(lambda _: scored_in(terminal) > before, within=1.0)


def score_and_kill(home: Home, extents: str, given: int) -> int:
    """Score in the app, with `given` scores from before, and return how many it showed when it was killed."""
    with home.open("suites") as terminal:
        open_review(terminal)
        terminal.wait_for(f"{given}/5")
        score(terminal, extents[0])
        terminal.press(*extents[1:])
        terminal.signal(signal.SIGKILL)
        terminal.wait_exit()
        return scored_in(terminal)


def import_and_kill(home: Home, file: Path, moment: float) -> bool:
    """Import scores, kill the command at a moment (a share of its usual time), and return whether it reported them."""
    process = CommandLine(home.folder).start("review", "import", str(file))
    try:
        out, err = process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    return "Lines:" in out + err


@pytest.mark.parametrize("kills", [1, pytest.param(50, marks=pytest.mark.long)])
def test_kills_of_the_app_lose_no_score_that_was_shown(tmp_path: Path, kills: int) -> None:
    home, chance, given = make_home(tmp_path, saved=True), random.Random(7), 0
    for _ in range(kills):
        if given == 5:
            for file in (home.data / "scores" / SAVED.run_id).glob("*.jsonl"):
                file.unlink()
            given = 0
        shown = score_and_kill(home, "".join(chance.choice("01234") for _ in range(chance.randint(1, 2))), given)
        scores = home.scores()
        assert len({(line["case"], line["criterion"]) for line in scores}) == len(scores) >= shown > given
        given = len(scores)


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.long)])
def test_kills_of_an_import_leave_all_scores_or_none(tmp_path: Path, kills: int) -> None:
    home = make_home(tmp_path, saved=True)
    assay = CommandLine(home.folder)
    lines = [json.loads(line) for line in assay.run("review", "export", "last", "--template").out.splitlines()]
    for kill in range(kills):
        name = f"Person {kill}"
        file = tmp_path / "theirs.jsonl"
        text = [{**line, "id": f"{kill:016x}{at:016x}", "reviewer": name, "extent": 2} for at, line in enumerate(lines)]
        file.write_text("".join(json.dumps(line) + "\n" for line in text))
        reported = import_and_kill(home, file, 0.2 + 0.4 * kill / kills)
        known = sum(line["reviewer"] == name for line in home.scores())
        assert known in ((5,) if reported else (0, 5))
        again = assay.run("review", "import", str(file))
        assert again.code == 0, again.err
        assert sum(line["reviewer"] == name for line in home.scores()) == 5
        assert len(home.scores()) == 5 * (kill + 1)


def test_four_reviewers_programs_write_one_score_file(tmp_path: Path) -> None:
    """Four processes give scores of one person on one run: each line is there once, none is cut."""
    home = make_home(tmp_path, saved=True)
    with ThreadPoolExecutor(4) as threads:
        printed = list(threads.map(lambda _: score_in_a_process(home), range(4)))
    ids = [str(line["id"]) for line in home.scores()]
    assert len(ids) == len(set(ids)) >= 4 * 30
    assert {each for group in printed for each in group} <= set(ids)


def score_in_a_process(home: Home) -> list[str]:
    """Let a person score in a process of its own, kill it, and return the ids of the scores that were confirmed."""
    command = [sys.executable, "-m", "tests.support.scoring_person", str(home.data), SAVED.run_id, "Ada"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(home.environ)) as process:
        assert process.stdout is not None
        ids = [process.stdout.readline().strip() for _ in range(30)]
        process.kill()
        return ids + [line.strip() for line in process.stdout if line.endswith("\n")]


def run_in_app(terminal: Terminal) -> None:
    """Run the suite, and wait for its end."""
    terminal.wait_for("Prompt question 0")  # the other app may have results already
    terminal.press("R")
    terminal.wait_for("■ 3/3")


def quit_app(terminal: Terminal) -> None:
    terminal.press("q")
    assert terminal.wait_exit() == 0
    assert b"Traceback" not in terminal.raw


def give(terminal: Terminal, key: str, home: Home) -> None:
    """Press a key until its score is stored: an item that the other app has scored is first shown with that score."""

    def is_stored() -> bool:
        return any(line["extent"] == int(key) for line in home.scores())

    while not is_stored():
        terminal.press(key)
        with suppress(AssertionError):
            wait_until(is_stored, 1.0)


def use_two_apps(home: Home) -> None:
    with home.open("suites") as one, home.open("suites") as two, ThreadPoolExecutor(2) as threads:
        list(threads.map(run_in_app, (one, two)))
        for terminal in (one, two):
            terminal.press("H")
            terminal.wait_until(lambda screen: screen.text.count("■ finished") == 3, "all runs are listed")
            terminal.press("end")
            terminal.wait_for("suites/sample.yaml")
            terminal.press("v")
            terminal.wait_for("Enter start")
            terminal.press("enter")
            terminal.wait_for("/5")
        for terminal, keys in ((one, "12"), (two, "34")):
            for key in keys:
                give(terminal, key, home)
        list(threads.map(quit_app, (one, two)))
    wait_until(lambda: running(home.marker) == [])


@pytest.mark.long
async def test_two_apps_on_one_folder_run_and_score(tmp_path: Path) -> None:
    async with ModelServer(say("yes")) as server:
        home = make_home(tmp_path, server.url, saved=True)
        await asyncio.to_thread(use_two_apps, home)
        assert len(server.asked) == 6
    new = [(record.state, len(trials)) for record, trials in home.runs() if record.id != SAVED.run_id]
    assert new == [("finished", 3)] * 2
    scores = home.scores()
    assert len({line["id"] for line in scores}) == len(scores) >= 4
    assert {line["extent"] for line in scores} == {1, 2, 3, 4}
