"""A plan becomes events: order, attempts, verdicts, deadlines, lanes, and stopping."""

import asyncio
from dataclasses import replace
from typing import Literal

import pytest

from tests.support.clocks import Elapsed, LoopClock
from tests.support.plans import FixedContext, case_of, plan_of, results_of, run_events, suite_of
from tests.support.scripted_provider import Script, ScriptedProvider, says
from tui.checks.checker import Checker
from tui.model.errors import ProviderError, ProviderFault
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    Event,
    RequestRetried,
    RunFinished,
    RunStarted,
    StepFinished,
    TextArrived,
    TrialDelayed,
    TrialFinished,
    TrialStarted,
)
from tui.model.provider_messages import (
    CallTree,
    End,
    FinishReason,
    MemoryChunk,
    Reasoning,
    RecordedChunk,
    Request,
    Sent,
    Text,
    ToolCall,
    Waiting,
)
from tui.model.results import (
    Attempt,
    IncludedFile,
    LeftOutFile,
    Message,
    Prompt,
    RecordedFigures,
    ToolUse,
    TrialKey,
    TrialResult,
    Verdict,
    counted_as,
    is_flaky,
)
from tui.model.run import RunOptions
from tui.model.secrets import Secrets
from tui.model.suite import Case, Check, CommandCheck, Step
from tui.runner.control import Control
from tui.runner.run import run_plan
from tui.runner.trial_context import CaseContext, TrialContext

QUICK = RunOptions(delay_ms=0, stream=True)
A1 = TrialKey("c1", "a")


def answers(*scripts: Script) -> ScriptedProvider:
    """A provider whose n-th request gets the n-th script, the last one for ever."""
    left = list(scripts)
    return ScriptedProvider(lambda _: left.pop(0) if len(left) > 1 else left[0])


async def test_one_trial_tells_its_story_in_order() -> None:
    plan = plan_of(suite_of(case_of("c1", "hello", expected=["world"])), QUICK)
    events = await run_events(plan, {"a": answers(says("hello world"))})
    names = [type(event).__name__ for event in events if not isinstance(event, CheckMoved)]
    assert names == [
        "RunStarted",
        "TrialStarted",
        "AttemptStarted",
        "StepStarted",
        "RequestSent",
        "TextArrived",
        "TextArrived",
        "StepFinished",
        "AttemptFinished",
        "TrialFinished",
        "RunFinished",
    ]
    result = results_of(events)[A1]
    assert (result.verdict, result.flaky, result.error) == ("passed", False, None)
    step = result.attempts[0].steps[0]
    assert step.response == "hello world"
    assert step.checks[0].spans == ((6, 11),)
    assert step.timing.first_token_ms is not None
    assert step.timing.duration_ms >= step.timing.first_token_ms


async def test_a_command_that_was_not_run_is_no_pass() -> None:
    case = replace(case_of("c1", expected=["yes"]), apply_changes=True, target_file="a.py")
    plan = plan_of(suite_of(replace(case, command=CommandCheck("true"))), QUICK)
    result = results_of(await run_events(plan, {"a": answers(says("yes"))}))[A1]
    assert (result.verdict, result.error) == ("error", "The command was not run: there is no repository")
    plan = plan_of(suite_of(case), QUICK)
    assert results_of(await run_events(plan, {"a": answers(says("yes"))}))[A1].verdict == "passed"


async def test_a_pass_on_a_later_attempt_is_flaky_and_every_attempt_is_kept() -> None:
    plan = plan_of(suite_of(case_of("c1", expected=["yes"])), RunOptions(delay_ms=0, attempts=3))
    events = await run_events(plan, {"a": answers(says("no way"), says("yes sir"))})
    result = results_of(events)[A1]
    assert (result.verdict, result.flaky) == ("passed", True)
    assert [attempt.verdict for attempt in result.attempts] == ["failed", "passed"]
    assert [event.of for event in events if isinstance(event, AttemptStarted)] == [3, 3]


async def test_what_a_person_asks_again_goes_on_numbering_and_is_not_flaky() -> None:
    plan = plan_of(
        suite_of(case_of("c1", expected=["yes"])),
        QUICK,
        earlier={A1: TrialResult(A1, "failed", False, None, (Attempt(1, "failed", None, ()),))},
    )
    result = results_of(await run_events(plan, {"a": answers(says("yes"))}))[A1]
    assert (result.verdict, result.flaky) == ("passed", False)
    assert [(attempt.number, attempt.asking) for attempt in result.attempts] == [(1, 0), (2, 1)]
    assert (result.first_verdict, result.reruns) == ("failed", 1)


@pytest.mark.parametrize(
    ("script", "verdict", "error"),
    [
        ((Sent(), End()), "error", "empty answer"),
        ((Sent(), Text("yes, partly")), "incomplete", "The answer ended without an end marker and may be incomplete"),
        ((Sent(), Text("yes"), ProviderError("incomplete", "Broke off")), "incomplete", "Broke off"),
        ((Sent(), ProviderError("unreachable", "Cannot connect")), "error", "Cannot connect"),
        ((Sent(), Reasoning("hm"), End()), "error", "empty answer"),
        ((Sent(), Reasoning("hm"), End("length")), "incomplete", "The answer stopped early: token limit (length)"),
        ((Sent(), End("content_filter")), "incomplete", "The answer stopped early: content filter (content_filter)"),
    ],
)
async def test_an_answer_that_is_not_whole_never_passes(script: Script, verdict: str, error: str) -> None:
    plan = plan_of(suite_of(case_of("c1", expected=["yes"])), QUICK)
    result = results_of(await run_events(plan, {"a": answers(script)}))[A1]
    assert (result.verdict, result.error) == (verdict, error)


def unchecked_case(case_id: str, *inputs: str) -> Case:
    return Case(case_id, case_id, "General", tuple(Step(text) for text in inputs or ("ask",)))


async def test_a_whole_answer_to_a_case_without_checks_is_unchecked_and_not_attempted_again() -> None:
    plan = plan_of(suite_of(unchecked_case("c1")), RunOptions(delay_ms=0, attempts=3))
    result = results_of(await run_events(plan, {"a": answers(says("yes"))}))[A1]
    assert (result.verdict, result.first_verdict, result.error) == ("unchecked", "unchecked", None)
    assert len(result.attempts) == 1


async def test_a_check_in_one_step_checks_the_case() -> None:
    case = Case("c1", "c1", "General", (Step("one"), Step("two", (Check("expected_pattern", "yes"),))))
    result = results_of(await run_events(plan_of(suite_of(case), QUICK), {"a": answers(says("yes"))}))[A1]
    assert result.verdict == "passed"


TOKEN_LIMIT = "The answer stopped early: token limit (length)"


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("length", TOKEN_LIMIT),
        ("content_filter", "The answer stopped early: content filter (content_filter)"),
        ("refusal", "The answer stopped early: refusal by the provider's filter (refusal)"),
        ("pause", "The answer stopped early: paused by the provider (pause)"),
        ("incomplete", "The answer stopped early: incomplete, by the provider (incomplete)"),
        ("stop", None),
        ("declined", None),
        ("tool_calls", None),
        ("other", None),
    ],
)
async def test_an_answer_that_the_provider_stopped_early_is_incomplete(reason: FinishReason, error: str | None) -> None:
    script = (Sent(), Text("yes and more"), End(reason))
    plan = plan_of(suite_of(case_of("c1", expected=["yes"])), QUICK)
    result = results_of(await run_events(plan, {"a": answers(script)}))[A1]
    assert (result.verdict, result.error) == ("incomplete" if error else "passed", error)
    assert result.attempts[0].steps[0].checks[0].state == "passed"
    unchecked = plan_of(suite_of(unchecked_case("c1")), QUICK)
    result = results_of(await run_events(unchecked, {"a": answers(script)}))[A1]
    assert result.verdict == ("incomplete" if error else "unchecked")


@pytest.mark.parametrize(
    ("expected", "forbidden", "accepts", "verdict", "error"),
    [
        ([], ["yes"], False, "failed", None),
        (["never"], [], False, "incomplete", TOKEN_LIMIT),
        (["yes"], [], True, "passed", None),
        (["never"], [], True, "failed", None),
    ],
)
async def test_what_was_found_in_a_truncated_answer_counts_and_what_is_missing_does_not(
    expected: list[str], forbidden: list[str], accepts: bool, verdict: str, error: str | None
) -> None:
    options = RunOptions(delay_ms=0, accept_truncated=accepts)
    plan = plan_of(suite_of(case_of("c1", expected=expected, forbidden=forbidden)), options)
    script = (Sent(), Text("yes and"), End("length"))
    result = results_of(await run_events(plan, {"a": answers(script)}))[A1]
    assert (result.verdict, result.error) == (verdict, error)


async def test_an_incomplete_answer_uses_up_an_attempt_like_a_failure() -> None:
    plan = plan_of(suite_of(case_of("c1", expected=["yes"])), RunOptions(delay_ms=0, attempts=3))
    provider = answers((Sent(), Text("yes, bu"), End("length")), says("yes"))
    result = results_of(await run_events(plan, {"a": provider}))[A1]
    assert [attempt.verdict for attempt in result.attempts] == ["incomplete", "passed"]
    assert (result.verdict, result.flaky, result.reruns) == ("passed", True, 0)


def asked(*verdicts: tuple[int, Verdict]) -> TrialResult:
    """A trial whose attempts belong to these askings and ended so."""
    attempts = tuple(Attempt(at, verdict, None, (), asking=asking) for at, (asking, verdict) in enumerate(verdicts, 1))
    return TrialResult(A1, attempts[-1].verdict, is_flaky(attempts), None, attempts)


@pytest.mark.parametrize(
    ("attempts", "first", "flaky", "counted"),
    [
        ([(0, "passed")], "passed", False, "passed"),
        ([(0, "failed"), (0, "passed")], "passed", True, "flaky"),
        ([(0, "failed"), (1, "passed")], "failed", False, "failed"),
        ([(0, "failed"), (1, "failed"), (2, "passed")], "failed", False, "failed"),
        ([(0, "passed"), (1, "failed")], "passed", False, "passed"),
        ([(0, "failed"), (0, "passed"), (1, "failed")], "passed", True, "flaky"),
        ([(0, "unchecked"), (1, "passed")], "unchecked", False, "unchecked"),
        ([(0, "error"), (1, "passed")], "passed", False, "passed"),
        ([(0, "timed_out"), (1, "incomplete"), (2, "cancelled"), (3, "failed"), (4, "passed")],
         "failed", False, "failed"),
        ([(0, "error"), (1, "failed"), (1, "passed")], "passed", True, "flaky"),
        ([(0, "error"), (1, "timed_out")], "timed_out", False, "error"),
        ([(0, "failed"), (0, "error"), (1, "passed")], "passed", True, "flaky"),
        ([(0, "incomplete"), (0, "error"), (1, "passed")], "passed", False, "passed"),
    ],
)  # fmt: skip
def test_the_first_asking_that_judged_an_answer_counts(
    attempts: list[tuple[int, Verdict]], first: str, flaky: bool, counted: str
) -> None:
    result = asked(*attempts)
    assert (result.first_verdict, result.flaky, counted_as(result)) == (first, flaky, counted)
    assert (result.verdict, result.reruns) == (attempts[-1][1], attempts[-1][0])


async def test_a_partial_answer_is_kept_and_its_checks_are_decided() -> None:
    plan = plan_of(suite_of(case_of("c1", expected=["yes"])), RunOptions(delay_ms=0, timeout_ms=20, stream=True))
    too_long = Elapsed(LoopClock(), 0.03)
    result = results_of(await run_events(plan, {"a": answers((Sent(), Text("yes, but"), too_long))}))[A1]
    assert result.verdict == "timed_out"
    assert result.error == "No complete answer within 0.02 s"
    assert result.attempts[0].steps[0].response == "yes, but"
    assert result.attempts[0].steps[0].checks[0].state == "passed"


async def test_the_clock_is_paused_while_a_retry_waits() -> None:
    """The answer comes long after the deadline, counted from the first try."""
    plan = plan_of(suite_of(case_of("c1")), RunOptions(delay_ms=0, timeout_ms=60))
    later = Elapsed(LoopClock(), 0.15, then_set=True)
    provider = answers((Sent(), Waiting("429", 1000), later, Sent(), Text("late"), End()))
    events = await run_events(plan, {"a": provider})
    result = results_of(events)[A1]
    assert result.verdict == "passed"
    assert [(retry.reason, retry.waited_ms) for retry in result.attempts[0].steps[0].retries] == [("429", 1000)]
    assert [event.reason for event in events if isinstance(event, RequestRetried)] == ["429"]


@pytest.mark.parametrize("fault", ["unauthorized", "not_found", "refused"])
async def test_what_cannot_change_is_not_attempted_again(fault: ProviderFault) -> None:
    plan = plan_of(suite_of(case_of("c1")), RunOptions(delay_ms=0, attempts=3))
    provider = answers((Sent(), ProviderError(fault, "No")))
    assert len(results_of(await run_events(plan, {"a": provider}))[A1].attempts) == 1


async def test_steps_become_one_conversation_with_context_and_system_before_the_first() -> None:
    plan = plan_of(suite_of(case_of("c1", "one", "two")), QUICK)
    provider = ScriptedProvider(lambda request: says(f"answer to {request.prompt.input}"))
    context = CaseContext("about the files", "### a.py", (IncludedFile("a.py", 3),))
    await run_events(plan, {"a": provider}, context=context)
    conversation = [(message.role, message.content) for message in provider.requests[1].prompt.messages]
    assert conversation == [
        ("system", "about the files"),
        ("user", "### a.py\n\none"),
        ("assistant", "answer to one"),
        ("user", "two"),
    ]


async def test_an_agents_memory_goes_from_step_to_step_and_silence_is_allowed() -> None:
    plan = plan_of(suite_of(case_of("c1", "one", "two")), QUICK)
    provider = answers(
        (Sent(), ToolCall("search"), MemoryChunk({"seen": 1}), End()), (Sent(), MemoryChunk(None), End())
    )
    result = results_of(await run_events(plan, {"a": provider}))[A1]
    assert result.verdict == "passed"
    assert [request.memory for request in provider.requests] == [{}, {"seen": 1}]
    assert result.attempts[0].steps[0].tools_used == ("search",)
    assert [step.memory for step in result.attempts[0].steps] == [{"seen": 1}, {"seen": 1}]


async def test_a_step_without_an_answer_ends_the_attempt_but_a_failed_check_does_not() -> None:
    plan = plan_of(suite_of(case_of("c1", "one", "two", expected=["yes"])), QUICK)
    failing = answers(says("no"), says("yes"))
    broken = answers((Sent(), ProviderError("crashed", "Died")), says("yes"))
    assert len(results_of(await run_events(plan, {"a": failing}))[A1].attempts[0].steps) == 2
    assert len(results_of(await run_events(plan, {"a": broken}))[A1].attempts[0].steps) == 1


async def test_a_key_in_an_answer_is_removed_everywhere_also_when_chunks_split_it() -> None:
    plan = plan_of(suite_of(case_of("c1")), QUICK)
    provider = answers((Sent(), Text("the key is sk-se"), Text("cret-1 and"), Text(" sk-secret-1"), End()))
    events = await run_events(plan, {"a": provider}, secrets=["sk-secret-1"])
    assert results_of(events)[A1].attempts[0].steps[0].response == "the key is [removed key] and [removed key]"
    assert "secret-1" not in repr(events)


async def test_a_fault_of_ours_is_that_trials_error_and_the_run_goes_on() -> None:
    def script(request: Request) -> Script:
        if request.trial.case == "c1":
            raise ValueError("a bug")
        return says("fine")

    plan = plan_of(suite_of(case_of("c1"), case_of("c2")), QUICK)
    results = results_of(await run_events(plan, {"a": ScriptedProvider(script)}))
    assert results[A1].error == "Internal error in Assay: ValueError: a bug"
    assert results[TrialKey("c2", "a")].verdict == "passed"


async def test_a_logged_fault_of_ours_has_no_key_and_no_control_characters(caplog: pytest.LogCaptureFixture) -> None:
    def script(_: Request) -> Script:
        raise ValueError("a bug with \x1b]0;owned\x07 and sk-secret-1")

    await run_events(plan_of(suite_of(case_of("c1")), QUICK), {"a": ScriptedProvider(script)}, secrets=["sk-secret-1"])
    (record,) = caplog.records
    assert "ValueError: a bug with ␛]0;owned␇ and [removed key]" in record.getMessage()
    assert (record.exc_info, "secret-1" in caplog.text, "\x1b" in caplog.text) == (None, False, False)


async def test_by_default_one_at_a_time_model_after_model() -> None:
    plan = plan_of(suite_of(case_of("c1"), case_of("c2")), QUICK, ("a", "b"))
    provider = answers(says("x y"))
    events = await run_events(plan, {"a": provider, "b": provider})
    started = [event.trial for event in events if isinstance(event, TrialStarted)]
    assert started == list(plan.trials)
    assert provider.most_at_once == 1


async def test_models_in_parallel_and_cases_up_to_the_limit_of_each() -> None:
    cases = [case_of(f"c{number}") for number in range(6)]
    options = RunOptions(delay_ms=0, concurrency=3, parallel_models=True)
    both_full = asyncio.Event()

    def script(_: Request) -> Script:
        if first.going == 3 and second.going == 3:
            both_full.set()
        return (Sent(), both_full, Text("done"), End())

    first, second = ScriptedProvider(script), ScriptedProvider(script)
    results = results_of(await run_events(plan_of(suite_of(*cases), options, ("a", "b")), {"a": first, "b": second}))
    assert len(results) == 12
    assert (first.most_at_once, second.most_at_once) == (3, 3)


async def test_the_delay_between_starts_is_reported_and_observed() -> None:
    plan = plan_of(suite_of(case_of("c1"), case_of("c2")), RunOptions(delay_ms=30))
    loop = asyncio.get_running_loop()
    starts: list[float] = []

    def script(_: Request) -> Script:
        starts.append(loop.time())
        return says("ok then")

    began = loop.time()
    events = await run_events(plan, {"a": ScriptedProvider(script)})
    delays = [event for event in events if isinstance(event, TrialDelayed)]
    assert [event.trial.case for event in delays] == ["c2"]
    assert starts[1] - began >= 0.03


async def test_a_refused_key_does_not_space_out_what_will_be_refused_as_well() -> None:
    cases = [case_of(f"c{number}") for number in range(20)]
    plan = plan_of(suite_of(*cases), RunOptions(delay_ms=600_000))
    provider = answers((Sent(), ProviderError("unauthorized", "Key refused")))
    async with asyncio.timeout(60):
        results = results_of(await run_events(plan, {"a": provider}))
    assert {result.error for result in results.values()} == {"Key refused"}


async def stopped_when_asked(control: Control, stop: str) -> tuple[list[Event], ScriptedProvider]:
    """Two cases of two models; the first answer never ends, and is stopped once it has begun."""
    begun, never = asyncio.Event(), asyncio.Event()

    class Begun(asyncio.Event):
        async def wait(self) -> Literal[True]:
            begun.set()
            return await never.wait()

    def script(request: Request) -> Script:
        return (Sent(), Text("half"), Begun()) if request.trial == A1 else says("whole thing")

    provider = ScriptedProvider(script)
    plan = plan_of(suite_of(case_of("c1"), case_of("c2")), QUICK, ("a", "b"))

    async def stop_it() -> None:
        await begun.wait()
        match stop:
            case "trial":
                control.cancel(A1)
            case "all":
                control.cancel_all()
            case "interrupt":
                control.interrupt()

    stopping = asyncio.create_task(stop_it())
    events = await run_events(plan, {"a": provider, "b": provider}, control)
    await stopping
    return events, provider


@pytest.mark.parametrize(
    ("stop", "verdicts", "state"),
    [
        ("trial", {"c1 a": "cancelled", "c2 a": "passed", "c1 b": "passed", "c2 b": "passed"}, "finished"),
        ("all", {"c1 a": "cancelled"}, "cancelled"),
        ("interrupt", {}, "interrupted"),
    ],
)
async def test_stopping(stop: str, verdicts: dict[str, str], state: str) -> None:
    events, provider = await stopped_when_asked(Control(), stop)
    found = {f"{key.case} {key.model}": result.verdict for key, result in results_of(events).items()}
    assert found == verdicts
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert last.state == state
    assert provider.going == 0
    for event in events:
        if isinstance(event, TrialFinished) and event.result.verdict == "cancelled":
            assert event.result.attempts[0].steps[0].response == "half"


async def test_closing_the_stream_leaves_nothing_running() -> None:
    never = asyncio.Event()
    provider = answers((Sent(), Text("half"), never))
    checker = Checker()
    context = TrialContext({"a": provider}, checker, FixedContext(), Secrets())
    stream = run_plan(plan_of(suite_of(case_of("c1", expected=["x"])), QUICK), context, Control())
    async for batch in stream:
        if any(isinstance(event, TextArrived) for event in batch):
            break
    await stream.aclose()
    await checker.close()
    assert provider.going == 0
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert others == []


async def test_checks_move_while_text_arrives() -> None:
    gate = asyncio.Event()
    provider = answers((Sent(), Text("the cat "), gate, Text("sat"), End()))
    plan = plan_of(suite_of(case_of("c1", expected=["cat"], forbidden=["dog"])), QUICK)
    checker = Checker()
    moved: list[CheckMoved] = []
    try:
        async for batch in run_plan(plan, TrialContext({"a": provider}, checker, FixedContext(), Secrets()), Control()):
            for event in batch:
                if isinstance(event, CheckMoved):
                    moved.append(event)
                    if event.state == "found":
                        gate.set()
                if isinstance(event, StepFinished):
                    assert [check.state for check in event.result.checks] == ["passed", "passed"]
    finally:
        await checker.close()
    assert (0, "found", ((4, 7),)) in [(move.check, move.state, move.spans) for move in moved]


async def test_an_empty_plan_begins_and_ends() -> None:
    plan = plan_of(suite_of(case_of("c1")), QUICK, ())
    events = await run_events(plan, {})
    assert [type(event) for event in events] == [RunStarted, RunFinished]


async def test_tool_calls_are_kept_bounded_and_without_secrets() -> None:
    plan = plan_of(suite_of(case_of("c1")), QUICK)
    calls = [ToolCall("sk-secret-1", '{"key": "sk-secret-1"}', "r" * 5_000, 3.0), *[ToolCall("more")] * 300]
    provider = answers((Sent(), Text("ok"), *calls, End()))
    events = await run_events(plan, {"a": provider}, secrets=["sk-secret-1"])
    [step] = [event.result for event in events if isinstance(event, StepFinished)]
    assert "sk-secret-1" not in repr(events)
    assert (len(step.tools_used), len(step.tool_calls)) == (301, 200)
    first = step.tool_calls[0]
    assert (first.name, len(first.result), first.result[-1], first.duration_ms) == (step.tools_used[0], 4_000, "…", 3.0)


async def test_a_recorded_prompt_and_a_suites_memory_are_kept_without_secrets() -> None:
    plan = plan_of(suite_of(replace(case_of("c1"), memory={"sk-secret-1": "sk-secret-1"})), QUICK)
    prompt = Prompt(
        "ask sk-secret-1",
        (Message("user", "sk-secret-1"),),
        (IncludedFile("sk-secret-1.txt", 3),),
        (LeftOutFile("b.txt", "sk-secret-1"),),
    )
    recorded = RecordedChunk(RecordedFigures(1.0, None), "stop", stopped="sk-secret-1 was not answered", prompt=prompt)
    provider = answers((Sent(), Text("ok"), recorded, MemoryChunk(None), End()))
    events = await run_events(plan, {"a": provider}, secrets=["sk-secret-1"])
    [step] = [event.result for event in events if isinstance(event, StepFinished)]
    assert "sk-secret-1" not in repr(events)
    assert (step.prompt.input, step.stopped) == ("ask [removed key]", "[removed key] was not answered")
    assert step.memory_before == step.memory == {"[removed key]": "[removed key]"}


async def test_a_replayed_answer_of_a_retry_passes_as_flaky() -> None:
    plan = plan_of(suite_of(case_of("c1", expected=["ok"])), QUICK)
    for is_retry in (False, True):
        figures = RecordedFigures(1e9, 0.5, is_imported=is_retry)
        provider = answers((Sent(), Text("ok"), RecordedChunk(figures, "stop", is_retry=is_retry), End()))
        result = results_of(await run_events(plan, {"a": provider}))[A1]
        assert result.attempts[-1].steps[-1].recorded == figures
        assert (result.verdict, counted_as(result)) == ("passed", "flaky" if is_retry else "passed")


async def test_a_number_in_a_memory_is_removed_if_it_is_a_key() -> None:
    plan = plan_of(suite_of(case_of("c1")), QUICK)
    memory = MemoryChunk({"number": 837492749231, "list": [837492749231, 8374, True, 0.5]})
    provider = answers((Sent(), Text("ok"), memory, End()))
    events = await run_events(plan, {"a": provider}, secrets=["837492749231"])
    [step] = [event.result for event in events if isinstance(event, StepFinished)]
    assert step.memory == {"number": "[removed key]", "list": ["[removed key]", 8374, True, 0.5]}


async def test_a_tree_of_calls_is_kept_beside_the_names_of_the_tools() -> None:
    plan = plan_of(suite_of(case_of("c1")), QUICK)
    tree = [ToolUse("sk-secret-1", "a" * 5_000, kind="agent"), *[ToolUse("search", parent=0)] * 300]
    provider = answers((Sent(), Text("ok"), ToolCall("search", "{}"), CallTree(tuple(tree)), End()))
    events = await run_events(plan, {"a": provider}, secrets=["sk-secret-1"])
    [step] = [event.result for event in events if isinstance(event, StepFinished)]
    assert "sk-secret-1" not in repr(events)
    assert (step.tools_used, len(step.tool_calls)) == (("search",), 200)
    assert (len(step.tool_calls[0].arguments), step.tool_calls[1]) == (4_000, ToolUse("search", parent=0))


async def test_names_alone_are_no_tool_calls() -> None:
    provider = answers((Sent(), Text("ok"), ToolCall("search"), End()))
    events = await run_events(plan_of(suite_of(case_of("c1")), QUICK), {"a": provider})
    [step] = [event.result for event in events if isinstance(event, StepFinished)]
    assert (step.tools_used, step.tool_calls) == (("search",), ())
