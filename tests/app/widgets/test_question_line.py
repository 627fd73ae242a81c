"""The prompt of a case in one line and at the beginning of an empty pane."""

from pathlib import Path

from tests.app.explore.explored import explored, session_for
from tests.support.scripted_session import Opened, case_of, suite_of
from tui.app.presentation.pieces import text_of, width_of
from tui.app.widgets.question_line import prompt_beginning, question_line
from tui.model.suite import Step


def test_a_prompt_is_one_line_of_its_first_step() -> None:
    case = case_of("one", steps=[Step("Say  hello\nto the \x1b[31mworld")])
    assert text_of(question_line(case, 80)) == " Prompt Say hello to the ␛[31mworld"
    line = text_of(question_line(case, 20))
    assert width_of(line) <= 20
    assert line.endswith("…")
    steps = case_of("two", steps=[Step("first"), Step("second")])
    assert text_of(question_line(steps, 80)) == " Step 1 of 2 first"
    assert question_line(None, 80) == ()


def test_the_beginning_of_a_prompt_is_bounded() -> None:
    long = case_of("one", steps=[Step("\n".join(f"line {number}" for number in range(99)))])
    assert prompt_beginning(long).splitlines()[-2:] == ["line 11", "…"]
    assert len(prompt_beginning(case_of("two", steps=[Step("x" * 9999)]))) < 1500
    steps = case_of("three", steps=[Step("first"), Step("second\nline")])
    assert prompt_beginning(steps) == "1. first\n2. second line"


async def test_the_prompt_is_above_the_answers_and_in_an_empty_pane(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    case = case_of("ask", steps=[Step("What is the capital of France?")])
    session.suites[path] = Opened(suite_of(path, case, name="quickstart"))
    async with explored(session) as seen:
        question = seen.screen.question
        await seen.until(lambda: "What is the capital of France?" in str(question.render()))
        await seen.until(lambda: "capital of France?" in seen.text(0))
        await seen.press("home")
        await seen.until(lambda: not question.display or not question.is_on_screen)


async def test_a_cut_prompt_ends_with_an_ellipsis_also_after_a_resize(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    session.suites[path] = Opened(suite_of(path, case_of("ask", steps=[Step("abcdefghi " * 40)]), name="quickstart"))
    async with explored(session, (80, 24)) as seen:
        question = seen.screen.question
        for width in (80, 100):
            await seen.pilot.resize_terminal(width, 24)
            await seen.until(lambda width=width: seen.app.size.width == width and "abcdef" in str(question.render()))
            await seen.until(lambda: str(question.render()).endswith("…"))
            assert width_of(str(question.render())) <= question.size.width
