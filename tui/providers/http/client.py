"""The only importer of the HTTP library: requests out, bytes in, every network fault as a TryFailed.

It uses httpx's types over an aiohttp transport, at a fifth of the cost of httpx's own. That transport reports almost
every fault as a connect timeout and raises aiohttp's own protocol errors, so faults are classified by their cause.
"""

import asyncio
import os
import ssl
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp
import httpx
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from httpx_aiohttp import AiohttpTransport

import tui
from tui.model.errors import ProviderError
from tui.model.sanitize import sanitize_line
from tui.model.servers import is_loopback
from tui.providers.http.errors import Peer, TryFailed
from tui.providers.http.limits import RetryLimits

_KEEP_ALIVE_S = 20.0
_LONGEST_HEADER = 64 * 1024
_MOST_HEADERS = 128
_REFUSED_BODY = 64 * 1024
_WIRE_ERRORS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError, ValueError)
_ALWAYS = {"Accept-Encoding": "identity", "User-Agent": f"assay/{tui.__version__}"}


class HttpAnswer:
    """A response whose head has arrived; its body is read in pieces. It must be closed."""

    def __init__(self, response: httpx.Response, stream: httpx.AsyncByteStream, peer: Peer) -> None:
        self._stream, self._peer = stream, peer
        self._pieces = stream.__aiter__()
        self.status = response.status_code
        # httpx's Headers detect the encoding of all headers at each access; a dict by lower-case name is enough.
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}

    @property
    def is_success(self) -> bool:
        """Whether the status is a success."""
        return 200 <= self.status < 300

    @property
    def encoding(self) -> str:
        """The content encoding of the body as it was sent, empty if there is none."""
        encoding = self.headers.get("content-encoding", "").strip()
        return "" if encoding.lower() == "identity" else encoding

    @property
    def marks_end(self) -> bool:
        """Whether the end of the body differs from a lost connection."""
        return "content-length" in self.headers or "transfer-encoding" in self.headers

    async def read(self, within_s: float) -> bytes:
        """Return the next bytes, empty at the end of the body.

        Raises TimeoutError, and TryFailed if the body breaks off.
        """
        try:
            async with asyncio.timeout(within_s):
                return await anext(self._pieces, b"")
        except TimeoutError:
            raise
        except _WIRE_ERRORS as error:
            what = f"The connection to {self._peer.host} was lost during the answer"
            raise self._peer.fail("unreachable", what, tries=self._peer.tries) from error

    async def read_refusal(self, within_s: float) -> bytes:
        """Return the body of an error response, as far as it arrives within this time; the message may be in it.

        A body that is too long ends with `…`, so that the part of a key before it is recognized.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(within_s):
                while len(body) <= _REFUSED_BODY and (data := await self.read(within_s)):
                    body += data
        except (TimeoutError, TryFailed):
            pass
        if len(body) > _REFUSED_BODY:
            body[_REFUSED_BODY:] = "…".encode()
        return b"" if self.encoding else bytes(body)

    async def close(self) -> None:
        """Release the connection; it is reused if the body was read to its end."""
        await self._stream.aclose()


class HttpClient:
    """Holds the connections to the servers of one provider.

    It follows no redirects, stores no cookies, retries nothing, takes no proxy or password from the environment
    (SSL_CERT_FILE and SSL_CERT_DIR apply), and requests uncompressed bodies.
    """

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
        """Send a request and return the response when its head has arrived.

        Raises TimeoutError after `within_s`, or `first_byte_s`, and TryFailed if there is no response.
        """
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
        """Close the connections to every server."""
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
        """Return the failure by the cause of httpx's exception.

        The library's own texts are not used: they contain URLs and headers.
        """
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
            why = f"no response within {self._patience.connect_s:g} s"
            return _cannot_connect(peer, why, "Is the server running, and is the network up?", tries)
        if isinstance(cause, aiohttp.ServerDisconnectedError | OSError):
            return peer.fail("unreachable", f"{peer.host} closed the connection without a response", tries=tries)
        if isinstance(cause, aiohttp.ClientResponseError):
            return peer.fail("garbled", f"{peer.host} sent {_head_words(cause)}", "Check the base URL.")
        return peer.fail(
            "unreachable", f"The request to {peer.host} failed ({type(cause).__name__})", "Check the base URL."
        )

    def _proxy_fault(self, cause: BaseException) -> TryFailed:
        parts = urlsplit(self._proxy or "")
        status = getattr(cause, "status", None)
        why = f"it responded {status}" if status else _os_words(getattr(cause, "os_error", None))
        what = f"Cannot connect through the proxy {parts.hostname}:{parts.port or 80} ({why})"
        error = ProviderError("unreachable", what, fix="Check proxy: in config.yaml.")
        return TryFailed(error, tries=1 if status else self._patience.tries)


def _open_transport(secure: bool, proxy: str | None) -> AiohttpTransport:
    context = httpx.create_ssl_context() if secure or proxy else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def session() -> aiohttp.ClientSession:
        # The runner limits the open requests; a second limit here would make them wait unseen.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S, ssl=context)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            max_headers=_MOST_HEADERS,
        )

    return AiohttpTransport(verify=context, trust_env=False, proxy=_proxy(proxy) if proxy else None, client=session)


def _proxy(url: str) -> httpx.Proxy:
    """Return a proxy whose password is sent in a header.

    The library's own way is deprecated by the library below it, which turns this header into Proxy-Authorization for
    both kinds of requests.
    """
    proxy = httpx.Proxy(url)
    if proxy.auth is None:
        return proxy
    basic = b64encode(":".join(proxy.auth).encode()).decode()
    return httpx.Proxy(proxy.url, headers={"Authorization": f"Basic {basic}"})


def _cannot_connect(peer: Peer, why: str, fix: str, tries: int) -> TryFailed:
    return peer.fail("unreachable", f"Cannot connect to {peer.address} ({why})", fix, tries=tries)


def _os_words(error: OSError | None) -> str:
    """Return the system's text for an error, without addresses."""
    if error is None:
        return "no connection"
    if isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower():
        return "refused"
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else "no connection"


def _head_words(error: BaseException | None) -> str:
    """Return what the server sent in place of a head that can be read, by the parser's error below this one."""
    while error is not None:
        if isinstance(error, LineTooLong):
            return f"a response header larger than {_LONGEST_HEADER // 1024} KiB"
        if isinstance(error, BadHttpMessage) and "Too many headers" in error.message:
            return f"more than {_MOST_HEADERS} response headers"
        error = error.__cause__ or error.__context__
    return "a response that is not HTTP"


def _tls_words(error: aiohttp.ClientSSLError) -> str:
    certificate = getattr(error, "certificate_error", None)
    if certificate is not None:
        return sanitize_line(
            getattr(certificate, "verify_message", "") or "the certificate does not match the host", 120
        )
    return "the server does not use TLS" if "WRONG_VERSION" in str(error) else "the handshake failed"
