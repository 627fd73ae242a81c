"""The Compare screen: over a scripted session with real saved runs."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.histories import run_history
from tests.support.kept_runs import HOSTILE, STARTED, make_case, make_plan, make_result, make_subject
from tests.support.pilots import screen_rows
from tests.support.scripted_session import ScriptedSession, result_of, step_of
from tui.app.compare.screen import CompareScreen
from tui.app.compare.view import CaseList
from tui.app.dialogs import ChoiceScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.runs.screen import RunsScreen
from tui.app.widgets.question_line import QuestionLine
from tui.model.results import TrialKey
from tui.model.suite import Step
from tui.session.answers import Source
from tui.session.preferences import Preferred
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"
FIRST, SECOND = "1" * 32, "2" * 32
PROSE = "The driver binds the {} so that nobody can {} the query, whatever they have typed."
SAME = "\n".join(f"This is said by both, {number}." for number in range(12))
TEXTS = {
    (FIRST, "c0", A): f"{PROSE.format('value', 'change')}\n{SAME}\nend",
    (FIRST, "c0", B): f"{PROSE.format('parameter', 'break')}\n{SAME}\nend",
    (FIRST, "c1", A): "the same",
    (FIRST, "c1", B): "the same",
    (FIRST, "c2", A): "third a",
    (FIRST, "c2", B): HOSTILE,
    (SECOND, "c0", A): "newer",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data" / "runs.sqlite")
    for run in (FIRST, SECOND):
        keys = [(TrialKey(case, model), text) for (of, case, model), text in TEXTS.items() if of == run]
        models = list(dict.fromkeys(key.model for key, _ in keys))
        cases = [make_case(case) for case in dict.fromkeys(key.case for key, _ in keys)]
        opened.begin_run(replace(make_plan(cases, models), run_id=run), STARTED)
        opened.save_trials(run, [make_result(key, response=text, flaky=key.case == "c2") for key, text in keys])
        opened.finish_run(run, "finished", STARTED)
    yield opened
    opened.close()


@asynccontextmanager
async def compared(
    store: SqliteStore, folder: Path, *, size: tuple[int, int] = (140, 44), down: int = 1
) -> AsyncIterator[tuple[Seen, ScriptedSession]]:
    """The answers of a run beside each other: the older one, or the newer one (`down` 0)."""
    (folder / "suites").mkdir()
    session = session_for(folder / "suites")
    session.keeps = run_history(store, folder / "data", lambda names: tuple(make_subject(name) for name in names))
    async with explored(session, size) as seen:
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        await seen.press(*["down"] * down, "C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and screen(seen).comparison is not None)
        yield seen, session


def screen(seen: Seen) -> CompareScreen:
    current = seen.app.screen
    assert isinstance(current, CompareScreen)
    return current


def text(seen: Seen) -> str:
    """Return the text beside the list."""
    panel = screen(seen).view
    lines = ["".join(str(line.render()) for line in panel.query("_Heads"))]
    view = panel.diff
    lines += [strip.text.rstrip() for strip in view.render_lines(view.size.region)]
    lines += [str(line.render()) for line in panel.query("_ChoiceLine")]
    return "\n".join(line for line in lines if line)


def title(seen: Seen) -> str:
    return str(screen(seen).title_line.render())


def preferred(session: ScriptedSession) -> tuple[Preferred, ...]:
    return session.history.answers.preferences.read()


async def test_two_models_word_by_word_with_what_is_the_same_folded(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.until(lambda: "parameter" in text(seen))
        assert "mock-a" in text(seen)
        assert "mock-b" in text(seen)
        assert "This is said by both, 2." in text(seen)
        assert "This is said by both, 7." not in text(seen)
        assert "case 1/3" in title(seen)
        assert "binds the value so" in text(seen).split("│")[0]
        await seen.press("o")
        await seen.until(lambda: "This is said by both, 7." in text(seen))
        await seen.press("V")
        await seen.until(
            lambda: "- The driver binds the value" in text(seen) and "+ The driver binds the para" in text(seen)
        )
        view = screen(seen).view.diff
        strips = view.render_lines(view.size.region)[:4]
        marked = [segment.text for strip in strips for segment in strip if segment.style and segment.style.bold]
        assert [word.strip() for word in marked] == ["value", "change", "parameter", "break"]


async def test_the_cases_are_walked_and_the_list_follows(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.press("full_stop")
        await seen.until(lambda: "both answers are identical" in text(seen))
        assert "case 2/3" in title(seen)
        entries = seen.app.screen.query_one(CaseList)
        assert entries.cursor == 1
        await seen.press("comma", "comma")
        await seen.until(lambda: "case 1/3" in title(seen))
        entries.focus()
        await seen.press("end")
        await seen.until(lambda: "third a" in text(seen))
        assert "\x1b" not in text(seen)
        await seen.press("3")
        await seen.until(lambda: "attempt 1" in text(seen) and "Use a string." in text(seen))
        await seen.press("2")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("escape", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))


async def test_a_preference_is_one_key_and_stays(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "parameter" in text(seen))
        await seen.press("b")
        await seen.until(lambda: "case 2/3" in title(seen) and "the same" in text(seen))
        await seen.press("t")
        await seen.until(lambda: "third a" in text(seen))
        await seen.press("x")
        await seen.until(lambda: len(preferred(session)) == 3)
        await seen.until(lambda: "3 preferred" in title(seen))
        assert [(each.case, each.choice, each.blind, each.seed) for each in preferred(session)] == [
            ("c0", "b", False, None), ("c1", "tie", False, None), ("c2", "both_bad", False, None),
        ]  # fmt: skip
        assert preferred(session)[0].a.run == FIRST
        assert (preferred(session)[0].a.model, preferred(session)[0].b.model) == (A, B)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, ExploreScreen))
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        await seen.press("down", "C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and "3 preferred" in title(seen))


async def test_the_keys_of_a_preference_are_those_of_the_keymap(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "a A is better" in text(seen))
        seen.app.set_keymap({"compare.prefer-a": "f7,a", "compare.tie": "space"})
        await seen.press("full_stop")
        await seen.until(lambda: "f7 A is better" in text(seen))
        assert "Space tie" in text(seen)
        await seen.press("f7")
        await seen.until(lambda: [each.choice for each in preferred(session)] == ["a"])


async def test_new_answers_in_the_place_of_compared_ones_are_undecided(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "parameter" in text(seen))
        await seen.press("a")
        await seen.until(lambda: preferred(session) and "case 2/3" in title(seen))
        await seen.press("t")
        await seen.until(lambda: len(preferred(session)) == 2 and "case 3/3" in title(seen))
        store.save_trials(FIRST, [make_result(TrialKey("c0", A), response="Nobody has compared this yet.")])
        await seen.press("comma", "comma")
        await seen.until(lambda: "Nobody has compared" in text(seen) and "▸" not in text(seen))
        await seen.until(lambda: "1 preferred" in title(seen), "the list and the answers say the same")
        await seen.press("escape", "H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        await seen.press("down", "C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and "1 preferred" in title(seen))
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen) and seen.app.screen.page is not None)
        assert "1 choice in this suite, for 1 case" in str(
            seen.app.screen.query_one("TextPanel > Static", Static).content
        )


async def test_a_preference_between_answers_that_were_replaced_meanwhile_does_not_count(
    store: SqliteStore, tmp_path: Path
) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "parameter" in text(seen))
        store.save_trials(FIRST, [make_result(TrialKey("c0", A), response="Nobody has compared this yet.")])
        await seen.press("a")
        await seen.until(lambda: len(preferred(session)) == 1 and "case 2/3" in title(seen))
        await seen.until(lambda: screen(seen).comparison.chosen == 0)  # type: ignore[union-attr]
        await seen.press("comma")
        await seen.until(lambda: "Nobody has compared" in text(seen))


async def test_nothing_is_preferred_where_neither_side_has_an_answer(store: SqliteStore, tmp_path: Path) -> None:
    for model in (A, B):
        failed = result_of(TrialKey("c0", model), "error", step_of(""), error="HTTP 400")
        store.save_trials(FIRST, [failed])
    async with compared(store, tmp_path) as (seen, session):
        await seen.press("B")
        await seen.until(lambda: "blind · seed" in title(seen) and screen(seen)._answers is not None)
        await seen.press("a")
        await seen.until(lambda: seen.notices and "Neither side has an answer" in seen.notices[-1])
        assert not preferred(session)


async def test_blind_hides_names_and_verdicts_and_remembers_who_was_meant(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "parameter" in text(seen))
        await seen.press("B")
        await seen.until(lambda: "blind · seed" in title(seen) and "mock" not in text(seen))
        comparison = screen(seen).comparison
        assert comparison is not None
        swapped = comparison.swapped("c0")
        await seen.until(lambda: ("binds the parameter" in text(seen).split("│")[0]) is swapped)
        await seen.press("a")
        await seen.until(lambda: preferred(session))
        [choice] = preferred(session)
        assert (choice.choice, choice.swapped, choice.blind) == ("b" if swapped else "a", swapped, True)
        assert choice.seed == comparison.seed
        await seen.press("B")
        await seen.until(lambda: "mock-a" in text(seen) and "seed" not in title(seen))
        assert "1 preferred" in title(seen)


async def test_nothing_that_moves_or_opens_tells_who_is_hidden(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.press("full_stop", "full_stop")
        await seen.until(lambda: "third a" in text(seen))
        swapped = False
        while not swapped:  # until the seed shows B's answer on the left
            await seen.press("B")
            await seen.until(lambda: "blind" in title(seen) and "third a" in text(seen))
            comparison = screen(seen).comparison
            assert comparison is not None
            swapped = comparison.swapped("c2")
            if not swapped:
                await seen.press("B")
                await seen.until(lambda: "blind" not in title(seen) and "mock-a" in text(seen))
        await seen.press("3")  # A has two attempts, and so has B
        await seen.until(lambda: (comparison := screen(seen).comparison) is not None and comparison.pair.b.attempt == 1)
        for key in "12I":
            await seen.press(key)
            await seen.until(lambda: any("Names are hidden" in note.message for note in seen.app._notifications))
            assert isinstance(seen.app.screen, CompareScreen)
            seen.app.clear_notifications()


async def test_preferences_are_reported_with_how_sure_they_are(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, session):
        await seen.until(lambda: "parameter" in text(seen))
        for key, case in zip("ab", ("2/3", "3/3"), strict=True):
            await seen.press(key)
            await seen.until(lambda case=case: f"case {case}" in title(seen))
        assert len(preferred(session)) == 2
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen) and seen.app.screen.page is not None)
        content = " ".join(str(seen.app.screen.query_one("TextPanel > Static", Static).content).split())
        assert "2 choices in this suite, for 2 cases; 0 blind." in content
        assert "no preference shown." in content
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen))
        plan = make_plan([make_case("c0")], [A], run_id="3" * 32)
        store.begin_run(replace(plan, subjects=(replace(plan.subjects[0], model_id="another"),)), STARTED)
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen) and seen.app.screen.page is not None)
        ranked = " ".join(screen_rows(seen.app.screen))
        assert "No preference between two models" in ranked, "the name of one now stands for another model"


async def test_other_answers_can_be_chosen(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path, down=0) as (seen, _):
        await seen.until(lambda: "newer" in text(seen) and "case 1/1" in title(seen))
        assert "binds the value" in text(seen)
        await seen.press("2")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("home", "down", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and "mock-b" in text(seen))
        await seen.until(lambda: "binds the parameter" in text(seen))


@pytest.mark.long
async def test_where_nothing_can_be_compared_it_says_so(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    session = session_for(tmp_path / "suites")
    session.keeps = run_history(store, tmp_path / "data", lambda names: tuple(make_subject(name) for name in names))
    async with explored(session, (80, 24)) as seen:
        await seen.press("C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen) and screen(seen).comparison is not None)
        panel = screen(seen).view.query_one("TextPanel Static")
        await seen.until(lambda: "no answered case in common" in str(panel.render()))
        await seen.press("a", "b", "t", "x", "B", "o", "3", "4", "full_stop", "1", "escape")
        assert not preferred(session)


async def test_a_preference_that_cannot_be_kept_is_reported(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.until(lambda: "parameter" in text(seen))
        (tmp_path / "data" / "preferences.jsonl").mkdir()
        await seen.press("a")
        await seen.until(lambda: seen.notices and "Cannot save" in seen.notices[-1])
        assert "0 preferred" in title(seen)
        assert "case 1/3" in title(seen)


@pytest.mark.long
async def test_the_mouse_chooses_a_case(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.until(lambda: "parameter" in text(seen))
        await seen.pilot.click(CaseList, offset=(6, 2))
        await seen.until(lambda: "case 3/3" in title(seen) and "third a" in text(seen))


@pytest.mark.long
async def test_it_opens_from_a_cell_of_the_matrix_and_comes_back_to_it(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    session = session_for(tmp_path / "suites")
    session.keeps = run_history(store, tmp_path / "data", lambda names: tuple(make_subject(name) for name in names))
    async with explored(session) as seen:
        await seen.screen.open_run(FIRST)
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen))
        matrix = seen.app.screen
        assert isinstance(matrix, MatrixScreen)
        await seen.until(lambda: matrix.panel.table.case_id == "c0")
        await seen.press("down", "down")
        assert matrix.panel.table.case_id == "c2"
        await seen.press("C")
        await seen.until(lambda: isinstance(seen.app.screen, CompareScreen))
        screen = seen.app.screen
        assert isinstance(screen, CompareScreen)
        await seen.until(lambda: screen.comparison is not None)
        comparison = screen.comparison
        assert comparison is not None
        assert comparison.entry is not None
        assert comparison.entry.case == "c2"
        assert [comparison.pair.a, comparison.pair.b] == [
            Source(comparison.suite.path, FIRST, A),
            Source(comparison.suite.path, FIRST, B),
        ]
        await seen.press("comma", "escape")
        await seen.until(lambda: seen.app.screen is matrix)
        assert matrix.panel.table.case_id == "c2"
        assert matrix.panel.table.has_focus


@pytest.mark.long
async def test_the_prompt_is_above_the_answers_in_one_line_or_whole(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        question = screen(seen).view.question
        await seen.until(lambda: any("Prompt " in row for row in screen_rows(seen.app.screen)))
        assert question.size.height == 1
        await seen.press("Q")
        await seen.until(lambda: question.has_class("-whole") and not question.query_one("QuestionLine").display)
        await seen.press("Q")
        await seen.until(lambda: any("Prompt " in row for row in screen_rows(seen.app.screen)))


@pytest.mark.long
async def test_answers_to_two_versions_of_a_case_have_two_prompts_and_no_preference(
    store: SqliteStore, tmp_path: Path
) -> None:
    asked = replace(make_case("c0"), steps=(Step("Who was first?"),))
    plan = make_plan([asked], [A])
    plan = replace(plan, run_id="3" * 32, suite=replace(plan.suite, sha256="cd" * 32))
    store.begin_run(plan, STARTED.replace("2026", "2027"))
    store.save_trials(plan.run_id, [make_result(plan.trials[0], response="later")])
    store.finish_run(plan.run_id, "finished", STARTED)
    async with compared(store, tmp_path, down=0) as (seen, session):
        await seen.until(lambda: "different versions of this case" in text(seen))
        line = str(screen(seen).view.question.query_one(QuestionLine).render())
        assert line.split() == ["A", "Prompt", "Who", "was", "first?", "B", "Prompt", *make_case("c0").inputs.split()]
        await seen.press("Q")
        await seen.until(lambda: "A: Who was first?" in shown(seen) and f"B: {make_case('c0').inputs}" in shown(seen))
        await seen.press("a")
        await seen.until(lambda: any("different versions of this case" in notice for notice in seen.notices))
        assert preferred(session) == ()


async def test_the_border_of_the_cases_is_moved_and_remembered(tmp_path: Path, store: SqliteStore) -> None:
    async with compared(store, tmp_path) as (seen, _):
        cases, focused = screen(seen).query_one("#cases"), seen.app.focused
        assert cases.region.width == 36
        await seen.press("W", "left", "left", "escape")
        await seen.until(lambda: cases.region.width == 32)
        assert seen.app.focused is focused
        assert isinstance(seen.app.screen, CompareScreen)
        await seen.press("escape", "C")
        await seen.until(lambda: screen(seen).query_one("#cases").region.width == 32)


@pytest.mark.long
async def test_one_side_is_shown_alone_and_then_the_other_one(store: SqliteStore, tmp_path: Path) -> None:
    async with compared(store, tmp_path) as (seen, _):
        await seen.until(lambda: "parameter" in text(seen))
        await seen.press("z")
        await seen.until(lambda: "This is said by both, 7." in shown(seen))
        assert "binds the value" in shown(seen)
        assert "parameter" not in shown(seen)
        assert "mock-b" not in shown(seen)
        await seen.press("z")
        await seen.until(lambda: "binds the parameter" in shown(seen))
        assert "mock-a" not in shown(seen)
        await seen.press("full_stop")
        await seen.until(lambda: "the same" in shown(seen))
        await seen.press("escape")
        await seen.until(lambda: "mock-a" in shown(seen))
        assert screen(seen).focused is screen(seen).view.diff
        await seen.press("escape")
        await seen.until(lambda: not isinstance(seen.app.screen, CompareScreen))


def shown(seen: Seen) -> str:
    """Return the answers and their names as they are displayed."""
    region = screen(seen).view.region
    return "\n".join(row[region.x :] for row in screen_rows(seen.app.screen))


@pytest.mark.long
async def test_results_of_checks_are_below_the_answers_where_there_is_room_and_hidden_while_blind(
    store: SqliteStore, tmp_path: Path
) -> None:
    async with compared(store, tmp_path) as (seen, _):
        checks = screen(seen).view.query_one("#checks")
        await seen.until(lambda: checks.display and checks.region.height > 1)
        assert "✓ passed" in "\n".join(screen_rows(seen.app.screen))
        await seen.press("B")
        await seen.until(lambda: "✓ passed" not in "\n".join(screen_rows(seen.app.screen)))
        await seen.pilot.resize_terminal(80, 24)
        await seen.until(lambda: not checks.display)
