"""The protocol of all providers: answer a request in chunks."""

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from tui.model.provider_messages import Chunk, Request


class Provider(Protocol):
    """A model's server, a local model, an agent, or a recording.

    `ask` is an async generator. It yields `Sent` each time a request goes out, `Waiting` before each transport retry,
    and `End` when the answer is complete; otherwise it raises ProviderError after yielding everything that had
    arrived. Closing the generator (or cancelling the task) stops the work at once.
    """

    def ask(self, request: Request) -> AsyncIterator[Chunk]:
        """Run one step and yield its answer in chunks."""
        ...

    async def models(self) -> tuple[str, ...]:
        """Return the available model ids, sorted; empty if the provider cannot list them. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close connections and processes. Nothing is left running."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """A provider whose queue stops permanently when a key is rejected."""

    def reopen(self) -> None:
        """Accept requests again: a new run may follow after the user has fixed the key."""
        ...


@runtime_checkable
class Limits(Protocol):
    """A provider that lowers its concurrency when its server refuses requests, and reports that by `Limited`."""

    def allow(self, most: int) -> int:
        """Limit the concurrent requests of all callers and return the current limit."""
        ...
