"""The check editor over real files, recorded answers and processes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.explore.explored import Seen, explored
from tests.support.histories import run_history
from tests.support.kept_runs import STARTED, make_plan, make_result
from tests.support.scripted_session import Opened, ScriptedSession
from tui.app.case_editor.screen import CaseEditorScreen
from tui.app.check_editor.screen import CheckEditorScreen
from tui.app.dialogs import ConfirmScreen
from tui.app.open_suites import OpenSuite
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView
from tui.model.results import CheckResult, TrialKey, Verdict
from tui.model.suite import Check
from tui.session.check_edits import CheckTrial, RecordedAnswer
from tui.session.session import open_suite
from tui.store.sqlite import SqliteStore

SUITE = """\
name: S
description: Two cases
models: [m]
testCases:
  - id: a   # first
    name: A
    category: C
    prompt: p
    expectedPatterns: [parameter, '\\d']
  - {id: b, name: B, category: C, prompt: p, expectedPatterns: [parameter], forbiddenPatterns: ["x\\ny"]}
"""
ANSWERS: Sequence[tuple[str, int, Verdict, str]] = (
    ("a", 1, "passed", "Use a parameter."),
    ("a", 2, "failed", "Use a string."),
    ("b", 1, "passed", f"{'a' * 60} parameters"),
)


class FileSession(ScriptedSession):
    """A session that reads real suite files."""

    def open_suite(self, path: Path) -> Opened:
        loaded = open_suite(path)
        return Opened(loaded.suite, loaded.problems)


@asynccontextmanager
async def edited(folder: Path, *keys: str, suite: str = SUITE) -> AsyncIterator[Seen]:
    """Run the app with the check editor on the first check of the first case, then press keys."""
    path = folder / "s.yaml"
    path.write_text(suite)
    store = SqliteStore(folder / "runs.sqlite")
    session = FileSession({path: Opened(None)})
    session.keeps = run_history(store, folder, session.resolve)
    loaded = open_suite(path).suite
    assert loaded is not None
    plan = replace(make_plan(loaded.cases, ["m"], repeats=2), suite=loaded)
    store.begin_run(plan, STARTED)
    store.save_trials(
        plan.run_id,
        [make_result(TrialKey(case, "m", repeat), verdict, response=text) for case, repeat, verdict, text in ANSWERS],
    )
    store.finish_run(plan.run_id, "finished", STARTED)
    async with explored(session) as seen:
        await seen.until(lambda: seen.screen.selection.case is not None)
        await seen.press("E")
        await seen.until(lambda: isinstance(seen.app.screen, CheckEditorScreen))
        await seen.press(*keys)
        yield seen
    store.close()


def shown(seen: Seen) -> str:
    """Return all text lines of the screen."""
    return "\n".join(strip.text for strip in seen.app.screen._compositor.render_strips())


def rows(seen: Seen) -> list[str]:
    table = seen.app.screen.query_one(LineListView)
    return [text_of(table.line_at(place, 80)).partition("  0193")[0] for place in range(table.line_count)]


async def shows(seen: Seen, *texts: str) -> None:
    await seen.until(lambda: all(text in shown(seen) for text in texts), str(texts))


async def test_the_recorded_answers_are_judged_as_the_check_is_typed(tmp_path: Path) -> None:
    async with edited(tmp_path) as seen:
        await shows(seen, "0 of 2 verdicts would change  in this case  saved")
        await seen.until(lambda: rows(seen) == ["✗      m  #2", "✓      m"])
        await seen.press(*"s?z")
        await shows(seen, "1 of 2 verdicts would change  in this case  not saved", "passed → failed · 0 matches")
        await seen.until(lambda: rows(seen) == ["✓ → ✗  m", "✗      m  #2"])
        await seen.press("ctrl+u", *"string")
        await shows(seen, "2 of 2 verdicts would change", "failed → passed · 1 match", "Use a string.")
        await seen.press("down")
        await shows(seen, "passed → failed · 0 matches", "Use a parameter.")
        await seen.press("ctrl+u", *"use")
        await shows(seen, "1 of 2 verdicts would change", "passed · 1 match", "Use a parameter.")


async def test_an_invalid_pattern_is_explained_and_not_saved(tmp_path: Path) -> None:
    async with edited(tmp_path, "(") as seen:
        await shows(seen, "Invalid: unbalanced parenthesis")
        await seen.press("ctrl+s")
        await seen.until(lambda: any("Not saved: unbalanced" in notice for notice in seen.notices))
    assert (tmp_path / "s.yaml").read_text() == SUITE


@pytest.mark.long
async def test_a_pattern_that_takes_too_long_is_reported(tmp_path: Path) -> None:
    async with edited(tmp_path, "ctrl+t") as seen:
        await shows(seen, "in this case and 1 other case")
        await seen.press("ctrl+u", *"(a+)+$")
        await shows(seen, "! the pattern took too long in 1 answer")
        await seen.press("ctrl+u", *"a+ ")
        await shows(seen, "of 3 verdicts would change")


async def test_a_check_is_saved_and_the_suite_is_read_again(tmp_path: Path) -> None:
    async with edited(tmp_path, "s", "ctrl+s") as seen:
        await shows(seen, "in this case  saved")
        assert (tmp_path / "s.yaml").read_text() == SUITE.replace("[parameter, ", "[parameters, ")
        case = seen.screen.selection.case
        assert case is not None
        assert case.steps[0].checks[0].target == "parameters"
        await seen.press("x", "enter", "w")
        await shows(seen, "in this case  saved")
        assert "[parametersx, " in (tmp_path / "s.yaml").read_text()
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen is seen.screen)


async def test_the_check_of_every_case_is_saved(tmp_path: Path) -> None:
    async with edited(tmp_path, "ctrl+t") as seen:
        await shows(seen, "0 of 3 verdicts would change  in this case and 1 other case")
        await seen.press("s", "ctrl+s")
        await seen.until(lambda: "Saved in 2 places: s.yaml" in seen.notices)
        assert (tmp_path / "s.yaml").read_text() == SUITE.replace("[parameter", "[parameters")
        await seen.press("ctrl+t")
        await shows(seen, "of 2 verdicts would change  in this case  saved")


async def test_a_file_that_was_changed_outside_is_not_overwritten(tmp_path: Path) -> None:
    async with edited(tmp_path, "s") as seen:
        changed = SUITE + "# more\n"
        (tmp_path / "s.yaml").write_text(changed)
        await seen.press("ctrl+s")
        await seen.until(lambda: any("has changed since it was read" in notice for notice in seen.notices))
        assert (tmp_path / "s.yaml").read_text() == changed


async def test_a_test_that_is_moved_right_after_a_save_is_not_confused_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = "- {input: i, assert: {output.includes: x}}\n"
    async with edited(tmp_path, "y", suite=tests) as seen:
        suites, inserted = seen.screen.context.open_suites, tests.replace("input: i", "input: o").replace("x", "xy")
        read, file = suites.read, tmp_path / "s.yaml"

        def read_after_an_insertion(path: Path) -> OpenSuite:
            if inserted not in file.read_text():
                file.write_text(inserted + file.read_text())
            return read(path)

        monkeypatch.setattr(suites, "read", read_after_an_insertion)
        await seen.press("ctrl+s")
        await seen.until(lambda: any("Saved" in notice for notice in seen.notices))
        await seen.press("z", "ctrl+s")
        await seen.until(lambda: any("has changed since it was read" in notice for notice in seen.notices))
        assert file.read_text() == inserted + tests.replace("x", "xy")


async def test_an_edit_is_not_discarded_without_a_question(tmp_path: Path) -> None:
    async with edited(tmp_path, "s", "escape") as seen:
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, CheckEditorScreen))
        assert [each() for each in seen.screen.context.unsaved_work] == ["A check was edited and not saved."]
        await seen.press("backspace", "escape")
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert seen.screen.context.unsaved_work == []


@pytest.mark.parametrize(
    "checks", ['forbiddenPatterns: ["x\\ny"]', 'forbiddenPatterns: ["x\\u200by"]', "minPassRate: 0.5"]
)
async def test_other_checks_are_edited_in_an_editor(tmp_path: Path, checks: str) -> None:
    suite = SUITE.replace("expectedPatterns: [parameter, '\\d']", checks)
    path = tmp_path / "s.yaml"
    path.write_text(suite)
    async with explored(FileSession({path: Opened(None)})) as seen:
        await seen.until(lambda: seen.screen.selection.case is not None)
        await seen.press("E")
        await seen.until(lambda: any("to edit the file" in notice for notice in seen.notices))


@pytest.mark.parametrize(("key", "id"), [("A", "a-copy"), pytest.param("a", "new-case", marks=pytest.mark.long)])
async def test_a_case_is_added_and_selected(tmp_path: Path, key: str, id: str) -> None:
    async with edited(tmp_path, "escape") as seen:
        await seen.until(lambda: seen.app.screen is seen.screen)
        await seen.press(key)
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        if key == "a":
            await seen.press("tab", *"New case", "tab", "tab", "p")
        await seen.press("ctrl+s")
        await seen.until(lambda: seen.screen.selection.case_id == id)
        loaded = open_suite(tmp_path / "s.yaml").suite
        assert loaded is not None
        assert [case.id for case in loaded.cases] == ["a", id, "b"]
        assert seen.row.endswith("A (copy)" if key == "A" else "New case")


async def test_results_of_the_text_before_do_not_stay_beside_a_slow_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    can_judge = asyncio.Event()
    judge = CheckTrial._decide

    async def slow(trial: CheckTrial, check: Check, answer: RecordedAnswer, timeouts: int) -> CheckResult:
        if check.target != "parameter":
            await can_judge.wait()
        return await judge(trial, check, answer, timeouts)

    monkeypatch.setattr(CheckTrial, "_decide", slow)
    async with edited(tmp_path) as seen:
        await shows(seen, "0 of 2 verdicts would change  in this case  saved")
        await seen.press("s")
        await shows(seen, "0 of 2 verdicts judged, 0 would change…  not saved")
        await seen.until(lambda: rows(seen) == ["✗   …  m  #2", "✓   …  m"])
        can_judge.set()
        await shows(seen, "1 of 2 verdicts would change  in this case  not saved")
