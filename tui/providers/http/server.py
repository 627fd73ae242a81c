"""Any model's server over HTTP, whatever protocol it speaks: the question, the tries, the list of models."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit, urlunsplit

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, Noted, Request
from tui.model.subjects import ProviderSettings
from tui.providers.http.client import HttpAnswer, HttpClient
from tui.providers.http.decoder import AnswerDecoder
from tui.providers.http.errors import Peer, Refusal, TryFailed, refusal_fault
from tui.providers.http.limits import Patience
from tui.providers.http.retry import Tries, retry_after
from tui.providers.served_answer import ServedAnswer


class Dialect(Protocol):
    """One protocol of questions and answers. `path` is where questions go, below the base URL; `thinks_long` says that
    an answer in one piece may take as long as the longest thought."""

    path: str
    thinks_long: bool

    def body(self, request: Request) -> bytes:
        """The question."""
        ...

    def unsent(self, request: Request) -> tuple[str, ...]:
        """A note for each setting that the protocol has no place for."""
        ...

    def decoder(self, answer_size: int, event_size: int) -> AnswerDecoder:
        """What reads one answer."""
        ...


class ServerProvider:
    """Asks one server. `headers` go with each request, `list_path` and `list_query` lead to its models; `called` names
    the server in sentences, where its host would say nothing to a person (the local model's server).

    Whoever derives from it says by `_dialect` how a question is put.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        headers: Mapping[str, str],
        *,
        patience: Patience | None = None,
        called: str = "",
        list_path: str = "/models",
        list_query: str = "",
    ) -> None:
        self._patience = patience = patience or Patience()
        self._base_url = settings.base_url or ""
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        # A header may hold more than the key: `Bearer KEY`.
        values = (settings.api_key or "", *settings.headers.values())
        self._tries = Tries(patience, [part for value in values for part in (value, *value.split()[-1:])])
        self._peer = _peer(settings, called, patience.tries)
        self._list_url = joined(self._base_url, list_path, list_query)
        self._client = HttpClient(patience, settings.proxy)

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Answer one step, with as many tries as the fault is worth; none once a part of the answer has arrived.

        While the queue is paused by another question, nothing is yielded: the clock starts at `Sent`.
        """
        dialect = self._dialect(request)
        body = dialect.body(request)
        for note in dialect.unsent(request):
            yield Noted(note)
        async with aclosing(self._tries.ask(lambda: self._try(request, dialect, body))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def models(self) -> tuple[str, ...]:
        """The ids that the server lists, sorted; none where it has no such list. Raises ProviderError."""
        try:
            async with asyncio.timeout(self._patience.listing_s):
                answer = await self._client.send("GET", self._list_url, self._headers, b"", self._peer)
                try:
                    return await self._listed(answer)
                finally:
                    await answer.close()
        except TimeoutError:
            what = f"{self._peer.host} did not list its models within {self._patience.listing_s:g} s"
            raise ProviderError("silent", what) from None
        except TryFailed as failed:
            raise self._tries.cleaned(failed.error) from None

    def allow(self, most: int) -> int:
        """So many questions at once at most; how many it is just now."""
        return self._tries.allow(most)

    def reopen(self) -> None:
        """Ask again after a refused key."""
        self._tries.reopen()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    def _dialect(self, request: Request) -> Dialect:
        raise NotImplementedError

    def _is_offered(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry of the server's list can be asked."""
        return bool(entry)

    async def _try(self, request: Request, dialect: Dialect, body: bytes) -> AsyncGenerator[Chunk, None]:
        """One try. Raises TryFailed."""
        patience, clock = self._patience, asyncio.get_running_loop()
        first_byte_s = patience.think_s if dialect.thinks_long and not request.stream else patience.first_byte_s
        before = clock.time()
        url = joined(self._base_url, dialect.path)
        try:
            answer = await self._client.send("POST", url, self._headers, body, self._peer, first_byte_s)
        except TimeoutError:
            self._give_up(first_byte_s)
        try:
            if not answer.is_success:
                raise await self._refusal(answer, request.subject.model_id)
            decoder = dialect.decoder(patience.answer_size, patience.event_size)
            spent_s = clock.time() - before
            reader = ServedAnswer(answer, decoder, self._peer, patience, first_byte_s, spent_s)
            async with aclosing(reader.chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            await answer.close()

    def _give_up(self, seconds: float) -> NoReturn:
        what = f"{self._peer.host} sent nothing for {seconds:g} s"
        raise self._peer.fail("silent", what, tries=self._peer.tries) from None

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
            return tuple(sorted({e["id"] for e in entries if isinstance(e["id"], str) and self._is_offered(e)}))
        except (ValueError, RecursionError, LookupError, TypeError):
            raise self._peer.fail(
                "garbled", f"{self._peer.host} sent no list of models", "Check the base URL."
            ) from None


def _peer(settings: ProviderSettings, called: str, tries: int) -> Peer:
    parts = urlsplit(settings.base_url or "")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "the server"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    shown = called or (f"{host}:{port}" if parts.port else host)
    has_key = bool(settings.api_key) or any(
        "auth" in name.lower() or "key" in name.lower() for name in settings.headers
    )
    return Peer(shown, f"{host}:{port}", settings.key_name, has_key, tries)


def joined(base_url: str, path: str, query: str = "") -> str:
    """The path below the base URL, whose query stays (some gateways want one)."""
    parts = urlsplit(base_url)
    queries = "&".join(part for part in (parts.query, query) if part)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, query=queries))
