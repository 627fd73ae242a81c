"""What every provider is: something that answers a request in chunks."""

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from tui.model.provider_messages import Chunk, Request


class Provider(Protocol):
    """A model's server, a local model, an agent, or a recording.

    `ask` is an async generator. It yields `Sent` each time a request goes out, `Waiting` before each transport retry,
    and `End` when the answer is complete; it raises ProviderError otherwise, with everything that had
    arrived already yielded. Closing the generator (or cancelling the task) stops the work at once.
    """

    def ask(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one step."""
        ...

    async def models(self) -> tuple[str, ...]:
        """The ids that can be asked for, sorted; empty where the provider cannot tell. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes. Nothing of it is left running."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """A provider whose queue stops for good where a key is refused."""

    def reopen(self) -> None:
        """Ask again: a new run may follow because a person has mended what was refused."""
        ...


@runtime_checkable
class Limits(Protocol):
    """A provider that is asked less at once where its server refuses more; it tells so by `Limited`."""

    def allow(self, most: int) -> int:
        """So many questions at once at most, for all that ask it; how many it is just now."""
        ...
