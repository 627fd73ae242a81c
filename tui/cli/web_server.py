"""The web server of `assay serve`: a page with a terminal, and one process of the app for each page that is open.

Every address begins with a secret token, which is printed once. A request is refused unless it has the token, names
this server as its host (a page whose name was rebound to this machine does not), and comes from a page of this server
(a request with the `Origin` of another does not).
"""

import asyncio
import contextlib
import hmac
import ipaddress
import json
import logging
import secrets
import shlex
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import click
import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tui.cli.streams import say
from tui.model.errors import AssayError, ConfigError
from tui.model.exit_signals import exit_signals
from tui.processes.guarded import protect_memory

_STATIC = Path(textual_serve.__file__).parent / "static"
_FILES = {path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*") if path.is_file()}
_MAX_CELLS = 1000
# A paste is one message, in which a character may take six bytes. The app drops what is too long for it.
_MOST_MESSAGE_BYTES = 64 * 2**20
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_STOP_SECONDS = 30.0
_PAGE_SECONDS = 30.0
"""How long a page may read nothing before it is dropped."""
_LAST_SECONDS = 3.0
"""How long a page may read nothing while its app ends."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_REFUSED = "403: Open the URL that `assay serve` printed.\n"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Assay</title>
<link rel="stylesheet" href="static/css/xterm.css">
<script src="static/js/textual.js"></script>
<script src="focus.js"></script>
<style>
@font-face {
  font-family: "Roboto Mono"; font-weight: 100 700;
  src: url("static/fonts/RobotoMono-VariableFont_wght.ttf");
}
body { background: #12161c; color: #d8dee9; font-family: "Roboto Mono", monospace; margin: 0; }
#ended { display: none; position: absolute; inset: 0; z-index: 10; background: #12161c; padding: 2rem; }
body.-closed #ended { display: block; }
#ended a { color: #88c0d0; }
</style>
</head>
<body>
<div id="ended">The app has ended. <a href="./">Start it again</a></div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="SOCKET" data-font-size="16"></div>
</body>
</html>
"""

_FOCUS = """addEventListener("load", () => document.querySelector(".xterm-helper-textarea")?.focus());
"""


def serve_app(command: Sequence[str], host: str, port: int, *, allow_remote: bool) -> int:
    """Serve the app that `command` starts until a signal arrives, and return the exit code.

    Raises ConfigError for an address that other machines can reach unless `allow_remote`, and AssayError when the
    server cannot listen there.
    """
    host = "127.0.0.1" if host == "localhost" else host
    if not allow_remote and not _is_loopback(host):
        raise ConfigError(
            f"--host {host or repr(host)} can be reached from other machines",
            fix="Add --allow-remote to serve them; the connection is not encrypted.",
        )
    protect_memory()  # The agents that run in its apps could read the keys in its environment.
    return asyncio.run(_serve(command, host, port))


async def _serve(command: Sequence[str], host: str, port: int) -> int:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        listener = socket.create_server((str(address[0]), port), family=family)
    except OSError as error:
        raise AssayError(f"Cannot listen on {host}:{port} ({error.strerror})", fix="Choose another --port.") from error
    server = WebServer(command, host, listener.getsockname()[1])
    logging.getLogger("aiohttp.server").addFilter(_is_unexpected)
    runner = web.AppRunner(server.application(), access_log=None, handle_signals=False)
    ended: asyncio.Future[int] = loop.create_future()
    signals = exit_signals()
    for number, code in signals.items():
        loop.add_signal_handler(number, _end, ended, code)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        click.echo(server.url)
        say("Open this URL in a browser. Whoever has it can use the app. Ctrl-C stops the server.")
        return await ended
    finally:
        await runner.cleanup()
        for number in signals:
            # The loop closes its wakeup pipe before it removes its handlers: a late signal would print an error.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Return whether to log an error: one that aiohttp raises is a bad request, which was answered with 400."""
    error = record.exc_info[1] if record.exc_info else None
    return not type(error).__module__.startswith("aiohttp.")


def _end(ended: asyncio.Future[int], code: int) -> None:
    if not ended.done():
        ended.set_result(code)


def _cells(length: int | str) -> int:
    """Return a width or height that a page asked for, made a possible one."""
    try:
        return min(max(int(length), 1), _MAX_CELLS)
    except ValueError:
        return 1


def _as_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that a text is, or None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _as_address(host)
    return address is not None and address.is_loopback


def _without_escapes(typed: str) -> str:
    """Return a paste without the escape characters in it: the page's terminal passes on one that would end the paste.

    The page sends each paste in one message. Other input is returned as it is.
    """
    if not typed.startswith(_PASTE_START):
        return typed
    pasted = typed.removeprefix(_PASTE_START).removesuffix(_PASTE_END)
    return f"{_PASTE_START}{pasted.replace(chr(27), '')}{_PASTE_END}"


class WebServer:
    """The routes of the server, and the rules for its requests."""

    def __init__(self, command: Sequence[str], host: str, port: int) -> None:
        self._command = tuple(command)
        self._token = secrets.token_urlsafe(32)
        self._port = port
        address = _as_address(host)
        self._any_address = address is not None and address.is_unspecified
        self._names = {host.lower(), "localhost"} if _is_loopback(host) else {host.lower()}
        if self._any_address:
            self._names = {"localhost", socket.gethostname().lower()}
        shown = "127.0.0.1" if self._any_address else host
        self.url = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/{self._token}/"
        self._processes: set[_AppProcess] = set()
        self._is_closing = False

    def application(self) -> web.Application:
        """Return the routes, behind the rules."""
        application = web.Application(middlewares=[self._check])
        application.add_routes(
            [
                web.get("/{token}/", self._page),
                web.get("/{token}/focus.js", self._focus),
                web.get("/{token}/ws", self._connect),
                web.get("/{token}/static/{file:.+}", self._file),
            ]
        )
        application.on_shutdown.append(self._close)
        return application

    async def _close(self, _application: web.Application) -> None:
        self._is_closing = True
        await asyncio.gather(*(process.stop() for process in self._processes))

    @web.middleware
    async def _check(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse a request that breaks a rule, whether its address exists or not."""
        if not (self._has_token(request) and self._has_host(request) and self._has_origin(request)):
            return web.Response(status=403, text=_REFUSED, headers=_HEADERS)
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _has_token(self, request: web.Request) -> bool:
        first = request.path.split("/")[1] if "/" in request.path else ""
        return hmac.compare_digest(first.encode(errors="replace"), self._token.encode())

    def _has_host(self, request: web.Request) -> bool:
        """Return whether the request names this server: another name may have been rebound to its address."""
        hosts = request.headers.getall("Host", [])
        try:
            asked = urlsplit(f"//{hosts[0]}")
            name, port = asked.hostname or "", asked.port or 80
        except (ValueError, IndexError):
            return False
        known = name in self._names or (self._any_address and _as_address(name) is not None)
        return len(hosts) == 1 and asked.username is None and known and port == self._port

    def _has_origin(self, request: web.Request) -> bool:
        """Return whether the request comes from a page of this server or, where browsers send no origin, may do so."""
        origins = request.headers.getall("Origin", [])
        if not origins:
            return "Upgrade" not in request.headers
        return all(origin.lower() == f"http://{request.headers['Host'].lower()}" for origin in origins)

    async def _page(self, request: web.Request) -> web.Response:
        address = f"ws://{request.headers['Host']}/{self._token}/ws"
        return web.Response(text=_PAGE.replace("SOCKET", escape(address)), content_type="text/html")

    async def _focus(self, _request: web.Request) -> web.Response:
        """Return the script that gives the keyboard to the terminal, which textual-serve leaves to a click."""
        return web.Response(text=_FOCUS, content_type="text/javascript")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = _FILES.get(request.match_info["file"])
        return web.Response(status=404) if path is None else web.FileResponse(path)

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        """Start the app for a page, and end it when the page is closed."""
        connection = web.WebSocketResponse(heartbeat=15, max_msg_size=_MOST_MESSAGE_BYTES)
        await connection.prepare(request)
        process = _AppProcess(self._command, connection, request.transport)
        self._processes.add(process)
        try:
            await process.start(_cells(request.query.get("width", 80)), _cells(request.query.get("height", 24)))
            if self._is_closing:  # since the page was opened, when there was no app to stop
                return connection
            async for message in connection:
                if message.type is WSMsgType.TEXT:
                    await process.receive(message.data)
        finally:
            await process.stop()
            self._processes.discard(process)
        return connection


class _AppProcess(AppService):
    """The process of the app behind one page."""

    def __init__(
        self, command: Sequence[str], connection: web.WebSocketResponse, transport: asyncio.Transport | None
    ) -> None:
        super().__init__(
            shlex.join(command),
            write_bytes=connection.send_bytes,
            write_str=connection.send_str,
            close=self._close_page,
            download_manager=DownloadManager(),
        )
        self._words = tuple(command)
        self._connection = connection
        self._transport = transport

    def _drop_page(self) -> None:
        """End the connection without waiting until the page reads; what waits to be sent is lost."""
        if self._transport is not None:
            self._transport.abort()

    async def _close_page(self) -> None:
        await self._connection.close()

    async def receive(self, text: str) -> None:
        """Pass a message of the page to the app; ignore one that cannot be read."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        match message:
            case ["stdin", str(typed)]:
                await self.send_bytes(_without_escapes(typed).encode(errors="replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(_cells(width), _cells(height))
            case ["ping", str(sent)]:
                await self._connection.send_json(["pong", sent])
            case ["blur"]:
                await self.blur()
            case ["focus"]:
                await self.focus()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        """Start the app without a shell and in a session of its own: Ctrl-C ends the server, which then ends the app.

        Its messages go to the server's stderr, which the app has sanitized; textual-serve would print them when the
        app has ended.
        """
        process = self._process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        process.stderr = asyncio.StreamReader()
        process.stderr.feed_eof()
        return process

    async def on_data(self, payload: bytes) -> None:
        """Send output to the page, or drop it when the page is closed: the app would wait forever otherwise.

        A page that reads nothing, as on a suspended machine, is dropped, and its app ends.
        """
        dropping = asyncio.get_running_loop().call_later(_PAGE_SECONDS, self._drop_page)
        try:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await super().on_data(payload)
        finally:
            dropping.cancel()

    async def run(self) -> None:
        """Pass the output on until the app ends, and close the connection."""
        await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """End the app as closing a terminal does; kill it when that takes too long."""
        process = self._process
        if process is None:
            return
        dropping = asyncio.get_running_loop().call_later(_LAST_SECONDS, self._drop_page)
        try:
            # Each has a limit of its own: the first one does not pass on that its time is over.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await super().stop()
            async with asyncio.timeout(_LAST_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
        finally:
            dropping.cancel()
