"""Git repositories over smart HTTP on loopback: git's own http-backend behind a small server, with faults to order."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class GitServer:
    """What is served and how. `requests` are the paths that were asked for, `seen` the credentials that came.

    `user` asks for basic authentication; `redirect` sends everything on to another server; `stall` holds back the
    answer that carries the objects until it is set; `trickle` lets go of one byte of it a tenth of a second."""

    root: Path
    url: str = ""
    user: tuple[str, str] | None = None
    redirect: str | None = None
    stall: threading.Event | None = None
    trickle: threading.Event | None = None
    requests: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    asked_for_objects: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    git: GitServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self._body()
        self.git.requests.append(self.path)
        if header := self.headers.get("Authorization"):
            self.git.seen.append(base64.b64decode(header.removeprefix("Basic ")).decode())
        if self.git.redirect is not None:
            self._answer(302, {"Location": self.git.redirect + self.path}, b"")
        elif self.git.user and (not header or self.git.seen[-1] != ":".join(self.git.user)):
            self._answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
        else:
            self._backend(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_PROJECT_ROOT": str(self.git.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, check=False, env=environment)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        self._answer(status, headers, content)

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            if self.path.endswith("git-upload-pack") and status == 200:
                self._send_slowly(content)
            else:
                self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send_slowly(self, content: bytes) -> None:
        half = len(content) // 2
        stop = self.git.stall or self.git.trickle
        if stop is not None:
            self.wfile.write(content[:half])
            self.git.asked_for_objects.set()
            content = content[half:]
            while self.git.trickle and not stop.wait(0.1):
                self.wfile.write(content[:1])
                content = content[1:]
            stop.wait(60)
        self.wfile.write(content)


@contextmanager
def serve_git(root: Path) -> Iterator[GitServer]:
    """Serve every repository below a folder until the block ends."""
    git = GitServer(root)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"git": git}))
    server.daemon_threads = True
    git.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield git
    finally:
        for held in (git.stall, git.trickle):
            if held is not None:
                held.set()
        server.shutdown()
        server.server_close()
        thread.join()
