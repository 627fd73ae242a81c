"""The one home of the HTTP library: requests out, bytes in, every fault of the wire as a TryFailed.

httpx's types over its aiohttp transport, a fifth of the cost of httpx's own. That transport calls almost every fault a
connect timeout and lets protocol errors through as aiohttp's own, so faults are told apart by their cause.
"""

import asyncio
import os
import ssl
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

import tui
from tui.model.errors import ProviderError
from tui.model.sanitize import sanitize_line
from tui.model.servers import is_loopback
from tui.providers.http.errors import Peer, TryFailed
from tui.providers.http.limits import RetryLimits

_KEEP_ALIVE_S = 20.0
_LONGEST_HEADER = 64 * 1024
_REFUSED_BODY = 64 * 1024
_REFUSED_BODY_S = 10.0
_WIRE_ERRORS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError, ValueError)
_ALWAYS = {"Accept-Encoding": "identity", "User-Agent": f"assay/{tui.__version__}"}


class HttpAnswer:
    """An answer whose head has come; its body is read piece by piece. Must be closed."""

    def __init__(self, response: httpx.Response, stream: httpx.AsyncByteStream, peer: Peer) -> None:
        self._stream, self._peer = stream, peer
        self._pieces = stream.__aiter__()
        self.status = response.status_code
        # httpx's Headers look for the encoding of all of them at each access; plain text by lower-case name will do.
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300

    @property
    def encoding(self) -> str:
        """How the body is packed, empty where it is not."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        return "" if encoding == "identity" else encoding

    async def read(self, within_s: float) -> bytes:
        """The next bytes; empty at the end of the body. Raises TimeoutError, and TryFailed where it breaks off."""
        try:
            async with asyncio.timeout(within_s):
                return await anext(self._pieces, b"")
        except TimeoutError:
            raise
        except _WIRE_ERRORS as error:
            what = f"The answer of {self._peer.host} broke off"
            raise self._peer.fail("unreachable", what, tries=self._peer.tries) from error

    async def read_refusal(self) -> bytes:
        """What came with a status that is no success, as far as it can be had."""
        body = bytearray()
        try:
            async with asyncio.timeout(_REFUSED_BODY_S):
                while len(body) < _REFUSED_BODY and (data := await self.read(_REFUSED_BODY_S)):
                    body += data
        except (TimeoutError, TryFailed):
            pass
        return b"" if self.encoding else bytes(body[:_REFUSED_BODY])

    async def close(self) -> None:
        """Let go of the connection; it serves the next request where the body was read to its end."""
        await self._stream.aclose()


class HttpClient:
    """Keeps connections to the servers of one provider. It follows no redirect, keeps no cookie, retries nothing, reads
    no proxy or password from the environment (SSL_CERT_FILE and SSL_CERT_DIR hold), and asks for bodies as they are."""

    def __init__(self, patience: RetryLimits, proxy: str | None = None) -> None:
        self._patience, self._proxy = patience, proxy
        self._transports: dict[tuple[bool, bool], AiohttpTransport] = {}
        self._urls: dict[str, httpx.URL] = {}

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        peer: Peer,
        within_s: float | None = None,
    ) -> HttpAnswer:
        """The answer's head. Raises TimeoutError after `within_s`, or `first_byte_s`, and TryFailed where there is no
        answer."""
        try:
            request = httpx.Request(
                method,
                self._url(url),
                headers={**_ALWAYS, **headers},
                content=body or None,
                extensions={"timeout": {"connect": self._patience.connect_s}},
            )
            transport = self._transport(url)
            async with asyncio.timeout(self._patience.first_byte_s if within_s is None else within_s):
                response = await transport.handle_async_request(request)
        except TimeoutError:
            raise
        except _WIRE_ERRORS as error:
            below = error if isinstance(error, aiohttp.ClientError) else error.__cause__
            raise self._sending_fault(below or error, peer) from error
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        return HttpAnswer(response, stream, peer)

    async def close(self) -> None:
        """Close every connection."""
        transports = list(self._transports.values())
        self._transports.clear()
        for transport in transports:
            await transport.aclose()

    def _url(self, url: str) -> httpx.URL:
        if url not in self._urls:
            self._urls[url] = httpx.URL(url)
        return self._urls[url]

    def _transport(self, url: str) -> AiohttpTransport:
        secure, direct = url.startswith("https"), self._proxy is None or is_loopback(url)
        transport = self._transports.get((secure, direct))
        if transport is None:
            transport = _open_transport(secure, None if direct else self._proxy)
            self._transports[secure, direct] = transport
        return transport

    def _sending_fault(self, cause: BaseException, peer: Peer) -> TryFailed:
        """Why no answer came, by what stands behind httpx's exception. Texts of the library are not passed on: they
        hold URLs and headers."""
        tries = self._patience.tries
        if isinstance(cause, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError | httpx.ProxyError):
            return self._proxy_fault(cause)
        if isinstance(cause, aiohttp.ClientConnectorDNSError):
            fix = "Check the base URL and the network."
            return _cannot_connect(peer, "unknown host", fix, self._patience.dns_tries)
        if isinstance(cause, aiohttp.ClientSSLError):
            return _cannot_connect(peer, f"TLS: {_tls_words(cause)}", "Check the base URL and the certificate.", 1)
        if isinstance(cause, aiohttp.ClientConnectorError):
            return _cannot_connect(peer, _os_words(cause.os_error), "Is the server running?", tries)
        if isinstance(cause, aiohttp.ServerTimeoutError):
            why = f"no answer in {self._patience.connect_s:g} s"
            return _cannot_connect(peer, why, "Is the server running, and is the network up?", tries)
        if isinstance(cause, aiohttp.ServerDisconnectedError | OSError):
            return peer.fail("unreachable", f"{peer.host} closed the connection without an answer", tries=tries)
        if isinstance(cause, aiohttp.ClientResponseError):
            return peer.fail("garbled", f"{peer.host} answered something that is not HTTP", "Check the base URL.")
        return peer.fail("unreachable", f"{peer.host} cannot be asked ({type(cause).__name__})", "Check the base URL.")

    def _proxy_fault(self, cause: BaseException) -> TryFailed:
        parts = urlsplit(self._proxy or "")
        status = getattr(cause, "status", None)
        why = f"it answered {status}" if status else _os_words(getattr(cause, "os_error", None))
        what = f"Cannot connect through the proxy {parts.hostname}:{parts.port or 80} ({why})"
        error = ProviderError("unreachable", what, fix="Check proxy: in config.yaml.")
        return TryFailed(error, tries=1 if status else self._patience.tries)


def _open_transport(secure: bool, proxy: str | None) -> AiohttpTransport:
    context = httpx.create_ssl_context() if secure or proxy else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def session() -> aiohttp.ClientSession:
        # The runner bounds how many questions are open; a second bound here would make answers wait unseen.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S, ssl=context)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    return AiohttpTransport(verify=context, trust_env=False, proxy=_proxy(proxy) if proxy else None, client=session)


def _proxy(url: str) -> httpx.Proxy:
    """A proxy whose password goes in a header: the library's own way is deprecated by the library below it, which
    turns this header into Proxy-Authorization for both kinds of requests."""
    proxy = httpx.Proxy(url)
    if proxy.auth is None:
        return proxy
    basic = b64encode(":".join(proxy.auth).encode()).decode()
    return httpx.Proxy(proxy.url, headers={"Authorization": f"Basic {basic}"})


def _cannot_connect(peer: Peer, why: str, fix: str, tries: int) -> TryFailed:
    return peer.fail("unreachable", f"Cannot connect to {peer.address} ({why})", fix, tries=tries)


def _os_words(error: OSError | None) -> str:
    """The system's words for it, without addresses."""
    if error is None:
        return "no connection"
    if isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower():
        return "refused"
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else "no connection"


def _tls_words(error: aiohttp.ClientSSLError) -> str:
    certificate = getattr(error, "certificate_error", None)
    if certificate is not None:
        return sanitize_line(getattr(certificate, "verify_message", "") or "the certificate does not fit", 120)
    return "it does not speak TLS" if "WRONG_VERSION" in str(error) else "the handshake failed"
