"""The transcript of an attempt: headings of its steps, and where the checks found their matches."""

from dataclasses import replace

from tests.support.scripted_session import case_of, prompt_of, result_of, step_of
from tui.app.presentation.transcript import (
    marks_in,
    reasoning,
    recorded_transcript,
    starts,
    step_heading,
    transcript,
)
from tui.model.events import (
    AttemptStarted,
    Event,
    ReasoningArrived,
    RunStarted,
    StepFinished,
    StepStarted,
    TextArrived,
    TrialFinished,
)
from tui.model.progress import TrialProgress
from tui.model.results import CheckResult, ToolUse, TrialKey
from tui.model.state import RunState
from tui.model.suite import Check, Step

A = TrialKey("one", "mock-a")
PROMPT = "Write a function."


def trial_after(*events: Event) -> TrialProgress:
    state = RunState()
    for event in (RunStarted("r", (A,), "t"), AttemptStarted(A, 1, 1), StepStarted(A, 1, 0, prompt_of()), *events):
        state.take(event)
    return state.trials[A]


def test_steps_stand_below_each_other_under_their_inputs() -> None:
    case = case_of("one", steps=[Step("Book\na flight", (Check("output.includes", "ok"),)), Step("Thanks")])
    found = CheckResult("output.includes", "ok", "passed", spans=((0, 2),))
    trial = trial_after(
        StepFinished(A, 1, 0, step_of("ok then", found)),
        StepStarted(A, 1, 1, prompt_of()),
        TextArrived(A, 1, 1, "bye"),
        ReasoningArrived(A, 1, 1, "hm"),
    )
    text = transcript(case, trial.attempt)
    assert text == "▸ 1/2  Book a flight\n\nok then\n\n▸ 2/2  Thanks\n\nbye"
    assert trial.attempt is not None
    assert [text[at:][:2] for at in starts(case, trial.attempt)] == ["ok", "by"]
    [mark] = marks_in(case, trial.attempt)
    assert (text[mark.start : mark.end], mark.kind) == ("ok", "expected")
    assert reasoning(trial.attempt) == "hm"


def test_one_step_needs_no_heading() -> None:
    assert step_heading(0, 1, "input") == ""
    assert transcript(case_of("one"), None) == ""
    trial = trial_after(TrialFinished(result_of(A, "passed", step_of("whole"))))
    assert transcript(case_of("one"), trial.attempt) == "whole"


def test_tool_calls_are_a_tree_below_the_answer() -> None:
    calls = (
        ToolUse("search", '{"q": "Rome"}', "2 flights\nfound", 1204.4),
        ToolUse("book", result="ok"),
        ToolUse("end"),
    )
    step = replace(step_of("whole"), tools_used=("search", "book", "end"), tool_calls=calls)
    text, _ = recorded_transcript(case_of("one"), result_of(A, "passed", step).attempts[-1])
    assert text.splitlines() == [
        "whole",
        "",
        "tools used: search, book, end",
        "  search · 1,204 ms",
        '  ├ arguments: {"q": "Rome"}',
        "  └ result: 2 flights",
        "      found",
        "  book",
        "  └ result: ok",
        "  end",
    ]


def test_a_recorded_transcript_is_the_live_one_with_its_marks() -> None:
    case = case_of("one", steps=[Step(PROMPT, (Check("output.includes", "ok"),)), Step(PROMPT)])
    found = CheckResult("output.includes", "ok", "passed", spans=((0, 2),))
    result = result_of(A, "passed", step_of("ok then", found), step_of("bye"))
    trial = trial_after(TrialFinished(result))
    text, marks = recorded_transcript(case, result.attempts[-1])
    assert [text[mark.start : mark.end] for mark in marks] == ["ok"]
    assert marks == marks_in(case, trial.attempt)
    assert text == transcript(case, trial.attempt)
