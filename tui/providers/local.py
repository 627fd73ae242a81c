"""Small real models on this machine: no key, no network."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, Request
from tui.model.subjects import Settings
from tui.providers.local_files import ModelFile, bundled_model, find_model
from tui.providers.processes.environ import without_keys

if TYPE_CHECKING:
    from tui.providers.local_server import LocalServer


class LocalProvider:
    """Serves each model file by one process, started by the first question and shared by all that follow.

    As many answers stream at once as the server has slots; the others wait before their clock starts. An answer
    depends on its prompt and settings only: with `temperature=0` or a `seed` it is the same each time.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = without_keys(os.environ if environ is None else environ)
        self._servers: dict[Path, asyncio.Task[LocalServer]] = {}

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """One answer. Raises ProviderError: `not_found` with what to install, `crashed` where the server died; the
        next question starts it again."""
        model = find_model(request.subject.model_id)
        server = await self._server(model)
        async with server.room:
            try:
                async with aclosing(server.chat.ask(_with_defaults(request, model))) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except ProviderError as error:
                if error.fault not in ("unreachable", "incomplete"):
                    raise
                raise (await server.death() or error) from None

    async def models(self) -> tuple[str, ...]:
        """The bundled model. Raises ProviderError, which says what to install."""
        return (bundled_model().name,)

    async def close(self) -> None:
        """End every server; returns when they are gone."""
        starting = list(self._servers.values())
        self._servers.clear()
        for task in starting:
            task.cancel()
        for server in await asyncio.gather(*starting, return_exceptions=True):
            if not isinstance(server, BaseException):
                await server.close()

    async def _server(self, model: ModelFile) -> "LocalServer":
        """The server of this file. Whoever asks first starts it; that one giving up does not stop the start."""
        task = self._servers.get(model.path)
        if task is None or _is_over(task):
            task = self._servers[model.path] = asyncio.create_task(self._start(model, task))
        return await asyncio.shield(task)

    async def _start(self, model: ModelFile, before: "asyncio.Task[LocalServer] | None") -> "LocalServer":
        if before is not None and not before.cancelled() and before.exception() is None:
            await before.result().close()
        from tui.providers.local_server import LocalServer  # brings the HTTP library

        return await LocalServer.start(model, self._environ)


def _is_over(start: "asyncio.Task[LocalServer]") -> bool:
    if not start.done():
        return False
    return start.cancelled() or start.exception() is not None or not start.result().is_alive


def _with_defaults(request: Request, model: ModelFile) -> Request:
    """The request with the model's defaults for what it leaves open."""
    given = request.subject.settings
    names = (field.name for field in fields(Settings) if getattr(given, field.name) is None)
    defaults = {name: getattr(model.defaults, name) for name in names}
    return replace(request, subject=replace(request.subject, settings=replace(given, **defaults)))
