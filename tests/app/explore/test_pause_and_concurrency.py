"""A run paused, slowed and quickened by keys, through the real workbench and a model's server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.app.explore.test_saved_runs_end_to_end import CASE, app_on, environ_of
from tests.support.model_server import Asked, ModelServer, say
from tests.support.pilots import until
from tests.support.replies import Reply, delta, events, status
from tui.app.app import AssayApp
from tui.app.dialogs import ConfirmScreen, HelpScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.presentation.pieces import text_of

SUITE = """
name: paced
description: For tests.
models: [%s]
options: {delayBetweenTestsMs: 0, parallel: true, parallelModels: true}
testCases:
%s
"""


@dataclass
class Paced:
    """The app, what it displays, and its model server."""

    app: AssayApp
    pilot: Pilot[int]
    explore: ExploreScreen
    server: ModelServer
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def header(self) -> str:
        return text_of(self.explore.header.line_for(200))

    @property
    def matrix(self) -> str:
        screen = self.app.screen
        return text_of(screen.header.line_for(160)) if isinstance(screen, MatrixScreen) else ""

    @property
    def footer(self) -> str:
        return str(self.app.screen.query_one("KeyFooter").render())

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.app._notifications]

    @property
    def done(self) -> int:
        return self.explore.selection.state.counts.done

    def pane(self) -> str:
        view = self.explore.answers.panes[0].view
        return "\n".join(view.render_line(y).text.rstrip() for y in range(3))

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        await until(self.pilot, condition, what)


@asynccontextmanager
async def paced(
    folder: Path, cases: int = 6, models: str = "one/mock-a", first: Callable[[Asked], Reply | None] | None = None
) -> AsyncIterator[Paced]:
    """Answers come half, and whole when the gate opens; `first` may answer what is asked for the first time."""
    suites = folder / "suites"
    suites.mkdir()
    (suites / "paced.yaml").write_text(SUITE % (models, "\n".join(CASE % (n, n, n) for n in range(cases))))
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if first is not None and asked.attempt == 1 and (reply := first(asked)) is not None:
            return reply
        if gate.is_set():
            return say("all is fine")(asked)
        return events(delta("all is "), gate, delta("fine"), delta(finish="stop"), "[DONE]")

    async with (
        ModelServer(script) as server,
        app_on(environ_of(folder, server.url), suites) as (app, pilot, explore),
    ):
        yield Paced(app, pilot, explore, server, gate)
        gate.set()


async def test_a_paused_run_finishes_what_is_out_and_goes_on_by_the_same_key(tmp_path: Path) -> None:
    async with paced(tmp_path) as seen:
        assert "P pause" not in seen.footer
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4 and "concurrency 4" in seen.header, "four are asked")
        await seen.until(lambda: "P pause" in seen.footer, "the key is offered")
        await seen.pilot.press("P")
        await seen.until(lambda: "paused · 4 answering · P continue" in seen.header, "it is paused")
        seen.gate.set()
        await seen.until(lambda: seen.done == 4, "the requests in flight have ended")
        await seen.until(lambda: "paused · P continue" in seen.header, "nothing is out any more")
        assert len(seen.server.asked) == 4
        runs, path = seen.explore.context.runs, seen.explore.selection.path
        assert path is not None
        assert runs.elapsed(path, 0.0) == runs.elapsed(path, 1e9), "the elapsed time does not advance"
        for _ in range(5):
            await seen.pilot.press("full_stop")
        await seen.until(lambda: "Run paused: this case starts when it continues." in seen.pane(), "the pane says so")
        await seen.pilot.press("P")
        await seen.until(lambda: seen.done == 6, "the rest is asked")
        await seen.until(lambda: not seen.explore.context.runs.busy and "paused" not in seen.header)
        assert "P pause" not in seen.footer


async def test_leaving_a_paused_run_keeps_it_to_be_resumed(tmp_path: Path) -> None:
    async with paced(tmp_path) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4)
        await seen.pilot.press("P")
        seen.gate.set()
        await seen.until(lambda: seen.done == 4 and "paused" in seen.header)
        await seen.pilot.press("q")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.pilot.press("y")
        await seen.until(lambda: not seen.explore.context.runs.busy, "it has stopped")
        [record] = seen.explore.context.session.history.list_runs()
        assert (record.state, record.passed, record.trials) == ("interrupted", 4, 6)
        assert len(seen.server.asked) == 4


async def test_a_case_that_was_changed_during_its_run_is_rerun_in_a_new_one(tmp_path: Path) -> None:
    async with paced(tmp_path, first=fail_two) as seen:
        file = tmp_path / "suites" / "paced.yaml"
        await seen.pilot.press("R")
        await seen.until(lambda: seen.explore.selection.state.counts.failed == 2 and seen.server.in_flight)
        file.write_text(file.read_text().replace("[fine]", "[is]", 1))
        await seen.until(lambda: "Reloaded: paced.yaml" in seen.notices)
        await seen.pilot.press("f")
        runs = seen.explore.context.runs
        await seen.until(lambda: len(runs.queued) == 2)
        running = seen.explore.selection.state.run_id
        queued = [(each.run, [key.case for key in each.trials]) for each in runs.queued]
        assert queued == [("", ["c0"]), (running, ["c1"])]
        seen.gate.set()
        await seen.until(lambda: not runs.busy)
        newest, first = seen.explore.context.session.history.list_runs()
        assert (newest.passed, newest.trials, first.trials) == (1, 1, 6)


def fail_two(asked: Asked) -> Reply | None:
    """Give the first two cases at once an answer that fails."""
    return say("all is well")(asked) if asked.prompt in ("question 0", "question 1") else None


async def test_the_question_before_quitting_names_queued_runs(tmp_path: Path) -> None:
    async with paced(tmp_path) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4)
        await seen.pilot.press("q")
        await seen.until(lambda: "A run is in progress." in question(seen.app))
        assert "queued" not in question(seen.app)
        await seen.pilot.press("n")
        await seen.until(lambda: not question(seen.app))
        await seen.pilot.press("R")
        await seen.until(lambda: len(seen.explore.context.runs.queued) == 1)
        await seen.pilot.press("q")
        await seen.until(lambda: "1 queued run will not start." in question(seen.app))


def question(app: AssayApp) -> str:
    """Return the text of the displayed question, on one line; empty if there is none."""
    screen = app.screen
    if not isinstance(screen, ConfirmScreen):
        return ""
    return " ".join(" ".join(str(widget.render()) for widget in screen.query(Static)).split())


async def test_a_paused_run_can_be_cancelled(tmp_path: Path) -> None:
    async with paced(tmp_path) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4)
        await seen.pilot.press("P")
        await seen.until(lambda: "paused" in seen.header)
        await seen.pilot.press("X")
        await seen.until(lambda: not seen.explore.context.runs.busy)
        assert "cancelled" in seen.header
        assert len(seen.server.asked) == 4


async def test_more_and_fewer_at_once_of_each_model_or_of_the_pane_that_has_the_focus(tmp_path: Path) -> None:
    async with paced(tmp_path, 20, "one/mock-a, one/mock-b") as seen:
        await seen.pilot.press("greater_than_sign")
        await seen.until(lambda: "No run in progress." in seen.notices)
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 8 and "concurrency 8" in seen.header)
        await seen.pilot.press("greater_than_sign")
        await seen.until(lambda: seen.server.in_flight == 10 and "concurrency 10" in seen.header)
        assert "Concurrency of all models: 5." in seen.notices
        await seen.pilot.press("2", "less_than_sign", "less_than_sign")
        await seen.until(lambda: "concurrency 8" in seen.header)
        assert "Concurrency of one/mock-b: 3." in seen.notices
        for _ in range(9):
            await seen.pilot.press("less_than_sign")
        await seen.until(lambda: "concurrency 6" in seen.header, "never fewer than one")
        seen.gate.set()
        await seen.until(lambda: seen.done == 40)
        assert seen.server.most_in_flight == 10


def refusing(asked: Asked) -> Reply:
    del asked
    return status(429, {"error": {"message": "Too many"}}, headers={"Retry-After-Ms": "50"})


async def test_the_header_says_how_many_go_at_once_and_why(tmp_path: Path) -> None:
    async with paced(tmp_path, first=refusing) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: "concurrency 3/4 · 429" in seen.header, "a burst is one episode")
        await seen.until(lambda: seen.server.in_flight == 3)
        await seen.pilot.press("home")
        overview = seen.explore.overview.query_one("Static")
        await seen.until(lambda: "limits    one 3 of 4: 429, Retry-After 0.05 s" in str(overview.render()))


@pytest.mark.long
async def test_the_matrix_pauses_and_paces_too(tmp_path: Path) -> None:
    async with paced(tmp_path, 12) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4)
        await seen.pilot.press("m")
        await seen.until(lambda: "concurrency 4" in seen.matrix)
        await seen.pilot.press("greater_than_sign")
        await seen.until(lambda: seen.server.in_flight == 5 and "concurrency 5" in seen.matrix)
        await seen.pilot.press("P")
        await seen.until(lambda: "paused · 5 answering · P continue" in seen.matrix)
        seen.gate.set()
        await seen.until(lambda: "paused · P continue" in seen.matrix)
        assert len(seen.server.asked) == 5
        await seen.pilot.press("P")
        await seen.until(lambda: seen.done == 12)
        await seen.until(lambda: "P pause" not in seen.footer, "there is nothing to pause any more")


async def test_the_help_names_the_keys(tmp_path: Path) -> None:
    async with paced(tmp_path) as seen:
        await seen.pilot.press("R")
        await seen.until(lambda: seen.server.in_flight == 4)
        await seen.pilot.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, HelpScreen))
        screen = seen.app.screen
        assert isinstance(screen, HelpScreen)
        keys = {shown: does for _, shown, does in screen._keys}
        assert keys["P"] == "Pause or continue the run"
        assert {">", "<"} <= keys.keys()
