"""Signals at every stage: the exit code, the terminal as it was, results kept, and no process left."""

import asyncio
import json
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.hostile.home import RESULTS, SAVED, Home, make_home, write_suite
from tests.support.model_server import Asked, ModelServer, say
from tests.support.processes import running, wait_until
from tests.support.replies import Reply, streamed
from tests.support.terminal import Terminal

EXITS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGQUIT: 131}


@dataclass(frozen=True)
class Stage:
    """A moment of a command.

    `words` is the command, `enter` waits for the moment, `check` looks at what is left. A command is held at the audit
    event `hold`. `app` is whether the app uses the terminal by then, `handled` whether Assay handles signals: all but
    SIGQUIT, which only the app handles.
    """

    words: Sequence[str | Path]
    enter: Callable[[Terminal, Home], object]
    check: Callable[[Home], object]
    hold: tuple[str, str] | None = None
    app: bool = True
    handled: bool = True


def is_held(_terminal: Terminal, home: Home) -> None:
    wait_until(home.is_held)


def opened(terminal: Terminal, _home: Home) -> None:
    terminal.wait_for("Not run yet")


def loading(terminal: Terminal, home: Home) -> None:
    """The first of many suites is being loaded: its folder is being listed."""
    wait_until(home.is_held)
    home.release()
    terminal.wait_for("Suites")


def asked_for_consent(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    terminal.press("r")
    terminal.wait_for("Allow it?")


def cold_start(terminal: Terminal, home: Home) -> None:
    asked_for_consent(terminal, home)
    terminal.wait_for_question("Allow it?")
    terminal.press("y")
    wait_until((home.folder / "agents" / "started").exists)


def streaming(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    terminal.press("R")
    terminal.wait_until(lambda screen: re.search(r"▶ 1/3\b", screen.text), "one trial is over")


def exporting(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    terminal.press("H")
    terminal.wait_for("■ finished")
    terminal.press("O")
    terminal.wait_for("Esc close")

    def is_writing() -> bool:
        terminal.press("enter")  # the first one goes to the name of the file
        return home.is_held()

    wait_until(is_writing)


def scoring(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    terminal.press("H")
    terminal.wait_for("■ finished")
    terminal.press("v")
    terminal.wait_for("Enter start")
    terminal.press("enter")
    terminal.wait_for("0–4 extent")  # the footer has this key once the answer is on the screen
    terminal.press("3")
    terminal.wait_for("1/5")


def printed_one(terminal: Terminal, _home: Home) -> None:
    terminal.wait_until(lambda screen: "1/3" in screen, "one trial is over")


def printed_url(terminal: Terminal, _home: Home) -> None:
    terminal.wait_for("Ctrl-C stops")


def picking_models(terminal: Terminal, _home: Home) -> None:
    terminal.wait_for("Models of this run")


def opens_history(home: Home) -> None:
    home.runs()


def has_one_result(home: Home) -> None:
    [(record, trials)] = home.runs()
    assert (record.state, [trial.case for trial in trials]) == ("interrupted", ["c0"])


def has_score(home: Home) -> None:
    assert [line["extent"] for line in home.scores()] == [3]


def has_no_partial_report(home: Home) -> None:
    """The report is there as a whole, or not at all."""
    for file in (*home.folder.glob("report.json"), *home.folder.glob("sample-suite*.json")):
        assert json.loads(file.read_text())["run"]["id"] == SAVED.run_id
    opens_history(home)


def has_all_or_nothing(home: Home) -> None:
    for _, trials in home.runs():
        assert len(trials) == 5


REPORT = ("report", "last", "-f", "json", "-o", "report.json")
STAGES = {
    "start, nothing imported": Stage(("suites",), is_held, opens_history, ("import", "tui.cli.main"), False, False),
    "start, before the app": Stage(("suites",), is_held, opens_history, ("import", "tui.app.app"), app=False),
    "start, before the terminal": Stage(("suites",), is_held, opens_history, ("import", "linux_driver"), app=False),
    "start, first paint": Stage(("suites",), is_held, opens_history, ("import", "tui.app.explore.answer_panes")),
    "opening the history": Stage(("suites",), is_held, opens_history, ("sqlite3.connect", "runs.sqlite")),
    "loading suites": Stage(("many",), loading, opens_history, ("open", "many")),
    "idle": Stage(("suites",), opened, opens_history),
    "consent": Stage(("agents",), asked_for_consent, opens_history),
    "cold start of an agent": Stage(("agents",), cold_start, opens_history),
    "streaming": Stage(("suites",), streaming, has_one_result),
    "export in the app": Stage(("suites",), exporting, has_no_partial_report, ("os.rename", ".sample-suite")),
    "scoring": Stage(("suites",), scoring, has_score),
    "model picker": Stage(("run", "-i", "suites/s.json"), picking_models, opens_history),
    "run": Stage(("run", "suites/s.json"), printed_one, has_one_result, app=False),
    "run, before it begins": Stage(
        ("run", "suites/s.json"), is_held, opens_history, ("import", "tui.runner.run"), app=False
    ),
    "report": Stage(REPORT, is_held, has_no_partial_report, ("os.rename", ".report.json"), app=False),
    "serve": Stage(("serve", "--port", "0"), printed_url, opens_history, app=False),
    "import": Stage(("import", RESULTS), is_held, has_all_or_nothing, ("sqlite3.connect", "runs.sqlite"), app=False),
}
SAVED_STAGES = {"export in the app", "scoring", "report"}
SHORT = {
    ("start, first paint", signal.SIGINT),
    ("streaming", signal.SIGQUIT),
    ("scoring", signal.SIGHUP),
    ("run", signal.SIGTSTP),
    ("report", signal.SIGTERM),
    ("import", signal.SIGINT),
}
TABLE = [
    pytest.param(stage, number, id=f"{stage}-{number.name}", marks=() if (stage, number) in SHORT else pytest.mark.long)
    for stage in STAGES
    for number in (*EXITS, signal.SIGTSTP)
    if (stage, number) != ("model picker", signal.SIGTSTP)  # Textual cannot suspend an app below the prompt
]


def answer(asked: Asked) -> Reply:
    """The first answer is whole, the others never end."""
    return say("yes")(asked) if asked.prompt == "question 0" else streamed("yes and no and more").stalled(0.5)


def stop_and_continue(terminal: Terminal, stage: Stage) -> None:
    """Stop the command as Ctrl-Z does, and continue it as `fg` does."""
    program = psutil.Process(terminal.pid)
    is_drawn = bool(terminal.unrestored())
    # The kernel ignores SIGTSTP where no shell could continue the process, and the app stops itself.
    terminal.signal(signal.SIGTSTP if stage.app else signal.SIGSTOP)
    wait_until(lambda: program.status() == psutil.STATUS_STOPPED)
    if stage.app:
        terminal.wait_until(lambda _: terminal.unrestored() == [], "the terminal is given back")
    before = len(terminal.raw)
    terminal.signal(signal.SIGCONT)
    wait_until(lambda: program.status() != psutil.STATUS_STOPPED)
    if is_drawn and stage.app:
        terminal.wait_for_bytes(b"\x1b[?2004h", before)


def run_stage(home: Home, stage: Stage, number: signal.Signals) -> None:
    with home.open(*stage.words, hold=stage.hold) as terminal:
        stage.enter(terminal, home)
        if number == signal.SIGTSTP:
            stop_and_continue(terminal, stage)
            number = signal.SIGTERM
        terminal.signal(number)
        home.release()
        code = terminal.wait_exit()
        by_default = {-number, 130 if number == signal.SIGINT else -number}
        if not stage.handled or (number == signal.SIGQUIT and not stage.app):
            assert code in by_default
        else:
            assert code == EXITS[number], terminal.screen.text
        assert terminal.unrestored() == []
        assert b"Traceback" not in terminal.raw, terminal.screen.text
    wait_until(lambda: running(home.marker) == [])
    stage.check(home)


@pytest.mark.parametrize(("stage", "number"), TABLE)
async def test_a_signal_leaves_the_terminal_and_the_results_as_they_should_be(
    tmp_path: Path, stage: str, number: signal.Signals
) -> None:
    async with ModelServer(answer) as server:
        home = make_home(tmp_path, server.url, saved=stage in SAVED_STAGES)
        for each in range(200 if stage == "loading suites" else 0):
            write_suite(tmp_path / "many" / f"{each}.json", 3)
        await asyncio.to_thread(run_stage, home, STAGES[stage], number)
