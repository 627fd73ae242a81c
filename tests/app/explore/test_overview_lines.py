"""The lines of the Prompt tab."""

from dataclasses import replace

from tests.support.scripted_session import case_of
from tui.app.explore.overview_lines import prompt_lines
from tui.app.presentation.pieces import text_of
from tui.model.tools import OfferedTool
from tui.model.values import JsonObject


def test_the_tools_of_a_case_are_below_its_prompt() -> None:
    schema: JsonObject = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = (OfferedTool("search", "Find\x1b a text", schema, "x"), OfferedTool("clock"))
    case = replace(case_of("one", prompt="Look it up."), tools=tools, max_turns=3)
    lines = [text_of(line) for line in prompt_lines(case, None, "mock-a")]
    assert lines[2:] == [
        "Look it up.",
        "",
        "Tools: 2, at most 3 turns",
        "  search  Find␛ a text",
        '  {"type": "object", "properties": {"q": {"type": "string"}}}',
        "  clock  ",
    ]
    assert not any(line.startswith("Tools") for line in map(text_of, prompt_lines(case_of("one"), None, "mock-a")))
