"""A model's server on loopback for tests and benchmarks: chat completions, streamed or whole, and every fault.

In a test: `async with ModelServer(script) as server: …`; `script` maps what was asked to a Reply. By itself:
`python -m tests.support.model_server --port 0 --latency-ms 200 --rate-429 0.05` prints its port on the first line.
"""

import argparse
import asyncio
import contextlib
import json
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.support.replies import ABORT, CLOSE, HANG, Pause, Reply, status, streamed, whole


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in. `attempt` counts from 1 over requests with the very same body; `connection` from 1."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    attempt: int
    connection: int

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object of the body; empty where there is none."""
        decoded = json.loads(self.raw) if self.raw else {}
        assert isinstance(decoded, dict)
        return decoded

    @property
    def model(self) -> str:
        """The model that was asked."""
        return str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """The last message of the conversation."""
        messages = self.body.get("messages") or [{"content": ""}]
        return str(messages[-1]["content"])

    @property
    def stream(self) -> bool:
        """Whether a stream was asked for."""
        return bool(self.body.get("stream"))


Script = Callable[[Asked], Reply]


def say(text: str, *, pieces: int = 4, delay_s: float = 0.0, latency_s: float = 0.0) -> Script:
    """A script that gives the same answer to everything, in the way that was asked for."""
    stream = streamed(text, pieces=pieces, delay_s=delay_s, latency_s=latency_s)
    one = whole(text, latency_s=latency_s)
    return lambda asked: stream if b'"stream":true' in asked.raw or b'"stream": true' in asked.raw else one


def answer_by(answers: dict[str, str], otherwise: str = "ok") -> Script:
    """A script that answers by the first key found in the prompt or equal to the model's id."""

    def script(asked: Asked) -> Reply:
        hits = (text for key, text in answers.items() if key in asked.prompt or key == asked.model)
        text = next(hits, otherwise)
        return streamed(text) if asked.stream else whole(text)

    return script


def in_turn(*replies: Reply | Script) -> Script:
    """A script that goes by the attempt: the first reply to the first, the last to every later one."""

    def script(asked: Asked) -> Reply:
        reply = replies[min(asked.attempt, len(replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(asked)

    return script


@dataclass
class ModelServer:
    """Serves on 127.0.0.1 while its context is open. `asked` records every POST, in order, unless `record` is off;
    `listing` replaces the answer to `/models`."""

    script: Script = field(default_factory=lambda: say("ok"))
    models: tuple[str, ...] = ("mock-a", "mock-b")
    port: int = 0
    record: bool = True
    listing: Reply | None = None
    asked: list[Asked] = field(default_factory=list)
    listed: list[Asked] = field(default_factory=list)
    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        self._attempts: Counter[bytes] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()

    @property
    def url(self) -> str:
        """The base URL, as OPENAI_BASE_URL wants it."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=2**24, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def wait_for_requests(self, number: int, within_s: float = 60.0) -> None:
        """Return once `number` questions have come in."""
        async with asyncio.timeout(within_s), self._arrived:
            await self._arrived.wait_for(lambda: self.count >= number)

    async def wait_until_idle(self, within_s: float = 60.0) -> None:
        """Return once nothing is being answered: answers nobody waits for any more have been given up."""
        async with asyncio.timeout(within_s), self._arrived:
            await self._arrived.wait_for(lambda: self.in_flight == 0)

    async def serve_forever(self) -> None:
        """Serve until cancelled."""
        await self._server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._converse(reader, writer, self.connections)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, headers = _read_head(head)
            size = int(headers.get("content-length", "0"))
            raw = await reader.readexactly(size) if size else b""
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                reply = await self._reply(Asked(method, path, headers, raw, self._attempt(raw), connection))
                open_still = await _send(writer, reply)
            finally:
                self.in_flight -= 1
                if self.record:
                    await self._notify_waiting()
            if not open_still:
                return

    async def _notify_waiting(self) -> None:
        async with self._arrived:
            self._arrived.notify_all()

    def _attempt(self, raw: bytes) -> int:
        self._attempts[raw] += 1
        return self._attempts[raw]

    async def _reply(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            return self._get(asked)
        self.count += 1
        if self.record:
            self.asked.append(asked)
            await self._notify_waiting()
        return self.script(asked)

    def _get(self, asked: Asked) -> Reply:
        self.listed.append(asked)
        path = asked.path.partition("?")[0].rstrip("/")
        if path.endswith("/models"):
            if self.listing is not None:
                return self.listing
            return status(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
        if path == "/seen":
            seen = {"requests": self.count, "connections": self.connections, "most_in_flight": self.most_in_flight}
            return status(200, seen)
        return (
            status(200, {"status": "ok"}) if path == "/health" else status(404, {"error": {"message": "no such page"}})
        )


def _read_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            headers[name.lower()] = value.strip()
    return method, path, headers


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Write the reply as scripted; False where the connection is over then."""
    if reply.latency_s:
        await asyncio.sleep(reply.latency_s)
    if reply.raw is None:
        writer.write(reply.head())
    for move in reply.moves():
        if isinstance(move, bytes):
            writer.write(move)
            if len(move) > 65_536:
                await writer.drain()
        elif isinstance(move, Pause):
            await writer.drain()
            await asyncio.sleep(move.seconds)
        elif isinstance(move, asyncio.Event):
            await writer.drain()
            await move.wait()
        elif move is ABORT:
            _reset(writer)
            return False
        elif move is CLOSE:
            return False
        else:
            assert move is HANG
            await asyncio.Event().wait()
    return reply.keeps_connection


def _reset(writer: asyncio.StreamWriter) -> None:
    """Let the other side see a reset connection instead of an end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def faulty(script: Script, *, rate_429: float = 0.0, dropped: float = 0.0, malformed: float = 0.0) -> Script:
    """The script, with that share of requests failing on their first attempt only: every n-th of each kind."""
    kinds: list[tuple[float, Reply]] = [
        (rate_429, status(429, {"error": {"message": "Rate limit reached"}}, headers={"Retry-After": "1"})),
        (dropped, whole("never seen whole " * 20).cut(0.5)),
        (malformed, whole("unreadable").garbled()),
    ]
    turns = _turns(kinds)

    def broken(asked: Asked) -> Reply:
        fault = next(turns) if asked.attempt == 1 else None
        return script(asked) if fault is None else fault

    return broken


def _turns(kinds: list[tuple[float, Reply]]) -> Iterator[Reply | None]:
    """Faults spread evenly, each kind with its own share, no more than one at a time."""
    owed = [0.5] * len(kinds)
    while True:
        for number, (share, _) in enumerate(kinds):
            owed[number] += share
        due = max(range(len(kinds)), key=lambda number: owed[number])
        if owed[due] < 1.0 - 1e-9:
            yield None
        else:
            owed[due] -= 1.0
            yield kinds[due][1]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--answer", default="The quick brown fox jumps over the lazy dog. " * 9)
    parser.add_argument("--answers", help="a JSON file: text in the prompt, or model id, to answer")
    parser.add_argument("--pieces", type=int, default=20, help="chunks of a streamed answer")
    parser.add_argument("--piece-delay-ms", type=float, default=0.0)
    parser.add_argument("--rate-429", type=float, default=0.0, help="share of first attempts")
    parser.add_argument("--dropped", type=float, default=0.0, help="share of first attempts cut in mid-body")
    parser.add_argument("--malformed", type=float, default=0.0, help="share of first attempts with malformed JSON")
    parser.add_argument("--models", default="mock-a,mock-b")
    return parser.parse_args()


async def _main(options: argparse.Namespace) -> None:
    if options.answers:
        with open(options.answers, encoding="utf-8") as file:  # noqa: ASYNC230 - before anything is served
            script = answer_by(json.load(file), options.answer)
    else:
        latency = options.latency_ms / 1000
        script = say(options.answer, pieces=options.pieces, delay_s=options.piece_delay_ms / 1000, latency_s=latency)
    script = faulty(script, rate_429=options.rate_429, dropped=options.dropped, malformed=options.malformed)
    async with ModelServer(script, tuple(options.models.split(",")), options.port, record=False) as server:
        print(server.port, flush=True)  # noqa: T201 - how the parent process learns it
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(_arguments()))
