"""The request to a provider, and the typed chunks of its answer."""

from dataclasses import dataclass, field
from typing import Literal

from tui.model.results import Prompt, RecordedFigures, ServedBy, ToolUse, TrialKey, Usage
from tui.model.subjects import Subject
from tui.model.tools import AnsweredTurn, OfferedTool
from tui.model.values import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Request:
    """The request for one step.

    `prompt` is the whole conversation; an agent receives `memory` and `prompt.input`. With `stream` False a provider
    may answer in one chunk; `last` is true for the last step of the case. `tools` are offered to the model, and `turns`
    are its earlier turns in this step, each with the results of its calls.
    """

    subject: Subject
    prompt: Prompt
    trial: TrialKey
    step: int = 0
    stream: bool = True
    memory: JsonObject = field(default_factory=dict)
    last: bool = False
    tools: tuple[OfferedTool, ...] = ()
    turns: tuple[AnsweredTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """The request was sent (again): the step's clock starts."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A try failed and the next one waits: the step's clock is paused. `reason` is one sentence."""

    reason: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class Limited:
    """The number of concurrent requests to the provider is now `limit`, with the ceiling `most`.

    `reason` explains why the limit was lowered, and is empty if it was raised.
    """

    limit: int
    most: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A chunk of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A chunk of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete tool call: the provider merges fragments. `arguments` and `result` are JSON or text, or empty.

    `awaits_result` says that the model waits for a result of this call, which the server calls `id`; `extra` are fields
    that the server needs back with the call.
    """

    name: str
    arguments: str = ""
    result: str = ""
    duration_ms: float | None = None
    awaits_result: bool = field(default=False, compare=False)
    id: str = field(default="", compare=False)
    extra: JsonObject | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TurnEcho:
    """What the provider needs back, besides text and calls, if the model continues after the results of its calls."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class CallTree:
    """All calls of the answer with their details, in place of those of the `ToolCall` chunks.

    The names of the `ToolCall` chunks remain what `tools_used` is compared with.
    """

    calls: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class MemoryChunk:
    """An agent's memory after the step; None leaves `Request.memory` unchanged."""

    memory: JsonValue


@dataclass(frozen=True, slots=True)
class UsageChunk:
    """The tokens that the provider counted; the last chunk counts."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class ServedByChunk:
    """What the server reports about itself; the last chunk counts."""

    by: ServedBy


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A note to record with the result, for example that the answer was cut at 16 MiB."""

    note: str


@dataclass(frozen=True, slots=True)
class RecordedChunk:
    """What is known of a recorded answer, by which its checks are decided instead of by the replay.

    `finish_reason` is the provider's word, None if it is unknown. If `has_only_text`, its tools and memory are unknown
    too. `stopped` says why its last calls were not answered. `prompt` is what was sent, with the files as they were
    then. `is_retry` says that the answer is that of a retry.
    """

    figures: RecordedFigures
    finish_reason: str | None
    has_only_text: bool = False
    stopped: str = ""
    prompt: Prompt | None = None
    is_retry: bool = False


FinishReason = Literal[
    "stop",
    "length",
    "context_window",
    "tool_calls",
    "content_filter",
    "refusal",
    "declined",
    "pause",
    "incomplete",
    "other",
]
"""Why an answer ended.

`refusal` is the provider's filter, `declined` a refusal in the model's own words, which is a complete answer;
`incomplete` is an early stop for an unknown reason. `tui.model.finish_reasons` lists the reasons of incomplete answers.
"""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a complete answer. A stream that ends without it is incomplete. None is an unknown reason."""

    reason: FinishReason | None = "stop"


Chunk = (
    Sent
    | Waiting
    | Limited
    | Text
    | Reasoning
    | ToolCall
    | CallTree
    | TurnEcho
    | MemoryChunk
    | UsageChunk
    | ServedByChunk
    | NoteChunk
    | RecordedChunk
    | End
)
