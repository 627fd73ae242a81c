"""A stand-in for the Copilot SDK: what of its module is used, by the names that github-copilot-sdk 1.0.27 has."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any, Final, Literal
from uuid import UUID, uuid4

SILENCE: Final = "silence"


class SessionEventType(Enum):
    """The events that a session sends; it has some hundred more."""

    SESSION_ERROR = "session.error"
    SESSION_IDLE = "session.idle"
    SESSION_WARNING = "session.warning"
    SESSION_TITLE_CHANGED = "session.title_changed"
    USER_MESSAGE = "user.message"
    ASSISTANT_TURN_START = "assistant.turn_start"
    ASSISTANT_REASONING = "assistant.reasoning"
    ASSISTANT_REASONING_DELTA = "assistant.reasoning_delta"
    ASSISTANT_MESSAGE = "assistant.message"
    ASSISTANT_MESSAGE_DELTA = "assistant.message_delta"
    ASSISTANT_USAGE = "assistant.usage"
    TOOL_EXECUTION_START = "tool.execution_start"
    TOOL_EXECUTION_COMPLETE = "tool.execution_complete"


@dataclass
class SessionEvent:
    """One event."""

    data: Any
    type: SessionEventType
    id: UUID = field(default_factory=uuid4)
    agent_id: str | None = None


@dataclass
class AssistantMessageDeltaData:
    """A piece of a message."""

    delta_content: str
    message_id: str = "m1"
    parent_tool_call_id: str | None = None


@dataclass
class AssistantReasoningDeltaData:
    """A piece of a thought."""

    delta_content: str
    reasoning_id: str = "r1"


@dataclass
class AssistantReasoningData:
    """A whole thought."""

    content: str
    reasoning_id: str = "r1"


@dataclass
class AssistantMessageData:
    """A whole message."""

    content: str
    message_id: str = "m1"
    reasoning_text: str | None = None
    output_tokens: int | None = None


@dataclass
class AssistantUsageData:
    """What one call of the model took."""

    model: str = "gpt-5.2"
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    finish_reason: str | None = None
    content_filter_triggered: bool | None = None


@dataclass
class ToolExecutionStartData:
    """A tool begins."""

    tool_call_id: str
    tool_name: str
    arguments: Any = None


@dataclass
class ToolExecutionCompleteData:
    """A tool is done."""

    success: bool
    tool_call_id: str


@dataclass
class SessionErrorData:
    """An error of the session."""

    error_type: str
    message: str
    error_code: str | None = None
    status_code: int | None = None


@dataclass
class SessionIdleData:
    """The session waits for the next message."""

    aborted: bool | None = None


@dataclass
class SessionWarningData:
    """A warning."""

    message: str
    warning_type: str = "x"


@dataclass
class GetStatusResponse:
    """What the runtime is."""

    version: str
    protocol_version: int = 3


@dataclass
class GetAuthStatusResponse:
    """Who is logged in; these names are in camel case in the SDK too."""

    isAuthenticated: bool
    authType: str | None = None
    statusMessage: str | None = None


@dataclass
class ModelPolicy:
    """Whether the account may use a model."""

    state: Literal["enabled", "disabled", "unconfigured"]
    terms: str = ""


@dataclass
class ModelInfo:
    """A model."""

    id: str
    name: str = ""
    capabilities: Any = None
    policy: ModelPolicy | None = None


_TYPES: dict[type, SessionEventType] = {
    AssistantMessageDeltaData: SessionEventType.ASSISTANT_MESSAGE_DELTA,
    AssistantReasoningDeltaData: SessionEventType.ASSISTANT_REASONING_DELTA,
    AssistantReasoningData: SessionEventType.ASSISTANT_REASONING,
    AssistantMessageData: SessionEventType.ASSISTANT_MESSAGE,
    AssistantUsageData: SessionEventType.ASSISTANT_USAGE,
    ToolExecutionStartData: SessionEventType.TOOL_EXECUTION_START,
    ToolExecutionCompleteData: SessionEventType.TOOL_EXECUTION_COMPLETE,
    SessionErrorData: SessionEventType.SESSION_ERROR,
    SessionIdleData: SessionEventType.SESSION_IDLE,
    SessionWarningData: SessionEventType.SESSION_WARNING,
}


def event(data: Any, kind: SessionEventType | None = None, agent_id: str | None = None) -> SessionEvent:
    """The event that carries this."""
    return SessionEvent(data, kind or _TYPES[type(data)], agent_id=agent_id)


def asked() -> SessionEvent:
    """What comes first: the message that was sent."""
    return event(SimpleNamespace(content="hi", message_id="u1"), SessionEventType.USER_MESSAGE)


def answer(*pieces: str, finish: str | None = "stop") -> list[Any]:
    """The events of an answer in these pieces."""
    deltas = [event(AssistantMessageDeltaData(piece)) for piece in pieces]
    whole = event(AssistantMessageData("".join(pieces)))
    counted = event(AssistantUsageData(input_tokens=7, output_tokens=3, reasoning_tokens=0, finish_reason=finish))
    return [asked(), *deltas, whole, counted, event(SessionIdleData())]


# What a session does with a prompt: send events, fail, or say nothing more.
Act = SessionEvent | Exception | Literal["silence"] | asyncio.Event
Script = Callable[[str], Sequence[Act]]


class FakeSession:
    """A session that goes by the script."""

    def __init__(self, client: "FakeClient", options: dict[str, Any]) -> None:
        self.session_id = str(uuid4())
        self.options, self.prompts = options, list[str]()
        self.aborted = self.disconnected = False
        self._client = client
        self._handlers: list[Callable[[SessionEvent], None]] = []
        self._acting: asyncio.Task[None] | None = None

    def on(self, handler: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear events."""
        self._handlers.append(handler)
        return lambda: self._handlers.remove(handler)

    async def send(self, prompt: str) -> str:
        """Begin to answer."""
        self._client.require_life()
        self.prompts.append(prompt)
        acts = list(self._client.sdk.script(prompt))
        if acts and isinstance(acts[0], Exception):
            raise acts[0]
        self._acting = asyncio.create_task(self._act(acts))
        return "u1"

    async def abort(self) -> None:
        """Stop the worker."""
        self.aborted = True
        if self._acting is not None:
            self._acting.cancel()

    async def disconnect(self) -> None:
        """Let go."""
        self.disconnected = True

    async def _act(self, acts: Sequence[Act]) -> None:
        for act in acts:
            if isinstance(act, asyncio.Event):
                await act.wait()
            elif isinstance(act, SessionEvent):
                for handler in tuple(self._handlers):
                    handler(act)
                await asyncio.sleep(0)


class FakeClient:
    """The SDK's client; the module that made it holds what it is told to be."""

    def __init__(self, sdk: "FakeSdk", options: dict[str, Any]) -> None:
        self.sdk, self.options = sdk, options
        self.sessions: list[FakeSession] = []
        self.deleted: list[str] = []
        self.running = self.killed = False

    def require_life(self) -> None:
        """Raises as the SDK does where the process has ended."""
        if self.killed or not self.running:
            raise RuntimeError("CLI process exited with code 1")

    async def start(self) -> None:
        """Start the process."""
        self.sdk.starts += 1
        if self.sdk.start_error is not None:
            raise self.sdk.start_error
        self.running = True

    async def get_status(self) -> GetStatusResponse:
        """Which runtime it is."""
        return GetStatusResponse("1.0.104")

    async def get_auth_status(self) -> GetAuthStatusResponse:
        """Who is logged in."""
        return self.sdk.login

    async def list_models(self) -> list[ModelInfo]:
        """The models."""
        self.require_life()
        return self.sdk.models

    async def ping(self, message: str | None = None) -> object:
        """Whether it lives."""
        self.require_life()
        return SimpleNamespace(message=message)

    async def create_session(self, **options: Any) -> FakeSession:
        """A conversation."""
        self.require_life()
        if self.sdk.session_error is not None:
            raise self.sdk.session_error
        session = FakeSession(self, options)
        self.sessions.append(session)
        return session

    async def delete_session(self, session_id: str) -> None:
        """Forget a conversation."""
        self.deleted.append(session_id)

    async def stop(self) -> None:
        """End the process."""
        if self.sdk.stop_error is not None:
            raise self.sdk.stop_error
        self.running = False

    async def force_stop(self) -> None:
        """Kill it."""
        self.running = False


class FakeSdk:
    """Stands for the module `copilot`."""

    __version__ = "1.0.27"
    RuntimeConnection = SimpleNamespace(for_stdio=lambda: "stdio")

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or (lambda _: answer("o", "k"))
        self.clients: list[FakeClient] = []
        self.starts = 0
        self.login = GetAuthStatusResponse(True, "token")
        self.models: list[ModelInfo] = []
        self.make_error: Exception | None = None
        self.start_error: Exception | None = None
        self.session_error: Exception | None = None
        self.stop_error: Exception | None = None

    def CopilotClient(self, **options: Any) -> FakeClient:
        """The SDK's class."""
        if self.make_error is not None:
            raise self.make_error
        self.clients.append(FakeClient(self, options))
        return self.clients[-1]
