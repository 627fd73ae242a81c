"""The base of providers over HTTP, for any protocol: requests, retries, the list of models."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit, urlunsplit

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, NoteChunk, Request, ServedByChunk
from tui.model.results import ServedBy
from tui.model.sanitize import sanitize_line
from tui.model.servers import query_secrets
from tui.model.subjects import ProviderSettings
from tui.model.values import has_too_many_values
from tui.providers.http.client import HttpAnswer, HttpClient
from tui.providers.http.decoder import AnswerDecoder, AnswerTooLong, ErrorObject, NoAnswer, ResponseTooLong, Unreadable
from tui.providers.http.errors import (
    WHITE,
    Peer,
    Refusal,
    TryFailed,
    error_object_fault,
    is_page,
    page_fault,
    refusal_fault,
)
from tui.providers.http.limits import MIB, RetryLimits
from tui.providers.http.retry import Tries, retry_after
from tui.providers.http.sse import EventTooLong

_EVENT_FIELDS = (b"d", b"e", b"i", b"r", b":")
_WORDS = 200
_DECODE_FAULTS = (AnswerTooLong, ResponseTooLong, EventTooLong, Unreadable, NoAnswer, ErrorObject)


class ServedAnswer:
    """Reads one answer, whose head came after `spent_s` of the `first_byte_s` that its first byte may take."""

    def __init__(
        self,
        answer: HttpAnswer,
        decoder: AnswerDecoder,
        peer: Peer,
        patience: RetryLimits,
        first_byte_s: float,
        spent_s: float,
    ) -> None:
        self._answer, self._decoder, self._peer, self._patience = answer, decoder, peer, patience
        self._allowed_s, self._left_s = first_byte_s, first_byte_s - spent_s
        self._began = False
        self._served = ServedBy()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """Yield the chunks, `End` last. Raises TryFailed after all chunks that were decoded before it."""
        if encoding := sanitize_line(self._answer.encoding, 40):
            what = f"{self._peer.host} sent an answer with the encoding {encoding}, which was not requested"
            raise self._peer.fail("garbled", what, "Check the base URL, and any proxy in between.")
        data = await self._first_bytes()
        kind = self._answer.headers.get("content-type", "").lower()
        if is_page(data) or "html" in kind:
            raise page_fault(self._peer)
        first = data.lstrip(WHITE)[:1]
        # Some gateways label a stream as JSON: the first bytes are more reliable than the label.
        if first in (b"{", b"[") or ("json" in kind and first not in _EVENT_FIELDS):
            async for chunk in self._whole(data):
                yield chunk
        else:
            async for chunk in self._stream(data):
                yield chunk
        decoder = self._decoder
        if not (decoder.is_finished or (decoder.finish and self._answer.marks_end)):
            what = f"{self._peer.host} ended the response before it was complete"
            raise self._peer.fail("unreachable", what, tries=self._peer.tries)
        yield End(decoder.finish)

    def _server_updates(self) -> list[Chunk]:
        """Return what the server newly reports about itself."""
        headers = self._answer.headers
        fields = (self._decoder.model, self._decoder.fingerprint, headers.get("openai-version"), headers.get("server"))
        served = ServedBy(*(sanitize_line(word or "", _WORDS) for word in fields))
        if served == self._served:
            return []
        self._served = served
        return [ServedByChunk(served)]

    async def _read(self) -> bytes:
        """Return the next bytes. The timeout runs until content has come: keep-alive comments count as silence."""
        clock = asyncio.get_running_loop()
        before = clock.time()
        try:
            if self._left_s <= 0:
                raise TimeoutError
            return await self._answer.read(self._left_s)
        except TimeoutError:
            more = " more" if self._began else ""
            what = f"{self._peer.host} sent nothing{more} for {self._allowed_s:g} s"
            raise self._peer.fail("silent", what, tries=self._peer.tries) from None
        finally:
            self._left_s -= clock.time() - before

    def _note_progress(self, seconds: float) -> None:
        self._began, self._allowed_s, self._left_s = True, seconds, seconds

    def _longest_silence(self) -> float:
        if self._decoder.is_finished:
            return self._patience.after_finish_s
        return self._patience.think_s if self._decoder.thinks else self._patience.stall_s

    async def _first_bytes(self) -> bytes:
        """Return the first bytes that are not white space, which some servers send while the model thinks."""
        data = await self._read()
        while data and not data.strip():
            data = await self._read()
        return data

    async def _whole(self, data: bytes) -> AsyncGenerator[Chunk, None]:
        """Decode an answer that is not streamed; what was decoded before an error in it is yielded too."""
        body = bytearray()
        while data:
            body += data
            if len(body) > self._patience.answer_size:
                limit = self._mib(self._patience.answer_size)
                raise self._peer.fail("garbled", f"{self._peer.host} sent more than {limit} MiB in one response")
            if data.strip():
                self._note_progress(self._patience.stall_s)
            data = await self._read()
        wrong: Exception | None = None
        try:
            self._decoder.take_whole(bytes(body))
        except _DECODE_FAULTS as fault:
            wrong = fault
        for chunk in (*self._decoder.take(), *self._server_updates()):
            yield chunk
        if wrong is not None:
            raise self._decoding_fault(wrong)

    async def _stream(self, data: bytes) -> AsyncGenerator[Chunk, None]:
        """Decode a stream of events; read the body to its end, so that the connection can be reused."""
        decoder, patience = self._decoder, self._patience
        wire = 0
        while data:
            wire += len(data)
            events, wrong = decoder.events, None
            try:
                decoder.feed(data)
            except _DECODE_FAULTS as fault:
                wrong = fault
            for chunk in (*decoder.take(), *self._server_updates()):
                yield chunk
            if wrong is None and wire > patience.wire_size:
                wrong = ResponseTooLong()
            if wrong is not None:
                if isinstance(wrong, AnswerTooLong | ResponseTooLong | EventTooLong):
                    yield NoteChunk(self._cut_note(wrong))
                raise self._decoding_fault(wrong)
            if decoder.done:
                await self._drain()
                break
            if decoder.events > events:
                self._note_progress(self._longest_silence())
            data = await self._next_bytes()
        for chunk in (*self._end(), *self._server_updates()):
            yield chunk

    async def _next_bytes(self) -> bytes:
        """Return the next bytes, or none if the server breaks off after its finish reason."""
        try:
            return await self._read()
        except TryFailed:
            if self._decoder.is_finished:
                return b""
            raise

    def _end(self) -> list[Chunk]:
        try:
            self._decoder.end()
        except _DECODE_FAULTS as wrong:
            if not self._decoder.is_finished or isinstance(wrong, ErrorObject):
                raise self._decoding_fault(wrong) from None
        return self._decoder.take()

    async def _drain(self) -> None:
        """Read the rest of the body after the last event, for a short time, ignoring its content."""
        clock = asyncio.get_running_loop()
        end = clock.time() + self._patience.drain_s
        try:
            while (left := end - clock.time()) > 0 and await self._answer.read(left):
                pass
        except (TimeoutError, TryFailed):
            pass

    def _decoding_fault(self, wrong: Exception) -> TryFailed:
        peer = self._peer
        match wrong:
            case ErrorObject(error=error):
                return error_object_fault(error, peer)
            case NoAnswer():
                what = f"{peer.host} sent JSON that is not a {self._decoder.what}"
                return peer.fail("garbled", what, "Check the base URL.")
            case Unreadable():
                return peer.fail("garbled", f"{wrong} from {peer.host}", tries=peer.tries)
            case _:
                return TryFailed(ProviderError("incomplete", self._cut_note(wrong)))

    def _cut_note(self, wrong: Exception) -> str:
        if isinstance(wrong, EventTooLong):
            limit = self._mib(self._patience.event_size)
            return f"The answer was truncated: {self._peer.host} sent a chunk larger than {limit} MiB"
        if isinstance(wrong, ResponseTooLong):
            limit = self._mib(self._patience.wire_size)
            return f"The answer was truncated: {self._peer.host} sent more than {limit} MiB in one response"
        return f"The answer was truncated at {self._mib(self._patience.answer_size)} MiB"

    def _mib(self, size: int) -> str:
        return f"{size / MIB:.3g}"


class Dialect(Protocol):
    """One protocol of requests and answers.

    `path` is where requests go, below the base URL; `thinks_long` says that an answer that is not streamed may take
    as long as the longest thought.
    """

    path: str
    thinks_long: bool

    def body(self, request: Request) -> bytes:
        """Return the request body as JSON."""
        ...

    def unsupported(self, request: Request) -> tuple[str, ...]:
        """Return a note for each setting that the protocol does not support."""
        ...

    def decoder(self, answer_size: int, event_size: int) -> AnswerDecoder:
        """Return a decoder for one answer."""
        ...


class ServerProvider:
    """The provider of one server.

    `headers` are sent with each request, `list_path` and `list_query` locate the list of models; `called` names the
    server in messages where its host would mean nothing to the user (the local model's server).

    A subclass chooses the protocol with `_dialect`.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        headers: Mapping[str, str],
        *,
        patience: RetryLimits | None = None,
        called: str = "",
        list_path: str = "/models",
        list_query: str = "",
    ) -> None:
        self._patience = patience = patience or RetryLimits()
        self._base_url = settings.base_url or ""
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        # A header may hold more than the key: `Bearer KEY`.
        values = (settings.api_key or "", *settings.headers.values(), *query_secrets(self._base_url))
        self._tries = Tries(patience, [part for value in values for part in (value, *value.split()[-1:])])
        self._peer = _peer(settings, called, patience.tries)
        self._list_url = joined(self._base_url, list_path, list_query)
        self._client = HttpClient(patience, settings.proxy)

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Run one step, with as many tries as the fault is worth, and none once a part of the answer has arrived.

        While another request has paused the queue, nothing is yielded: the clock starts at `Sent`.
        """
        dialect = self._dialect(request)
        body = dialect.body(request)
        for note in dialect.unsupported(request):
            yield NoteChunk(note)
        async with aclosing(self._tries.ask(lambda: self._try(request, dialect, body))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def models(self) -> tuple[str, ...]:
        """Return the ids that the server lists, sorted, empty if it has no list. Raises ProviderError."""
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
        """Limit the concurrent requests and return the current limit."""
        return self._tries.allow(most)

    def reopen(self) -> None:
        """Accept requests again after a rejected key."""
        self._tries.reopen()

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._client.close()

    def _dialect(self, request: Request) -> Dialect:
        raise NotImplementedError

    def _is_offered(self, entry: Mapping[str, Any]) -> bool:
        """Return whether an entry of the server's list can be used."""
        return bool(entry)

    async def _try(self, request: Request, dialect: Dialect, body: bytes) -> AsyncGenerator[Chunk, None]:
        """Send the request once. Raises TryFailed."""
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
                raise await self._refusal(answer, request.subject.model_id, offers_tools=bool(request.tools))
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

    async def _refusal(self, answer: HttpAnswer, model: str, *, offers_tools: bool = False) -> TryFailed:
        wait = retry_after(answer.headers, self._patience.now())
        refusal = Refusal(answer.status, answer.headers, await answer.read_refusal(self._patience.refusal_s), wait)
        return refusal_fault(refusal, self._peer, model, offers_tools=offers_tools)

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
            if has_too_many_values(body):
                raise ValueError
            listed = json.loads(body)
            entries = listed["data"] if isinstance(listed, dict) else listed
            return tuple(sorted({e["id"] for e in entries if isinstance(e["id"], str) and self._is_offered(e)}))
        except (ValueError, RecursionError, LookupError, TypeError):
            raise self._peer.fail(
                "garbled", f"{self._peer.host} did not send a list of models", "Check the base URL."
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
    """Return the path below the base URL; the URL's query is preserved, as some gateways need one."""
    parts = urlsplit(base_url)
    queries = "&".join(part for part in (parts.query, query) if part)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, query=queries))
