"""A model that calls tools, as Explore displays it while it runs and afterwards."""

from dataclasses import replace
from pathlib import Path

from textual.widgets import Static

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.scripted_session import prompt_of, result_of, step_of
from tui.app.explore.tabs import AttemptsTab
from tui.app.run_messages import ModelsUnresolved
from tui.app.widgets.text_views import TextPanel
from tui.model.events import (
    AttemptStarted,
    RequestSent,
    StepStarted,
    TextArrived,
    ToolsCalled,
    TrialFinished,
    TrialStarted,
)
from tui.model.results import ToolUse, TrialKey
from tui.model.tools import OfferedTool

KEY = TrialKey("one", "mock-a")
CALLS = (
    ToolUse("turn 1", result="Let me look it up.", duration_ms=812.0, kind="model"),
    ToolUse("get_weather", '{"city": "Paris"}', "rain", parent=0),
)


def details(seen: Seen) -> str:
    """Return the text below the list of attempts."""
    panel = seen.screen.query_one(AttemptsTab).query_one(TextPanel)
    return str(panel.query_one(Static).render())


async def begin(seen: Seen) -> None:
    await seen.press("r")
    await seen.until(lambda: seen.session.plans, "a plan was made")
    seen.session.say(TrialStarted(KEY), AttemptStarted(KEY, 1, 1), StepStarted(KEY, 1, 0, prompt_of()))
    seen.session.say(RequestSent(KEY, 1, 0), TextArrived(KEY, 1, 0, "Let me look it up."))
    await seen.until(lambda: "Let me look it up." in seen.text(0))


async def test_the_text_of_the_next_turn_replaces_that_of_the_turn_before(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await begin(seen)
        seen.session.say(ToolsCalled(KEY, 1, 0, CALLS), RequestSent(KEY, 1, 0))
        await seen.until(lambda: "Called get_weather." in seen.text(0))
        assert "Let me look" not in seen.text(0)
        seen.session.say(TextArrived(KEY, 1, 0, "Take an umbrella: rain."))
        await seen.until(lambda: "umbrella" in seen.text(0))
        assert "Called" not in seen.text(0)
        step = replace(step_of("Take an umbrella: rain."), tools_used=("get_weather",), tool_calls=CALLS)
        seen.session.say(TrialFinished(result_of(KEY, "passed", step)))
        seen.session.finish()
        await seen.until(lambda: not seen.busy)
        assert "Take an umbrella: rain." in seen.text(0)
        await seen.press("[")
        await seen.until(lambda: "get_weather" in details(seen))
        assert details(seen).splitlines()[:5] == [
            "tool calls",
            "  turn 1 · 812 ms",
            "  ├ result: Let me look it up.",
            "  └ get_weather",
            '    ├ arguments: {"city": "Paris"}',
        ]


async def test_a_long_text_that_arrives_with_the_end_of_a_turn_is_not_mixed_with_it(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await begin(seen)
        answer = "Take an umbrella, a coat and good shoes. " * 3
        state = seen.screen.selection.state
        for event in (ToolsCalled(KEY, 1, 0, CALLS), TextArrived(KEY, 1, 0, answer)):
            state.take(event)
        seen.screen.answers.show_pane(seen.pane(0))
        await seen.until(lambda: "good shoes" in seen.text(0))
        await seen.until(lambda: seen.pane(0).answer == answer)
        assert "Let me look" not in seen.text(0)
        assert seen.text(0).strip().startswith("Take an umbrella")


async def test_a_model_without_tools_is_left_out_with_a_message(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = next(iter(session.suites))
    opened = session.suites[path]
    assert opened.suite is not None
    first, *rest = opened.suite.cases
    offering = replace(first, tools=(OfferedTool("get_weather", result="rain"),))
    session.suites[path] = replace(opened, suite=replace(opened.suite, cases=(offering, *rest)))
    session.without_tools = ("mock-b",)
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: session.plans, "a plan was made")
        assert {trial.model for trial in session.plans[0].trials} == {"mock-a"}
        (message,) = seen.posted(ModelsUnresolved)
        assert isinstance(message, ModelsUnresolved)
        assert message.errors["mock-b"].text == "mock-b does not support tools"
        seen.session.finish()
        await seen.until(lambda: not seen.busy)
