"""Python agents that another interpreter runs: a virtual environment without Assay's packages."""

import ast
import os
import subprocess
import sys
import textwrap
import venv
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.steps import ask, make_request, memory_of, text_of
from tui.model.errors import ProviderError
from tui.model.interpreters import find_interpreter
from tui.model.provider_messages import Request
from tui.model.subjects import ProviderSettings
from tui.providers.agent import AgentProvider
from tui.providers.agents.interpreter import running_fault

PACKAGES = Path(__file__).parents[2] / "tui" / "providers" / "agents"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the module `only_here`, and none of Assay's packages."""
    folder = tmp_path_factory.mktemp("environments") / "agent's venv"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "only_here.py").write_text("WORD = 'from the venv'\n")
    return folder


@pytest.fixture
async def agents() -> AsyncIterator[AgentProvider]:
    provider = AgentProvider(ProviderSettings("agent", "agent"), os.environ)
    yield provider
    await provider.close()


def request_of(folder: Path, source: str, python: str, *, step: int = 0, last: bool = True) -> Request:
    file = folder / "flight.py"
    file.write_text(textwrap.dedent(source))
    request = make_request(str(file), step=step, last=last)
    return replace(request, subject=replace(request.subject, python=python))


async def test_it_imports_from_its_environment_only(agents: AgentProvider, environment: Path, tmp_path: Path) -> None:
    source = """
        import importlib.util, only_here, os, sys
        def agent(input, memory):
            names = ("httpx", "textual", "tui", "answers", "pool")
            absent = [name for name in names if not importlib.util.find_spec(name)]
            return {"output": only_here.WORD, "memory": {"prefix": sys.prefix, "absent": absent, "in": os.getcwd()}}
    """
    answered = await ask(agents, request_of(tmp_path, source, find_interpreter(str(environment), tmp_path)))
    assert text_of(answered) == "from the venv"
    absent = ["httpx", "textual", "tui", "answers", "pool"]
    assert memory_of(answered) == {"prefix": str(environment), "absent": absent, "in": str(tmp_path)}


async def test_one_process_serves_all_trials(agents: AgentProvider, environment: Path, tmp_path: Path) -> None:
    source = "import os\nasync def agent(input, memory): return {'output': str(os.getpid())}"
    python = find_interpreter(str(environment), tmp_path)
    requests = [request_of(tmp_path, source, python, step=0, last=False), request_of(tmp_path, source, python, step=1)]
    other = request_of(tmp_path, source, python)
    requests.append(replace(other, trial=other.trial._replace(case="another")))
    assert len({text_of(await ask(agents, request)) for request in requests}) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import only_there.inner\ndef agent(input, memory): ...",
        "def agent(input, memory):\n    import only_there.inner",
    ],
)
async def test_a_missing_module_is_named_with_its_interpreter(
    agents: AgentProvider, environment: Path, tmp_path: Path, source: str
) -> None:
    python = find_interpreter(str(environment), tmp_path)
    for used, named in ((python, python), ("", sys.executable)):
        with pytest.raises(ProviderError) as caught:
            await ask(agents, request_of(tmp_path, source, used))
        what = f"The agent needs the module only_there, which {named} does not have; install it there or pass"
        assert what in str(caught.value)


async def test_its_memory_is_limited(environment: Path, tmp_path: Path) -> None:
    agents = AgentProvider(ProviderSettings("agent", "agent"), memory_bytes=256 << 20)
    source = "def agent(input, memory):\n    x = []\n    while True: x.append(bytearray(8 << 20))"
    with pytest.raises(ProviderError, match="raised MemoryError"):
        await ask(agents, request_of(tmp_path, source, find_interpreter(str(environment), tmp_path)))
    await agents.close()


async def test_a_program_that_is_no_python_is_refused(agents: AgentProvider, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 'assay-python 3.8 '\n")
    old.chmod(0o755)
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/program\n")
    broken.chmod(0o755)
    faults = {
        "/bin/true": "is not a Python",
        str(old): "is Python 3.8; agents need Python 3.9 or newer",
        str(broken): "is not a Python",
        str(tmp_path / "none"): "does not exist",
        str(Path(__file__)): "is not a program",
        "nul\0": "does not exist",
    }
    for path, fault in faults.items():
        assert await running_fault(path, os.environ) == fault
    assert await running_fault(sys.executable, {}) is None
    with pytest.raises(ProviderError, match=r"agent flight\.py: /bin/true is not a Python"):
        await ask(agents, request_of(tmp_path, "def agent(input, memory): ...", "/bin/true"))


def test_the_runner_is_written_for_the_oldest_python_and_its_standard_library() -> None:
    source = (PACKAGES / "runner.py").read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_an_async_agent_runs_without_the_runner_of_newer_versions(tmp_path: Path) -> None:
    agent = tmp_path / "flight.py"
    agent.write_text(
        "import asyncio\nasync def agent(input, memory):\n    await asyncio.sleep(0)\n    return {'output': input}\n"
    )
    hide = (
        "import asyncio, runpy, sys; del asyncio.Runner, sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    line = b'{"id": "a", "input": "Hi", "memory": {}}\n'
    words = [sys.executable, "-c", hide, str(PACKAGES / "runner.py"), str(agent), "0"]
    done = subprocess.run(words, input=line * 2, capture_output=True, check=True)
    assert done.stdout == b'{"id":"a","answer":{"output":"Hi","memory":{}}}\n' * 2
