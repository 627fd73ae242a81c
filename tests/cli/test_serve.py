"""`assay serve`: who may use it, and the app in a browser."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.cli.test_run import keys_for, write_suite
from tests.support.chromium import CHROMIUM, Chromium
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer
from tests.support.processes import dropped_capabilities, wait_until
from tests.support.replies import Reply, streamed

pytest.importorskip("textual_serve", reason="the extra `serve` is not installed")

from aiohttp import ClientSession, ClientWebSocketResponse, WSServerHandshakeError, web

from tui.cli import web_server
from tui.cli.web_server import WebServer

WAIT_SECONDS = 60.0


@asynccontextmanager
async def served(
    assay: CommandLine,
    *args: str,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    before: Sequence[str] = (),
) -> AsyncIterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a server on a free port, and its process."""
    process = assay.start("serve", "--port", "0", *args, env=env, folder=folder, before=before)
    try:
        assert process.stdout is not None
        yield (await asyncio.to_thread(process.stdout.readline)).strip(), process
    finally:
        if process.poll() is None:
            process.kill()
        await asyncio.to_thread(process.communicate)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that the tests of what is refused share."""
    with CommandLine(tmp_path_factory.mktemp("served")).start("serve", "--port", "0") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


async def status_of(url: str, **headers: str) -> int:
    async with ClientSession() as http, http.get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status


async def status_of_socket(url: str, **headers: str) -> int:
    """The status of a websocket's handshake."""
    async with ClientSession() as http:
        try:
            connection = await http.ws_connect(url, headers=headers)
        except WSServerHandshakeError as error:
            return error.status
        await connection.close()
        return 101


async def test_nothing_is_served_without_the_token(url: str) -> None:
    origin = origin_of(url)
    token = urlsplit(url).path.strip("/")
    assert len(token) >= 40
    assert await status_of(url) == 200
    assert await status_of(f"{url}static/js/textual.js") == 200
    for place in ("", "ws", "focus.js", "static/js/textual.js", "download/x", "anything", f"?token={token}"):
        for wrong in ("", f"{token[:-1]}/", f"{token}x/", f"{token.swapcase()}/", "%00/", "%ff/"):
            assert await status_of(f"{origin}/{wrong}{place}") == 403
    assert await status_of_socket(f"{origin}/ws", Origin=origin) == 403
    assert await status_of_socket(f"{origin}/{token[:-1]}/ws", Origin=origin) == 403


async def test_the_files_of_the_server_cannot_be_left(url: str) -> None:
    for place in ("", "../server.py", "%2e%2e/server.py", "..%2fserver.py", "/etc/passwd", "js", "js/"):
        assert await status_of(f"{url}static/{place}") in (403, 404)


async def test_another_host_is_refused(url: str) -> None:
    """The page of a name that was rebound to this machine has the name as its host."""
    port = urlsplit(url).port
    for host in (
        "evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"u@127.0.0.1:{port}",
        f"127.0.0.2:{port}", f"127.0.0.1.evil.example:{port}", "[", "",
    ):  # fmt: skip
        assert await status_of(url, Host=host) == 403, host
        assert await status_of_socket(f"{url}ws", Host=host, Origin=f"http://{host}") == 403, host
    assert await status_of(url, Host=f"localhost:{port}") == 200


async def test_a_bad_request_is_answered_quietly(assay: CommandLine) -> None:
    async with served(assay) as (url, process):
        parts = urlsplit(url)
        for sent in (
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 9_000 + b"\r\n\r\n",
            b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01 no HTTP\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(sent)
            assert (await reader.read()).split(b" ")[1] == b"400", sent[:40]
            writer.close()
        process.terminate()
        assert "Traceback" not in (await asyncio.to_thread(process.communicate))[1]


async def test_another_origin_is_refused(url: str) -> None:
    parts = urlsplit(url)
    for origin in (
        "http://evil.example", "null", "http://127.0.0.1:1", f"https://{parts.netloc}",
        f"http://localhost:{parts.port}", "",
    ):  # fmt: skip
        assert await status_of_socket(f"{url}ws", Origin=origin) == 403, origin
        assert await status_of(url, Origin=origin) == 403, origin
    assert await status_of(url, Origin=origin_of(url)) == 200


async def test_a_websocket_without_an_origin_is_refused(url: str) -> None:
    assert await status_of_socket(f"{url}ws") == 403
    localhost = url.replace("127.0.0.1", "localhost")
    assert await status_of_socket(f"{localhost}ws", Origin=origin_of(localhost)) == 101


async def test_a_page_may_load_nothing_from_elsewhere_and_not_be_framed(url: str) -> None:
    async with ClientSession() as http, http.get(url) as answer:
        page, headers = await answer.text(), answer.headers
    assert "https://" not in page
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "example.org", "127.0.0.1.example.org"])
def test_another_host_than_loopback_needs_a_flag(assay: CommandLine, host: str) -> None:
    ran = assay.run("serve", "--port", "0", "--host", host)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: --host")
    assert "--allow-remote" in ran.err


async def test_with_the_flag_other_machines_are_served_by_address_but_not_by_any_name(assay: CommandLine) -> None:
    async with served(assay, "--host", "0.0.0.0", "--allow-remote") as (url, _):
        port = urlsplit(url).port
        assert await status_of(url) == 200
        assert await status_of(url, Host=f"192.0.2.1:{port}") == 200
        assert await status_of(url, Host=f"evil.example:{port}") == 403


async def test_a_port_that_is_taken_is_one_sentence(assay: CommandLine) -> None:
    async with served(assay) as (url, _):
        ran = await assay.run_async("serve", "--port", str(urlsplit(url).port))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("Error: Cannot listen on 127.0.0.1:")
    assert ran.err.count("\n") == 1


def test_a_missing_extra_is_one_sentence_with_the_command_of_the_readme(assay: CommandLine) -> None:
    blocked = assay.home / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text("import sys\nsys.modules['textual_serve'] = None\n")
    root = Path(__file__).parents[2]
    environ = {**assay.environ(), "PYTHONPATH": os.pathsep.join([str(blocked), str(root)])}
    words = [sys.executable, "-m", "tui", "serve"]
    ran = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    command = "pip install 'assay-tui[serve]'"
    assert ran.returncode == 2
    assert ran.stderr == f"Error: `assay serve` needs textual-serve, which is not installed. Run: {command}\n"
    assert command in (root / "README.md").read_text()


async def wait_for_children(process: subprocess.Popen[str], count: int) -> list[psutil.Process]:
    """Wait until the server has so many processes of the app."""
    server = psutil.Process(process.pid)
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            if len(children := server.children()) == count:
                return children
            await asyncio.sleep(0.02)


async def test_the_app_does_not_get_the_token_and_ends_with_its_page(assay: CommandLine) -> None:
    async with served(assay) as (url, process):
        token = urlsplit(url).path.strip("/")
        async with ClientSession() as http:
            connection = await http.ws_connect(f"{url}ws", origin=origin_of(url))
            await connection.receive()
            (app,) = await wait_for_children(process, 1)
            assert token not in "".join(app.cmdline())
            # The app hides its environment from all but root.
            with suppress(psutil.AccessDenied):
                assert token not in "".join(app.environ().values())
            await connection.close()
        await wait_for_children(process, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_process_of_the_user_reads_the_keys_of_the_server_or_the_app(assay: CommandLine) -> None:
    dropped = dropped_capabilities()

    def is_readable(pid: int) -> bool:
        return subprocess.run([*dropped, "cat", f"/proc/{pid}/environ"], capture_output=True, check=False).stdout != b""

    other = await asyncio.create_subprocess_exec(*dropped, "sleep", "600")
    await asyncio.to_thread(wait_until, lambda: is_readable(other.pid))
    other.kill()
    await other.wait()
    async with served(assay, before=dropped) as (url, process), ClientSession() as http:
        assert not is_readable(process.pid)
        connection = await http.ws_connect(f"{url}ws", origin=origin_of(url))
        await connection.receive()
        (app,) = await wait_for_children(process, 1)
        await asyncio.to_thread(wait_until, lambda: not is_readable(app.pid))


async def test_no_module_of_the_current_folder_is_imported(assay: CommandLine) -> None:
    folder = assay.home / "cloned"
    folder.mkdir()
    for name in ("click", "json", "yaml", "textual", "pydantic"):
        (folder / f"{name}.py").write_text(f"open({str(assay.home / 'imported')!r}, 'w')\n")
    async with served(assay, folder=folder) as (url, _), ClientSession() as http:
        connection = await http.ws_connect(f"{url}ws", origin=origin_of(url))
        assert (await connection.receive()).data, "the app has started"
    assert not (assay.home / "imported").exists()


@pytest.mark.parametrize("before", [(), ("nohup",)])
@pytest.mark.parametrize("ends", ["page", "server"])
async def test_the_app_ends_with_its_page_or_when_the_server_is_killed(
    assay: CommandLine, before: tuple[str, ...], ends: str
) -> None:
    async with served(assay, before=before) as (url, process), ClientSession() as http:
        connection = await http.ws_connect(f"{url}ws", origin=origin_of(url))
        await connection.receive()
        (app,) = await wait_for_children(process, 1)
        if ends == "page":
            await connection.close()
        else:
            process.kill()
        await asyncio.to_thread(app.wait, WAIT_SECONDS)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long),
    ],
)
async def test_a_signal_ends_the_server_and_its_apps(assay: CommandLine, number: int, code: int) -> None:
    async with served(assay) as (url, process), ClientSession() as http:
        connection = await http.ws_connect(f"{url}ws", origin=origin_of(url))
        await connection.receive()
        (app,) = await wait_for_children(process, 1)
        process.send_signal(number)
        out, err = await asyncio.to_thread(process.communicate)
        assert process.returncode == code
        assert (out, err.count("\n")) == ("", 1), err
        assert not app.is_running()


FLOOD = """
import os, select, sys, threading
asked_to_quit = threading.Event()
def read():
    while b"quit" not in os.read(0, 1000):
        pass
    asked_to_quit.set()
threading.Thread(target=read, daemon=True).start()
os.write(1, b"__GANGLION__\\n")
while not asked_to_quit.is_set():
    if not select.select([], [1], [], 0.2)[1]:
        open(sys.argv[1], "w")
    os.write(1, b"D" + (4_000).to_bytes(4, "big") + b"x" * 4_000)
"""


@pytest.mark.parametrize("when", ["", "while it opens", "while it is shown"])
async def test_a_page_that_reads_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str) -> None:
    """It is dropped after a time, or when the server is stopped."""
    monkeypatch.setattr(web_server, "_LAST_SECONDS", 0.1)
    monkeypatch.setattr(web_server, "_PAGE_SECONDS", 600.0 if when else 0.5)
    before = set(psutil.Process().children())
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as page:
        server = WebServer(
            [sys.executable, "-c", FLOOD, str(tmp_path / "stuck")], "127.0.0.1", listener.getsockname()[1]
        )
        runner = web.AppRunner(server.application(), access_log=None, handle_signals=False)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await asyncio.to_thread(page.connect, listener.getsockname())
        page.sendall(
            f"GET {urlsplit(server.url).path}ws HTTP/1.1\r\nHost: 127.0.0.1:{listener.getsockname()[1]}\r\n"
            f"Origin: {origin_of(server.url)}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        await asyncio.to_thread(page.recv, 1)
        if when == "while it is shown":
            await asyncio.to_thread(wait_until, (tmp_path / "stuck").exists)
        if when:
            async with asyncio.timeout(15):  # less than the heartbeat takes
                await runner.cleanup()
        await asyncio.to_thread(wait_until, lambda: not set(psutil.Process().children()) - before)
        await runner.cleanup()


async def test_messages_that_make_no_sense_do_no_harm(assay: CommandLine) -> None:
    strange = ("{", "[]", "3", '["stdin"]', '["stdin", 3]', '["resize", {"width": 0, "height": -5}]', '["quit"]')
    more = ('["resize", {"width": 1e9, "height": 9}]', '["resize", {"width": 999999999, "height": 999999999}]')
    async with served(assay) as (url, _), ClientSession() as http:
        connection = await http.ws_connect(f"{url}ws?width=x&height=-1", origin=origin_of(url))
        for message in (*strange, *more, '["ping", "7"]'):
            await connection.send_str(message)
        async with asyncio.timeout(WAIT_SECONDS):
            async for answer in connection:
                if answer.data == '["pong", "7"]':
                    break
        await connection.send_str('["resize", {"width": 80, "height": 24}]')
        await connection.send_str('["stdin", "q"]')
        async with asyncio.timeout(WAIT_SECONDS):
            async for _ in connection:
                pass
        assert connection.closed


@asynccontextmanager
async def page_of(assay: CommandLine) -> AsyncIterator[ClientWebSocketResponse]:
    """The connection of a page on which the app has been displayed."""
    async with served(assay) as (url, _), ClientSession() as http:
        connection = await http.ws_connect(f"{url}ws?width=80&height=24", origin=origin_of(url))
        await displayed(connection, b"Suites")
        yield connection


async def displayed(connection: ClientWebSocketResponse, text: bytes) -> None:
    """Wait until the app writes a text."""
    async with asyncio.timeout(WAIT_SECONDS):
        async for answer in connection:
            if isinstance(answer.data, bytes) and text in answer.data:
                return
    raise AssertionError("the app has ended")


async def test_a_large_paste_is_cut_and_does_not_end_the_app(assay: CommandLine) -> None:
    async with page_of(assay) as connection:
        pasted = "\x1b[200~" + "word " * 1_200_000 + "\x1b[201~"
        for typed in ("/", pasted, "\x11"):
            await connection.send_str(json.dumps(["stdin", typed]))
        async with asyncio.timeout(WAIT_SECONDS):
            async for _ in connection:
                pass
        assert connection.close_code == 1000


async def test_a_paste_that_contains_the_end_of_a_paste_presses_no_key(assay: CommandLine) -> None:
    async with page_of(assay) as connection:
        for typed in ("\x1b[200~before\x1b[201~\x11after\x1b[201~", "?"):  # Ctrl+Q quits
            await connection.send_str(json.dumps(["stdin", typed]))
        await displayed(connection, b"Keys")
        await connection.close()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
async def test_the_app_runs_in_a_browser(assay: CommandLine, tmp_path: Path) -> None:
    """The page loads, keys arrive, and an answer is seen while it streams."""
    rest = asyncio.Event()
    reply = streamed("Paris, of course, indeed", pieces=6)
    half = len(reply.body) // 2
    answer = Reply((*reply.body[:half], rest, *reply.body[half:]), headers=reply.headers, framing=reply.framing)
    async with (
        ModelServer(lambda _: answer) as server,
        served(assay, str(write_suite(assay.home)), env=keys_for(server)) as (url, process),
        Chromium(tmp_path / "browser") as browser,
    ):
        await browser.open(url)
        await browser.wait_for("Not run yet")
        await browser.press("r")
        assert "indeed" not in await browser.wait_for("Paris")
        rest.set()
        await browser.wait_for("indeed")
        await browser.press("/")
        await browser.paste("\x1b[201~\x11no end")  # Ctrl+Q quits
        await browser.wait_for("no end")
        await browser.press("Enter")
        await browser.wait_for("? help")
        await browser.press("?")
        await browser.wait_for("Esc close")
        await browser.press("q")
        await browser.wait_for("■ ")
        await browser.press("q")
        await wait_for_children(process, 0)
        await browser.wait_for("Start it again")
