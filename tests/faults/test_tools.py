"""Servers that misbehave while a model calls tools: what becomes of the trial, in every protocol."""

import json
from dataclasses import dataclass, replace

import pytest

from tests.faults.fault_server import without_host
from tests.faults.wires import Call, Wire
from tests.support.replies import CLOSE, Reply
from tests.support.tool_trials import COMBINATIONS, NAMES, PARIS, Turn, answering, calling, run_tools
from tui.model.errors import ProviderFault
from tui.model.results import Verdict

MIB = 1024 * 1024
SAVED = ". The partial answer is saved; run the case again."
HOSTILE = "\x1b]52;c;eA==\x07\u202e\nget_weather"
LOST = "The connection to HOST was lost during the answer"


@dataclass(frozen=True, slots=True)
class ToolMode:
    """A way to misbehave: the turns, and what becomes of the trial.

    `tools` is the number of calls that are recorded, `requests` the number of requests.
    """

    name: str
    turns: tuple[Turn, ...]
    verdict: Verdict
    fault: ProviderFault | None = None
    error: str | None = None
    requests: int = 2
    tools: int = 1
    text: str = "warm"
    event_size: int = MIB

    def __str__(self) -> str:
        return self.name


def cut(turn: Turn, marker: str) -> Turn:
    """Return a turn whose connection ends after these characters of its arguments."""

    def broken(wire: Wire, stream: bool) -> Reply:
        reply = turn if isinstance(turn, Reply) else turn(wire, stream)
        data = b"".join(move for move in reply.body if isinstance(move, bytes))
        at = data.index(marker.encode()) + len(marker)
        return replace(reply, body=(data[:at], CLOSE), framing="length", length=len(data), wire=None)

    return broken


def calls(count: int) -> tuple[Call, ...]:
    return tuple(Call(f"call_{number}", "get_weather", "{}") for number in range(count))


def long_call(size: int) -> Call:
    return Call("call_1", "get_weather", json.dumps({"city": "x" * size}))


LIMIT = "The model still called tools after 8 turns, the limit of the case"
TOO_LONG = "The calls of tools and their results are longer than 1,000,000 characters"
MODES = [
    ToolMode("fine", (calling(PARIS), answering("warm")), "passed"),
    ToolMode(
        "cut in the arguments", (cut(calling(PARIS), "Pa"), calling(PARIS), answering("warm")), "passed", requests=3
    ),
    ToolMode(
        "cut in the arguments of a later turn",
        (calling(PARIS), cut(calling(PARIS), "Pa"), calling(PARIS), answering("warm")),
        "passed",
        requests=4,
        tools=2,
    ),
    ToolMode(
        "cut in the answer after a turn",
        (calling(PARIS), cut(answering("warm and"), "warm")),
        "error",
        "unreachable",
        LOST,
        requests=6,
        text="",
    ),
    ToolMode("endless calls", (calling(PARIS),), "incomplete", "incomplete", LIMIT, requests=8, tools=8, text=""),
    ToolMode(
        "duplicate ids",
        (calling(PARIS, PARIS._replace(arguments="{}"), PARIS), answering("warm")),
        "passed",
        tools=3,
    ),
    ToolMode(
        "empty ids", (calling(*(call._replace(id="") for call in calls(3))), answering("warm")), "passed", tools=3
    ),
    ToolMode("128 calls", (calling(*calls(128)), answering("warm")), "passed", tools=128),
    ToolMode(
        "2,000 calls",
        (calling(*calls(2_000)),),
        "incomplete",
        "incomplete",
        "The model called 2,000 tools in one turn; at most 128 are answered",
        requests=1,
        tools=2_000,
        text="",
        event_size=16 * MIB,
    ),
    ToolMode(
        "arguments of 4 MiB",
        (calling(long_call(4 * MIB)),),
        "incomplete",
        "incomplete",
        TOO_LONG,
        requests=1,
        text="",
        event_size=16 * MIB,
    ),
    ToolMode(
        "arguments that grow with each turn",
        (calling(long_call(300_000)),),
        "incomplete",
        "incomplete",
        TOO_LONG,
        requests=4,
        tools=4,
        text="",
    ),
    ToolMode(
        "names with control characters",
        (calling(PARIS._replace(name=HOSTILE), PARIS._replace(name="")), answering("warm")),
        "passed",
        tools=2,
    ),
    ToolMode("a name of 1 MB", (calling(PARIS._replace(name="x" * 400_000)), answering("warm")), "passed"),
    ToolMode(
        "an empty answer after a turn",
        (calling(PARIS), answering(" ")),
        "error",
        "empty",
        "empty answer",
        text=" ",
    ),
]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(("wire", "stream"), COMBINATIONS, ids=NAMES)
async def test_a_conversation_with_tools(mode: ToolMode, wire: Wire, stream: bool) -> None:
    trial = await run_tools(wire, stream, mode.turns, limits={"event_size": mode.event_size})
    result, step = trial.result, trial.step
    error = None if result.error is None else without_host(result.error)
    seen = (result.verdict, trial.attempt.fault, error, len(trial.bodies), len(step.tools_used), step.response)
    assert seen == (mode.verdict, mode.fault, mode.error, mode.requests, mode.tools, mode.text)
    for body in trial.bodies[1:]:
        sent = wire.sent_back(body)
        identities = [call.id for call, _ in sent]
        assert len(set(identities)) == len(identities)
        assert all(call.name.isascii() and call.name.isprintable() and 0 < len(call.name) <= 64 for call, _ in sent)


@pytest.mark.parametrize(("wire", "stream"), COMBINATIONS, ids=NAMES)
async def test_arguments_longer_than_an_answer_may_be(wire: Wire, stream: bool) -> None:
    limits = {"event_size": 64 * MIB, "answer_size": 16 * MIB}
    trial = await run_tools(wire, stream, (calling(long_call(16 * MIB)),), limits=limits)
    error = without_host(str(trial.result.error))
    if stream:
        assert (trial.result.verdict, error) == ("incomplete", "The answer was truncated at 16 MiB")
    else:
        assert (trial.result.verdict, error) == ("error", "HOST sent more than 16 MiB in one response")
    assert (trial.step.tools_used, trial.step.tool_calls) == ((), ())
