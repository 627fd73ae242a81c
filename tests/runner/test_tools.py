"""A model calls the tools of a case: turns, results, limits and figures, on real servers in every protocol."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.wires import WIRES, Call, Wire
from tests.support import messages
from tests.support.asking import KEY
from tests.support.plans import FixedContext, subject_of
from tests.support.replies import HANG, Reply, delta, events, status
from tests.support.scripted_provider import Script, ScriptedProvider
from tests.support.tool_trials import (
    CLOCK,
    COMBINATIONS,
    NAMES,
    PARIS,
    ROME,
    WEATHER,
    ToolTrial,
    answering,
    calling,
    run_tools,
    tool_case,
)
from tui.checks.checker import Checker
from tui.model.events import AttemptStarted, CheckMoved, RequestSent, StepStarted, TextArrived, ToolsCalled
from tui.model.provider_messages import End, Request, Sent, Text, ToolCall
from tui.model.results import TrialKey, Usage
from tui.model.secrets import Secrets
from tui.model.state import RunState
from tui.model.suite import Check, Step
from tui.model.tools import OfferedTool
from tui.runner.control import Control, EventBuffer
from tui.runner.tools import NotContinued, ToolConversation
from tui.runner.trial import TrialOrder, run_trial
from tui.runner.trial_context import TrialContext

USED = Check("tools_used", expected=["get_weather"])
in_every_protocol = pytest.mark.parametrize(("wire", "stream"), COMBINATIONS, ids=NAMES)


def arguments_sent(wire: Wire, trial: ToolTrial) -> list[tuple[str, str, Any, str]]:
    """Return the id, name, arguments and result of each call in the last request."""
    sent = wire.sent_back(trial.bodies[-1])
    return [(call.id, call.name, json.loads(call.arguments), result) for call, result in sent]


@in_every_protocol
async def test_calls_are_answered_with_the_fixed_results(wire: Wire, stream: bool) -> None:
    turns = (calling(PARIS, ROME, text="Let me look."), answering("It is warm."))
    used = Check("tools_used", expected=["get_weather", "get_weather"])
    trial = await run_tools(wire, stream, turns, tool_case(used, Check("expected_pattern", "warm")))
    assert trial.result.verdict == "passed", trial.result
    assert wire.offered(trial.bodies[0]) == [
        {"name": "get_weather", "description": WEATHER.description, "parameters": WEATHER.parameters},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
    ]
    assert arguments_sent(wire, trial) == [
        ("call_1", "get_weather", {"city": "Paris"}, '{"temperature": 18}'),
        ("call_2", "get_weather", {"city": "Rome", "unit": "C"}, "unknown city"),
    ]
    step = trial.step
    assert (step.response, step.finish_reason) == ("It is warm.", "stop")
    assert step.tools_used == ("get_weather", "get_weather")
    assert [(call.name, json.loads(call.arguments), call.result) for call in trial.calls] == [
        ("get_weather", {"city": "Paris"}, '{"temperature": 18}'),
        ("get_weather", {"city": "Rome", "unit": "C"}, "unknown city"),
    ]
    assert [(turn.name, turn.result) for turn in trial.turns] == [("turn 1", "Let me look.")]
    assert [call.parent for call in step.tool_calls] == [None, 0, 0]
    assert "Let me look." in json.dumps(trial.bodies[1])


@in_every_protocol
async def test_figures_are_sums_over_the_turns(wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, (calling(PARIS), calling(ROME), answering("warm")))
    step = trial.step
    assert (step.usage.input_tokens, step.usage.output_tokens) == (21, 9)
    assert step.cost_usd == pytest.approx((21 * 1.0 + 9 * 2.0) / 1_000_000)
    assert step.timing.first_token_ms is not None
    spent = sum(turn.duration_ms or 0.0 for turn in trial.turns)
    assert step.timing.first_token_ms <= (trial.turns[0].duration_ms or 0.0) <= spent <= step.timing.duration_ms
    assert all(moment >= round(spent) - 1 for moment, _ in step.pace)


@in_every_protocol
async def test_later_turns_are_no_new_attempt(wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, (calling(PARIS, text="Let me look."), answering("It is warm.")))
    kinds = [type(event) for event in trial.events]
    assert (kinds.count(AttemptStarted), kinds.count(StepStarted), kinds.count(RequestSent)) == (1, 1, 2)
    (called,) = [event for event in trial.events if isinstance(event, ToolsCalled)]
    assert [(call.name, call.result) for call in called.calls[1:]] == [("get_weather", '{"temperature": 18}')]
    at = trial.events.index(called)
    before, after = (
        "".join(event.text for event in part if isinstance(event, TextArrived))
        for part in (trial.events[:at], trial.events[at:])
    )
    assert (before, after) == ("Let me look.", "It is warm.")
    state = RunState()
    for number, event in enumerate(trial.events):
        state.take(event, float(number))
        if event is called:
            (progress,) = state.trials.values()
            assert progress.attempt is not None
            (live,) = progress.attempt.steps
            assert (live.text, live.size, live.turns, len(live.tool_calls)) == ("", 0, 1, 2)
            first = live.sent_at
    assert progress.attempt is not None
    assert progress.attempt.steps[0].text == "It is warm."
    assert progress.attempt.steps[0].sent_at == first


@in_every_protocol
async def test_only_the_last_turn_is_judged(wire: Wire, stream: bool) -> None:
    checks = (Check("forbidden_pattern", "secret"), Check("expected_pattern", "warm"))
    trial = await run_tools(wire, stream, (calling(PARIS, text="secret"), answering("warm")), tool_case(*checks))
    assert trial.result.verdict == "passed"
    moved = [event for event in trial.events if isinstance(event, CheckMoved)]
    last = {event.check: event.spans for event in moved}
    assert last.get(0, ()) == ()


@in_every_protocol
async def test_the_limit_of_turns_leaves_the_answer_incomplete(wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, (calling(PARIS, text="Once more: warm."),), tool_case(most=3))
    assert len(trial.bodies) == 3
    assert (trial.result.verdict, trial.attempt.fault) == ("incomplete", "incomplete")
    assert trial.result.error == "The model still called tools after 3 turns, the limit of the case"
    step = trial.step
    assert (step.response, step.tools_used) == ("Once more: warm.", ("get_weather",) * 3)
    assert [call.result for call in trial.calls] == ['{"temperature": 18}'] * 2 + [""]
    assert [check.state for check in step.checks] == ["passed"]


@in_every_protocol
async def test_the_calls_of_the_last_turn_are_enough_if_only_calls_are_checked(wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, (calling(PARIS),), tool_case(USED, most=1))
    assert (trial.result.verdict, len(trial.bodies)) == ("passed", 1)
    assert trial.step.notes == ("The model still called tools after its only turn, the limit of the case",)
    other = await run_tools(wire, stream, (calling(Call("c", "get_time", "{}")),), tool_case(USED, most=1))
    assert other.result.verdict == "failed"


@in_every_protocol
async def test_wrong_calls_are_answered_with_an_error(wire: Wire, stream: bool) -> None:
    tools = (WEATHER, OfferedTool("silent"))
    odd = (Call("a", "get\x1b[31m weather!", "{}"), Call("b", "silent", '{"x": 1}'), Call("a", "get_weather", "{}"))
    trial = await run_tools(wire, stream, (calling(*odd), answering("warm")), tool_case(tools=tools))
    assert trial.result.verdict == "passed"
    (first, second, third) = arguments_sent(wire, trial)
    assert first == (
        "a",
        "get__31m_weather_",
        {},
        "Error: there is no tool get␛[31m weather!; the tools are get_weather, silent",
    )
    assert second == ("b", "silent", {"x": 1}, "Error: the tool has no result for these arguments")
    assert (third[0], third[3]) == ("call00002", "unknown city")
    assert trial.step.tools_used == ("get\x1b[31m weather!", "silent", "get_weather")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("{'city': 'Paris'}", "the arguments cannot be read: it is not JSON: {'city': 'Paris'}"),
        ('{"city": "Par', 'the arguments cannot be read: it is not JSON: {"city": "Par'),
        ('["Paris"]', "the arguments are not a JSON object"),
        ('{"a": NaN}', "the arguments cannot be read: it contains NaN, which is not JSON"),
        ('{"a": 1e999}', "the arguments cannot be read: it contains a number that is too large: 1e999"),
        ('{"a":' + "[" * 900 + "]" * 900 + "}", "the arguments cannot be read: it is nested too deeply"),
    ],
)
@pytest.mark.parametrize("wire", WIRES[:2], ids=lambda wire: str(wire.name))
async def test_arguments_that_are_no_object_are_answered_with_an_error(wire: Wire, arguments: str, reason: str) -> None:
    turns = (calling(Call("call_1", "get_weather", arguments)), answering("warm"))
    trial = await run_tools(wire, True, turns)
    assert trial.result.verdict == "passed"
    assert arguments_sent(wire, trial) == [("call_1", "get_weather", {}, f"Error: {reason}")]
    assert trial.calls[0].arguments == arguments


@in_every_protocol
async def test_a_retry_repeats_its_own_turn_only(wire: Wire, stream: bool) -> None:
    busy = status(503, {"error": {"message": "busy"}})
    trial = await run_tools(wire, stream, (calling(PARIS), busy, answering("warm")))
    assert trial.result.verdict == "passed"
    assert len(trial.bodies) == 3
    assert trial.bodies[1] == trial.bodies[2]
    assert len(trial.step.retries) == 1
    assert trial.step.tools_used == ("get_weather",)


@in_every_protocol
async def test_a_failure_of_a_later_turn_keeps_the_turns_before_it(wire: Wire, stream: bool) -> None:
    bad = status(400, {"error": {"message": "no"}})
    trial = await run_tools(wire, stream, (calling(PARIS, text="look"), bad))
    assert (trial.result.verdict, trial.attempt.fault) == ("error", "refused")
    step = trial.step
    assert (step.response, step.tools_used, len(trial.turns)) == ("", ("get_weather",), 1)
    assert step.usage == Usage()
    assert step.cost_usd is None


@in_every_protocol
async def test_a_server_that_refuses_tools_is_one_clear_error(wire: Wire, stream: bool) -> None:
    refusal = status(400, {"error": {"message": "mock-a does not support tools"}})
    trial = await run_tools(wire, stream, (refusal,))
    assert len(trial.bodies) == 1
    assert "refused the tools of the case (400): mock-a does not support tools" in str(trial.result.error)
    assert "Select a model that supports tools" in str(trial.result.error)


@in_every_protocol
async def test_the_time_limit_covers_all_turns(wire: Wire, stream: bool) -> None:
    def slow(wire: Wire, stream: bool) -> Reply:
        return replace(wire.calls(PARIS, text="", stream=stream), latency_s=0.3)

    trial = await run_tools(wire, stream, (slow,), tool_case(most=32), timeout_ms=1000)
    assert (trial.result.verdict, trial.result.error) == ("timed_out", "No complete answer within 1 s")
    assert len(trial.turns) < 5


@in_every_protocol
async def test_a_run_is_cancelled_between_turns(wire: Wire, stream: bool) -> None:
    control = Control()
    begun = asyncio.Event()

    def hangs(wire: Wire, stream: bool) -> Reply:
        del wire, stream
        begun.set()
        return Reply((HANG,))

    async def cancel() -> None:
        await begun.wait()
        control.cancel_all()

    running = asyncio.create_task(run_in(control, wire, stream, hangs))
    await cancel()
    trial = await running
    assert trial.result.verdict == "cancelled"
    assert (trial.step.tools_used, len(trial.turns)) == (("get_weather",), 1)


async def run_in(control: Control, wire: Wire, stream: bool, last: Any) -> ToolTrial:
    with control.running(TrialKey("case", "mock-a")):
        return await run_tools(wire, stream, (calling(PARIS), last), control=control)


@in_every_protocol
async def test_keys_are_removed_from_calls_and_turns(wire: Wire, stream: bool) -> None:
    call = Call("call_1", "get_weather", json.dumps({"city": KEY}))
    trial = await run_tools(wire, stream, (calling(call, text=f"the key is {KEY}"), answering("warm")))
    assert trial.result.verdict == "passed"
    assert KEY not in repr(trial.result)
    assert KEY not in repr(trial.events)


def test_the_first_fixed_result_that_fits_is_chosen() -> None:
    assert WEATHER.result_of({"city": "Paris", "unit": "C"}) == '{"temperature": 18}'
    assert WEATHER.result_of({"city": "paris"}) == "unknown city"
    assert CLOCK.result_of({}) == "noon"


async def test_reasoning_and_signatures_are_sent_back() -> None:
    chat, _, messages_wire = WIRES
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    piece = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    thinks = events(
        delta(reasoning_content="hm"),
        delta(reasoning_content="m", reasoning_details=details),
        delta(tool_calls=[{**piece, **signature}]),
        delta(finish="tool_calls"),
        "[DONE]",
    )
    trial = await run_tools(chat, True, (thinks, answering("warm")))
    assistant = next(item for item in trial.bodies[1]["messages"] if item["role"] == "assistant")
    assert (assistant["reasoning_content"], assistant["reasoning_details"]) == ("hmm", details)
    assert assistant["tool_calls"][0]["extra_content"] == signature["extra_content"]
    thought = messages.stream(
        messages.started(),
        messages.opened(0, "thinking"),
        messages.piece("thinking_delta", 0, thinking="hm"),
        messages.piece("signature_delta", 0, signature="c2ln"),
        messages.closed(0),
        messages.opened(1, "redacted_thinking", data="x"),
        messages.closed(1),
        messages.opened(2, "tool_use", id="call_1", name="get_time", input={}),
        messages.closed(2),
        messages.stopped("tool_use"),
        messages.OVER,
    )
    trial = await run_tools(messages_wire, True, (thought, answering("warm")))
    blocks = trial.bodies[1]["messages"][-2]["content"]
    assert blocks == [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "call_1", "name": "get_time", "input": {}},
    ]


async def test_calls_at_one_index_with_different_ids_are_two_calls() -> None:
    pieces = [
        {"index": 0, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in (PARIS, ROME)
    ]
    both = events(*(delta(tool_calls=[piece]) for piece in pieces), delta(finish="tool_calls"), "[DONE]")
    trial = await run_tools(WIRES[0], True, (both, answering("warm")))
    assert [call for call, _ in WIRES[0].sent_back(trial.bodies[1])] == [PARIS, ROME]


async def test_tools_of_the_server_are_not_answered() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "x"}},
        {"type": "text", "text": "It is warm."},
    ]
    body = messages.message(*blocks)
    trial = await run_tools(WIRES[2], False, (Reply((json.dumps(body).encode(),)),))
    assert (trial.result.verdict, len(trial.bodies)) == ("passed", 1)
    assert (trial.step.tools_used, trial.turns) == (("web_search",), [])


@in_every_protocol
async def test_calls_without_offered_tools_are_recorded_as_before(wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, (calling(PARIS, text="warm"),), tool_case(tools=()))
    assert (trial.result.verdict, len(trial.bodies)) == ("passed", 1)
    assert "tools" not in trial.bodies[0]
    assert (trial.step.tools_used, trial.turns) == (("get_weather",), [])


async def test_the_checks_of_a_later_turn_begin_again_while_it_streams() -> None:
    first_judged, second_judged = asyncio.Event(), asyncio.Event()
    call = ToolCall("get_time", awaits_result=True, id="call_1")

    def script_of(request: Request) -> Script:
        if not request.turns:
            return (Sent(), Text("a long and warm secret"), first_judged, call, End("tool_calls"))
        return (Sent(), Text("it is warm"), second_judged, End())

    checks = (Check("expected_pattern", "warm"), Check("forbidden_pattern", "secret"))
    events, checker = EventBuffer(), Checker()
    context = TrialContext({"a": ScriptedProvider(script_of)}, checker, FixedContext(), Secrets())
    order = TrialOrder(TrialKey("case", "a"), tool_case(*checks), subject_of("a"), 60_000, 1, stream=True)
    running = asyncio.create_task(run_trial(order, context, Control(), events))
    moved: list[CheckMoved] = []
    while not running.done():
        moved += [event for event in await events.take() if isinstance(event, CheckMoved)]
        if any(event.state == "forbidden" for event in moved):
            first_judged.set()
        if moved and moved[-1].spans == ((6, 10),):
            second_judged.set()
            await running
    assert [(event.check, event.state, event.spans) for event in moved] == [
        (0, "found", ((11, 15),)),
        (1, "forbidden", ((16, 22),)),
        (0, "found", ((6, 10),)),
    ]
    assert (await running).verdict == "passed"
    await checker.close()


async def test_a_later_turn_without_an_end_is_incomplete_although_the_first_one_ended() -> None:
    call = ToolCall("get_time", awaits_result=True, id="call_1")

    def script_of(request: Request) -> Script:
        return (Sent(), Text("it is warm")) if request.turns else (Sent(), call, End("tool_calls"))

    checker = Checker()
    context = TrialContext({"a": ScriptedProvider(script_of)}, checker, FixedContext(), Secrets())
    case = tool_case(Check("expected_pattern", "warm"))
    order = TrialOrder(TrialKey("case", "a"), case, subject_of("a"), 60_000, 1, stream=True)
    result = await run_trial(order, context, Control(), EventBuffer())
    assert (result.verdict, result.error) == (
        "incomplete",
        "The answer ended without an end marker and may be incomplete",
    )
    await checker.close()


async def test_calls_of_a_turn_that_stopped_early_are_not_answered() -> None:
    piece = {"index": 0, "id": "c", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    cut = events(delta("warm", tool_calls=[piece]), delta(finish="length"), "[DONE]")
    trial = await run_tools(WIRES[0], True, (cut,))
    assert (trial.result.verdict, len(trial.bodies)) == ("incomplete", 1)
    assert trial.result.error == "The answer stopped early: token limit (length)"
    assert trial.step.tools_used == ("get_time",)


@in_every_protocol
async def test_a_step_without_text_is_no_message_of_the_next_one(wire: Wire, stream: bool) -> None:
    case = tool_case(USED, most=1)
    steps = (*case.steps, Step("And now?", (Check("expected_pattern", "warm"),)))
    trial = await run_tools(wire, stream, (calling(PARIS), answering("warm")), replace(case, steps=steps))
    assert trial.result.verdict == "passed"
    messages_sent = trial.bodies[1].get("messages") or trial.bodies[1]["input"]
    assert [message["role"] for message in messages_sent] == ["user", "user"]


async def test_no_case_has_more_turns_than_a_suite_may_allow() -> None:
    trial = await run_tools(WIRES[0], True, (calling(PARIS),), tool_case(most=1_000))
    assert (trial.result.verdict, len(trial.bodies)) == ("incomplete", 32)


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("search", "{}", extra={"x": "y" * 600_000}),
        ToolCall("search", "{}", id="x" * 600_000),
        ToolCall("x" * 600_000, "{}"),
    ],
    ids=("extra", "id", "name"),
)
def test_everything_that_is_sent_back_with_a_call_counts(call: ToolCall) -> None:
    conversation = ToolConversation([OfferedTool("search", result="rain")], 5)
    conversation.answer("", [call], None)
    with pytest.raises(NotContinued, match="longer than"):
        conversation.answer("", [call], None)
