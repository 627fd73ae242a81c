"""Requests to a model server, and everything that one answer contained."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, NoteChunk, Reasoning, Request, Text, Waiting
from tui.model.results import Message, Prompt, TrialKey
from tui.model.subjects import ProviderSettings, Settings, Subject
from tui.providers.protocol import Provider

KEY = "sk-Test-0123456789aBcDeF"


def a_request(
    text: str = "hi",
    *,
    model: str = "mock-a",
    stream: bool = True,
    settings: Settings | None = None,
    messages: Sequence[Message] = (),
) -> Request:
    """Return a request to a chat model."""
    subject = Subject(f"openai/{model}", "openai", model, settings or Settings())
    prompt = Prompt(text, tuple(messages) or (Message("user", text),))
    return Request(subject, prompt, TrialKey("case", subject.name), stream=stream)


def server_settings(url: str, *, key: str | None = KEY, **more: object) -> ProviderSettings:
    """Return the settings of a server, with a key by default."""
    return ProviderSettings("openai", "openai", url, key, "OPENAI_API_KEY", **more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Heard:
    """All chunks of one answer, and the error that ended it."""

    chunks: tuple[Chunk, ...]
    error: ProviderError | None

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(chunk.text for chunk in self.chunks if isinstance(chunk, Text))

    @property
    def reasoning(self) -> str:
        """The reasoning."""
        return "".join(chunk.text for chunk in self.chunks if isinstance(chunk, Reasoning))

    @property
    def waits(self) -> list[Waiting]:
        """The transport retries."""
        return [chunk for chunk in self.chunks if isinstance(chunk, Waiting)]

    @property
    def notes(self) -> list[str]:
        """The notes."""
        return [chunk.note for chunk in self.chunks if isinstance(chunk, NoteChunk)]

    @property
    def end(self) -> str | None:
        """The finish reason; None where the answer did not end."""
        return next((chunk.reason for chunk in self.chunks if isinstance(chunk, End)), None)

    def count(self, kind: type) -> int:
        """Return the number of chunks of a type."""
        return sum(isinstance(chunk, kind) for chunk in self.chunks)


async def hear(provider: Provider, request: Request) -> Heard:
    """Send a request, and return its whole answer."""
    return await hear_chunks(provider.ask(request))


async def hear_chunks(answer: AsyncIterator[Chunk]) -> Heard:
    """Return all chunks until the end or the error."""
    chunks: list[Chunk] = []
    try:
        async for chunk in answer:
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    except ProviderError as error:
        return Heard(tuple(chunks), error)
    return Heard(tuple(chunks), None)


def joined(chunks: Iterable[Chunk]) -> str:
    """Return the text in these chunks."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, Text))
