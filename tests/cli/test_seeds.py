"""The examples of both formats' documents run: models' names against a server, agents' tests with a file."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, say

SEEDS = Path(__file__).parents[1] / "suites" / "seeds"
AGENT = """
import re

def agent(input, memory):
    departure, destination = memory["preferred_airport"], re.search(r"to (\\w+)", input)[1]
    booking = {"departure": departure, "destination": destination}
    return {
        "output": f"Booking flight from {departure} to {destination}.",
        "tools_used": ["Skyscanner"],
        "memory": {**memory, "last_booking": booking},
    }
"""


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [
        ("minimal.json", "print('hello')", 0),
        ("security.json", "Use a prepared statement: parameterized, so nothing to sanitize.", 0),
        ("security.json", "Use string concatenation.", 1),
    ],
)
async def test_schema_examples_against_a_server(assay: CommandLine, name: str, answer: str, code: int) -> None:
    async with ModelServer(say(answer)) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-4711-secret"}
        ran = await assay.run_async("run", str(SEEDS / name), "-f", "json", env=env)
    report = json.loads(ran.out)
    assert ran.code == code
    assert {asked.model for asked in server.asked} == {result["model"] for result in report["results"]}


@pytest.mark.parametrize("name", ["testhaven-steps.yaml", "testhaven-legacy.json"])
def test_testhaven_examples_with_an_agent(assay: CommandLine, name: str) -> None:
    (assay.home / "agent.py").write_text(AGENT)
    ran = assay.run("run", str(SEEDS / name), "--agent", "agent.py", "-f", "json")
    assert ran.code == 0, ran.out
    assert json.loads(ran.out)["results"][0]["case"] == Path(name).stem
