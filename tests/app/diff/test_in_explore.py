"""The diff as a tab of Explore: where it is offered, what it follows, and from a real clone to the screen."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.diff.samples import SERVICE, SEVERAL, STYLES
from tests.app.explore.explored import Seen, explored
from tests.support.diffs import MODEL, applied, case_for
from tests.support.git_server import serve_git
from tests.support.model_server import ModelServer, say
from tests.support.repositories import make_repository
from tests.support.scripted_session import Opened, ScriptedSession, case_of, step_of, suite_of
from tests.support.terminal import Terminal, run_here
from tui.app.diff.panel import DiffPanel
from tui.app.explore.tabs import AttemptsTab
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView
from tui.model.results import Attempt

FILES = {"src/bank/accounts.py": SERVICE, "web/style.css": STYLES}

CASE = {
    "id": "mend",
    "name": "Mend it",
    "category": "Bugs",
    "prompt": "Mend it.",
    "expectedBehavior": "Mended.",
    "applyChanges": True,
    "targetFile": "src/bank/accounts.py",
    "expectedPatterns": ["scrypt"],
}


def session_with_changes(folder: Path) -> ScriptedSession:
    """A case whose answer changed three files, one whose answer is not there yet, one that changes none."""
    session, path = ScriptedSession(), folder / "bugs.yaml"
    path.write_text("")
    mended = case_for(id="mend")
    suite = suite_of(path, mended, case_for(id="later"), case_of("talk"), models=(MODEL, "other"))
    session.suites[path] = Opened(suite)
    session.kept = (applied(folder, FILES, SEVERAL, mended),)
    return session


def diff_of(seen: Seen) -> DiffPanel | None:
    return seen.screen.details.diff


def tabs(seen: Seen) -> list[str]:
    return [tab.label for tab in seen.screen.details._line.tabs]


async def test_the_tab_is_there_where_files_change(tmp_path: Path) -> None:
    async with explored(session_with_changes(tmp_path)) as seen:
        await seen.until(lambda: "Diff 3" in tabs(seen))
        assert diff_of(seen) is None, "it is loaded when it is looked at"
        await seen.until(lambda: "d diff" in seen.footer)
        await seen.press("d")
        await seen.until(lambda: (tab := diff_of(seen)) and tab.view.has_focus and tab.view.document.hunk_count == 5)
        await seen.press("full_stop")
        await seen.until(lambda: seen.screen.selection.case_id == "later")
        await seen.until(lambda: "has not run yet" in str(diff_of(seen).query_one("TextPanel Static").render()))  # type: ignore[union-attr]
        await seen.press("full_stop")
        await seen.until(lambda: "Diff" not in tabs(seen) and seen.screen.details.query_one("ChecksTab").display)
        assert "d diff" not in seen.footer
        await seen.press("comma", "comma")
        await seen.until(lambda: (tab := diff_of(seen)) and tab.display and tab.view.document.hunk_count == 5)


async def test_the_tabs_can_be_zoomed_and_follow_the_pane(tmp_path: Path) -> None:
    async with explored(session_with_changes(tmp_path)) as seen:
        await seen.press("d")
        await seen.until(lambda: (tab := diff_of(seen)) and tab.view.has_focus)
        await seen.press("z")
        await seen.until(lambda: seen.screen.details.size.height > 30 and not seen.screen.answers.is_on_screen)
        await seen.press("escape")
        await seen.until(lambda: seen.screen.answers.is_on_screen)
        await seen.press("2")
        await seen.until(
            lambda: "other has not run yet" in str(seen.screen.query_one("#tab-diff TextPanel Static").render())
        )
        await seen.press("1")
        await seen.until(lambda: not diff_of(seen).has_class("-empty"))  # type: ignore[union-attr]


async def test_the_changes_of_the_last_attempt_are_not_shown_for_an_earlier_one(tmp_path: Path) -> None:
    session = session_with_changes(tmp_path)
    (result,) = session.kept
    last = result.attempts[-1]
    first = replace(last, verdict="failed", steps=(step_of("No change."),))
    session.kept = (replace(result, attempts=(first, replace(last, number=2))),)
    async with explored(session) as seen:
        await seen.press("d")
        await seen.until(lambda: (tab := diff_of(seen)) and tab.view.document.hunk_count == 5)
        seen.screen.details.switch_to("attempts")
        seen.screen.details.query_one(AttemptsTab).query_one(LineListView).focus()
        await seen.press("home", "enter")
        await seen.until(lambda: "No change." in seen.text(0))
        seen.screen.action_go_to_diff()
        text = "attempt 1 of local/smollm2 are not stored"
        await seen.until(lambda: text in str(seen.screen.query_one("#tab-diff TextPanel Static").render()))
        assert diff_of(seen).has_class("-empty")  # type: ignore[union-attr]


async def test_the_changes_of_an_answer_are_shown_below_it_after_a_rerun_in_vain(tmp_path: Path) -> None:
    session = session_with_changes(tmp_path)
    (result,) = session.kept
    lost = Attempt(2, "error", "HTTP 500", (), asking=1)
    session.kept = (replace(result, verdict="error", attempts=(*result.attempts, lost)),)
    async with explored(session) as seen:
        await seen.press("d")
        await seen.until(lambda: diff_of(seen) is not None)
        text = "attempt 2 of local/smollm2 are not stored, only those of attempt 1"
        await seen.until(lambda: text in str(seen.screen.query_one("#tab-diff TextPanel Static").render()))
        seen.screen.details.switch_to("attempts")
        seen.screen.details.query_one(AttemptsTab).query_one(LineListView).focus()
        await seen.press("home", "enter")
        seen.screen.action_go_to_diff()
        await seen.until(lambda: (tab := diff_of(seen)) and tab.view.document.hunk_count == 5)


@pytest.mark.long
async def test_from_a_clone_to_the_screen(tmp_path: Path) -> None:
    make_repository(tmp_path / "served" / "bank", FILES)
    home = tmp_path / "home"
    for name in ("config", "data", "cache", "tmp", "suites"):
        (home / name).mkdir(parents=True)
    with serve_git(tmp_path / "served") as served:
        async with ModelServer(say(SEVERAL)) as server:
            suite = {
                "name": "Bank",
                "description": "d",
                "models": ["openai/mock-a"],
                "repoClone": {"repoUrl": f"{served.url}/bank"},
                "testCases": [CASE],
            }
            (home / "suites/bank.json").write_text(json.dumps(suite))
            await asyncio.to_thread(_look, home, server.url)
    assert list((home / "tmp").iterdir()) == []


def _look(home: Path, url: str) -> None:
    env: dict[str, str | Path] = {
        "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-test-4711", "TMPDIR": home / "tmp", "HOME": home,
        "ASSAY_CONFIG_DIR": home / "config", "ASSAY_DATA_DIR": home / "data", "ASSAY_CACHE_DIR": home / "cache",
    }  # fmt: skip
    root = Path(__file__).parents[3]
    with Terminal(run_here("-m", "tui", home / "suites"), size=(150, 50), cwd=root, env=env) as terminal:
        terminal.wait_for("Mend it")
        terminal.press("r")
        terminal.wait_for_question("Allow?")
        terminal.press("y")
        terminal.wait_for("Diff 3")
        terminal.press("d")
        screen = terminal.wait_for("+ import secrets")
        assert "2 not applied" in screen
        terminal.press("z", "V")
        terminal.wait_for("split")
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.long
async def test_the_changes_of_two_models_are_side_by_side(tmp_path: Path) -> None:
    session = session_with_changes(tmp_path)
    [result] = session.kept
    session.kept = (result, replace(result, trial=result.trial._replace(model="other"), changes=result.changes[1:]))
    async with explored(session, size=(160, 45)) as seen:
        await seen.until(lambda: "Diff 3" in tabs(seen))
        await seen.press("d")
        await seen.until(lambda: (tab := diff_of(seen)) and tab.view.has_focus and tab.view.document.hunk_count == 5)
        tab = diff_of(seen)
        assert tab is not None
        await seen.press("vertical_line")
        await seen.until(lambda: tab.view.document.has_pairs)
        assert [text_of(tab.files.line_at(place, 30)).split()[0] for place in range(3)] == ["M·", "AA", "MM"]
        await seen.press("2")
        await seen.until(lambda: tab.heads.names[0] == "other")
        assert [text_of(tab.files.line_at(place, 30)).split()[0] for place in range(3)] == ["AA", "MM", "·M"]
