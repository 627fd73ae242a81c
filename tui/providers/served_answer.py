"""One answer of a model's server, from first byte to `End`: deadlines, limits, what it turns out to be."""

import asyncio
from collections.abc import AsyncGenerator

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, Noted, Served
from tui.model.results import ServedBy
from tui.model.sanitize import show_line
from tui.providers.answer_text import AnswerTooLong
from tui.providers.http.client import HttpAnswer
from tui.providers.http.decoder import AnswerDecoder, ErrorObject, NoAnswer, Unreadable
from tui.providers.http.errors import WHITE, Peer, TryFailed, error_object_fault, is_page, page_fault
from tui.providers.http.limits import MIB, Patience
from tui.providers.http.sse import EventTooLong

_EVENT_FIELDS = (b"d", b"e", b"i", b"r", b":")
_WORDS = 200
_DECODE_FAULTS = (AnswerTooLong, EventTooLong, Unreadable, NoAnswer, ErrorObject)


class ServedAnswer:
    """Reads one answer, whose head came after `spent_s` of the `first_byte_s` that its first byte may take."""

    def __init__(
        self,
        answer: HttpAnswer,
        decoder: AnswerDecoder,
        peer: Peer,
        patience: Patience,
        first_byte_s: float,
        spent_s: float,
    ) -> None:
        self._answer, self._decoder, self._peer, self._patience = answer, decoder, peer, patience
        self._allowed_s, self._left_s = first_byte_s, first_byte_s - spent_s
        self._began = False
        self._served = ServedBy()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """The chunks, `End` last. Raises TryFailed, with everything decoded before it handed on."""
        if encoding := self._answer.encoding:
            what = f"{self._peer.host} sent an answer packed with {encoding[:40]}, which nobody asked for"
            raise self._peer.fail("garbled", what, "Check the base URL, and what stands between.")
        data = await self._first_bytes()
        kind = self._answer.headers.get("content-type", "").lower()
        if is_page(data) or "html" in kind:
            raise page_fault(self._peer)
        first = data.lstrip(WHITE)[:1]
        # Some gateways call a stream JSON: what comes first says more than its label.
        if first in (b"{", b"[") or ("json" in kind and first not in _EVENT_FIELDS):
            for chunk in (*await self._whole(data), *self._news()):
                yield chunk
        else:
            async for chunk in self._stream(data):
                yield chunk
        decoder = self._decoder
        if not (decoder.finish or decoder.done):
            what = f"{self._peer.host} ended its answer in the middle"
            raise self._peer.fail("unreachable", what, tries=self._peer.tries)
        yield End(decoder.finish or "stop")

    def _news(self) -> list[Chunk]:
        """What the server says of itself, where that is more than before."""
        headers = self._answer.headers
        told = (self._decoder.model, self._decoder.fingerprint, headers.get("openai-version"), headers.get("server"))
        served = ServedBy(*(show_line(word or "", _WORDS) for word in told))
        if served == self._served:
            return []
        self._served = served
        return [Served(served)]

    async def _read(self) -> bytes:
        """The next bytes. Time runs on until something that counts has come: a drip of comments is silence too."""
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
        if self._decoder.finish:
            return self._patience.after_finish_s
        return self._patience.think_s if self._decoder.thinks else self._patience.stall_s

    async def _first_bytes(self) -> bytes:
        """What comes first besides white space, which some servers send while they think."""
        data = await self._read()
        while data and not data.strip():
            data = await self._read()
        return data

    async def _whole(self, data: bytes) -> list[Chunk]:
        """An answer in one piece."""
        body = bytearray()
        while data:
            body += data
            if len(body) > self._patience.answer_size:
                raise self._peer.fail("garbled", f"{self._peer.host} sent more than {self._mib(len(body))} MiB at once")
            if data.strip():
                self._note_progress(self._patience.stall_s)
            data = await self._read()
        try:
            self._decoder.take_whole(bytes(body))
        except _DECODE_FAULTS as wrong:
            raise self._decoding_fault(wrong) from None
        return self._decoder.take()

    async def _stream(self, data: bytes) -> AsyncGenerator[Chunk, None]:
        """An answer as events, read to the end of its body so that the connection can be kept."""
        decoder, patience = self._decoder, self._patience
        wire = 0
        while data:
            wire += len(data)
            events, wrong = decoder.events, None
            try:
                decoder.feed(data)
            except _DECODE_FAULTS as fault:
                wrong = fault
            for chunk in (*decoder.take(), *self._news()):
                yield chunk
            if wrong is None and wire > patience.wire_size:
                wrong = AnswerTooLong()
            if wrong is not None:
                if isinstance(wrong, AnswerTooLong | EventTooLong):
                    yield Noted(self._cut_note(wrong))
                raise self._decoding_fault(wrong)
            if decoder.done:
                await self._drain()
                break
            if decoder.events > events:
                self._note_progress(self._longest_silence())
            data = await self._next_bytes()
        for chunk in (*self._end(), *self._news()):
            yield chunk

    async def _next_bytes(self) -> bytes:
        """The next bytes; none where the server breaks off after it said that it was finished."""
        try:
            return await self._read()
        except TryFailed:
            if self._decoder.finish:
                return b""
            raise

    def _end(self) -> list[Chunk]:
        try:
            self._decoder.end()
        except _DECODE_FAULTS as wrong:
            if not self._decoder.finish:
                raise self._decoding_fault(wrong) from None
        return self._decoder.take()

    async def _drain(self) -> None:
        """Read what follows the last event, which is the end of the body; not for long, and whatever it is."""
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
                what = f"{peer.host} sent JSON that is no {self._decoder.what}"
                return peer.fail("garbled", what, "Check the base URL.")
            case Unreadable():
                return peer.fail("garbled", f"{wrong} from {peer.host}", tries=peer.tries)
            case _:
                return TryFailed(ProviderError("incomplete", self._cut_note(wrong)))

    def _cut_note(self, wrong: Exception) -> str:
        if isinstance(wrong, EventTooLong):
            return f"The answer was cut: {self._peer.host} sent a piece over {self._mib(self._patience.event_size)} MiB"
        return f"The answer was cut at {self._mib(self._patience.answer_size)} MiB"

    def _mib(self, size: int) -> str:
        return f"{size / MIB:.3g}"
