"""One conversation with Copilot: a session of the SDK, deleted when it is over."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, Noted, Request
from tui.providers.answer_text import AnswerTooLong
from tui.providers.copilot_events import CopilotDecoder
from tui.providers.copilot_runtime import CopilotRuntime
from tui.providers.http.errors import TryFailed
from tui.providers.http.limits import MIB, Patience
from tui.providers.json_body import split_system

_GOODBYE_S = 5.0


class Talk:
    """A session without tools, whose system message is the case's own where it has one."""

    def __init__(self, runtime: CopilotRuntime, session: Any, patience: Patience) -> None:
        self._runtime, self._session, self._patience = runtime, session, patience
        self.is_over = False

    @classmethod
    async def open(cls, runtime: CopilotRuntime, request: Request, patience: Patience) -> "Talk":
        """A new session for this model. Raises TryFailed."""
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
        """The last turn of the conversation, answered; `End` last. Raises TryFailed."""
        loop, events = asyncio.get_running_loop(), asyncio.Queue[Any]()
        decoder = CopilotDecoder(self._patience.answer_size, 1 if request.step else self._patience.tries)
        # The SDK may call from a thread of its own.
        forget = self._session.on(lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
        self.is_over = True
        try:
            await self._runtime.call(self._session.send(request.prompt.messages[-1].content))
            while decoder.finish is None:
                wrong = _decode(decoder, [await self._next(events), *_waiting(events)])
                for chunk in decoder.take():
                    yield chunk
                if isinstance(wrong, AnswerTooLong):
                    note = f"The answer was cut at {self._patience.answer_size / MIB:.3g} MiB"
                    yield Noted(note)
                    raise TryFailed(ProviderError("incomplete", note))
                if wrong is not None:
                    raise wrong
            self.is_over = request.last
            yield End(decoder.finish)
        finally:
            forget()

    async def close(self) -> None:
        """Give up what is still going on, and leave nothing of the session behind."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_GOODBYE_S):
                await self._session.abort()
                await self._session.disconnect()
                await self._runtime.client.delete_session(self._session.session_id)

    async def _next(self, events: asyncio.Queue[Any]) -> Any:
        """The next event. The SDK does not tell that its runtime is gone, so that silence is asked about."""
        silent_s = 0.0
        while silent_s < self._patience.think_s:
            try:
                async with asyncio.timeout(self._patience.pulse_s):
                    return await events.get()
            except TimeoutError:
                silent_s += self._patience.pulse_s
            if (words := await self._runtime.death()) is not None:
                raise self._runtime.loss(words)
        raise TryFailed(ProviderError("silent", f"Copilot sent nothing for {self._patience.think_s:g} s"))


def _waiting(events: asyncio.Queue[Any]) -> list[Any]:
    return [events.get_nowait() for _ in range(events.qsize())]


def _decode(decoder: CopilotDecoder, events: list[Any]) -> TryFailed | AnswerTooLong | None:
    """What was wrong with one of the events; what had been decoded before it can be taken."""
    try:
        for event in events:
            decoder.take_event(event)
    except (TryFailed, AnswerTooLong) as wrong:
        return wrong
    return None


def _deny(*_: Any) -> Any:
    """Nothing is allowed: there are no tools, so nothing should be asked. The SDK turns it into a denial."""
    raise PermissionError("Assay allows nothing")
