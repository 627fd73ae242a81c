"""Commands that speak JSON lines: one process for each attempt at a trial."""

import asyncio
import os
import py_compile
import shlex
import sys
import tempfile
import textwrap
from collections.abc import AsyncIterator, Callable
from importlib.util import cache_from_source
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.processes import running, wait_until
from tests.support.steps import ask, make_request, memory_of, text_of, tools_of
from tui.model.errors import ProviderError
from tui.model.subjects import ProviderSettings
from tui.providers.agent import AgentProvider

Command = Callable[[str], str]
SETTINGS = ProviderSettings("agent", "agent")


@pytest.fixture
def marker() -> str:
    return f"assay-{uuid4().hex}"


@pytest.fixture
async def agents(marker: str) -> AsyncIterator[AgentProvider]:
    provider = AgentProvider(SETTINGS, {**os.environ, "MARKER": marker, "MY_TOKEN": "t0ken"})
    yield provider
    await provider.close()
    assert running(marker) == [], "close() leaves no process"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """A command that runs these lines for each line that it reads; `ask` is what it got."""

    def write(lines: str) -> str:
        path = tmp_path / "my agent.py"
        loop = "import json, os, sys, time\nsteps = 0\nfor line in sys.stdin:\n    ask = json.loads(line); steps += 1\n"
        path.write_text(loop + textwrap.indent(textwrap.dedent(lines), "    "))
        return f"cmd:{sys.executable} {shlex.quote(str(path))}"

    return write


ANSWER = """
def say(**value): print(json.dumps(value), flush=True)
"""


async def test_without_a_folder_for_temporary_files_it_says_so(
    agents: AgentProvider, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unusable(*_: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "mkdtemp", unusable)
    fault = await fault_of(agents, command(f'{ANSWER}\nsay(output="x")'))
    assert fault.startswith("cannot create a temporary folder (No usable temporary directory found)")


async def fault_of(agents: AgentProvider, model_id: str, **more: object) -> str:
    with pytest.raises(ProviderError) as caught:
        await ask(agents, make_request(model_id, **more))  # type: ignore[arg-type]
    return str(caught.value)


async def test_a_line_in_a_line_out(agents: AgentProvider, command: Command) -> None:
    model_id = command(ANSWER + 'say(output=ask["input"].upper(), tools_used=["T"], memory={"was": ask["memory"]})')
    chunks = await ask(agents, make_request(model_id, "line\nbreak ü", memory={"a": 1}))
    assert text_of(chunks) == "LINE\nBREAK Ü"
    assert tools_of(chunks) == ["T"]
    assert memory_of(chunks) == {"was": {"a": 1}}


async def test_what_is_omitted_is_empty_or_as_it_was(agents: AgentProvider, command: Command) -> None:
    chunks = await ask(agents, make_request(command(ANSWER + 'say(output="")'), memory={"a": 1}))
    assert (text_of(chunks), tools_of(chunks), memory_of(chunks)) == ("", [], {"a": 1})


async def test_a_bytecode_cache_beside_the_program_is_not_used(
    agents: AgentProvider, command: Command, tmp_path: Path
) -> None:
    model_id = command("import helper\n" + ANSWER + "say(output=helper.WORD)")
    for name, word in (("helper", "source"), ("other", "cache")):
        (tmp_path / f"{name}.py").write_text(f"WORD = '{word}'\n")
    cached = cache_from_source(str(tmp_path / "helper.py"))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(tmp_path / "other.py"), cached, invalidation_mode=unchecked)
    assert text_of(await ask(agents, make_request(model_id))) == "source"


async def test_the_process_lives_through_the_steps_of_a_trial(agents: AgentProvider, command: Command) -> None:
    model_id = command(ANSWER + 'say(output=f"{os.getpid()} {steps}")')
    pid = text_of(await ask(agents, make_request(model_id, last=False))).split()[0]
    other = text_of(await ask(agents, make_request(model_id, case="other", last=False)))
    assert other.split()[0] != pid
    assert text_of(await ask(agents, make_request(model_id, step=1))) == f"{pid} 2"
    assert text_of(await ask(agents, make_request(model_id, case="other", step=1))) == f"{other.split()[0]} 2"


async def test_each_attempt_has_a_process_of_its_own(agents: AgentProvider, command: Command, marker: str) -> None:
    model_id = command(ANSWER + 'say(output=f"{os.getpid()} {steps}")')
    first = text_of(await ask(agents, make_request(model_id, last=False)))
    again = text_of(await ask(agents, make_request(model_id, last=True)))
    assert again != first
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])


async def test_it_may_finish_its_work_when_its_input_ends(
    agents: AgentProvider, command: Command, tmp_path: Path
) -> None:
    model_id = command(ANSWER + 'say(output="")')
    file = tmp_path / "my agent.py"
    file.write_text(file.read_text() + f"\nopen({str(tmp_path / 'done')!r}, 'w').close()")
    await ask(agents, make_request(model_id))
    await agents.close()
    assert (tmp_path / "done").exists()


async def test_a_command_for_one_answer_is_started_for_each_step(agents: AgentProvider, command: Command) -> None:
    model_id = command(ANSWER + "say(output=str(steps))\nbreak")
    for step in range(3):
        assert text_of(await ask(agents, make_request(model_id, step=step, last=step == 2))) == "1"


async def test_an_answer_without_its_line_end_counts_once_it_has_ended(agents: AgentProvider) -> None:
    model_id = """cmd:sh -c 'read line; printf "{\\"output\\": \\"bye\\"}"'"""
    assert text_of(await ask(agents, make_request(model_id))) == "bye"


async def test_it_sees_no_keys(agents: AgentProvider, command: Command) -> None:
    model_id = command(ANSWER + 'say(output=" ".join(os.environ))')
    seen = text_of(await ask(agents, make_request(model_id))).split()
    assert "MARKER" in seen
    assert "MY_TOKEN" not in seen


FAULTS = {
    "no JSON": ("print('Loading…', flush=True)", "sent an invalid answer: it is not JSON: Loading…"),
    "NaN": ("print('{\"output\": NaN}', flush=True)", "sent an invalid answer: it contains NaN, which is not JSON"),
    "no text": ("say(output=1)", "sent an invalid answer: output: expected a string, got a number"),
    "error": ("say(error='no more flights')", "it has an error instead of an output: no more flights"),
    "list": ("print('[]', flush=True)", "expected an object with output, tools_used and memory, got a list"),
    "exits": ("sys.exit(3)", "exited with status 3 without an answer"),
    "ends": ("break", "exited with status 0 without an answer"),
    "is killed": ("os.kill(os.getpid(), 15)", "was killed by signal 15 (SIGTERM)"),
    "raises": ("raise KeyError('x')", "KeyError: 'x'"),
    "endless line": ("while True: print('x' * 10**6, end='')", "answered with more than 16 MiB"),
    "endless blank lines": ("while True: print('\\n' * 10**6, flush=True)", "wrote more than 16 MiB of output"),
    "endless words": ("while True: print('x' * 10**6, file=sys.stderr)", "wrote more than 16 MiB of output"),
    "not UTF-8": ("os.write(1, b'\\xff\\xfe\\n')", "sent an invalid answer: it is not JSON"),
    "digits": ("print('{\"output\": ' + '9' * 5000 + '}', flush=True)", "sent an invalid answer: "),
}


@pytest.mark.parametrize(("lines", "message"), FAULTS.values(), ids=FAULTS.keys())
async def test_what_goes_wrong_is_its_cases_error(
    agents: AgentProvider, command: Command, lines: str, message: str
) -> None:
    fault = await fault_of(agents, command(ANSWER + lines))
    assert fault.startswith("agent cmd:")
    assert message in fault
    assert len(fault) < 2_000


async def test_two_answers_to_one_step_are_nonsense(agents: AgentProvider, command: Command) -> None:
    model_id = command(ANSWER + 'print(json.dumps({"output": "a"}) + "\\n" + json.dumps({"output": "b"}), flush=True)')
    await ask(agents, make_request(model_id, last=False))
    assert "answered more than once for one step" in await fault_of(agents, model_id, step=1)


async def test_a_second_line_right_after_an_answer_is_never_the_answer_to_the_next_step(
    agents: AgentProvider, command: Command
) -> None:
    model_id = command("""
        print(json.dumps({"output": "interim"}), flush=True)
        time.sleep(0.005)
        print(json.dumps({"output": "final"}), flush=True)
    """)
    for case in range(6):
        assert text_of(await ask(agents, make_request(model_id, case=f"c{case}", last=False))) == "interim"
        assert "answered more than once for one step" in await fault_of(agents, model_id, case=f"c{case}", step=1)


async def test_a_line_that_waits_before_a_request_is_no_answer_to_it(
    agents: AgentProvider, command: Command, tmp_path: Path
) -> None:
    model_id = command(f"""
def say(**value): print(json.dumps(value), flush=True)
say(output=ask["input"])
while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
say(output="surplus")
open({str(tmp_path / "written")!r}, "w").close()
""")
    assert text_of(await ask(agents, make_request(model_id, "one", last=False))) == "one"
    (tmp_path / "go").touch()
    # The event loop is blocked here, so the line is waiting in the pipe when the next step begins.
    wait_until((tmp_path / "written").exists)
    assert "answered more than once for one step" in await fault_of(agents, model_id, text="two", step=1)
    assert text_of(await ask(agents, make_request(model_id, "three", case="next", last=False))) == "three"


@pytest.mark.parametrize(
    ("model_id", "message"),
    [
        ("cmd:", "agent cmd: has no command"),
        ("cmd:surely-not-there --x", "program surely-not-there not found"),
        ("cmd:sh -c 'x", "cannot be read: No closing quotation"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(agents: AgentProvider, model_id: str, message: str) -> None:
    assert message in await fault_of(agents, model_id)


@pytest.mark.parametrize(
    "lines", ["while True: pass", "import signal\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(600)"]
)
async def test_closing_the_answer_kills_it_with_its_children(
    agents: AgentProvider, command: Command, marker: str, tmp_path: Path, lines: str
) -> None:
    begun = tmp_path / "begun"
    child = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    model_id = command(f"{child}open({str(begun)!r}, 'w')\n{lines}")
    answer = asyncio.create_task(ask(agents, make_request(model_id)))
    await asyncio.to_thread(wait_until, begun.exists)
    answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answer
    assert running(marker) == []


async def test_few_processes_wait_between_two_steps(command: Command, marker: str) -> None:
    agents = AgentProvider(SETTINGS, {**os.environ, "MARKER": marker}, most_at_once=2)
    model_id = command(ANSWER + 'say(output="")')
    for number in range(5):
        await ask(agents, make_request(model_id, case=f"c{number}", last=False))
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) == 6)  # two, each with two guards
    await agents.close()
    assert running(marker) == []
