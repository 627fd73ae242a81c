"""The suites and commands of the program that schema 1.0.0 comes from, and of TestHaven, run as they are written there.

The suites are written by hand with the fields and shapes of its four; git's `insteadOf` leads their URLs to loopback.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine, Ran
from tests.support.git_server import serve_git
from tests.support.model_server import ModelServer, say
from tests.support.repositories import make_repository
from tests.support.terminal import Terminal, run_here

MODELS = ("gpt-4.1", "gpt-4o", "gpt-5.2", "claude-sonnet-4", "claude-sonnet-4.5")
ANSWER = (
    "Use this:\n\n```js\nfunction shout(text) {\n  return text.toUpperCase();\n}\nmodule.exports = { shout };\n```\n"
)
OPTIONS = {"timeoutMs": 60000, "retries": 1, "delayBetweenTestsMs": 5}
CLONE = {"repoUrl": "https://github.com/someone/demo", "branch": "main", "depth": 1, "keepTempDir": False}


def case(identity: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "name": f"Name of {identity}",
        "category": "Code Generation",
        "prompt": "Write a file `src/shout.js` that exports `shout(text)`. Provide the complete code.",
        "expectedBehavior": "Should generate a module",
        "tags": ["utility"],
        **fields,
    }


def changing(identity: str, target: str) -> dict[str, Any]:
    patterns = ["function|const|=>", "shout", "module\\.exports|export"]
    return case(identity, testType="code-generation", applyChanges=True, targetFile=target, expectedPatterns=patterns)


def risky(identity: str, severity: str) -> dict[str, Any]:
    criterion = {"name": "Refusal", "description": "Must not give instructions", "severity": severity}
    return case(identity, category="Safety - Harmful Content", riskCriteria=[criterion])


SUITES: Mapping[str, dict[str, Any]] = {
    "clone-testing": {
        "name": "Clones and changes",
        "description": "Clones a repository and applies generated code",
        "models": ["claude-sonnet-4.5"],
        "repoClone": CLONE,
        "repositoryContext": {
            "includeFiles": ["*.js", "*.ts", "*.json", "*.md"],
            "excludeFiles": ["node_modules", "dist", ".git"],
            "maxFiles": 20,
            "maxFileSizeBytes": 30000,
            "languages": ["javascript", "typescript"],
        },
        "options": OPTIONS,
        "testCases": [changing("clone-gen-001", "src/shout.js"), changing("clone-gen-002", "lib/helpers/shout.js")],
    },
    "quick-clone-test": {
        "name": "Quick clone",
        "description": "One change in a clone that is kept",
        "models": ["gpt-4.1"],
        "repoClone": {**CLONE, "keepTempDir": True},
        "repositoryContext": {
            "includeFiles": ["*.js"],
            "excludeFiles": ["node_modules", "dist", ".git", "test"],
            "maxFiles": 5,
            "maxFileSizeBytes": 20000,
            "languages": ["javascript"],
        },
        "options": OPTIONS,
        "testCases": [changing("quick-test-001", "lib/helpers/shout.js")],
    },
    "development-testing": {
        "name": "Development",
        "description": "Tasks of a developer over the files of a folder",
        "models": ["gpt-4.1", "claude-sonnet-4"],
        "repositoryContext": {
            "path": "./",
            "includeFiles": ["*.ts", "*.js", "*.json"],
            "excludeFiles": ["node_modules", "dist", ".git", "*.min.js"],
            "maxFiles": 30,
            "maxFileSizeBytes": 50000,
            "languages": ["typescript", "javascript"],
        },
        "options": {**OPTIONS, "retries": 2},
        "testCases": [
            case(
                "code-gen-001",
                testType="code-generation",
                expectedPatterns=["function", "toUpperCase|upper"],
                forbiddenPatterns=["any\\s*[;\\)]", "TODO"],
            ),
            case("code-gen-002", testType="bug-fix", expectedPatterns=["\\$\\d|\\?|return"], forbiddenPatterns=[]),
        ],
    },
    "model-risk-assessment": {
        "name": "Risk",
        "description": "Scored by a person",
        "models": ["gpt-4o", "claude-sonnet-4"],
        "testCases": [risky("safety-harmful-001", "critical"), risky("safety-pii-001", "high")],
    },
}


class Original:
    """A folder as the program's own, with its suites, and servers for the models and the repository."""

    def __init__(self, assay: CommandLine, server: ModelServer, git_url: str) -> None:
        self._assay, self.server, self.home = assay, server, assay.home
        (self.home / "tmp").mkdir()
        (self.home / ".gitconfig").write_text(f'[url "{git_url}/"]\n  insteadOf = https://github.com/someone/\n')
        self.env = {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "sk-test-4711-secret",
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
        }
        (self.home / "test-suites").mkdir()
        for name, suite in SUITES.items():
            (self.home / "test-suites" / f"{name}.json").write_text(json.dumps(suite, indent=2))
        (self.home / "index.js").write_text("console.log('here')\n")

    async def run(self, command: str) -> Ran:
        return await self._assay.run_async(*command.split(), env=self.env)

    @property
    def asked(self) -> set[str]:
        return {asked.model for asked in self.server.asked}


@asynccontextmanager
async def original(assay: CommandLine) -> AsyncIterator[Original]:
    files = {"package.json": "{}\n", "index.js": "console.log('cloned')\n", "node_modules/a.js": "0\n", "a.py": "0\n"}
    make_repository(assay.home / "served" / "demo", files, branch="main")
    make_repository(assay.home / "served" / "other", files, branch="develop")
    with serve_git(assay.home / "served") as git:
        async with ModelServer(say(ANSWER), models=MODELS) as server:
            yield Original(assay, server, git.url)


@pytest.mark.parametrize("name", SUITES)
async def test_the_suites_validate_and_run(assay: CommandLine, name: str) -> None:
    async with original(assay) as program:
        validated = await program.run(f"validate test-suites/{name}.json")
        warnings = validated.out.splitlines()
        assert validated.code == 0, validated.out
        assert ["no case has a check" in line for line in warnings] == [True] * (name == "model-risk-assessment")
        ran = await program.run(f"run test-suites/{name}.json -f json")
        assert ran.code == 0, ran.err
        suite = SUITES[name]
        assert len(program.server.asked) == len(suite["testCases"]) * len(suite["models"])
        messages = program.server.asked[0].body["messages"]
    results = json.loads(ran.out)["results"]
    if "repoClone" in suite:
        assert "console.log('cloned')" in messages[-1]["content"]
        assert "node_modules" not in messages[-1]["content"]
        assert "a.py" not in messages[-1]["content"]
        assert [[change["path"] for change in result["changes"]] for result in results] == [
            [case["targetFile"]] for case in suite["testCases"]
        ]


COMMANDS = {
    "models": None,
    "models --json": None,
    "models -j": None,
    "init -o my-tests.json": None,
    "validate test-suites/clone-testing.json": None,
    "run test-suites/clone-testing.json -m claude-sonnet-4": None,
    "run test-suites/clone-testing.json -m claude-sonnet-4,gpt-4o --parallel": None,
    "run test-suites/clone-testing.json -f html -r -o reports/my-report": "reports/my-report.html",
    "run test-suites/clone-testing.json --timeout 300000": None,
    "run test-suites/model-risk-assessment.json --timeout 300000 --retries 3 --delay 5": None,
    "run test-suites/model-risk-assessment.json -a --delay 0": None,
    "run test-suites/model-risk-assessment.json --clone https://github.com/someone/other --branch develop": None,
    "run test-suites/model-risk-assessment.json -f markdown -o reports/report.md": "reports/report.md",
    "run test-suites/model-risk-assessment.json -f html -r -t --risk-analysis -o reports/report": "reports/report.html",
    "run test-suites/model-risk-assessment.json -f json -o reports/a/b/report": "reports/a/b/report.json",
    "run test-suites/model-risk-assessment.json -f csv -o reports/report.csv": "reports/report.csv",
    "run test-suites/development-testing.json --repo . -m gpt-4.1": None,
    "run test-suites/development-testing.json --repo . --languages javascript": None,
    "run test-suites/quick-clone-test.json -m gpt-5.2,claude-sonnet-4.5 --parallel -f html -o comparison": (
        "comparison.html"
    ),
    "completion zsh": None,
    "completion": None,
}


@pytest.mark.parametrize("command", COMMANDS)
async def test_the_documented_commands_run(assay: CommandLine, command: str) -> None:
    async with original(assay) as program:
        ran = await program.run(command)
        named = re.search(r"-m (\S+)", command)
        if named:
            assert program.asked == set(named[1].split(","))
        if " -a" in command:
            assert program.asked == set(MODELS)
    assert ran.code == 0, ran.err
    written = COMMANDS[command]
    if written is not None:
        assert ran.out == ""
        assert (assay.home / written).stat().st_size > 0
        assert f"Report: {written}" in ran.err
    elif command.startswith("run"):
        assert ran.out.startswith("# ")


async def test_a_suite_from_init_runs(assay: CommandLine) -> None:
    async with original(assay) as program:
        assert (await program.run("init -o my-tests.json")).code == 0
        suite = json.loads((assay.home / "my-tests.json").read_text())
        assert {"name", "description", "models", "testCases", "options"} <= set(suite)
        assert (await program.run("validate my-tests.json")).code == 0
        ran = await program.run("run my-tests.json -m gpt-4o --format html --responses")
        assert program.asked == {"gpt-4o"}
    assert ran.code == 1  # The answer names no capital.
    assert ran.out.startswith("<!DOCTYPE html>")


async def test_models_are_chosen_in_the_terminal(assay: CommandLine) -> None:
    async with original(assay) as program:
        report = assay.home / "report.json"
        command = run_here("-m", "tui", "run", "test-suites/model-risk-assessment.json", "-i", "-o", report)
        root = {"PYTHONPATH": str(Path(__file__).parents[2])}
        with Terminal(command, cwd=assay.home, env=assay.environ(program.env) | root) as terminal:
            await asyncio.to_thread(terminal.wait_for, "Space select")
            assert "openai/gpt-5.2" in terminal.screen
            terminal.press("space", "down", "down", "space", "enter")
            code = await asyncio.to_thread(terminal.wait_exit, 60)
        asked = program.asked
    assert code == 0
    results = json.loads(report.read_text())["results"]
    assert {result["model"] for result in results} == {"claude-sonnet-4", "openai/claude-sonnet-4.5"}
    assert asked == {"claude-sonnet-4", "claude-sonnet-4.5"}


@pytest.mark.long
async def test_leaving_the_list_runs_nothing(assay: CommandLine) -> None:
    async with original(assay) as program:
        command = run_here("-m", "tui", "run", "test-suites/model-risk-assessment.json", "-i")
        root = {"PYTHONPATH": str(Path(__file__).parents[2])}
        with Terminal(command, cwd=assay.home, env=assay.environ(program.env) | root) as terminal:
            await asyncio.to_thread(terminal.wait_for, "Space select")
            terminal.press("a", "a", "enter")
            await asyncio.to_thread(terminal.wait_for, "Select at least one model")
            terminal.press("escape")
            code = await asyncio.to_thread(terminal.wait_exit, 60)
        assert (code, program.server.asked) == (130, [])


TESTHAVEN_AGENT = """
def agent(input_text, memory):
    memory = memory or {}
    if "hello" in input_text.lower():
        memory["greeted"] = True
        return {"output": "Hello! How can I help?", "tools_used": [], "memory": memory}
    if " to " in input_text:
        city = input_text.split(" to ")[-1].split()[0]
        memory["last_booking"] = {"destination": city, "departure": memory["preferred_airport"]}
        output = f"Booking flight from {memory['preferred_airport']} to {city}."
        return {"output": output, "tools_used": "Skyscanner", "memory": memory}
    memory["booking"] = {"status": "confirmed"}
    return {"output": "Booking confirmed.", "tools_used": [{"name": "BookingAPI"}], "memory": memory}
"""
TESTHAVEN = {
    "flight_booking.test.yaml": """
description: "Greeting, booking, confirmation"
memory:
  preferred_airport: "Gatwick"
steps:
  - input: "Hello"
    assert:
      output.includes: "Hello"
      tools_used: []
      memory.greeted: true
  - input: "I want to book a flight to Berlin next week."
    assert:
      output.includes: "Gatwick"
      output.includes.destination: "Berlin"
      output.matches: ".*Berlin.*"
      tools_used: "Skyscanner"
      memory.last_booking.destination: "Berlin"
      memory.last_booking.departure: "Gatwick"
  - input: "Great, book that please."
    assert:
      output.includes: "Booking confirmed"
      tools_used: ["BookingAPI"]
      memory.booking.status: "confirmed"
""",
    "legacy_test.json": """{
  "schema_version": "0.1",
  "description": "Single turn: flight booking to Tokyo",
  "input": "Book a flight to Tokyo next week",
  "memory": {"preferred_airport": "LAX"},
  "assert": {
    "output.equals": "Booking flight from LAX to Tokyo.",
    "tools_used": ["Skyscanner"],
    "memory.last_booking.destination": "Tokyo",
    "memory.last_booking.departure": "LAX"
  }
}""",
    "several.test.json": """[
  {"input": "Hello", "assert": {"output.includes": "Hello", "memory.greeted": true}},
  {"input": "Book", "expected": {
    "output": "Booking confirmed.", "tools_used": "BookingAPI", "memory": {"booking": {"status": "confirmed"}}}}
]""",
}


@pytest.mark.parametrize("name", [*TESTHAVEN, "."])
def test_testhavens_tests_run(assay: CommandLine, name: str) -> None:
    tests = assay.home / "tests"
    tests.mkdir()
    for file, text in TESTHAVEN.items():
        (tests / file).write_text(text)
    (assay.home / "agent.py").write_text(TESTHAVEN_AGENT)
    assert assay.run("validate", "tests").err.endswith("3 files, 0 errors, 0 warnings\n")
    ran = assay.run("run", f"tests/{name}", "--agent", "agent.py", "-f", "json")
    assert ran.code == 0, ran.out
    if name == "several.test.json":
        cases = [result["case"] for result in json.loads(ran.out)["results"]]
        assert cases == ["several.test#1", "several.test#2"]
