"""TestHaven on the command line: agents as files, commands and servers, and each kind of assertion failing."""

import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, say
from tui.model.shipped import shipped_folder

AGENT = """
def agent(input, memory):
    return {"output": "Hello " + input, "tools_used": ["greet"], "memory": {**memory, "last": input}}
"""
TEST = """
description: greets
memory: {first: 1}
steps:
  - input: Ann
    assert: {output.includes: Hello, tools_used: [greet], memory.last: Ann}
  - input: Bob
    expected: {output: Hello Bob, tools_used: [greet], memory: {first: 1, last: Bob}}
"""


def results(out: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out)["results"]
    return found


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return name


def test_an_agent_file_on_the_command_line_is_its_own_consent(assay: CommandLine) -> None:
    test, agent = write(assay.home, "greet.yaml", TEST), write(assay.home, "agent.py", AGENT)
    ran = assay.run("run", test, "--agent", agent, "-f", "json")
    assert ran.code == 0, ran.err
    (result,) = results(ran.out)
    assert (result["case"], result["name"], result["model"]) == ("greet", "greets", "agent.py")
    assert [step["memory"] for step in result["attempts"][0]["steps"]] == [
        {"first": 1, "last": "Ann"},
        {"first": 1, "last": "Bob"},
    ]


def test_an_agent_that_a_suite_names_needs_consent(assay: CommandLine) -> None:
    write(assay.home, "agent.py", AGENT)
    test = write(assay.home, "greet.yaml", f"agent: agent.py\n{TEST}")
    refused = assay.run("run", test, "-f", "json")
    assert (refused.code, refused.out) == (2, "")
    assert "--allow-commands" in refused.err
    assert "--agent" in refused.err
    assert assay.run("run", test, "-f", "json", "--allow-commands").code == 0


async def test_an_agent_that_is_not_asked_needs_no_consent(assay: CommandLine) -> None:
    write(assay.home, "agent.py", AGENT)
    test = write(assay.home, "greet.yaml", f"agent: agent.py\n{TEST}")
    async with ModelServer(say("Hello")) as server:
        keys = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-4711-secret"}
        ran = await assay.run_async("run", test, "-m", "openai/mock-a", env=keys)
    assert ran.code == 1
    assert len(server.asked) == 2


def test_a_command_that_speaks_json_lines(assay: CommandLine) -> None:
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    memory = {**asked['memory'], 'last': asked['input']}\n"
        "    answer = {'output': 'Hello ' + asked['input'], 'tools_used': [{'name': 'greet'}], 'memory': memory}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    test, script = write(assay.home, "greet.yaml", TEST), write(assay.home, "speak.py", program)
    ran = assay.run("run", test, "--agent", f"cmd:python3 {script}", "-f", "json")
    assert ran.code == 0, ran.err + ran.out


def test_a_key_in_the_command_line_is_not_in_the_command_of_the_run(assay: CommandLine) -> None:
    test, agent = write(assay.home, "greet.yaml", TEST), write(assay.home, "agent.py", AGENT)
    key = "sk-proj-aB3" + "x" * 20
    found = assay.run("run", test, "--agent", agent, "-o", f"{key}.json")
    assert found.code == 0, found.err
    report = json.loads(assay.run("report", "last", "-f", "json").out)
    assert report["run"]["command"].endswith("-o [removed key].json")


def test_the_bundled_agent_passes_its_three_steps(assay: CommandLine) -> None:
    ran = assay.run("run", str(shipped_folder("test-suites") / "agents" / "flight-booking.yaml"), "-f", "json")
    (result,) = results(ran.out)
    assert (ran.code, result["verdict"], len(result["attempts"][0]["steps"])) == (0, "passed", 3)


def test_each_kind_of_assertion_fails_with_expected_got_and_a_diff(assay: CommandLine) -> None:
    ran = assay.run("run", str(shipped_folder("test-suites") / "agents" / "flight-mistakes.yaml"), "-f", "json")
    failed = {
        check["kind"]: check["detail"]
        for result in results(ran.out)
        for check in result["attempts"][0]["steps"][0]["checks"]
        if check["state"] == "failed"
    }
    assert ran.code == 1
    assert set(failed) == {"output.equals", "output.includes", "output.matches", "tools_used", "memory", "expected"}
    assert results(ran.out)[0]["verdict"] == "passed"
    for detail in failed.values():
        assert "expected" in detail.lower()


def test_agents_that_misbehave_are_each_their_cases_error(assay: CommandLine) -> None:
    tests = "\n".join(
        f"- {{description: {name}, input: {name}}}" for name in ("raise", "exit", "nonsense", "loop", "fine")
    )
    agent = """
import sys
def agent(input, memory):
    if input == "raise": raise KeyError("x")
    if input == "exit": sys.exit(3)
    if input == "nonsense": return 7
    while input == "loop": pass
    return {"output": "fine"}
"""
    write(assay.home, "bad.yaml", tests)
    write(assay.home, "agent.py", agent)
    ran = assay.run("run", "bad.yaml", "--agent", "agent.py", "--timeout", "1500", "-f", "json")
    found = {result["name"]: result["verdict"] for result in results(ran.out)}
    assert found == {"raise": "error", "exit": "error", "nonsense": "error", "loop": "timed_out", "fine": "unchecked"}
    assert [result["case"] for result in results(ran.out)] == [f"bad#{number}" for number in range(1, 6)]


def test_a_chat_model_is_asked_as_one_conversation(assay: CommandLine) -> None:
    test = write(assay.home, "talk.yaml", "steps:\n  - {input: Say only the word one.}\n  - {input: And now two.}\n")
    ran = assay.run("run", test, "-m", "local/smollm2-135m?temperature=0&max_tokens=1", "-f", "json")
    (result,) = results(ran.out)
    # One token is too few for an answer.
    assert (result["verdict"], len(result["attempts"][0]["steps"])) == ("incomplete", 2), ran.err


@pytest.fixture
def environment(assay: CommandLine) -> str:
    """A virtual environment beside the suite's folder that has the module `only_here`."""
    folder = assay.home / ".venv"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "only_here.py").write_text("")
    return ".venv"


def test_an_agent_runs_in_its_own_environment(assay: CommandLine, environment: str) -> None:
    test, agent = write(assay.home, "greet.yaml", TEST), write(assay.home, "agent.py", f"import only_here\n{AGENT}")
    missing = assay.run("run", test, "--agent", agent, "-f", "json")
    assert missing.code == 1
    assert "needs the module only_here" in results(missing.out)[0]["error"]
    ran = assay.run("run", test, "--agent", agent, "--agent-python", environment, "-f", "json")
    assert ran.code == 0, ran.err
    run_id = ran.err.split()[1]
    resumed = assay.run("run", "--resume", run_id)
    assert resumed.code == 0, resumed.err


def test_the_interpreter_that_a_suite_names_is_part_of_its_consent(assay: CommandLine, environment: str) -> None:
    (assay.home / "suites").mkdir()
    write(assay.home / "suites", "agent.py", f"import only_here\n{AGENT}")
    own = f"agent: {{file: agent.py, python: ../{environment}}}\n{TEST}"
    test = write(assay.home, "suites/greet.yaml", own)
    refused = assay.run("run", test)
    assert (refused.code, refused.out) == (2, "")
    assert str(assay.home / environment / "bin" / "python") in refused.err
    assert assay.run("run", test, "-f", "json", "--allow-commands").code == 0
    other = assay.run("run", test, "-f", "json", "--allow-commands", "--agent-python", sys.executable)
    assert other.code == 1


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("nowhere", "does not exist"),
        ("greet.yaml", "is not a program"),
        ("/bin/true", "is not a Python"),
        ("suites", "does not exist"),
    ],
)
def test_a_path_that_is_no_python_ends_before_the_run(assay: CommandLine, python: str, message: str) -> None:
    (assay.home / "suites").mkdir()
    test, agent = write(assay.home, "greet.yaml", TEST), write(assay.home, "agent.py", AGENT)
    ran = assay.run("run", test, "--agent", agent, "--agent-python", python)
    assert (ran.code, ran.out) == (2, "")
    assert f"The Python of the agent {message}" in ran.err
    assert "Traceback" not in ran.err
    assert json.loads(assay.run("runs", "--json").out) == []


def test_an_interpreter_needs_an_agent_with_a_file(assay: CommandLine) -> None:
    test = write(assay.home, "greet.yaml", TEST)
    alone = assay.run("run", test, "--agent-python", sys.executable)
    assert alone.code == 2
    assert "--agent-python needs an agent" in alone.err
    command = assay.run("run", test, "--agent", "cmd:true", "--agent-python", sys.executable)
    assert command.code == 2
    assert "--agent-python is for Python files" in command.err


def test_tool_calls_are_in_the_reports(assay: CommandLine) -> None:
    call = {"name": "greet", "arguments": {"to": "Ann"}, "result": "done", "duration_ms": 7}
    agent = write(assay.home, "agent.py", AGENT.replace('["greet"]', repr([call])))
    test = write(assay.home, "greet.yaml", TEST)
    ran = assay.run("run", test, "--agent", agent, "-f", "json")
    assert ran.code == 0, ran.err
    step = results(ran.out)[0]["attempts"][0]["steps"][0]
    assert step["tools_used"] == ["greet"]
    assert step["tool_calls"] == [{**call, "arguments": '{"to": "Ann"}'}]
    report = assay.run("report", "last", "-r")
    assert 'arguments: {"to": "Ann"}' in report.out
    replayed = assay.run("run", test, "-m", "replay/last", "-f", "json")
    assert results(replayed.out)[0]["attempts"][0]["steps"][0]["tool_calls"] == step["tool_calls"]
