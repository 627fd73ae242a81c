"""Hostile Python agents: what they do is the error of their own case, and the next case gets its right answer."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import pytest

import tui
from tests.support.command_line import CommandLine
from tests.support.processes import dropped_capabilities, running, wait_until
from tests.support.steps import ask, make_request, text_of
from tui.model.errors import ProviderError
from tui.model.subjects import ProviderSettings
from tui.providers.agent import AgentProvider

Write = Callable[..., str]
OUTSIDE = "agent flight.py sent an invalid answer: its process wrote output outside of a step"
# The attack begins at line 3; the function that is called in its place answers all other cases.
AGENT = """
attack = agent
def agent(input, memory):
    return attack(input, memory) if input == "attack" else {"output": input.upper()}
def write(data):
    return os.write(4, data)  # the descriptor of the answers
"""


@pytest.fixture
def marker() -> str:
    """Every process of the test's agents has this in its environment."""
    return f"assay-{uuid4().hex}"


@pytest.fixture
async def agents(marker: str) -> AsyncIterator[AgentProvider]:
    provider = AgentProvider(ProviderSettings("agent", "agent"), {**os.environ, "MARKER": marker})
    yield provider
    await provider.close()
    assert running(marker) == [], "close() leaves no process"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_agent(lines: list[str], after: str = "") -> str:
        path = tmp_path / "flight.py"
        attack = "".join(f"    {line}\n" for line in lines)
        path.write_text(f"import os, sys\ndef agent(input, memory):\n{attack}{AGENT}{after}")
        return str(path)

    return write_agent


async def answer_of(agents: AgentProvider, path: str, text: str) -> str:
    return text_of(await ask(agents, make_request(path, text, case=text)))


FAULTS: dict[str, tuple[list[str], str]] = {
    "key error": (["x = {}", 'return x["x"]'], "agent flight.py raised KeyError: 'x' (line 4)"),
    "sys.exit": (["sys.exit(3)"], "agent flight.py called sys.exit(3)"),
    "sys.exit text": (["sys.exit('no')"], "agent flight.py called sys.exit('no')"),
    "os._exit": (["os._exit(0)"], "agent flight.py exited with status 0 without an answer"),
    "os._exit 5": (["os._exit(5)"], "agent flight.py exited with status 5 without an answer"),
    "segfault": (
        ["import ctypes", "ctypes.string_at(0)"],
        "agent flight.py was killed by signal 11 (SIGSEGV)",
    ),
    "abort": (["os.abort()"], "agent flight.py was killed by signal 6 (SIGABRT)"),
    "kills itself": (
        ["os.kill(os.getpid(), 9)"],
        "agent flight.py was killed by signal 9 (SIGKILL), possibly because memory ran out",
    ),
    "4 GB": (["x = bytearray(4 << 30)"], "agent flight.py raised MemoryError (line 3)"),
    "input()": (
        ["import builtins", "builtins.input()"],
        "agent flight.py raised EOFError: EOF when reading a line (line 4)",
    ),
    "stdin": (["return sys.stdin.read()"], "expected an object with output, tools_used and memory, got str"),
    "recursion": (
        ["return agent(input, memory)"],
        "agent flight.py raised RecursionError: maximum recursion depth exceeded",
    ),
    "interrupt": (["raise KeyboardInterrupt"], "agent flight.py raised KeyboardInterrupt (line 3)"),
    "bad words": (
        ["class Odd(Exception):", "    def __str__(self): raise ValueError", "raise Odd"],
        "agent flight.py raised Odd (line 5)",
    ),
    "long words": (["raise ValueError('x' * 10**7)"], "agent flight.py raised ValueError: xxx"),
    "nothing": (
        ["pass"],
        "returned an invalid answer: expected an object with output, tools_used and memory, got nothing (None)",
    ),
    "no output": (["return {}"], "agent flight.py sent an invalid answer: it has no output"),
    "a number": (
        ["return {'output': 3}"],
        "agent flight.py sent an invalid answer: output: expected a string, got a number",
    ),
    "a generator": (
        ["yield 1"],
        "returned an invalid answer: expected an object with output, tools_used and memory, got generator",
    ),
    "NaN": (
        ["return {'output': '', 'memory': {'x': float('nan')}}"],
        "agent flight.py returned an invalid answer: its memory cannot be serialized as JSON: it contains NaN or "
        "infinity",
    ),
    "a set": (
        ["memory['x'] = {1}", "return {'output': ''}"],
        "its memory cannot be serialized as JSON: Object of type set is not JSON serializable",
    ),
    "a circle": (["memory['x'] = memory", "return {'output': ''}"], "cannot be serialized as JSON: Circular reference"),
    "deep": (
        ["x = {}", "for _ in range(100): x = {'x': x}", "return {'output': '', 'memory': x}"],
        "agent flight.py sent an invalid answer: it is nested too deeply",
    ),
    "a list for memory": (
        ["return {'output': '', 'memory': []}"],
        "sent an invalid answer: memory: expected an object, got a list",
    ),
    "tools": (
        ["return {'output': '', 'tools_used': [1]}"],
        "tools_used: expected names or objects with a name, got a number",
    ),
    "tools as a number": (["return {'output': '', 'tools_used': 5}"], "tools_used expected a list, got a number"),
    "50 MB": (
        ["return {'output': 'x' * (50 << 20)}"],
        "agent flight.py answered with 50 MiB; the limit is 16 MiB",
    ),
    "50 MB printed": (
        ["print('x' * (50 << 20))", "return {'output': ''}"],
        "agent flight.py wrote more than 16 MiB of output",
    ),
    "bytes": (
        ["return {'output': b''}"],
        "returned an invalid answer: its output cannot be serialized as JSON: Object of type bytes is not JSON",
    ),
    "17 MB": (["return {'output': 'x' * (17 << 20)}"], "agent flight.py answered with 17 MiB; the limit is 16 MiB"),
    "very deep": (
        ["x = []", "for _ in range(100_000): x = [x]", "return {'output': '', 'memory': {'x': x}}"],
        "its memory cannot be serialized as JSON: maximum recursion depth exceeded",
    ),
    "5,000 digits": (
        ["return {'output': '', 'memory': {'n': 10**5000}}"],
        "its memory cannot be serialized as JSON: Exceeds the limit (4300 digits) for integer string conversion",
    ),
    "5,000 digits allowed": (
        ["sys.set_int_max_str_digits(0)", "return {'output': '', 'memory': {'n': 10**5000}}"],
        "agent flight.py sent an invalid answer: Exceeds the limit (4300 digits) for integer string conversion",
    ),
    "a base exception": (
        ["class Odd(BaseException): pass", "raise Odd('x')"],
        "agent flight.py raised Odd: x (line 4)",
    ),
    "an exception group": (
        ["raise ExceptionGroup('x', [ValueError('y')])"],
        "agent flight.py raised ExceptionGroup: x (1 sub-exception) (line 3)",
    ),
    "StopIteration": (["raise StopIteration"], "agent flight.py raised StopIteration (line 3)"),
    "an awaitable that raises": (
        ["async def wait(): 1 / 0", "return wait()"],
        "agent flight.py raised ZeroDivisionError: division by zero (line 3)",
    ),
    "an exit with odd words": (
        ["class Odd:", "    def __repr__(self): raise ValueError('odd')", "sys.exit(Odd())"],
        "agent flight.py exited with status 70 without an answer.\n"
        "Output of the process:\ncannot run the program: ValueError: odd",
    ),
    "an odd dictionary": (
        [
            "class Odd(dict):",
            "    def keys(self): raise ValueError('odd')",
            "    __iter__ = keys",
            "return Odd(output='')",
        ],
        "agent flight.py exited with status 70 without an answer.\n"
        "Output of the process:\ncannot run the program: ValueError: odd",
    ),
    "an odd tool": (
        ["class Odd:", "    @property", "    def name(self): 1 / 0", "return {'output': '', 'tools_used': [Odd()]}"],
        "agent flight.py exited with status 70 without an answer.\n"
        "Output of the process:\ncannot run the program: ZeroDivisionError: division by zero",
    ),
    "breaks json": (
        ["import json", "json.dumps = None", "return {'output': ''}"],
        "cannot run the program: TypeError: 'NoneType' object is not callable",
    ),
    "fakes its pid": (
        ["os.getpid = lambda: 1", "return {'output': ''}"],
        "agent flight.py exited with status 0 without an answer",
    ),
    "closes stdout": (
        ["sys.stdout.close()", "return {'output': ''}"],
        "cannot run the program: ValueError: I/O operation on closed file",
    ),
    "an alarm": (
        ["import signal", "signal.raise_signal(signal.SIGALRM)"],
        "agent flight.py was killed by signal 14 (SIGALRM)",
    ),
    "becomes another program": (
        ["os.execvp('true', ['true'])"],
        "agent flight.py exited with status 0 without an answer",
    ),
    "the terminal": (
        ["open('/dev/tty', 'w').write('\\x1b[2J')"],
        "agent flight.py raised OSError: [Errno 6] No such device or address: '/dev/tty' (line 3)",
    ),
    "closes every descriptor": (
        ["os.closerange(3, 64)", "return {'output': ''}"],
        "agent flight.py exited with status 70 without an answer.\n"
        "Output of the process:\ncannot run the program: OSError: [Errno 9] Bad file descriptor",
    ),
    "writes words to the answers": (
        ["write(b'hello\\n')", "return {'output': ''}"],
        "agent flight.py sent an invalid answer: it is not JSON: hello",
    ),
    "writes half a line": (
        ["write(b'{\"half')", "return {'output': ''}"],
        'agent flight.py sent an invalid answer: it is not JSON: {"half{"id":"',
    ),
    "an answer without an id": (['write(b\'{"answer":{"output":"forged"}}\\n\')', "return {'output': ''}"], OUTSIDE),
    "a wrong id": (
        ['write(b\'{"id":"1","answer":{"output":"forged"}}\\n\')', "return {'output': ''}"],
        OUTSIDE,
    ),
    "a huge id": (["write(b'{\"id\":\"%s\"}\\n' % (b'9' * 60_000))", "return {'output': ''}"], OUTSIDE),
    "an odd id": (['write(b\'{"id":{"id":[]},"answer":{}}\\n\')', "return {'output': ''}"], OUTSIDE),
    "a list": (["write(b'[]\\n')", "return {'output': ''}"], OUTSIDE),
    "an answer before its request": (
        ['write(b\'{"answer":{"output":"a"}}\\n\' * 3)', "return {'output': ''}"],
        OUTSIDE,
    ),
    "two answers with the right id": (
        [
            "import inspect, json",
            "asked = next(f.frame.f_locals['request'] for f in inspect.stack() if 'request' in f.frame.f_locals)",
            "write((json.dumps({'id': asked['id'], 'answer': {'output': 'forged'}}) + '\\n').encode() * 2)",
            "return {'output': ''}",
        ],
        "agent flight.py answered more than once for one step",
    ),
    "an endless line": (
        ["while True: write(b'x' * 60_000)"],
        "agent flight.py answered with more than 16 MiB",
    ),
    "kills its guard": (
        ["import signal, time", "os.kill(os.getppid(), signal.SIGKILL)", "time.sleep(600)"],
        "agent flight.py was killed by signal 9 (SIGKILL), possibly because memory ran out",
    ),
    "ends its guard": (
        ["import signal, time", "os.kill(os.getppid(), signal.SIGTERM)", "time.sleep(600)"],
        "agent flight.py exited with status 0 without an answer",
    ),
    "leaves a daemon and kills its guard": (
        [
            "import signal, subprocess, time",
            "subprocess.Popen(['sleep', '600'], start_new_session=True)",
            "os.kill(os.getppid(), signal.SIGKILL)",
            "time.sleep(600)",
        ],
        "agent flight.py was killed by signal 9 (SIGKILL), possibly because memory ran out",
    ),
}


@pytest.mark.parametrize(("lines", "message"), FAULTS.values(), ids=FAULTS.keys())
async def test_an_attack_is_the_error_of_its_case(
    agents: AgentProvider, write: Write, lines: list[str], message: str
) -> None:
    path = write(lines)
    assert await answer_of(agents, path, "before") == "BEFORE"
    with pytest.raises(ProviderError) as caught:
        await answer_of(agents, path, "attack")
    fault = str(caught.value)
    assert caught.value.fault == "crashed"
    assert fault.startswith("agent flight.py ")
    assert message in fault
    assert len(fault) < 2_000
    assert await answer_of(agents, path, "next") == "NEXT"


HARMLESS = {
    "closes stdin and stderr": ["os.close(0)", "os.close(2)"],
    "another folder": ["os.chdir('/')"],
    "no environment": ["os.environ.clear()"],
    "no descriptors left": ["import resource", "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"],
    "a bounded fork bomb": ["import time", "for _ in range(30):", "    if os.fork() == 0: time.sleep(600)"],
    "a tree of forks": ["import time", "home = os.getpid()", "for _ in range(5): os.fork()",
                        "if os.getpid() != home: time.sleep(600)"],
    "threads that outlive it": ["import threading, time", "for _ in range(50):",
                                "    threading.Thread(target=time.sleep, args=(600,)).start()"],
    "writes at its exit": ["import atexit", "atexit.register(write, b'{}\\n')"],
    "a handler for every signal": ["import signal", "for number in set(range(1, 32)) - {9, 19}:",
                                   "    signal.signal(number, lambda *_: None)"],
    "a session of its own": ["if os.fork() == 0:", "    os.setsid()", "    import time", "    time.sleep(600)"],
    "stops its guard": ["import signal", "os.kill(os.getppid(), signal.SIGSTOP)"],
    "surrogates": ["memory['\\ud800'] = '\\udfff'"],
}  # fmt: skip


@pytest.mark.parametrize("lines", HARMLESS.values(), ids=HARMLESS.keys())
async def test_an_attack_that_changes_no_answer_changes_no_later_one(
    agents: AgentProvider, write: Write, lines: list[str]
) -> None:
    path = write([*lines, "return {'output': 'right'}"])
    assert await answer_of(agents, path, "attack") == "right"
    assert await answer_of(agents, path, "next") == "NEXT"


HANGS = {
    "loop": ["while True: pass"],
    "ignores SIGTERM": [
        "import signal, time",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "while True: time.sleep(60)",
    ],
    "holds the interpreter": ["import re", "re.match('(a+)+$', 'a' * 60 + 'b')"],
    "waits for a child": ["import subprocess", "subprocess.run(['sleep', '600'])"],
    "an endless awaitable": ["import asyncio", "return asyncio.sleep(600)"],
    "stops itself": ["import signal", "os.kill(os.getpid(), signal.SIGSTOP)"],
    "reads the requests": ["os.read(3, 1)"],
    "takes the answers away": ["os.dup2(2, 4)", "return {'output': ''}"],
    "empty lines for ever": ["while True: write(b'\\n' * 60_000)"],
    "becomes another program": ["os.execvp('sleep', ['sleep', '600'])"],
    "stops its guard and hangs": [
        "import signal, time",
        "os.kill(os.getppid(), signal.SIGSTOP)",
        "time.sleep(600)",
    ],
}


@pytest.mark.parametrize("lines", HANGS.values(), ids=HANGS.keys())
async def test_closing_the_answer_kills_it(agents: AgentProvider, write: Write, marker: str, lines: list[str]) -> None:
    path = write(["open('begun', 'w').close()", *lines])
    answer = asyncio.create_task(answer_of(agents, path, "attack"))
    await asyncio.to_thread(wait_until, Path(path).with_name("begun").exists)
    answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answer
    assert running(marker) == []
    assert await answer_of(agents, path, "next") == "NEXT"


async def test_a_line_that_is_written_between_two_cases_reaches_neither(agents: AgentProvider, write: Write) -> None:
    path = write(
        [
            "import threading, time",
            "def later():",
            "    while not os.path.exists('go'): time.sleep(0.01)",
            '    write(b\'{"answer":{"output":"forged"}}\\n\')',
            "    open('written', 'w').close()",
            "threading.Thread(target=later, daemon=True).start()",
            "return {'output': 'right'}",
        ]
    )
    assert await answer_of(agents, path, "attack") == "right"
    folder = Path(path).parent
    (folder / "go").touch()
    # The event loop is blocked here, so the line is waiting in the pipe when the next case begins.
    wait_until((folder / "written").exists)
    assert await answer_of(agents, path, "next") == "NEXT"


async def test_a_line_that_is_written_between_two_steps_is_the_error_of_their_case(
    agents: AgentProvider, write: Write
) -> None:
    path = write(
        [
            "import threading, time",
            "def later():",
            "    while not os.path.exists('go'): time.sleep(0.01)",
            '    write(b\'{"answer":{"output":"forged"}}\\n\')',
            "    open('written', 'w').close()",
            "threading.Thread(target=later, daemon=True).start()",
            "return {'output': 'right'}",
        ]
    )
    assert text_of(await ask(agents, make_request(path, "attack", last=False))) == "right"
    folder = Path(path).parent
    (folder / "go").touch()
    wait_until((folder / "written").exists)
    with pytest.raises(ProviderError, match="answered more than once for one step"):
        await ask(agents, make_request(path, "attack", step=1))
    assert await answer_of(agents, path, "next") == "NEXT"


async def test_lines_without_end_between_two_cases_end_the_process(
    agents: AgentProvider, write: Write, marker: str
) -> None:
    path = write(
        [
            "import threading, time",
            "def flood():",
            "    while not os.path.exists('go'): time.sleep(0.01)",
            "    while True: write(b'{}\\n' * 20_000)",
            "threading.Thread(target=flood, daemon=True).start()",
            "return {'output': 'right'}",
        ]
    )
    assert await answer_of(agents, path, "attack") == "right"
    Path(path).with_name("go").touch()
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])
    assert await answer_of(agents, path, "next") == "NEXT"


async def test_an_agent_that_deletes_its_file_is_named(agents: AgentProvider, write: Write) -> None:
    path = write(["os.remove(__file__)", "return {'output': 'right'}"])
    assert await answer_of(agents, path, "attack") == "right"
    with pytest.raises(ProviderError, match=r"agent flight\.py does not exist"):
        await answer_of(agents, path, "next")


async def test_a_line_that_is_written_at_the_import_is_the_error_of_the_first_case(
    agents: AgentProvider, write: Write
) -> None:
    once = "if not os.path.exists('once'):\n    open('once', 'w').close()\n    write(b'{\"answer\":{}}\\n')\n"
    path = write(["pass"], once)
    with pytest.raises(ProviderError, match="wrote output outside of a step"):
        await answer_of(agents, path, "first")
    assert await answer_of(agents, path, "next") == "NEXT"


PROBE = """
import json, os

def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""

def agent(input, memory):
    found, open_files, opened = [], [], []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        if b"canary-4711" in readable(f"/proc/{name}/environ"):
            found.append(int(name))
        try:
            os.close(os.open(f"/proc/{name}/mem", os.O_RDONLY))
            opened.append(int(name))
        except OSError:
            pass
        try:
            os.readlink(f"/proc/{name}/fd/0")
            open_files.append(int(name))
        except OSError:
            pass
    return {"output": json.dumps({"environ": found, "mem": opened, "fd": open_files, "guard": os.getppid()})}
"""
SUITE = "description: reads\nmemory: {}\nsteps:\n  - input: go\n    assert: {output.includes: guard}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_agent_reads_no_environment_memory_or_file_of_assay(tmp_path: Path) -> None:
    dropped = dropped_capabilities()
    (tmp_path / "probe.py").write_text(PROBE)
    (tmp_path / "reads.yaml").write_text(SUITE)
    environ = CommandLine(tmp_path).environ(
        {"PYTHONPATH": str(Path(tui.__file__).parents[1]), "OPENAI_API_KEY": "canary-4711-key"}
    )
    # Another program of the same user, to show that the agent would find the key if it could.
    other = subprocess.Popen([*dropped, "sleep", "600"], env=environ)
    try:
        call = [*dropped, sys.executable, "-m", "tui", "run", "reads.yaml", "--agent", "probe.py", "-f", "json", "-r"]
        process = subprocess.Popen(call, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
    finally:
        other.kill()
        other.wait()
    found = json.loads(json.loads(out)["results"][0]["attempts"][0]["steps"][0]["response"])
    assert found["environ"] == [other.pid]
    assert {other.pid, found["guard"]} <= set(found["mem"])
    assert {other.pid, found["guard"]} <= set(found["fd"])
    assert process.pid not in {*found["mem"], *found["fd"]}
