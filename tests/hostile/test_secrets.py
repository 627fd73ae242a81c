"""Keys that a server repeats are in nothing that Assay writes.

Each key is in the environment, in the config by `${NAME}`, or in a URL. After runs on the command line every file below
the home, and every byte of stdout and stderr, is searched for all keys in every form.
"""

import base64
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.faults.fault_server import FaultServer, Mode
from tests.faults.test_keys import MODES
from tests.faults.wires import WIRES, Wire
from tests.support import messages, responses
from tests.support.asking import KEY
from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import Asked, ModelServer, Script
from tests.support.replies import CLOSE, Move, Reply, delta, event, events, page, status

SPECIAL = 'sk-can/ary+01"23&4=5~6?7\\8'
"""A key that differs from its percent-encoded and its JSON-escaped form."""
PROXY_PASSWORD = "proxy-pass-4711-word"
SECRETS = (KEY, SPECIAL, PROXY_PASSWORD)
FORMATS = ("markdown", "html", "json", "csv", "junit")
KINDS = {"chat": "openai", "responses": "openai", "messages": "anthropic"}


def forms(secret: str) -> Iterator[bytes]:
    """Yield the forms in which a secret would be a leak: every one that is decoded with one step."""
    data = secret.encode()
    yield data
    yield json.dumps(secret)[1:-1].encode()
    yield json.dumps(secret)[1:-1].replace("/", "\\/").encode()
    yield quote(secret, safe="").encode()
    for before in range(3):
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = alphabet(b"x" * before + data)
            yield encoded[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]


FORMS = sorted({form for secret in SECRETS for form in forms(secret)})


def leaks_in(data: bytes, searched: Sequence[bytes] = FORMS) -> list[bytes]:
    """Return the forms of secrets in some bytes: as they are, and unpacked."""
    views = [data, *unpacked(data)]
    return [form for form in searched if any(form in view for view in views)]


def unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the content of a gzip file, or of an object of git."""
    try:
        yield gzip.decompress(data) if data.startswith(b"\x1f\x8b") else zlib.decompress(data)
    except (zlib.error, OSError, EOFError):
        return


class Written:
    """Everything that the program has written in a home."""

    def __init__(self, home: Path) -> None:
        self._home, self._texts = home, dict[str, bytes]()
        self._given: set[Path] = set()

    def give(self, name: str, text: str) -> str:
        """Write a file for the program, which may contain a secret."""
        (self._home / name).parent.mkdir(parents=True, exist_ok=True)
        (self._home / name).write_text(text)
        self._given.add(self._home / name)
        return name

    def add(self, name: str, *texts: str | bytes) -> None:
        """Record what was written to a terminal or a pipe."""
        self._texts[name] = b"\n".join(text if isinstance(text, bytes) else text.encode() for text in texts)

    def leaks(self, *more: str) -> list[tuple[str, bytes]]:
        """Return each leaked form with the file or the output that contains it, of the usual secrets and of more."""
        searched = sorted({*FORMS, *(form for secret in more for form in forms(secret))})
        files = {
            str(path.relative_to(self._home)): path.read_bytes()
            for path in self._home.rglob("*")
            if path.is_file() and path not in self._given
        }
        assert any("runs.sqlite" in name for name in files), "nothing was saved"
        found = [(name, form) for name, data in (files | self._texts).items() for form in leaks_in(data, searched)]
        return found + [(name, form) for name in files for form in leaks_in(name.encode(), searched)]


class Person:
    """A person who runs commands in a home, all of whose output is recorded."""

    def __init__(self, assay: CommandLine) -> None:
        self.written = Written(assay.home)
        self.environ = {
            "OPENAI_API_KEY": KEY,
            "CANARY_KEY": KEY,
            "SPECIAL_KEY": SPECIAL,
            "HTTPS_PROXY": f"http://user:{PROXY_PASSWORD}@127.0.0.1:1",
            "HOME": str(assay.home),
            "TMPDIR": str(assay.home / "tmp"),
        }
        (assay.home / "tmp").mkdir()
        self._assay, self._count = assay, 0

    async def run(self, *args: str) -> Ran:
        """Run a command."""
        ran = await self._assay.run_async(*args, env=self.environ)
        self._count += 1
        self.written.add(f"{self._count}: assay {' '.join(args[:3])}", ran.out, ran.err)
        return ran

    async def report(self) -> None:
        """Write every report and export of every run, and all lists."""
        runs = [run["id"] for run in json.loads((await self.run("runs", "--json")).out)]
        assert runs
        for run in runs:
            for form in FORMATS:
                done = await self.run(
                    *("report", run, "-f", form, "-r", "--timestamps", "--risk-analysis", "-o", f"reports/{run}.{form}")
                )
                assert done.code in (0, 1), done.err
            await self.run("runs", "export", run, "-o", f"{run}.gz", "--scores")
            await self.run("review", "export", run, "--template", "-o", f"{run}.jsonl")
            await self.run("review", "packet", run, "-o", f"{run}.packet")
        for command in (("runs",), ("models", "--json"), ("models",), ("doctor",), ("paths",), ("config", "show")):
            await self.run(*command)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(CommandLine(tmp_path))


def echoes(key: str, wire: Wire) -> Iterator[tuple[str, Reply, Reply]]:
    """Yield ways to repeat a key: a name, the streamed reply, and the whole one."""
    words = "\n".join(f"{number}: {form.decode()} ." for number, form in enumerate(forms(key)))
    basic = base64.b64encode(f"user:{key}".encode()).decode()
    text = f"{words}\n{basic}\n{json.dumps({'key': key})}\nhttp://x.invalid/?key={quote(key)}"
    yield "all forms", wire.answer(text, True), wire.answer(text, False)
    moves: list[Move] = []
    for place in range(1, len(key)):
        moves += [wire.text(f"({key[:place]}"), wire.text(f"{key[place:]})")]
    pieces = wire.stream(*moves, wire.finish, wire.mark)
    yield "split at each place", pieces, wire.whole(f"({key})")
    letters = wire.stream(*(wire.text(letter) for letter in text), wire.finish, wire.mark)
    yield "letter by letter", letters, wire.whole(text)
    code = f"```python {key[:8]}.py\nkey = {key!r}\n```\n"
    yield "in code", wire.answer(code, True), wire.answer(code, False)
    yield "in a half answer", wire.half(True, wire.text(key), CLOSE), wire.half(False, CLOSE)
    usage = wire.counts(key, [key])
    yield "in counts", wire.stream(wire.text("well"), wire.counted(usage)), wire.whole("well", usage)
    whole = {**wire.body("well", wire.counts(7, 3)), "model": key, "id": key, "system_fingerprint": key}
    yield "in names", wire.answer("well", True), status(200, whole)
    broken = b'{"choices": [{"message": "' + key.encode()
    yield "in malformed JSON", events(wire.start, b"data: " + broken + b"\n\n"), Reply((broken,))
    yield "in a page", page(f"<title>{key}</title>{key}"), page(key, 404)
    lines = f": {key}\nid: {key}\nretry: {key}\nevent: {key}\n".encode()
    yield "in other lines", events(wire.start, lines + b"data: 1\n\n", wire.mark), Reply((lines,))
    error = {"error": {"message": f"bad: {text}", "type": key, "code": key, "param": key}}
    yield "in a refusal", status(400, error), status(422, error)
    yield "in an error event", events(wire.start, event(error)), status(200, error)
    headers = {"Retry-After": key, "X-Request-Id": key, "WWW-Authenticate": key, "Set-Cookie": key}
    yield "in headers", status(429, error, headers=headers), status(404, error, headers=headers)
    yield (
        "in a location",
        status(301, error, headers={"Location": f"/{quote(key)}"}),
        status(307, headers={"Location": key}),
    )
    first = f"HTTP/1.1 500 {key}\r\nContent-Length: 3\r\n\r\n{{}}\n".encode()
    yield "in a status line", Reply(raw=(first, CLOSE)), Reply(raw=(first.replace(b"500", b"200"), CLOSE))
    kind = (("Content-Type", f"text/{quote(key)}"), ("Content-Encoding", quote(key)))
    yield "in a type", Reply((b"x",), headers=kind), Reply((b"x",), headers=kind[:1])
    yield from tool_calls(key, wire)


def tool_calls(key: str, wire: Wire) -> Iterator[tuple[str, Reply, Reply]]:
    """Yield a call of a tool, and a thought, with the key."""
    arguments = json.dumps({key: key})
    if wire.name == "chat":
        call = {"index": 0, "id": key, "type": "function", "function": {"name": key, "arguments": arguments}}
        thought = delta(None, reasoning_content=f"think {key}", tool_calls=[call])
        body = wire.body(None, wire.counts(7, 3))
        body["choices"][0]["message"] |= {"tool_calls": [call], "reasoning": f"think {key}"}
        body["choices"][0]["finish_reason"] = key
        yield "in a tool call", wire.stream(event(thought), event(delta(finish=key)), wire.mark), status(200, body)
    elif wire.name == "responses":
        items = (responses.reasoning(f"think {key}"), responses.call(key, arguments))
        stream = events(responses.begun(), *map(responses.done, items), responses.ended("completed", *items))
        yield "in a tool call", stream, responses.whole(*items)
    else:
        block = {"type": "tool_use", "id": key, "name": key, "input": {key: key}}
        stream = messages.stream(
            messages.started(),
            messages.opened(0, "tool_use", id=key, name=key, input={}),
            messages.piece("input_json_delta", 0, partial_json=arguments),
            messages.closed(),
            messages.stopped(key),
            messages.OVER,
        )
        yield "in a tool call", stream, messages.whole({"type": "thinking", "thinking": key}, block, reason=key)


Make = Callable[[bool], Reply | Script]


def all_faults(wires: Sequence[Wire]) -> list[tuple[str, str, str, Make]]:
    """Return for each fault its name, the kind of its provider, the variable of its key, and the replies."""
    server, found = FaultServer(), list[tuple[str, str, str, Make]]()
    for wire in wires:
        for mode in MODES:
            found.append((str(mode), wire.name, "CANARY_KEY", _replies(server, mode, wire)))
        for name, key in (("CANARY_KEY", KEY), ("SPECIAL_KEY", SPECIAL)):
            for fault, streamed, whole in echoes(key, wire):
                found.append((fault, wire.name, name, lambda stream, s=streamed, w=whole: s if stream else w))  # type: ignore[misc]
    return found


def _replies(server: FaultServer, mode: Mode, wire: Wire) -> Make:
    return lambda stream: server.reply_of(mode, wire, stream)


def reply_by_path(faults: Sequence[tuple[str, str, str, Make]]) -> Script:
    """Return a script that chooses the fault by the number in the path."""

    def script(asked: Asked) -> Reply:
        reply = faults[int(asked.path.split("/")[1])][3](b'"stream":true' in asked.raw.replace(b" ", b""))
        return reply if isinstance(reply, Reply) else reply(asked)

    return script


def config_for(faults: Sequence[tuple[str, str, str, Make]], url: str) -> str:
    """Return a config with a provider for each fault."""
    providers = {}
    for number, (_, wire, variable, _) in enumerate(faults):
        entry = {"kind": KINDS[wire], "base_url": f"{url}/{number}", "api_key": f"${{{variable}}}"}
        providers[f"p{number}"] = entry | ({"api": "responses"} if wire == "responses" else {})
    return yaml.safe_dump({"providers": providers})


def suite_of(models: Sequence[str], **more: object) -> str:
    """Return a suite of one case with these models."""
    case = {"id": "one", "name": "one", "category": "Security", "prompt": "Answer.", "expectedPatterns": ["well"]}
    return json.dumps({"name": "Keys", "description": "x", "models": list(models), "testCases": [{**case, **more}]})


@pytest.mark.parametrize("wires", [WIRES[:1], pytest.param(WIRES[1:], marks=pytest.mark.long)], ids=["chat", "others"])
async def test_no_fault_of_a_server_leaves_a_key(person: Person, wires: Sequence[Wire]) -> None:
    faults = all_faults(wires)
    listing = status(200, {"object": "list", "data": [{"id": f"m-{key}", "owned_by": key} for key in (KEY, SPECIAL)]})
    async with ModelServer(reply_by_path(faults), listing=listing) as server:
        url = f"http://127.0.0.1:{server.port}"
        person.written.give("assay_config_dir/config.yaml", config_for(faults, url))
        person.environ["OPENAI_BASE_URL"] = server.url
        suite = person.written.give("suite.json", suite_of([f"p{number}/m" for number in range(len(faults))]))
        for stream in ("--stream", "--no-stream"):
            ran = await person.run("run", suite, "--parallel", stream, "-f", "json", "-r")
            assert ran.code == 1, ran.err
            assert len(json.loads(ran.out)["results"]) == len(faults)
        await person.report()
    assert person.written.leaks() == []
