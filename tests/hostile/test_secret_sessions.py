"""Keys in a session of the app, in agents, in URLs of repositories and in proxies are in nothing that Assay writes.

As in `test_secrets`, every file below the home and every byte of a terminal is searched for all keys in every form.
"""

import asyncio
import base64
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hostile.home import PROJECT
from tests.hostile.test_secrets import SPECIAL, Person, Written, leaks_in, suite_of
from tests.support.asking import KEY
from tests.support.command_line import CommandLine
from tests.support.git_server import GitServer, serve_git
from tests.support.model_server import Asked, ModelServer
from tests.support.replies import CLOSE, Reply, status, streamed, whole
from tests.support.repositories import make_repository
from tests.support.terminal import Terminal, run_here

LITERAL = "literal-canary-0815-in-the-config"
TOKEN = "token-canary-of-more-than-twenty"
PASSWORD = "pass-canary-word-5150"
PROXY_KEY = "proxy-canary-word-2342"
ENVIRON_PROXY_KEY = "environ-proxy-canary-7788"
REQUEST_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "x-team")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(CommandLine(tmp_path))


def repeats(asked: Asked) -> str:
    """Return what a server knows of the keys: its request headers, decoded too."""
    values = [asked.headers[name] for name in REQUEST_HEADERS if name in asked.headers]
    decoded = [base64.b64decode(value.split()[1]).decode() for value in values if value.startswith("Basic ")]
    return " ".join([*values, *decoded])


def failing(asked: Asked) -> Reply:
    """Answer each request in another way, and repeat the keys in each."""
    keys = repeats(asked)
    code = f"The keys: {keys}\n\n```python {keys.split()[-1][:8]}.py\nkey = {keys!r}\n```\n"
    number = int(asked.prompt.split()[-1])
    if number == 0:
        return streamed(code) if asked.stream else whole(code)
    if number == 1:
        return status(401, {"error": {"message": f"Incorrect API key provided: {keys}"}})
    if number == 2:
        return status(400, {"error": {"message": keys, "type": keys}}, headers={"X-Request-Id": keys.split()[-1]})
    return Reply(raw=(f"HTTP/1.1 500 {keys}\r\nContent-Length: 3\r\n\r\n{{}}\n".encode(), CLOSE))


def write_config(person: Person, **providers: dict[str, Any]) -> None:
    person.written.give("assay_config_dir/config.yaml", yaml.safe_dump({"providers": providers}))


def write_cases(person: Person, models: Sequence[str]) -> str:
    """Write a suite whose case N asks for the failure N."""
    case = {"category": "c", "expectedPatterns": ["key"]}
    cases = [{"id": f"c{n}", "name": f"Case {n}", "prompt": f"question {n}", **case} for n in range(4)]
    suite = {"name": "Keys", "description": "d", "models": list(models), "testCases": cases}
    (Path(person.environ["HOME"]) / "suites").mkdir(exist_ok=True)
    return person.written.give("suites/s.json", json.dumps({**suite, "options": {"delayBetweenTestsMs": 0}}))


async def test_a_session_of_the_app_writes_no_key(person: Person) -> None:
    async with ModelServer(failing) as server:
        url = f"{server.url}"
        write_config(
            person,
            one={"kind": "openai", "base_url": url, "api_key": "${SPECIAL_KEY}"},
            two={"kind": "openai", "base_url": url, "api_key": LITERAL, "headers": {"X-Team": "${CANARY_KEY}-team"}},
        )
        person.environ["OPENAI_BASE_URL"] = url
        write_cases(person, ["one/a", "two/b", "openai/c"])
        await asyncio.to_thread(use_the_app, person)
    assert person.written.leaks(LITERAL, f"{KEY}-team") == []


def use_the_app(person: Person) -> None:
    """Run all cases, copy, export, open every screen, and end by a bug whose error contains the keys."""
    home = Path(person.environ["HOME"])
    command = ("-m", "tests.hostile.broken", "tui.app.matrix.matrix:Matrix.__init__", f"{KEY} {SPECIAL} {LITERAL}")
    environ = {**CommandLine(home).environ(), **person.environ, "PYTHONPATH": str(PROJECT)}
    with Terminal(run_here(*command, "suites"), size=(160, 45), cwd=home, env=environ) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("R")
        terminal.wait_for("12/12")
        terminal.press("home", "down", "down")
        terminal.wait_for("c0 · Case 0")
        for place, end in enumerate(("Copied: answer", "Copied: code block", "Copied: prompt", "Copied: command")):
            terminal.press("y")
            terminal.wait_for("Enter copy")
            terminal.press(*["down"] * place, "enter")
            terminal.wait_for(end)
        for key in ("]", "]", "]", "]", "down", "down", "down", "z", "z", "n"):
            terminal.press(key)
        terminal.press("H")
        terminal.wait_for("· repeats")
        terminal.press("O")
        terminal.wait_for("[ ] a Answers in full")
        terminal.press("a")
        terminal.wait_for("[x] a Answers in full")
        terminal.press("enter", "enter")
        terminal.wait_for("Saved")  # the path that follows, or its end, may be on the next line
        terminal.press("enter")
        terminal.wait_while("Export report")
        terminal.send("\x1b[27u")
        terminal.wait_while("· repeats")
        terminal.press("m")
        assert terminal.wait_exit() == 3
        person.written.add("terminal", bytes(terminal.raw), *copied(bytes(terminal.raw)))
        assert len(list(copied(bytes(terminal.raw)))) == 4
    assert list(home.glob("keys-*")), "nothing was exported"
    assert list((home / "assay_data_dir" / "crashes").iterdir())


def copied(raw: bytes) -> Iterator[bytes]:
    """Yield what was copied to the clipboard."""
    for piece in raw.split(b"\x1b]52;c;")[1:]:
        yield base64.b64decode(piece.partition(b"\x07")[0])


AGENT = """
import json, os, sys
words = "\\n".join([*(f"{name}={value}" for name, value in os.environ.items()), *sys.argv])
print(words, file=sys.stderr)
def agent(input, memory):
    print(words)
    if input == "fail":
        raise RuntimeError(words)
    if input == "exit":
        sys.exit(words)
    return {"output": words, "tools_used": [words], "memory": {"all": words}}
"""
COMMAND = """
import json, os, sys
words = json.dumps(dict(os.environ))
for line in sys.stdin:
    print(words, file=sys.stderr, flush=True)
    if "exit" in line:
        sys.exit(words)
    print(json.dumps({"output": words, "tools_used": [], "memory": {}}), flush=True)
"""


async def test_an_agent_and_its_output_have_no_key(person: Person) -> None:
    person.environ |= {
        "ORDINARY": KEY, "ALSO_ORDINARY": f"x{SPECIAL}x", "COPY_OF_LITERAL": LITERAL,
        "OPENAI_API_KEY": KEY, "ASSAY_GIT_CREDENTIALS": f"https://me:{PASSWORD}@git.invalid",
        "PLAIN": "seen-by-the-agent",
    }  # fmt: skip
    write_config(
        person,
        two={"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": LITERAL},
        one={"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "${SPECIAL_KEY}"},
    )
    person.written.give("agent.py", AGENT)
    person.written.give("command.py", COMMAND)
    steps = [{"input": word, "assert": {"output.includes": "x"}} for word in ("hello", "fail", "exit")]
    suites = [
        person.written.give(f"{step['input']}.yaml", yaml.safe_dump({"description": "d", "steps": [step]}))
        for step in steps
    ]
    python = "cmd:" + " ".join(map(str, run_here("command.py")))
    for agent in ("agent.py", python):
        for suite in suites:
            ran = await person.run("run", suite, "--agent", agent, "-f", "json", "-r")
            assert ran.code in (0, 1), ran.err
            assert "seen-by-the-agent" in ran.out
    assert person.written.leaks(LITERAL, PASSWORD) == []


CUT_AGENT = """
import sys
key = "".join(["HALF", "REST"])
def agent(input, memory):
    cut = int(input)
    sys.stderr.write("a" * 9000 + key + "b" * (1000 - len(key) + cut))
    sys.stderr.flush()
    if cut % 2:
        sys.exit("c" * (490 - cut) + key)
    raise ValueError("c" * (500 - cut) + key)
"""


async def test_a_key_that_assay_itself_cuts_is_removed(person: Person) -> None:
    person.written.give("agent.py", CUT_AGENT.replace("HALF", KEY[:9]).replace("REST", KEY[9:]))
    cuts = [1, 2, 7, 8, len(KEY) - 7]
    steps = [{"input": str(cut), "assert": {"output.includes": "x"}} for cut in cuts]
    tests = [{"name": f"t{step['input']}", "description": "d", "steps": [step]} for step in steps]
    for test in tests:
        suite = person.written.give(f"{test['name']}.yaml", yaml.safe_dump(test))
        ran = await person.run("run", suite, "--agent", "agent.py", "-f", "json", "-r")
        assert ran.code == 1, ran.err
        error = json.loads(ran.out)["results"][0]["error"]
        parts = {KEY[start : start + 7] for start in range(len(KEY) - 6)}
        assert [part for part in parts if part in error] == [], error
        assert "[removed key]" in error
    assert person.written.leaks() == []


GitFault = Callable[[GitServer], None]


def refuse(git: GitServer) -> None:
    git.user = ("someone", "else")


def redirect(git: GitServer) -> None:
    git.redirect = git.url.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize(
    ("user", "path", "fault"),
    [
        pytest.param(f"me:{PASSWORD}", "repo", None, id="cloned"),
        pytest.param(f"{TOKEN}:x-oauth-basic", "repo", refuse, id="refused"),
        *(
            pytest.param(user, path, fault, marks=pytest.mark.long)
            for user in (f"me:{PASSWORD}", f"{TOKEN}:x-oauth-basic", TOKEN)
            for path, fault in (("repo", None), ("repo", refuse), ("repo", redirect), ("missing", None))
        ),
    ],
)
async def test_a_password_in_the_url_of_a_repository_is_in_nothing(
    person: Person, user: str, path: str, fault: GitFault | None
) -> None:
    home = Path(person.environ["HOME"])
    make_repository(home / "served" / "repo", {"a.txt": "a\n"})
    secret = TOKEN if TOKEN in user else PASSWORD
    answer = f"```txt a.txt\n{secret}\n```"
    with serve_git(home / "served") as served:
        if fault:
            fault(served)
        url = f"{served.url}/{path}".replace("://", f"://{user}@")
        async with ModelServer(lambda asked: streamed(answer) if asked.stream else whole(answer)) as server:
            person.environ |= {"OPENAI_BASE_URL": server.url}
            more: dict[str, Any] = {"applyChanges": True, "targetFile": "a.txt"}
            suite = json.loads(suite_of(["m"], **more))
            given = person.written.give("suite.json", json.dumps({**suite, "repoClone": {"repoUrl": url}}))
            plain = person.written.give("plain.json", suite_of(["m"], **more))
            for words in ((given,), (plain, "--clone", url, "--keep-temp")):
                ran = await person.run("run", *words, "--allow-local", "-f", "json", "-r")
                assert ran.code == 1, ran.err
            await person.run("run", given)  # needs a consent, and names the URL
            await person.run("validate", given)
    assert person.written.leaks(secret) == []


async def test_a_key_in_the_query_of_the_url_of_a_repository_is_in_nothing(person: Person) -> None:
    person.environ |= {"OPENAI_BASE_URL": "http://127.0.0.1:1"}
    suite = json.loads(suite_of(["m"]))
    url = f"http://127.0.0.1:1/repo.git?private_token={TOKEN}"
    given = person.written.give("suite.json", json.dumps({**suite, "repoClone": {"repoUrl": url}}))
    plain = person.written.give("plain.json", suite_of(["m"]))
    for words in ((given,), (plain, "--clone", url)):
        ran = await person.run("run", *words, "--allow-local", "-f", "json", "-r")
        assert ran.code == 1, ran.err
        assert (await person.run("runs", "export", "last")).code == 0
    again = await person.run("run", "--rerun-errors", "last", "--allow-local", "-f", "json")
    assert again.code == 1
    assert "the repository URL contained a key, which was not saved with the run. Start a new run." in again.out
    assert person.written.leaks(TOKEN) == []


REFUSED = """https://me:{}@host:99999/x ext::https://me:{}@host/x https://me:{}@ ftp://me:{}@host/x https://me:{}@host
https://me:{}@-host/x https://me:a{}@b@:80/x me:{}@host:x"""


async def test_a_password_in_a_url_that_is_refused_is_not_repeated(person: Person) -> None:
    suite = json.loads(suite_of(["m"]))
    plain = person.written.give("plain.json", suite_of(["m"]))
    for number, url in enumerate(REFUSED.split()):
        clone = {"repoUrl": url.format(PASSWORD)}
        given = person.written.give(f"{number}.json", json.dumps({**suite, "repoClone": clone}))
        for words in (("validate", given), ("run", plain, "--clone", url.format(PASSWORD))):
            ran = await person.run(*words)
            assert ran.code == 2, ran.err
    await person.run("runs")
    assert person.written.leaks(PASSWORD) == []


STEP = "steps:\n  - input: hello\n    assert: {output.includes: hello}\n"


async def test_a_key_in_the_url_of_an_agent_is_in_nothing(person: Person) -> None:
    plain = person.written.give("plain.yaml", f"description: a\n{STEP}")
    seen: list[str] = []

    def answer(asked: Asked) -> Reply:
        seen.append(asked.path)
        return Reply((json.dumps({"output": f"hello {asked.path}"}).encode(),))

    async with ModelServer(answer) as server:
        url = f"http://127.0.0.1:{server.port}/agent?room=5&api_key={TOKEN}"
        named = person.written.give("named.yaml", f"description: a\nagent: {url}\n{STEP}")
        for words in ((named, "--allow-commands"), (plain, "--agent", url)):
            ran = await person.run("run", *words, "-f", "html", "-r")
            assert ran.code == 0, ran.err
            assert (await person.run("runs", "export", "last")).code == 0
        server.script = lambda _: Reply((b'{"output": "nothing"}',))
        assert (await person.run("run", named, "--allow-commands")).code == 1
        again = await person.run("run", "--rerun-failed", "last", "--allow-commands")
    assert seen == [f"/agent?room=5&api_key={TOKEN}"] * 2
    assert again.code == 2
    assert "/agent contained a key, which was not saved with the run. Start a new run with --agent." in again.err
    assert person.written.leaks(TOKEN) == []


@pytest.mark.parametrize(
    "url", ["http://me:{}@127.0.0.1:9/agent", "https://{}@host/", "ftp://me:{}@host", "HTTP://a:{}@h"]
)
async def test_a_password_in_the_url_of_an_agent_is_refused_and_in_nothing(person: Person, url: str) -> None:
    plain = person.written.give("plain.yaml", f"description: a\n{STEP}")
    named = person.written.give("named.yaml", f"description: a\nagent: {url.format(PASSWORD)}\n{STEP}")
    for words in (("validate", named), ("run", named), ("run", plain, "--agent", url.format(PASSWORD))):
        ran = await person.run(*words)
        assert ran.code == 2, ran.err
    assert (await person.run("runs")).out == ""
    assert person.written.leaks(PASSWORD) == []


def proxy(asked: Asked) -> Reply:
    """Fail as a proxy does that repeats the credentials: in the status line, headers, and body."""
    keys = repeats(asked)
    number = int(asked.prompt.split()[-1]) if asked.raw else 0
    if number == 3:
        return streamed(keys) if asked.stream else whole(keys)
    code = (407, 502, 403)[number]
    body = f"<h1>{keys}</h1>"
    first = f'HTTP/1.1 {code} {keys}\r\nProxy-Authenticate: Basic realm="{keys}"\r\nX: {keys}\r\n'
    return Reply(raw=(f"{first}Content-Length: {len(body)}\r\n\r\n{body}".encode(), CLOSE))


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_password_of_a_proxy_is_in_nothing(person: Person, scheme: str) -> None:
    async with ModelServer(proxy) as server:
        address = f"http://me:{PROXY_KEY}@127.0.0.1:{server.port}"
        write_config(
            person,
            one={
                "kind": "openai",
                "base_url": f"{scheme}://models.invalid/v1",
                "api_key": "${SPECIAL_KEY}",
                "proxy": address,
            },
        )
        person.environ |= dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), address)
        suite = write_cases(person, ["one/a"])
        ran = await person.run("run", suite, "-f", "json", "-r")
        assert ran.code == 1, ran.err
        assert server.asked
        assert any(PROXY_KEY in repeats(asked) for asked in server.asked)
        before = len(server.asked)
        text = json.loads(suite_of(["one/a"]))
        given = person.written.give(
            "git.json", json.dumps({**text, "repoClone": {"repoUrl": f"https://me:{PASSWORD}@git.invalid/x"}})
        )
        ran = await person.run("run", given, "-f", "json")
        assert ran.code == 1, ran.err
        assert len(server.asked) > before, "the clone did not use the proxy"
    assert person.written.leaks(PROXY_KEY, ENVIRON_PROXY_KEY, PASSWORD) == []


def test_a_leak_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_bytes(base64.b64encode(f"me:{PASSWORD}".encode()))
    assert Written(tmp_path).leaks(PASSWORD) != []
    assert leaks_in(KEY.encode()) != []


DECODING = [
    {"type": "equals", "value": {"capital": "Paris"}},
    {"type": "is-json", "value": {"properties": {"capital": {"enum": ["Paris"]}}}},
    {"type": "contains-json", "value": {"properties": {"capital": {"maxLength": 3}}}},
]


async def test_assertions_on_the_answer_of_an_agent_write_no_key_of_its_url(person: Person) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in TOKEN)
    async with ModelServer(
        lambda _: Reply((json.dumps({"output": f'{{"capital": "{escaped}"}}'}).encode(),))
    ) as server:
        url = f"http://127.0.0.1:{server.port}/agent?api_key={TOKEN}"
        suite = person.written.give("suite.json", suite_of(["openai/m"], assertions=DECODING))
        ran = await person.run("run", suite, "--agent", url, "-f", "json", "-r")
    assert ran.code == 1, ran.err
    assert person.written.leaks(TOKEN) == []


async def test_assertions_that_decode_json_write_no_key(person: Person) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    answer = f'{{"capital": "{escaped}"}}'
    async with ModelServer(lambda _: whole(answer)) as server:
        person.environ["OPENAI_BASE_URL"] = server.url
        suite = person.written.give("suite.json", suite_of(["openai/m"], assertions=DECODING))
        ran = await person.run("run", suite, "--no-stream", "-f", "json", "-r")
    assert ran.out.count("[removed key]") == len(DECODING), ran.err
    row = json.dumps({"case": "one", "model": "a", "answer": answer})
    ran = await person.run("import", person.written.give("answers.jsonl", row + "\n"), "--suite", suite)
    assert ran.code == 0, ran.err
    assert person.written.leaks() == []
