"""Python agents in processes of their own: what they may return, and what they may do to themselves."""

import asyncio
import os
import py_compile
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.support.processes import running, wait_until
from tests.support.steps import ask, make_request, memory_of, text_of
from tui.model.errors import ProviderError
from tui.model.provider_messages import CallTree, End, MemoryChunk, NoteChunk, Sent, Text, ToolCall, UsageChunk
from tui.model.results import ToolUse, Usage
from tui.model.subjects import ProviderSettings
from tui.providers.agent import AgentProvider

Write = Callable[..., str]
SETTINGS = ProviderSettings("agent", "agent")


@pytest.fixture
def marker() -> str:
    """Every process of the test's agents has this in its environment."""
    return f"assay-{uuid4().hex}"


@pytest.fixture
async def agents(marker: str) -> AsyncIterator[AgentProvider]:
    provider = AgentProvider(SETTINGS, {**os.environ, "MARKER": marker})
    yield provider
    await provider.close()
    assert running(marker) == [], "close() leaves no process"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_agent(source: str, name: str = "flight.py") -> str:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return str(path)

    return write_agent


def body(*lines: str) -> str:
    return "\n".join(["import os, sys", "def agent(input, memory):", *(f"    {line}" for line in lines)])


async def fault_of(agents: AgentProvider, path: str, text: str = "") -> str:
    with pytest.raises(ProviderError) as caught:
        await ask(agents, make_request(path, text))
    assert caught.value.fault == "crashed"
    return str(caught.value)


async def test_an_answer_comes_with_its_tools_and_memory(agents: AgentProvider, write: Write) -> None:
    path = write("""
        class Tool:
            name = "Mail"
        def agent(input, memory):
            print("thinking")
            book = {"name": "Book", "arguments": {"to": "Rome"}}
            memory = {**memory, "seen": (1, 2)}
            return {"output": f"{input}!", "tools_used": ["Search", book, Tool()], "memory": memory}
    """)
    assert await ask(agents, make_request(path, "Hi", memory={"a": None})) == [
        Sent(),
        Text("Hi!"),
        ToolCall("Search"),
        ToolCall("Book", '{"to": "Rome"}'),
        ToolCall("Mail"),
        MemoryChunk({"a": None, "seen": [1, 2]}),
        End("stop"),
    ]


async def test_tools_come_with_results_and_timings(agents: AgentProvider, write: Write) -> None:
    path = write("""
        def agent(input, memory):
            good = {"name": "a", "arguments": "x=1", "result": [1, "é"], "duration_ms": 12.5, "id": 7}
            bad = [{"name": "b", "duration_ms": value} for value in (-1, True, "9", None, 1e300)]
            return {"output": "ok", "tools_used": [good, *bad]}
    """)
    calls = [chunk for chunk in await ask(agents, make_request(path)) if isinstance(chunk, ToolCall)]
    assert calls == [ToolCall("a", "x=1", '[1, "é"]', 12.5), *[ToolCall("b")] * 5]


async def test_an_async_agent_keeps_its_event_loop(agents: AgentProvider, write: Write) -> None:
    path = write("""
        import asyncio
        lock = asyncio.Lock()
        async def agent(input, memory):
            async with lock:
                task = asyncio.create_task(asyncio.sleep(0, "later"))
                memory.setdefault("loops", []).append(id(asyncio.get_running_loop()))
            return {"output": await task}
    """)
    first = await ask(agents, make_request(path, last=False))
    memory = memory_of(first)
    assert isinstance(memory, dict)
    second = memory_of(await ask(agents, make_request(path, step=1, memory=memory)))
    assert isinstance(second, dict)
    assert text_of(first) == "later"
    assert len(set(second["loops"])) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("returned", ['{"output": "x"}', '{"output": "x", "memory": None}'])
async def test_a_memory_that_is_not_named_is_the_one_it_left(
    agents: AgentProvider, write: Write, returned: str
) -> None:
    path = write(body('memory["n"] += 1', 'del memory["old"]', f"return {returned}"))
    assert memory_of(await ask(agents, make_request(path, memory={"n": 1, "old": 1}))) == {"n": 2}


async def test_it_runs_in_its_folder_and_sees_its_neighbours(
    agents: AgentProvider, write: Write, tmp_path: Path
) -> None:
    write("WORD = 'neighbour'", "helpers.py")
    path = write("import helpers\n" + body('return {"output": f"{helpers.WORD} {os.getcwd()} {__name__}"}'))
    assert text_of(await ask(agents, make_request(path))) == f"neighbour {tmp_path} flight"


@pytest.mark.parametrize(
    ("place", "importing"),
    [
        ("", "from helper import WORD"),
        ("lib", "import sys; sys.path.insert(0, 'lib'); from helper import WORD"),
        ("lib", "import sys; sys.path.insert(0, './lib'); from helper import WORD"),
        ("link", "import sys; sys.path.insert(0, 'link'); from helper import WORD"),
        ("lib", "from importlib.machinery import SourceFileLoader as Load\n"
         "from importlib.util import module_from_spec, spec_from_loader\n"
         "load = Load('helper', 'lib/helper.py')\nhelper = module_from_spec(spec_from_loader('helper', load))\n"
         "load.exec_module(helper)\nWORD = helper.WORD"),
        ("lib", "import os\nfrom importlib.util import module_from_spec, spec_from_file_location as find\n"
         "spec = find('helper', os.path.join(os.path.dirname(__file__), 'lib', 'helper.py'))\n"
         "helper = module_from_spec(spec)\nspec.loader.exec_module(helper)\nWORD = helper.WORD"),
        ("lib", "import subprocess, sys\nprogram = 'from helper import WORD; print(WORD, end=\"\")'\n"
         "WORD = subprocess.run([sys.executable, '-c', program], cwd='lib', capture_output=True, text=True).stdout"),
    ],
)  # fmt: skip
async def test_the_source_of_its_neighbours_is_used_and_not_their_bytecode(
    agents: AgentProvider, write: Write, tmp_path: Path, place: str, importing: str
) -> None:
    (tmp_path / "agents" / "lib").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "agents" / "link").symlink_to(tmp_path / "elsewhere")
    helper = tmp_path / "agents" / place / "helper.py"
    helper.write_text("WORD = 'bytecode'\n")
    py_compile.compile(str(helper), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
    helper.write_text("WORD = 'source'\n")
    path = write(f"{importing}\ndef agent(input, memory): return {{'output': WORD}}\n", "agents/flight.py")
    assert text_of(await ask(agents, make_request(path))) == "source"


async def test_an_agent_behind_a_link_runs_in_the_folder_of_its_target(
    agents: AgentProvider, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "helper.py").write_text("WORD = 'target'\n")
    (tmp_path / "helper.py").write_text("WORD = 'link'\n")
    write("from helper import WORD\ndef agent(input, memory): return {'output': WORD}\n", "target/agent.py")
    (tmp_path / "agent.py").symlink_to(tmp_path / "target" / "agent.py")
    assert text_of(await ask(agents, make_request(str(tmp_path / "agent.py")))) == "target"


async def test_it_sees_no_keys(write: Write) -> None:
    path = write(body("import json", 'return {"output": json.dumps(dict(os.environ))}'))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/h",
        "ACME_API_KEY": "acme-key-4711",
        "X": "sk-123",
        "PLAIN": "the-configs-key",
    }
    agents = AgentProvider(SETTINGS, environ, secrets=["the-configs-key"])
    answer = text_of(await ask(agents, make_request(path)))
    await agents.close()
    assert '"HOME": "/h"' in answer
    assert not any(word in answer for word in ("acme-key-4711", "sk-123", "the-configs-key"))


async def test_memory_is_limited(write: Write) -> None:
    agents = AgentProvider(SETTINGS, memory_bytes=256 << 20)
    path = write(body("x = []", "while True: x.append(bytearray(8 << 20))"))
    assert "agent flight.py raised MemoryError (line 4)" in await fault_of(agents, path)
    await agents.close()


LOADING = {
    "missing import": ("import nowhere_to_be_found", "cannot be loaded: ModuleNotFoundError: No module named"),
    "syntax": ("\n\ndef agent(:", "has a syntax error: invalid syntax (line 3)"),
    "raises": ("\n1/0", "cannot be loaded: ZeroDivisionError: division by zero (line 2)"),
    "exits": ("exit(4)", "called sys.exit(4) while being loaded"),
    "os._exit": ("import os; os._exit(2)", "exited with status 2 without an answer"),
    "no function": (
        "def agents(input, memory): ...",
        "has no function named agent; define `def agent(input, memory)`",
    ),
    "wrong signature": ("def agent(input): ...", "has a function agent(input); expected two arguments"),
    "NUL": ("\0", "cannot be loaded"),
}


@pytest.mark.parametrize(("source", "message"), LOADING.values(), ids=LOADING.keys())
async def test_a_file_that_cannot_be_loaded_says_why(
    agents: AgentProvider, write: Write, source: str, message: str
) -> None:
    path = write(source)
    for _ in range(2):
        assert message in await fault_of(agents, path)


async def test_a_missing_file_is_named(agents: AgentProvider, tmp_path: Path) -> None:
    for name, message in (("gone.py", "agent gone.py does not exist"), ("notes.txt", "is not an agent")):
        with pytest.raises(ProviderError, match=message) as caught:
            await ask(agents, make_request(str(tmp_path / name)))
        assert caught.value.fault == "not_found"


async def test_a_relative_path_of_a_saved_run_starts_nothing(
    agents: AgentProvider, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Path(write(body("return {'output': 'ran'}"))).name
    monkeypatch.chdir(tmp_path)
    relative = [make_request(name), make_request(f"./{name}")]
    request = make_request(str(tmp_path / name))
    relative.append(replace(request, subject=replace(request.subject, python="bin/python")))
    for each in relative:
        with pytest.raises(ProviderError, match="is not absolute") as caught:
            await ask(agents, each)
        assert caught.value.fault == "not_found"


async def test_the_last_lines_it_printed_are_in_the_error(agents: AgentProvider, write: Write) -> None:
    path = write(body("for n in range(100): print('line', n)", "os.write(2, b'\\x1b[31mred')", "os._exit(1)"))
    fault = await fault_of(agents, path)
    assert fault.endswith("line 98\nline 99\n␛[31mred")
    assert fault.count("\n") == 11


async def test_raw_escapes_and_odd_text_are_kept_as_they_are(agents: AgentProvider, write: Write) -> None:
    path = write(body(r'return {"output": "\x1b[2J\x07 日本 \U0001f600\r\n\u2028 \ud800|"}'))
    assert text_of(await ask(agents, make_request(path))) == "\x1b[2J\x07 日本 \U0001f600\r\n\u2028 ?|"


async def test_an_import_that_never_ends_is_within_the_clock(agents: AgentProvider, write: Write, marker: str) -> None:
    path = write("import time\nwhile True: time.sleep(60)")
    with pytest.raises(TimeoutError):
        await ask(agents, make_request(path), seconds=0.3)
    assert running(marker) == []


CHILDREN = {
    "fork": ["import time", "if os.fork() == 0: time.sleep(600)"],
    "both answer": ["os.fork()"],
    "own session": ["import subprocess", "subprocess.Popen(['sleep', '600'], start_new_session=True)"],
    "daemon": [
        "import time",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0: time.sleep(600)",
        "    os._exit(0)",
    ],
}


@pytest.mark.parametrize("lines", CHILDREN.values(), ids=CHILDREN.keys())
async def test_no_child_outlives_it(agents: AgentProvider, write: Write, marker: str, lines: list[str]) -> None:
    path = write(body(*lines, 'return {"output": "fine"}'))
    for case in ("a", "b"):
        assert text_of(await ask(agents, make_request(path, case=case))) == "fine"
    await agents.close()
    assert running(marker) == []


async def test_no_child_outlives_its_crash(agents: AgentProvider, write: Write, marker: str) -> None:
    path = write(body("import subprocess", "subprocess.Popen(['sleep', '600'])", "os._exit(0)"))
    assert "exited with status 0" in await fault_of(agents, path)
    assert running(marker) == []


async def test_nothing_outlives_assay_killed_without_warning(write: Write, marker: str, tmp_path: Path) -> None:
    path = write(
        body("import subprocess", "subprocess.Popen(['sleep', '600'], start_new_session=True)", "while True: pass")
    )
    script = tmp_path / "asks.py"
    script.write_text(
        textwrap.dedent(f"""
        import asyncio
        from tests.support.steps import ask, make_request
        from tui.model.subjects import ProviderSettings
        from tui.providers.agent import AgentProvider
        async def main():
            await ask(AgentProvider(ProviderSettings("agent", "agent")), make_request({path!r}))
        asyncio.run(main())
        """)
    )
    environ = {**os.environ, "MARKER": marker, "PYTHONPATH": os.getcwd()}
    assay = await asyncio.create_subprocess_exec(sys.executable, str(script), marker, env=environ)
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) == 5)
    assay.kill()
    await assay.wait()
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])


async def test_a_process_is_used_again_while_it_is_healthy(agents: AgentProvider, write: Write) -> None:
    path = write(
        body("if input == 'die': os._exit(1)", "if input == 'raise': 1/0", 'return {"output": str(os.getpid())}')
    )

    async def pid(case: str) -> str:
        return text_of(await ask(agents, make_request(path, case=case)))

    first = await pid("a")
    assert await pid("b") == first
    await fault_of(agents, path, "raise")
    assert await pid("c") == first, "an exception leaves it healthy"
    await fault_of(agents, path, "die")
    second = await pid("d")
    assert second != first
    guard = psutil.Process(psutil.Process(int(second)).ppid()).ppid()
    psutil.Process(int(second)).kill()
    # Buried is not told yet: up to Python 3.11 a thread buries, and then tells the loop.
    buriers = [thread for thread in threading.enumerate() if "waitpid" in thread.name]
    gone = lambda: not psutil.pid_exists(guard) and not any(thread.is_alive() for thread in buriers)  # noqa: E731
    await asyncio.to_thread(wait_until, gone)
    for _ in range(3):  # its word reaches the transport in two turns of the loop
        await asyncio.sleep(0)
    assert await pid("e") != second


async def test_each_trial_begins_with_its_own_memory(agents: AgentProvider, write: Write) -> None:
    path = write(body('memory["n"] = memory.get("n", 0) + 1', 'return {"output": ""}'))
    for case in ("a", "b"):
        assert memory_of(await ask(agents, make_request(path, case=case, last=False))) == {"n": 1}
        assert memory_of(await ask(agents, make_request(path, case=case, step=1, memory={"n": 1}))) == {"n": 2}


async def test_the_steps_of_a_trial_meet_the_same_process(agents: AgentProvider, write: Write) -> None:
    path = write(body('return {"output": str(os.getpid())}'))
    first = text_of(await ask(agents, make_request(path, case="a", last=False)))
    other = text_of(await ask(agents, make_request(path, case="b")))
    assert other != first
    assert text_of(await ask(agents, make_request(path, case="a", step=1))) == first


async def test_many_at_once_share_few_processes(write: Write, marker: str) -> None:
    agents = AgentProvider(SETTINGS, {**os.environ, "MARKER": marker}, most_at_once=3)
    path = write(body('return {"output": str(os.getpid())}'))
    answers = await asyncio.gather(*(ask(agents, make_request(path, case=f"c{n}")) for n in range(60)))
    assert 1 < len({text_of(chunks) for chunks in answers}) <= 3
    await agents.close()
    assert running(marker) == []


async def test_a_file_that_was_saved_again_is_loaded_again(agents: AgentProvider, write: Write) -> None:
    assert text_of(await ask(agents, make_request(write(body('return {"output": "old"}'))))) == "old"
    assert text_of(await ask(agents, make_request(write(body('return {"output": "newer"}'))))) == "newer"


async def test_a_saved_neighbour_counts_as_well(agents: AgentProvider, write: Write, tmp_path: Path) -> None:
    for number in range(20):  # links to no file, as those by which Emacs locks the files that it edits
        (tmp_path / f".#words{number}.py").symlink_to("me@host.1234")
    path = write("import words\n" + body('return {"output": words.WORD}'))
    for word in ("old", "newer"):
        write(f"WORD = {word!r}", "words.py")
        assert text_of(await ask(agents, make_request(path))) == word


async def test_a_new_run_uses_the_present_code_of_all_that_an_agent_imports(
    agents: AgentProvider, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "helpers").mkdir()
    path = write("from helpers import words\n" + body('return {"output": words.WORD}'))
    for word in ("old", "newer"):
        write(f"WORD = {word!r}", "helpers/words.py")
        agents.reopen()
        assert text_of(await ask(agents, make_request(path))) == word


TRACED = """
    from opentelemetry import trace
    {setup}
    tracer = trace.get_tracer("travel")
    def agent(input, memory):
        agent = {{"gen_ai.operation.name": "invoke_agent"}}
        with tracer.start_as_current_span("invoke_agent Travel", attributes=agent):
            with tracer.start_as_current_span("chat gpt", attributes={{
                "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4,
                "gen_ai.input.messages": "m" * 20_000, "server.address": "host", "gen_ai.request.stop_sequences": ["a"],
            }}):
                pass
            with tracer.start_as_current_span("execute_tool search", attributes={{
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.result": input,
            }}):
                pass
        return {{"output": "ok", "tools_used": ["search"], "memory": memory}}
"""
SETUPS = {
    "a provider of the agent": """
    from opentelemetry.sdk.trace import TracerProvider
    trace.set_tracer_provider(TracerProvider())""",
    "none": "",
}


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS.keys())
async def test_the_spans_of_a_call_come_with_its_answer(agents: AgentProvider, write: Write, setup: str) -> None:
    path = write(TRACED.format(setup=setup))
    for text in ("first", "second"):
        chunks = await ask(agents, make_request(path, text))
        [tree] = [chunk for chunk in chunks if isinstance(chunk, CallTree)]
        assert [(call.kind, call.name, call.parent) for call in tree.calls] == [
            ("agent", "invoke_agent Travel", None),
            ("model", "chat gpt", 0),
            ("tool", "search", 0),
        ]
        assert tree.calls[2].result == text
        assert tree.calls[1].arguments == "m" * 8_000 + "…"
        assert all(call.duration_ms is not None for call in tree.calls)
        assert UsageChunk(Usage(3, 4)) in chunks
        assert [chunk for chunk in chunks if isinstance(chunk, ToolCall)] == [ToolCall("search")]


async def test_what_a_span_says_is_cut_with_a_mark(agents: AgentProvider, write: Write) -> None:
    path = write("""
        from opentelemetry import trace
        def agent(input, memory):
            kind = {"gen_ai.operation.name": "execute_tool"}
            with trace.get_tracer("t").start_as_current_span("n" * 8_001, attributes=kind) as span:
                span.set_status(trace.Status(trace.StatusCode.ERROR, "m" * 501))
            return {"output": "ok", "memory": memory}
    """)
    [tree] = [chunk for chunk in await ask(agents, make_request(path)) if isinstance(chunk, CallTree)]
    assert [(call.name, call.result) for call in tree.calls] == [("n" * 8_000 + "…", f"error: {'m' * 500}…")]


async def test_an_agent_that_imports_no_telemetry_gets_none(agents: AgentProvider, write: Write) -> None:
    path = write(body("return {'output': str('opentelemetry' in ''.join(sys.modules)), 'memory': memory}"))
    assert text_of(await ask(agents, make_request(path))) == "False"


async def test_an_agents_own_spans_count(agents: AgentProvider, write: Write) -> None:
    own = '"spans": [{"spanId": "1", "name": "mine"}], "usage": {"input_tokens": 9}'
    path = write(TRACED.format(setup="").replace('"output"', f'{own}, "output"'))
    chunks = await ask(agents, make_request(path))
    assert CallTree((ToolUse("mine", kind="other"),)) in chunks
    assert UsageChunk(Usage(9)) in chunks


async def test_reports_that_cannot_be_sent_are_left_out(agents: AgentProvider, write: Write) -> None:
    path = write("""
        class Odd:
            def __bool__(self):
                raise ValueError("neither")
        def agent(input, memory):
            return {"output": "ok", "usage": Odd(), "spans": [{"name": "x" * (17 << 20)}], "memory": memory}
    """)
    assert await ask(agents, make_request(path)) == [Sent(), Text("ok"), MemoryChunk({}), End("stop")]


async def test_thousands_of_spans_are_bounded(agents: AgentProvider, write: Write) -> None:
    path = write("""
        from opentelemetry import trace
        tracer = trace.get_tracer("many")
        def agent(input, memory):
            for number in range(5_000):
                tracer.start_span(f"span {number}", attributes={"output.value": "é" * 9_000}).end()
            return {"output": "ok", "memory": memory}
    """)
    chunks = await ask(agents, make_request(path))
    [tree] = [chunk for chunk in chunks if isinstance(chunk, CallTree)]
    assert len(tree.calls) == 200
    assert any(isinstance(chunk, NoteChunk) and "left out" in chunk.note for chunk in chunks)
