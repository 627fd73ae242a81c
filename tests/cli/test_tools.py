"""Tools of cases on the command line: both suite formats, reports, replays, data sets, and models without tools."""

import json
from pathlib import Path
from typing import Any

from tests.faults.wires import WIRES, Call
from tests.support.command_line import CommandLine
from tests.support.model_server import Asked, ModelServer
from tests.support.replies import Reply

CHAT = WIRES[0]
KEY = {"OPENAI_API_KEY": "key-of-the-test"}
WEATHER = {
    "name": "get_weather",
    "description": "Return the weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "results": [{"arguments": {"city": "Paris"}, "result": {"sky": "rain"}}],
    "result": "unknown city",
}


def write_suite(home: Path, **case: Any) -> Path:
    base = {"id": "c", "name": "c", "category": "c", "prompt": "Weather in Paris?", "tools": [WEATHER]}
    used = [{"type": "tools-used", "value": ["get_weather"]}, {"type": "icontains", "value": "rain"}]
    cases = [{**base, "assertions": used, **case}]
    suite = {"name": "s", "description": "d", "models": ["openai/m"], "testCases": cases}
    path = home / "suite.json"
    path.write_text(json.dumps(suite))
    return path


def looks_up(asked: Asked) -> Reply:
    """Call the tool for the city of the question, and answer with its result."""
    sent = CHAT.sent_back(asked.body)
    if not sent:
        city = asked.prompt.removeprefix("Weather in ").removesuffix("?")
        call = Call("call_1", "get_weather", json.dumps({"city": city}))
        return CHAT.calls(call, text="Let me look.", stream=asked.stream)
    return CHAT.answer(f"The tool says {sent[-1][1]}", asked.stream)


def step_of(report: str, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report)["results"][place]["attempts"][0]["steps"][0]
    return found


async def test_a_model_with_tools_from_suite_to_reports(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", str(suite), "-f", "json", env=env)
        assert done.code == 0, done.err
        assert len(server.asked) == 2
    step = step_of(done.out)
    assert (step["response"], step["tools_used"]) == ('The tool says {"sky": "rain"}', ["get_weather"])
    assert [(call["name"], call["arguments"], call["result"]) for call in step["tool_calls"]] == [
        ("get_weather", '{"city": "Paris"}', '{"sky": "rain"}')
    ]
    assert [check["kind"] for check in step["checks"]] == ["assert.tools-used", "assert.icontains"]
    assert step["usage"]["input_tokens"] == 14
    for format_ in ("markdown", "html"):
        text = (await assay.run_async("report", "last", "-r", "-f", format_)).out
        for part in ("turn 1", "Let me look.", "get_weather", "Paris", "The tool says"):
            assert part in text, (format_, part)


async def test_a_replay_repeats_the_calls_without_another_turn(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(looks_up) as server:
        recorded = await assay.run_async("run", str(suite), "-f", "json", env={"OPENAI_BASE_URL": server.url, **KEY})
    replayed = await assay.run_async("run", str(suite), "-m", "replay/last/openai/m", "-f", "json")
    assert replayed.code == 0, replayed.err
    before, after = step_of(recorded.out), step_of(replayed.out)
    for key in ("response", "tools_used", "tool_calls", "checks", "usage"):
        assert after[key] == before[key], key


async def test_the_limit_of_turns_is_incomplete_and_can_be_resumed(assay: CommandLine) -> None:
    suite = write_suite(assay.home, maxTurns=1)
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", str(suite), "-f", "json", env=env)
        again = await assay.run_async("run", "--rerun-errors", "last", "-f", "json", env=env)
        assert (done.code, again.code, len(server.asked)) == (1, 1, 2)
        assert all(asked.body["tools"] for asked in server.asked)
    result = json.loads(done.out)["results"][0]
    assert (result["verdict"], step_of(done.out)["response"]) == ("incomplete", "Let me look.")
    assert result["error"] == "The model still called tools after its only turn, the limit of the case"


async def test_a_replay_with_another_check_does_not_pass_an_answer_that_called_tools_to_its_end(
    assay: CommandLine,
) -> None:
    calls = [{"type": "tools-used", "value": ["get_weather"]}]
    suite = write_suite(assay.home, maxTurns=1, assertions=calls)
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", str(suite), "-f", "json", env=env)
    verdicts = [json.loads(done.out)["results"][0]["verdict"]]
    for checks in (calls, [*calls, {"type": "icontains", "value": "look"}]):
        write_suite(assay.home, maxTurns=1, assertions=checks)
        run = json.loads(done.out)["run"]["id"]
        replayed = await assay.run_async("run", str(suite), "-m", f"replay/{run}/openai/m", "-f", "json")
        verdicts.append(json.loads(replayed.out)["results"][0]["verdict"])
        notes = step_of(replayed.out)["notes"]
        assert len(notes) == len(set(notes))
    assert verdicts == ["passed", "passed", "incomplete"]


async def test_the_steps_of_a_testhaven_test_have_turns_of_their_own(assay: CommandLine) -> None:
    test = {
        "tools": [WEATHER],
        "max_turns": 2,
        "steps": [
            {"input": "Weather in Paris?", "assert": {"tools_used": ["get_weather"], "output.includes": "rain"}},
            {"input": "Weather in Rome?", "assert": {"tools_used": "get_weather", "output.includes": "unknown city"}},
        ],
    }
    (assay.home / "test.json").write_text(json.dumps(test))
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", "test.json", "-m", "openai/m", "-f", "json", env=env)
        assert done.code == 0, done.out
        roles = [message["role"] for message in server.asked[-1].body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "tool"]


async def test_rows_of_a_data_set_are_filled_into_results(assay: CommandLine) -> None:
    tool = {**WEATHER, "results": [{"arguments": {"city": "{{city}}"}, "result": {"sky": "{{sky}}"}}]}
    (assay.home / "rows.csv").write_text("id,city,sky\np,Paris,rain\nr,Rome,sun\n")
    suite = write_suite(
        assay.home,
        data="rows.csv",
        prompt="Weather in {{city}}?",
        tools=[tool],
        assertions=[{"type": "contains", "value": "{{sky}}"}],
    )
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", str(suite), "-f", "json", env=env)
    assert done.code == 0, done.out
    assert [step_of(done.out, place)["tool_calls"][0]["result"] for place in (0, 1)] == [
        '{"sky": "rain"}',
        '{"sky": "sun"}',
    ]


async def test_models_without_tools_are_refused_before_the_run(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(looks_up) as server:
        env = {"OPENAI_BASE_URL": server.url, **KEY}
        done = await assay.run_async("run", str(suite), "-m", "openai/m,local/smollm2-135m", env=env)
        assert (done.code, server.asked) == (2, [])
    (line,) = [line for line in done.err.splitlines() if line.startswith("Error")]
    assert line == (
        "Error: local/smollm2-135m: the local model does not support tools, which these cases offer: c. Select another "
        "model, or cases without tools."
    )
    assert json.loads((await assay.run_async("runs", "--json")).out) == []


async def test_an_agent_does_not_receive_the_tools(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    (assay.home / "agent.py").write_text(
        "def agent(input, memory):\n"
        "    return {'output': 'rain', 'tools_used': [{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]}\n"
    )
    done = await assay.run_async("run", str(suite), "--agent", "agent.py", "-f", "json")
    assert done.code == 0, done.err
    assert step_of(done.out)["tools_used"] == ["get_weather"]
