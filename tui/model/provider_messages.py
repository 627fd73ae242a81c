"""What a provider is asked, and the typed pieces in which it answers."""

from dataclasses import dataclass, field
from typing import Literal

from tui.model.results import Prompt, ServedBy, TrialKey, Usage
from tui.model.subjects import Subject
from tui.model.values import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Request:
    """One step to be answered. `prompt` is the whole conversation; `memory` and `prompt.input` are what an agent gets.
    `stream` False lets a provider answer in one piece; `last` says that no step of the case follows."""

    subject: Subject
    prompt: Prompt
    trial: TrialKey
    step: int = 0
    stream: bool = True
    memory: JsonObject = field(default_factory=dict)
    last: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """The request has just gone out (again): the step's clock starts."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A try failed and the next one waits: the step's clock stands still. `reason` is one sentence."""

    reason: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class Limited:
    """The provider is asked so many questions at once from now on, `most` is the ceiling; `reason` says why it was
    narrowed, and is empty where it grew."""

    limit: int
    most: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of what the model thought aloud."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that was called, whole: fragments are merged by the provider."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class MemoryChunk:
    """An agent's memory after the step; None means that it named none and `Request.memory` stands."""

    memory: JsonValue


@dataclass(frozen=True, slots=True)
class UsageChunk:
    """Tokens, as the provider counts them; the last one that arrives holds."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class ServedByChunk:
    """What the server says of itself; the last one that arrives holds."""

    by: ServedBy


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """Something to record with the result, for example that the answer was cut at 16 MiB."""

    note: str


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
"""Why an answer ended. `refusal` is the provider's filter, `declined` a refusal in the model's own words, which is a
whole answer; `incomplete` is an early stop for a reason that we do not know. `tui.model.finish_reasons` says which of
them mean that the answer is not whole."""


@dataclass(frozen=True, slots=True)
class End:
    """The answer is complete. A stream that ends without this is incomplete."""

    reason: FinishReason = "stop"


Chunk = (
    Sent | Waiting | Limited | Text | Reasoning | ToolCall | MemoryChunk | UsageChunk | ServedByChunk | NoteChunk | End
)
