"""The agent behind a URL: each step is a POST of `{"input", "memory"}`."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from urllib.parse import urlsplit

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, Request
from tui.model.sanitize import sanitize_line
from tui.model.servers import agent_url_fault, show_url
from tui.providers.agents.answers import AgentAnswer, InvalidAnswer, parse_json, read_answer, read_aside
from tui.providers.http.client import HttpAnswer, HttpClient
from tui.providers.http.errors import Peer, Refusal, TryFailed, is_page, refusal_fault
from tui.providers.http.limits import MIB, RetryLimits
from tui.providers.http.retry import Tries, retry_after

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class EndpointAgent:
    """Sends steps to one URL, with the same retries and messages as for model servers.

    No key is sent: whoever names a URL in a suite must not receive one.
    """

    def __init__(self, url: str, proxy: str | None, patience: RetryLimits | None = None) -> None:
        if wrong := agent_url_fault(url):
            what = f"the agent's URL {show_url(url)} {wrong}"
            raise ProviderError("not_found", what, fix="Use http://HOST:PORT/PATH.")
        self._url, self._patience = url, patience or RetryLimits()
        self._peer = _peer(url, self._patience.tries)
        self._tries = Tries(self._patience)
        self._client = HttpClient(self._patience, proxy)

    async def answer(self, request: Request) -> AsyncGenerator[Chunk | AgentAnswer, None]:
        """Yield `Sent` and `Waiting` events, then the answer.

        Raises ProviderError, `crashed` for an unreadable answer.
        """
        body = json.dumps({"input": request.prompt.input, "memory": request.memory}).encode()
        async with aclosing(self._tries.ask(lambda: self._try(body))) as pieces:
            async for piece in pieces:
                yield piece

    def allow(self, most: int) -> int:
        """Limit the concurrent requests and return the current limit."""
        return self._tries.allow(most)

    def reopen(self) -> None:
        """Prepare for a new run: reset the limit of concurrent requests."""
        self._tries.reopen()

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._client.close()

    async def _try(self, body: bytes) -> AsyncGenerator[AgentAnswer, None]:
        """Send the request once. Raises TryFailed."""
        try:
            answer = await self._client.send("POST", self._url, _HEADERS, body, self._peer)
            try:
                data = await self._read(answer)
            finally:
                await answer.close()
        except TimeoutError:
            what = f"{self._peer.host} sent nothing for {self._patience.first_byte_s:g} s"
            raise self._peer.fail("silent", what, tries=self._peer.tries) from None
        try:
            found = await read_aside(lambda: read_answer(parse_json(data)), len(data))
        except InvalidAnswer as wrong:
            raise self._peer.fail("crashed", f"{self._peer.host} sent an invalid answer: {wrong}") from None
        yield found

    async def _read(self, answer: HttpAnswer) -> bytes:
        if not answer.is_success:
            raise await self._refusal(answer)
        host = self._peer.host
        if answer.encoding:
            what = (
                f"{host} sent an answer with the encoding {sanitize_line(answer.encoding, 40)}, which was not requested"
            )
            raise self._peer.fail("garbled", what)
        body = bytearray()
        while data := await answer.read(self._patience.first_byte_s):
            body += data
            if len(body) > self._patience.answer_size:
                raise self._peer.fail("garbled", f"{host} sent more than {self._patience.answer_size // MIB} MiB")
        if is_page(bytes(body[:100])):
            raise self._peer.fail(
                "garbled", f"{host} sent a web page instead of an agent answer", "Check the agent's URL."
            )
        return bytes(body)

    async def _refusal(self, answer: HttpAnswer) -> TryFailed:
        status, host = answer.status, self._peer.host
        if status == 404:
            return self._peer.fail("not_found", f"{host} has no agent at {_path(self._url)} (404)")
        if status in (401, 403):
            what = f"{host} requires authentication ({status})"
            return self._peer.fail(
                "unauthorized",
                what,
                "Assay sends no key to agents: configure the agent to accept requests without one.",
            )
        wait = retry_after(answer.headers, self._patience.now())
        return refusal_fault(
            Refusal(status, answer.headers, await answer.read_refusal(self._patience.refusal_s), wait), self._peer, ""
        )


def _peer(url: str, tries: int) -> Peer:
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    address = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    return Peer(f"agent {address if parts.port else host}", address, tries=tries)


def _path(url: str) -> str:
    return sanitize_line(urlsplit(url).path or "/", 120)
