"""GitHub Copilot through its official SDK: an agent and its model are measured together, without tools."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from typing import Any

from tui.model.environ import without_keys
from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, NoteChunk, Request
from tui.model.results import TrialKey
from tui.model.subjects import ProviderSettings
from tui.providers.copilot_events import CopilotDecoder
from tui.providers.copilot_runtime import CopilotRuntime, load_sdk
from tui.providers.http.decoder import AnswerTooLong, split_system
from tui.providers.http.errors import TryFailed
from tui.providers.http.limits import MIB, RetryLimits
from tui.providers.http.retry import Tries

_GOODBYE_S = 5.0


class Talk:
    """A Copilot session without tools; its system message is the case's own if it has one."""

    def __init__(self, runtime: CopilotRuntime, session: Any, patience: RetryLimits) -> None:
        self._runtime, self._session, self._patience = runtime, session, patience
        self.is_over = False

    @classmethod
    async def open(cls, runtime: CopilotRuntime, request: Request, patience: RetryLimits) -> "Talk":
        """Open a new session for this model. Raises TryFailed."""
        system, _ = split_system(request.prompt.messages)
        session = await runtime.call(
            runtime.client.create_session(
                model=request.subject.model_id,
                streaming=request.stream,
                available_tools=[],
                system_message=None if system is None else {"mode": "replace", "content": system},
                on_permission_request=_deny,
                infinite_sessions={"enabled": False},
            )
        )
        return cls(runtime, session, patience)

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Send the last turn of the conversation and yield its answer, `End` last. Raises TryFailed."""
        loop, events = asyncio.get_running_loop(), asyncio.Queue[Any]()
        decoder = CopilotDecoder(self._patience.answer_size, 1 if request.step else self._patience.tries)
        # The SDK may call from another thread.
        forget = self._session.on(lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
        self.is_over = True
        try:
            await self._runtime.call(self._session.send(request.prompt.messages[-1].content))
            while decoder.finish is None:
                wrong = _decode(decoder, [await self._next(events), *_waiting(events)])
                for chunk in decoder.take():
                    yield chunk
                if isinstance(wrong, AnswerTooLong):
                    note = f"The answer was truncated at {self._patience.answer_size / MIB:.3g} MiB"
                    yield NoteChunk(note)
                    raise TryFailed(ProviderError("incomplete", note))
                if wrong is not None:
                    raise wrong
            self.is_over = request.last
            yield End(decoder.finish)
        finally:
            forget()

    async def close(self) -> None:
        """Abort a pending answer and delete the session."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_GOODBYE_S):
                await self._session.abort()
                await self._session.disconnect()
                await self._runtime.client.delete_session(self._session.session_id)

    async def _next(self, events: asyncio.Queue[Any]) -> Any:
        """Return the next event; after a silence, check that the runtime is alive: the SDK does not report its end."""
        silent_s = 0.0
        while silent_s < self._patience.think_s:
            try:
                async with asyncio.timeout(self._patience.pulse_s):
                    return await events.get()
            except TimeoutError:
                silent_s += self._patience.pulse_s
            if (words := await self._runtime.exit_reason()) is not None:
                raise self._runtime.exit_failure(words)
        raise TryFailed(ProviderError("silent", f"Copilot sent nothing for {self._patience.think_s:g} s"))


def _waiting(events: asyncio.Queue[Any]) -> list[Any]:
    return [events.get_nowait() for _ in range(events.qsize())]


def _decode(decoder: CopilotDecoder, events: list[Any]) -> TryFailed | AnswerTooLong | None:
    """Decode events and return the first error, if any; chunks decoded before it can still be taken."""
    try:
        for event in events:
            decoder.take_event(event)
    except (TryFailed, AnswerTooLong) as wrong:
        return wrong
    return None


def _deny(*_: Any) -> Any:
    """Deny every permission request; there are no tools, so none should come. The SDK turns this into a denial."""
    raise PermissionError("Assay permits no tools")


_UNSENT = ("temperature", "top_p", "seed", "max_tokens")


class CopilotProvider:
    """The provider of Copilot's runtime, which the first request starts and later ones share.

    Each case is a session of its own, and its steps are the session's turns. The software that answered (SDK,
    runtime, mode, tools) is recorded with each answer.

    The runtime gets `environ` without variables that look like keys and without `secrets`, and the token of the
    settings, else the user's own login. `sdk` is the SDK's module, imported on first use.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        environ: Mapping[str, str] | None = None,
        *,
        secrets: Collection[str] = (),
        sdk: Any = None,
        patience: RetryLimits | None = None,
    ) -> None:
        self._settings, self._sdk, self._patience = settings, sdk, patience or RetryLimits()
        self._environ = without_keys(os.environ if environ is None else environ, secrets)
        self._tries = Tries(self._patience, (settings.api_key or "", *secrets))
        self._starting: asyncio.Task[CopilotRuntime] | None = None
        self._talks: dict[TrialKey, Talk] = {}
        self._farewells: set[asyncio.Task[None]] = set()

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Run one step. Raises ProviderError.

        The error is `not_found` without the SDK, `crashed` with the SDK's message if the runtime is missing, and
        `unauthorized` if nobody is logged in; the same error is raised for every request until `reopen`.
        """
        runtime = await self._runtime()
        for note in _notes(runtime, request):
            yield NoteChunk(note)
        async with aclosing(self._tries.ask(lambda: self._try(runtime, request))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def models(self) -> tuple[str, ...]:
        """Return the models that this account may use, sorted, without embedding models. Raises ProviderError."""
        runtime = await self._runtime()
        try:
            found = await runtime.call(runtime.client.list_models())
        except TryFailed as failed:
            raise self._tries.cleaned(failed.error) from None
        return tuple(sorted({model.id for model in found if _is_offered(model)}))

    def allow(self, most: int) -> int:
        """Limit the concurrent requests and return the current limit."""
        return self._tries.allow(most)

    def reopen(self) -> None:
        """Accept requests again after a rejected login, and retry a failed start."""
        self._tries.reopen()
        if self._starting is not None and _has_failed(self._starting):
            self._starting = None

    async def close(self) -> None:
        """End every session and the runtime; return when it has ended."""
        talks, self._talks = list(self._talks.values()), {}
        await asyncio.gather(*(talk.close() for talk in talks), *self._farewells)
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            (started,) = await asyncio.gather(starting, return_exceptions=True)
            if isinstance(started, CopilotRuntime):
                await started.close()

    async def _runtime(self) -> CopilotRuntime:
        """Return the runtime. The first request starts it; cancelling that request does not cancel the start."""
        before = self._starting
        if before is None or (not _has_failed(before) and before.done() and before.result().is_lost):
            self._starting = asyncio.create_task(self._start(before))
        assert self._starting is not None
        try:
            return await asyncio.shield(self._starting)
        except ProviderError as error:
            raise self._tries.cleaned(error) from None

    async def _start(self, before: "asyncio.Task[CopilotRuntime] | None") -> CopilotRuntime:
        if before is not None:
            self._talks.clear()
            await before.result().close()
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(load_sdk)
        return await CopilotRuntime.start(self._sdk, self._settings, self._environ)

    async def _try(self, runtime: CopilotRuntime, request: Request) -> AsyncGenerator[Chunk, None]:
        """Run one try. Raises TryFailed."""
        talk = await self._talk(runtime, request)
        try:
            async with aclosing(talk.ask(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
            if not talk.is_over:
                self._talks[request.trial] = talk
        finally:
            if talk.is_over:
                self._close_session(talk)

    async def _talk(self, runtime: CopilotRuntime, request: Request) -> Talk:
        """Return the session of the step's case; the first step opens it."""
        talk = self._talks.pop(request.trial, None)
        if request.step == 0:
            if talk is not None:
                self._close_session(talk)
            return await Talk.open(runtime, request, self._patience)
        if talk is None:
            raise TryFailed(ProviderError("crashed", "the Copilot session was lost", fix="Run the case again."))
        return talk

    def _close_session(self, talk: Talk) -> None:
        """Close a session in the background."""
        farewell = asyncio.create_task(talk.close())
        self._farewells.add(farewell)
        farewell.add_done_callback(self._farewells.discard)


def _has_failed(start: "asyncio.Task[CopilotRuntime]") -> bool:
    return start.done() and (start.cancelled() or start.exception() is not None)


def _notes(runtime: CopilotRuntime, request: Request) -> list[str]:
    has_system = any(message.role == "system" for message in request.prompt.messages)
    whose = "the case's" if has_system else "Copilot's own"
    notes = [f"{runtime.label}, system message: {whose}"]
    given = [name for name in _UNSENT if getattr(request.subject.settings, name) is not None]
    if given:
        notes.append(f"Not sent, because the Copilot SDK does not support it: {', '.join(given)}")
    return notes


def _is_offered(model: Any) -> bool:
    return (model.policy is None or model.policy.state == "enabled") and "embedding" not in model.id.lower()
