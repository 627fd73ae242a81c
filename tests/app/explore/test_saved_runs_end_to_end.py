"""Kept runs through the real workbench: a model's server, a store, processes and a terminal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.app.test_in_a_terminal import hostile_bytes
from tests.support.command_line import CommandLine
from tests.support.kept_runs import HOSTILE, STARTED, hostile_run, small_run
from tests.support.model_server import Asked, ModelServer, in_turn, say
from tests.support.pilots import until
from tests.support.replies import Reply
from tests.support.terminal import Terminal, run_here
from tui.app.app import AssayApp
from tui.app.dialogs import ChoiceScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.presentation.pieces import text_of
from tui.app.runs.screen import RunsScreen
from tui.model.results import has_passed_since
from tui.session.session import Session
from tui.store.sqlite import SqliteStore

SUITE = """
name: kept
description: For tests.
models: [one/mock-a, "one/mock-b?temperature=0.5"]
options: {delayBetweenTestsMs: 0}
testCases:
%s
"""
CASE = """- {id: c%d, name: case %d, category: Knowledge, prompt: "question %d", expectedBehavior: e,
   expectedPatterns: [fine], testType: explanation}"""


def environ_of(home: Path, url: str) -> dict[str, str]:
    environ = CommandLine(home).environ()
    (home / "assay_config_dir").mkdir(exist_ok=True)
    config = f"providers: {{one: {{kind: openai, base_url: '{url}', api_key: none}}}}\n"
    (home / "assay_config_dir" / "config.yaml").write_text(config)
    return environ


@asynccontextmanager
async def app_on(environ: dict[str, str], folder: Path) -> AsyncIterator[tuple[AssayApp, Pilot[int], ExploreScreen]]:
    app = AssayApp(lambda: Session(environ), [folder])
    async with app.run_test(size=(140, 44)) as pilot:
        await until(
            pilot, lambda: any(isinstance(each, ExploreScreen) for each in app.screen_stack), "Explore is there"
        )
        explore = next(each for each in app.screen_stack if isinstance(each, ExploreScreen))
        await until(pilot, lambda: explore.selection.path, "a suite is open")
        yield app, pilot, explore
    await app.close_session()


async def test_a_run_that_was_interrupted_goes_on_with_exactly_what_is_missing(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "kept.yaml").write_text(SUITE % "\n".join(CASE % (n, n, n) for n in range(4)))
    prompts: list[tuple[str, str]] = []
    stop_at = 5

    def script(request: Asked) -> Reply:
        prompts.append((request.model, request.prompt))
        slow = len(prompts) > stop_at
        return say("fine", delay_s=20.0 if slow else 0.0)(request)

    async with ModelServer(script) as server:
        environ = environ_of(tmp_path, server.url)
        async with app_on(environ, suites) as (_, pilot, explore):
            await pilot.press("R")
            await until(pilot, lambda: len(prompts) > stop_at and explore.selection.state.counts.done == 5)
            await explore.context.runs.stop()
        stop_at, done = 100, list(prompts[:5])
        prompts.clear()
        async with app_on(environ, suites) as (app, pilot, explore):
            await pilot.press("H")
            await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.lines.run)
            assert isinstance(app.screen, RunsScreen)
            run = app.screen.lines.run
            assert run is not None
            assert (run.state, run.passed, run.trials) == ("interrupted", 5, 8)
            await pilot.press("r")
            await until(pilot, lambda: len(prompts) == 3 and not explore.context.runs.busy)
            assert len({*prompts, *done}) == 8
            [record] = explore.context.session.history.list_runs()
            assert (record.id, record.state, record.passed, record.trials) == (run.id, "finished", 8, 8)


@pytest.mark.long
async def test_answers_are_played_again_without_asking_anybody(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "kept.yaml").write_text(SUITE % (CASE % (1, 1, 1)))
    async with ModelServer(say("all is fine", pieces=5, delay_s=0.1)) as server:
        environ = environ_of(tmp_path, server.url)
        async with app_on(environ, suites) as (_, pilot, explore):
            await pilot.press("R")
            await until(pilot, lambda: explore.selection.state.counts.done == 2)
            await until(pilot, lambda: not explore.context.runs.busy)
        requests = len(server.asked)
    (suites / "kept.yaml").write_text(SUITE % (CASE % (2, 2, 2)))
    async with app_on(environ, suites) as (app, pilot, explore):
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.lines.run)
        await pilot.press("p")
        await until(pilot, lambda: explore.selection.state.counts.done == 2)
        assert explore.selection.state.counts.passed == 2
        await until(pilot, lambda: "all is fine" in explore.answers.panes[0].view.render_line(0).text)
        assert len(server.asked) == requests
        history = explore.context.session.history
        assert [record.trials for record in history.list_runs()] == [2, 2]
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and len(app.screen.lines.all_runs) == 2)
        await pilot.press("end", "i")
        await until(pilot, lambda: len(history.list_runs()) == 3 and not explore.context.runs.busy)
        assert len(server.asked) == requests
        speeds = [history.read_details(record.id).setup.options.replay_speed for record in history.list_runs()]
        assert speeds == [None, 1.0, None], "the newest first: at once, in its own time, asked"
        assert all(record.passed == 2 for record in history.list_runs())


async def test_answers_are_judged_again_with_a_changed_check_in_a_run_of_their_own(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    cases = "\n".join(CASE % (n, n, n) for n in range(3))
    (suites / "kept.yaml").write_text(SUITE % cases)
    async with ModelServer(say("all is fine")) as server:
        environ = environ_of(tmp_path, server.url)
        async with app_on(environ, suites) as (_, pilot, explore):
            await pilot.press("R")
            await until(pilot, lambda: explore.selection.state.counts.done == 6)
            await until(pilot, lambda: not explore.context.runs.busy)
        requests = len(server.asked)
        changed = cases.replace("[fine]", "[bad]", 1).replace("question 2", "another question")
        (suites / "kept.yaml").write_text(SUITE % changed)
        async with app_on(environ, suites) as (app, pilot, explore):
            history = explore.context.session.history
            [before] = history.list_runs()
            outcomes = history.read_outcomes(before.id)
            await pilot.press("H")
            await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.lines.run)
            await pilot.press("J")
            await until(pilot, lambda: len(history.list_runs()) == 2 and not explore.context.runs.busy)
            again, kept = history.list_runs()
            assert (kept, history.read_outcomes(kept.id)) == (before, outcomes)
            judged = [(each.case, each.trial.model, each.verdict) for each in history.read_outcomes(again.id)]
            a, b = (f"replay/{kept.id}/{model}" for model in kept.models)
            assert sorted(judged) == [
                ("c0", a, "failed"), ("c0", b, "failed"), ("c1", a, "passed"), ("c1", b, "passed")
            ]  # fmt: skip
            note = history.read_trials(again.id, [outcome.trial for outcome in history.read_outcomes(again.id)])
            assert all("recorded answer of run" in str(each.attempts[-1].steps[0].notes) for each in note)
        assert len(server.asked) == requests


@pytest.mark.long
def test_runs_in_a_terminal_by_key_and_palette_and_nothing_hostile_comes_out(tmp_path: Path) -> None:
    home = CommandLine(tmp_path)
    environ = home.environ()
    store = SqliteStore(Path(environ["ASSAY_DATA_DIR"]) / "runs.sqlite")
    for number, kept in enumerate((small_run(), hostile_run(HOSTILE.replace("\ud800", "")))):
        plan = replace(kept.plan, run_id=f"{number}{'a' * 31}")
        store.begin_run(plan, STARTED)
        store.save_trials(plan.run_id, kept.results)
        store.finish_run(plan.run_id, "finished", STARTED)
    store.close()
    (tmp_path / "none").mkdir()
    with Terminal(
        run_here("-m", "tui", tmp_path / "none"), size=(140, 40), cwd=Path(__file__).parents[2], env=environ
    ) as terminal:
        terminal.wait_for("No suites found")
        terminal.press("H")
        terminal.wait_for("2 saved runs")
        terminal.press("b")
        terminal.wait_for("★")
        terminal.press("D")
        terminal.wait_for_question("Delete run?")
        terminal.press("n")
        terminal.wait_while("Delete run?")
        terminal.press("O")
        terminal.wait_for("Export report")
        terminal.press("escape")
        terminal.wait_while("Export report")
        terminal.press("enter")
        terminal.wait_for("saved runs")
        terminal.wait_for("Attempts")
        for key in ("]", "]", "]", "down", "left", "left", "]"):
            terminal.press(key)
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press(*"Runs")
        terminal.wait_for("Runs: all saved")
        terminal.press("enter")
        terminal.wait_for("2 saved runs")
        terminal.press("C")
        terminal.wait_for("case 1/1")
        for key in ("J", "o", "V", "w", "3", "B"):
            terminal.press(key)
        terminal.wait_for("blind · seed")
        terminal.wait_while("0.0 s")
        terminal.press("b")
        terminal.wait_for("1 preferred")
        terminal.press("1")
        terminal.wait_for("Names are hidden in blind mode")
        terminal.press("B")
        terminal.wait_while("blind · seed")
        terminal.press("1")
        terminal.wait_for("Answers on side A")
        terminal.press("escape")
        terminal.wait_while("Answers on side A")
        terminal.press("escape")
        terminal.wait_while("1 preferred")
        terminal.press("H")
        terminal.wait_for("2 saved runs")
        terminal.press("down", "enter")
        terminal.wait_for("SQL query")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press(*"Compare")
        terminal.wait_for("Compare: compare two answers")
        terminal.press("enter")
        terminal.wait_for("case 1/3")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []


async def test_what_did_not_pass_is_run_again_in_the_run_that_holds_it(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "kept.yaml").write_text(
        SUITE.replace(', "one/mock-b?temperature=0.5"', "") % "\n".join(CASE % (n, n, n) for n in range(4))
    )
    fault = Reply((b'{"error": {"message": "no"}}',), status=400)
    scripts = {
        "question 0": in_turn(say("fine")),
        "question 1": in_turn(say("wrong"), say("fine")),
        "question 2": in_turn(fault, say("fine")),
        "question 3": in_turn(fault, fault, say("fine")),
    }

    def script(request: Asked) -> Reply:
        return next(script for question, script in scripts.items() if question in request.prompt)(request)

    async with ModelServer(script) as server, app_on(environ_of(tmp_path, server.url), suites) as (app, pilot, explore):

        async def run(requests: int, *keys: str) -> None:
            for key in keys:
                await pilot.press(key)
                if key == "f" and len(keys) > 1:
                    await until(pilot, lambda: isinstance(app.screen, ChoiceScreen), "errors or all are offered")
            await until(pilot, lambda: len(server.asked) == requests, "the trials are asked")
            await until(pilot, lambda: not explore.context.runs.busy, "the run is over")

        def figures() -> tuple[int, int, int]:
            [record] = explore.context.session.history.list_runs()
            outcomes = explore.context.session.history.read_outcomes(record.id)
            assert record.passed == sum(each.counted == "passed" for each in outcomes)
            return record.passed, record.checked, sum(has_passed_since(each) for each in outcomes)

        await run(4, "R")
        assert figures() == (1, 4, 0)
        await run(6, "f", "enter")
        assert figures() == (2, 4, 0), "errors are replaced by their rerun, the failure was not asked"
        await run(8, "f", "down", "enter")
        assert figures() == (3, 4, 1), "the failure passes and counts as failed"
        tree = explore.suites.suite_tree
        rows = [text_of(tree.line_at(place, 40)).split() for place in range(tree.line_count)]
        assert [row[0] for row in rows if row[1:2] == ["case"]] == ["✓", "✗↻", "✓", "✓"]
        assert "rerun 2/2" in text_of(explore.header.line_for(140))
        assert "↻ 1 passed on rerun" in text_of(explore.header.line_for(140))
