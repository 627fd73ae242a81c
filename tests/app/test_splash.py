"""The first paint: it is there before the rest is loaded, looks like it, and loses no key."""

import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from tests.app.explore.explored import session_for
from tests.support.command_line import CommandLine
from tests.support.pilots import screen_rows, until
from tests.support.scripted_session import ScriptedSession
from tests.support.terminal import WAIT_SECONDS, Terminal, run_here
from tui.app.app import AssayApp
from tui.app.explore.screen import ExploreScreen
from tui.app.splash import SplashScreen, start_lines
from tui.session.session import Session


def test_what_the_first_paint_does_not_need_is_not_loaded() -> None:
    heavy = (
        "tui.app.explore.screen",
        "tui.model.events",
        "tui.model.suite",
        "tui.runner.control",
        "tui.session.consent",
    )
    code = f"import sys, tui.app.main; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_start_names_the_keys_of_the_config() -> None:
    rows = ["".join(text for text, _ in line) for line in start_lines("", lambda id: "f8" if id == "run.case" else "")]
    assert "     f8  run the case" in rows
    assert "      R  run the whole suite" in rows


async def test_the_start_pane_names_the_keys_of_the_config(tmp_path: Path) -> None:
    environ = CommandLine(tmp_path).environ()
    config = tmp_path / "assay_config_dir" / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("keys: {run.case: f8}\n")
    empty = tmp_path / "suites"
    empty.mkdir()
    app = AssayApp(lambda: Session(environ), [empty])
    async with app.run_test() as pilot:
        await until(pilot, lambda: any("f8  run the case" in row for row in screen_rows(app.screen)))
    await app.close_session()


@pytest.mark.parametrize("keys", ["/hqsh", *(pytest.param(keys, marks=pytest.mark.long) for keys in ("?", "dddq"))])
def test_keys_that_come_before_anything_is_seen_are_not_lost(tmp_path: Path, keys: str) -> None:
    command = run_here("-m", "tests.support.scripted_app", tmp_path)
    with Terminal(command, size=(120, 30), cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for("Assay")
        terminal.send(keys)
        if keys == "?":
            terminal.wait_for("Esc close")
        elif keys.startswith("/"):
            terminal.wait_for(keys[1:])
        else:
            assert terminal.wait_exit() == 0


@pytest.mark.parametrize(
    "size", [(160, 45), (80, 24), *(pytest.param(size, marks=pytest.mark.long) for size in ((100, 30), (50, 12)))]
)
async def test_the_frame_stays_where_it_is_when_the_rest_comes(tmp_path: Path, size: tuple[int, int]) -> None:
    app = AssayApp(lambda: session_for(tmp_path), [tmp_path])
    async with app.run_test(size=size) as pilot:
        opening = app._screen_stacks["_default"][0]
        assert isinstance(opening, SplashScreen)
        await until(pilot, lambda: isinstance(app.screen, ExploreScreen))
        for place in ("#suites", "#middle", "#overview"):
            before, after = opening.query_one(place), app.screen.query_one(place)
            assert before.display == after.display or place == "#overview"
            if before.display and place != "#overview":
                await until(pilot, lambda one=before, other=after: one.region == other.region, place)  # type: ignore[misc]


async def test_the_app_quits_while_the_session_is_being_opened(tmp_path: Path) -> None:
    opened = Event()

    def open_session() -> ScriptedSession:
        opened.wait(WAIT_SECONDS)
        return session_for(tmp_path)

    app = AssayApp(open_session, [tmp_path])
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, SplashScreen))
        await pilot.press("d", "ctrl+q")
        await until(pilot, lambda: app.return_code == 0)
        opened.set()
