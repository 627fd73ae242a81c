"""What is said of one attempt below the list of them."""

from dataclasses import replace

from tests.support.kept_runs import HOSTILE
from tests.support.scripted_session import result_of, step_of
from tui.app.explore.attempt_lines import served_lines, tool_lines
from tui.app.presentation.pieces import text_of
from tui.model.progress import AttemptProgress
from tui.model.results import ServedBy, StepResult, ToolUse, TrialKey
from tui.model.state import RunState

KEY = TrialKey("one", "mock-a")


def shown_lines(*steps: StepResult) -> list[str]:
    state = RunState()
    result = result_of(KEY, "passed", steps[0])
    attempts = tuple(replace(attempt, steps=steps) for attempt in result.attempts)
    state.take_results([replace(result, attempts=attempts)])
    attempt = state.trials[KEY].attempt
    assert attempt is not None
    return [text_of(line) for line in served_lines(attempt)]


def test_each_server_is_reported_once_and_the_cost_where_all_of_it_is_known() -> None:
    step = replace(step_of("a"), served_by=ServedBy("mock-a-2026-01-01", "fp_1", "", "mock/1"), cost_usd=0.25)
    assert shown_lines(step, step) == [
        "answered by  mock-a-2026-01-01, fingerprint fp_1, server mock/1",
        "cost         $0.50",
    ]
    assert shown_lines(step, replace(step, served_by=ServedBy("other"), cost_usd=None))[1:] == ["answered by  other"]


def test_what_is_not_known_is_not_mentioned() -> None:
    assert shown_lines(step_of("a")) == []
    assert shown_lines(replace(step_of("a"), served_by=ServedBy())) == []
    assert served_lines(AttemptProgress(1, 1)) == []


def test_what_a_server_says_is_made_safe() -> None:
    (line,) = shown_lines(replace(step_of("a"), served_by=ServedBy(HOSTILE)))
    assert not any(sign in line for sign in "\x1b\x00\n\u202e\ud800")


def test_tool_calls_are_shown_safe_and_bounded() -> None:
    calls = (ToolUse(HOSTILE, HOSTILE, "x" * 4_000, 5.0),) * 200
    state = RunState()
    step = replace(step_of("a"), tools_used=(HOSTILE,) * 200, tool_calls=calls)
    state.take_results([result_of(KEY, "passed", step)])
    attempt = state.trials[KEY].attempt
    assert attempt is not None
    lines = [text_of(line) for line in tool_lines(attempt)]
    assert lines[0] == "tool calls"
    assert len(lines) <= 201
    assert all(len(line) <= 400 and line.isprintable() for line in lines)
    assert tool_lines(AttemptProgress(1, 1)) == []
