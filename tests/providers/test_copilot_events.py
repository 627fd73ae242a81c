"""The events of a Copilot session as chunks."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.copilot_sdk import (
    AssistantMessageData,
    AssistantMessageDeltaData,
    AssistantReasoningData,
    AssistantReasoningDeltaData,
    AssistantUsageData,
    SessionErrorData,
    SessionEvent,
    SessionEventType,
    SessionIdleData,
    SessionWarningData,
    ToolExecutionCompleteData,
    ToolExecutionStartData,
    answer,
    asked,
    event,
)
from tui.model.provider_messages import (
    Chunk,
    FinishReason,
    NoteChunk,
    Reasoning,
    ServedByChunk,
    Text,
    ToolCall,
    UsageChunk,
)
from tui.model.results import ServedBy, Usage
from tui.providers.copilot_events import CopilotDecoder
from tui.providers.http.decoder import AnswerTooLong
from tui.providers.http.errors import TryFailed

IDLE = event(SessionIdleData())
MODEL = ServedByChunk(ServedBy("gpt-5.2"))


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def delta(text: str, message: str = "m1") -> SessionEvent:
    return event(AssistantMessageDeltaData(text, message))


def whole(text: str, message: str = "m1", **more: Any) -> SessionEvent:
    return event(AssistantMessageData(text, message, **more))


def counted(**counts: Any) -> SessionEvent:
    return event(AssistantUsageData(**counts))


ANSWERS: dict[str, tuple[Sequence[SessionEvent], list[Chunk], FinishReason | None]] = {
    "an answer": (answer("Grüß ", "Gott"), [Text("Grüß Gott"), MODEL, UsageChunk(Usage(7, 3, 0))], "stop"),
    "a message without deltas": ([asked(), whole("a"), IDLE], [Text("a")], "stop"),
    "a character in two halves, which the message repeats": (
        [delta("a \ud83c"), delta("\udf89"), whole("a 🎉 b"), IDLE],
        [Text("a 🎉 b")],
        "stop",
    ),
    "half a character, which the message completes": ([delta("a \ud83c"), whole("a 🎉"), IDLE], [Text("a 🎉")], "stop"),
    "a message of which deltas are missing": ([delta("ab"), whole("abcd"), IDLE], [Text("abcd")], "stop"),
    "a message that differs from its deltas": ([delta("ab"), whole("xy"), IDLE], [Text("ab")], "stop"),
    "two messages": (
        [delta("a"), whole("a"), delta("b", "m2"), delta("c", "m2"), whole("bc", "m2"), IDLE],
        [Text("a\n\nbc")],
        "stop",
    ),
    "two messages without deltas": ([whole("a"), whole("b", "m2"), IDLE], [Text("a\n\nb")], "stop"),
    "a thought in deltas and whole": (
        [
            event(AssistantReasoningDeltaData("h")),
            event(AssistantReasoningDeltaData("m")),
            event(AssistantReasoningData("hm")),
            delta("a"),
            whole("a", reasoning_text="hm"),
            IDLE,
        ],
        [Reasoning("hm"), Text("a")],
        "stop",
    ),
    "a thought that comes with the message": (
        [whole("a", reasoning_text="hm"), IDLE],
        [Reasoning("hm"), Text("a")],
        "stop",
    ),
    "calls of the model are added up": (
        [counted(input_tokens=7, output_tokens=3), counted(input_tokens=10, output_tokens=2, reasoning_tokens=1), IDLE],
        [MODEL, UsageChunk(Usage(7, 3, None)), UsageChunk(Usage(17, 5, 1))],
        "stop",
    ),
    "nothing is counted": ([counted(), IDLE], [MODEL, UsageChunk(Usage(None, None, None))], "stop"),
    "a tool": (
        [
            event(ToolExecutionStartData("t", "look", {"a": 1})),
            event(ToolExecutionCompleteData(True, "t")),
            event(ToolExecutionStartData("u", "wait")),
            event(ToolExecutionStartData("v", "dig", nested(990))),
            delta("a"),
            IDLE,
        ],
        [ToolCall("look", '{"a": 1}'), ToolCall("wait", ""), ToolCall("dig", ""), Text("a")],
        "stop",
    ),
    "a warning": ([event(SessionWarningData("old\x1b[31m")), IDLE], [NoteChunk("Copilot warned: old␛[31m")], "stop"),
    "another agent is not heard": (
        [
            event(AssistantMessageDeltaData("no"), agent_id="sub"),
            event(SessionIdleData(), agent_id="sub"),
            delta("a"),
            IDLE,
        ],
        [Text("a")],
        "stop",
    ),
    "idle before the question is not its end": ([IDLE, asked(), delta("a"), IDLE], [Text("a")], "stop"),
    "nothing after the end": ([delta("a"), IDLE, delta("b")], [Text("a")], "stop"),
    "unknown events": (
        [event(SimpleNamespace(x=1), SessionEventType.SESSION_TITLE_CHANGED), delta("a")],
        [Text("a")],
        None,
    ),
    "half a character": ([delta("x\ud83c"), IDLE], [Text("x"), Text("\ufffd")], "stop"),
}  # fmt: skip


@pytest.mark.parametrize(("events", "chunks", "finish"), ANSWERS.values(), ids=ANSWERS)
def test_events_become_chunks(events: Sequence[SessionEvent], chunks: list[Chunk], finish: FinishReason | None) -> None:
    decoder = CopilotDecoder(1000)
    for one in events:
        decoder.take_event(one)
    assert (decoder.take(), decoder.finish) == (chunks, finish)


@pytest.mark.parametrize(
    ("counts", "finish"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "end_turn"}, "stop"),
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "max_tokens"}, "length"),
        ({"finish_reason": "content_filter"}, "content_filter"),
        ({"finish_reason": "stop", "content_filter_triggered": True}, "content_filter"),
        ({"finish_reason": "refusal"}, "refusal"),
        ({"finish_reason": "something new"}, "other"),
        ({"finish_reason": None}, "stop"),
    ],
)
def test_finish_reasons(counts: dict[str, Any], finish: FinishReason) -> None:
    decoder = CopilotDecoder(1000)
    for one in (delta("a"), counted(**counts), IDLE):
        decoder.take_event(one)
    assert decoder.finish == finish


LOGIN = "Set COPILOT_GITHUB_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token of an account with Copilot access."
REFUSED = f"Copilot rejected the login: m. {LOGIN}"
ERRORS: list[tuple[SessionErrorData, str, str, int, str]] = [
    (SessionErrorData("authentication", "m"), "unauthorized", REFUSED, 1, "stop"),
    (SessionErrorData("query", "m", None, 401), "unauthorized", REFUSED, 1, "stop"),
    (SessionErrorData("query", "m", None, 403), "unauthorized", f"Copilot denied access: m. {LOGIN}", 1, "none"),
    (SessionErrorData("authorization", "m"), "unauthorized", f"Copilot denied access: m. {LOGIN}", 1, "none"),
    (
        SessionErrorData("quota", "m", "quota_exceeded"),
        "refused",
        "The Copilot quota is used up: m. Check the plan of this GitHub account.",
        1,
        "none",
    ),
    (SessionErrorData("rate_limit", "m"), "overloaded", "Copilot rate limit reached: m", 5, "pause"),
    (SessionErrorData("query", "m", None, 429), "overloaded", "Copilot rate limit reached: m", 5, "pause"),
    (SessionErrorData("query", "m", None, 502), "overloaded", "Copilot failed (502): m", 5, "none"),
    (SessionErrorData("context_limit", "too\nlong"), "refused", "Copilot sent an error: too long", 1, "none"),
    (SessionErrorData("query", "x" * 400), "refused", "Copilot sent an error: " + "x" * 299 + "…", 1, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "fault", "words", "tries", "effect"), ERRORS)
def test_an_error(data: SessionErrorData, fault: str, words: str, tries: int, effect: str) -> None:
    decoder = CopilotDecoder(1000, tries=5)
    decoder.take_event(delta("a"))
    with pytest.raises(TryFailed) as caught:
        decoder.take_event(event(data))
    failed = caught.value
    assert (failed.error.fault, str(failed.error), failed.tries, failed.effect) == (fault, words, tries, effect)
    assert decoder.take() == [Text("a")]


def test_an_answer_that_is_given_up_is_incomplete() -> None:
    decoder = CopilotDecoder(1000)
    decoder.take_event(delta("a"))
    with pytest.raises(TryFailed) as caught:
        decoder.take_event(event(SessionIdleData(aborted=True)))
    assert caught.value.error.fault == "incomplete"


def test_an_answer_over_the_limit_is_cut_there() -> None:
    decoder = CopilotDecoder(3)
    with pytest.raises(AnswerTooLong):
        decoder.take_event(delta("abcd"))
    assert decoder.take() == [Text("abc")]
