"""`assay run` and `assay models` with servers that speak other protocols than chat completions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import messages, responses
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer

KEY = "sk-ant-4711-secret"


def write_suite(folder: Path) -> Path:
    """One case that wants the word yes in the answer."""
    case = {"id": "a", "name": "A", "category": "C", "prompt": "question", "expectedPatterns": ["yes"]}
    suite: dict[str, Any] = {"name": "S", "description": "d", "models": ["claude-x"], "testCases": [case]}
    path = folder / "suite.json"
    path.write_text(json.dumps(suite))
    return path


def first_step(out: str) -> dict[str, Any]:
    step: dict[str, Any] = json.loads(out)["results"][0]["attempts"][0]["steps"][0]
    return step


@pytest.mark.parametrize("flags", [["--stream"], []])
async def test_a_claude_is_asked_where_its_key_is_set(assay: CommandLine, flags: list[str]) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(messages.say(f"oh yes, {KEY}")) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url.removesuffix("/v1")}
        ran = await assay.run_async("run", str(suite), "-f", "json", *flags, env=env)
        (asked,) = server.asked
    step = first_step(ran.out)
    assert (ran.code, step["response"]) == (0, "oh yes, [removed key]")
    assert step["usage"] == {"input_tokens": 7, "output_tokens": 3, "reasoning_tokens": None}
    assert (asked.path, asked.headers["x-api-key"], asked.body["stream"]) == ("/v1/messages", KEY, bool(flags))
    assert KEY not in ran.out + ran.err


async def test_a_setting_that_has_no_place_is_noted_in_the_report(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(messages.say("yes")) as server:
        env = {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_BASE_URL": server.url}
        name = "anthropic/claude-x?seed=7&max_tokens=9"
        ran = await assay.run_async("run", str(suite), "-m", name, "-f", "json", env=env)
        (asked,) = server.asked
    assert first_step(ran.out)["notes"] == ["The seed was not sent, because the Messages API does not support it"]
    assert (asked.headers["authorization"], asked.body["max_tokens"]) == (f"Bearer {KEY}", 9)


async def test_the_protocol_of_a_variant_is_obeyed(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    folder = assay.home / "assay_config_dir"
    folder.mkdir()
    (folder / "config.yaml").write_text("models: {deep: {provider: openai, id: new-thing, api: responses}}\n")
    async with ModelServer(responses.say("oh yes")) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
        ran = await assay.run_async("run", str(suite), "-m", "deep,other?api=responses", "-f", "json", env=env)
        paths = [(asked.path, asked.model) for asked in server.asked]
    assert ran.code == 0
    assert sorted(paths) == [("/v1/responses", "new-thing"), ("/v1/responses", "other")]


async def test_models_of_anthropic_are_listed(assay: CommandLine) -> None:
    async with ModelServer(models=("claude-b", "claude-a")) as server:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        ran = await assay.run_async("models", "--json", env=env)
    assert "anthropic/claude-a" in ran.out
    assert "github-copilot-sdk" in ran.out


def test_copilot_without_its_extra_is_reported_before_anything_is_asked(assay: CommandLine) -> None:
    ran = assay.run("run", str(write_suite(assay.home)), "-m", "copilot/gpt-5.2")
    assert (ran.code, ran.out) == (2, "")
    assert "copilot needs github-copilot-sdk, which is not installed. Run: pip install github-copilot-sdk" in ran.err


def test_a_claude_without_a_key_is_reported_what_to_set(assay: CommandLine) -> None:
    ran = assay.run("run", str(write_suite(assay.home)))
    assert ran.code == 2
    assert "ANTHROPIC_API_KEY for claude-*" in ran.err
