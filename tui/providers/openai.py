"""Any server that speaks chat completions: OpenAI, OpenRouter, Ollama, llama.cpp, LM Studio, vLLM, the local one."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import count
from urllib.parse import urlsplit, urlunsplit

from tui.model.chunks import Chunk, Reasoning, Request, Sent, Text, ToolCall, Waiting
from tui.model.errors import ProviderError
from tui.model.secrets import Secrets
from tui.model.subjects import ProviderSettings
from tui.providers.chat_answer import ChatAnswer
from tui.providers.chat_request import chat_body
from tui.providers.faults import Peer, Refusal, TryFailed, refusal_fault
from tui.providers.http_client import HttpAnswer, HttpClient
from tui.providers.patience import Patience
from tui.providers.retrying import Queue, retry_after, wait_before

# What cannot be taken back once it was handed on.
_PARTS = (Text, Reasoning, ToolCall)


class OpenAIProvider:
    """Asks one server. `settings.base_url` must be set; `called` names the server in sentences, where its host would
    say nothing to a person (the local model's server)."""

    def __init__(self, settings: ProviderSettings, patience: Patience | None = None, *, called: str = "") -> None:
        patience = patience or Patience()
        self._settings, self._patience = settings, patience
        self._headers = _headers(settings)
        # A header may hold more than the key: `Bearer KEY`.
        values = (settings.api_key or "", *settings.headers.values())
        self._secrets = Secrets([part for value in values for part in (value, *value.split()[-1:])])
        self._peer = _peer(settings, called, patience.tries)
        self._chat_url = _joined(settings.base_url or "", "/chat/completions")
        self._queue = Queue(patience)
        self._client = HttpClient(patience, settings.proxy)

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Answer one step, with as many tries as the fault is worth; none once a part of the answer has arrived.

        While the queue is paused by another question, nothing is yielded: the clock starts at `Sent`.
        """
        body = chat_body(request, self._settings.token_limit)
        for number in count(1):
            await self._queue.wait()
            yield Sent()
            arrived = False
            try:
                async with aclosing(self._try(request, body)) as chunks:
                    async for chunk in chunks:
                        arrived = arrived or isinstance(chunk, _PARTS)
                        yield chunk
                return
            except TryFailed as failed:
                wait = self._after(failed, number, arrived)
                reason = self._secrets.hide(failed.error.what)
            yield Waiting(reason, round(wait * 1000))
            await self._patience.sleep(wait)

    async def models(self) -> tuple[str, ...]:
        """The ids under `/models`, sorted; none where the server has no such list. Raises ProviderError."""
        url = _joined(self._settings.base_url or "", "/models")
        try:
            async with asyncio.timeout(self._patience.listing_s):
                answer = await self._client.send("GET", url, self._headers, b"", self._peer)
                try:
                    return await self._listed(answer)
                finally:
                    await answer.close()
        except TimeoutError:
            what = f"{self._peer.host} did not list its models within {self._patience.listing_s:g} s"
            raise ProviderError("silent", what) from None
        except TryFailed as failed:
            raise self._cleaned(failed.error) from None

    def reopen(self) -> None:
        """Ask again after a refused key."""
        self._queue.reopen()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def _try(self, request: Request, body: bytes) -> AsyncGenerator[Chunk, None]:
        """One try. Raises TryFailed."""
        clock = asyncio.get_running_loop()
        before = clock.time()
        try:
            answer = await self._client.send("POST", self._chat_url, self._headers, body, self._peer)
        except TimeoutError:
            what = f"{self._peer.host} sent nothing for {self._patience.first_byte_s:g} s"
            raise self._peer.fail("silent", what, tries=self._peer.tries) from None
        try:
            if not answer.is_success:
                raise await self._refusal(answer, request.subject.model_id)
            left = self._patience.first_byte_s - (clock.time() - before)
            async with aclosing(ChatAnswer(answer, self._peer, self._patience, left).chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            await answer.close()

    def _after(self, failed: TryFailed, number: int, arrived: bool) -> float:
        """Seconds until the next try; the provider's queue learns what the fault means for it. Raises ProviderError
        where there is no next try."""
        if failed.effect == "stop":
            self._queue.stop(self._cleaned(failed.error))
        if arrived:
            fix = "What had arrived is kept; the case can be asked again."
            raise self._cleaned(ProviderError("incomplete", failed.error.what, fix=fix)) from None
        try:
            wait = wait_before(failed, number, self._patience)
        except ProviderError as error:
            raise self._cleaned(error) from None
        if failed.effect == "pause":
            self._queue.pause(wait)
        return wait

    def _cleaned(self, error: ProviderError) -> ProviderError:
        """The same, without any key that a server or a library may have quoted."""
        hide = self._secrets.hide
        return ProviderError(error.fault, hide(error.what), where=hide(error.where), fix=hide(error.fix))

    async def _refusal(self, answer: HttpAnswer, model: str) -> TryFailed:
        wait = retry_after(answer.headers, self._patience.now())
        refusal = Refusal(answer.status, answer.headers, await answer.read_refusal(), wait)
        return refusal_fault(refusal, self._peer, model)

    async def _listed(self, answer: HttpAnswer) -> tuple[str, ...]:
        if answer.status == 404:
            return ()
        if not answer.is_success:
            raise await self._refusal(answer, "")
        body = bytearray()
        while data := await answer.read(self._patience.listing_s):
            body += data
            if len(body) > self._patience.answer_size:
                break
        try:
            listed = json.loads(body)
            entries = listed["data"] if isinstance(listed, dict) else listed
            return tuple(sorted({entry["id"] for entry in entries if isinstance(entry["id"], str)}))
        except (ValueError, RecursionError, LookupError, TypeError):
            raise self._peer.fail(
                "garbled", f"{self._peer.host} sent no list of models", "Check the base URL."
            ) from None


def _headers(settings: ProviderSettings) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if settings.api_key and not any(name.lower() == "authorization" for name in settings.headers):
        headers["Authorization"] = f"Bearer {settings.api_key}"
    return headers | dict(settings.headers)


def _peer(settings: ProviderSettings, called: str, tries: int) -> Peer:
    parts = urlsplit(settings.base_url or "")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "the server"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    shown = called or (f"{host}:{port}" if parts.port else host)
    has_key = bool(settings.api_key) or any(
        "auth" in name.lower() or "key" in name.lower() for name in settings.headers
    )
    return Peer(shown, f"{host}:{port}", settings.key_name, has_key, tries)


def _joined(base_url: str, path: str) -> str:
    """The path below the base URL, whose query stays (some gateways want one)."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))
