"""What can be copied of a case, and that the clipboard gets it."""

from pathlib import Path

from tests.app.explore.explored import CASES, explored, session_for
from tests.support.scripted_session import case_of, result_of, step_of, suite_of
from tui.app.dialogs import ChoiceScreen
from tui.app.explore.copy_menu import copies, repeat_command
from tui.app.open_suites import OpenSuite
from tui.model.results import TrialKey

PATH = Path("/suites/a b.yaml")


def test_answer_blocks_prompt_and_command_can_be_copied() -> None:
    case = case_of("one", prompt="Write it.")
    found = copies(
        OpenSuite(PATH, "", suite_of(PATH, case)), case, "mock-a", "A:\n```python\nx = 1\n```\n```\ny\n```\n"
    )
    assert [(each.name, each.detail) for each in found] == [
        ("Answer", "33 characters"),
        ("Code block 1", "python, 1 line"),
        ("Code block 2", "1 line"),
        ("Prompt", "9 characters"),
        ("Command", "assay run '/suites/a b.yaml' -m mock-a --case one"),
    ]
    assert [each.text for each in found[1:4]] == ["x = 1\n", "y\n", "Write it."]


def test_control_characters_are_not_copied() -> None:
    case = case_of("one")
    answer = copies(OpenSuite(PATH, "", suite_of(PATH, case)), case, "m", "a\x1b[201~\rb\n\tc")[0]
    assert answer.text == "a[201~b\n\tc"


def test_a_case_id_is_no_pattern_in_the_command() -> None:
    case = case_of("a*[1]")
    assert repeat_command(OpenSuite(PATH, "", suite_of(PATH, case)), case, "m?seed=7").endswith(
        "-m 'm?seed=7' --case 'a[*][[]1]'"
    )


def test_a_suite_that_is_named_like_an_option_is_a_path_in_the_command() -> None:
    case, path = case_of("one"), Path("--agent=cmd:sh x.yaml")
    command = repeat_command(OpenSuite(path, "", suite_of(path, case)), case, "m")
    assert command == "assay run './--agent=cmd:sh x.yaml' -m m --case one"


async def test_y_copies_to_the_clipboard(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.kept = (result_of(TrialKey(CASES[0].id, "mock-a"), "passed", step_of("The whole answer.")),)
    async with explored(session) as seen:
        await seen.until(lambda: "The whole answer." in seen.text(0))
        await seen.press("y")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("enter")
        await seen.until(lambda: seen.app.clipboard == "The whole answer.")
        await seen.until(lambda: "Copied: answer, 17 characters." in seen.notices)
