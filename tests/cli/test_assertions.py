"""Assertions of cases, on the command line: verdicts, reports, and consent before a command runs."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, say
from tests.support.replies import delta, events, whole


def write_suite(home: Path, assertions: list[dict[str, Any]]) -> None:
    case = {"id": "c", "name": "c", "category": "c", "prompt": "p", "assertions": assertions}
    suite = {"name": "s", "description": "d", "models": ["openai/m"], "testCases": [case]}
    (home / "suite.json").write_text(json.dumps(suite))


def checks_of(report: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(report)["results"][0]["attempts"][0]["steps"][0]["checks"]
    return found


async def test_each_assertion_is_a_check_of_its_kind_in_every_report(assay: CommandLine) -> None:
    assertions: list[dict[str, Any]] = [
        {"type": "contains", "value": "Paris"},
        {"type": "word-count", "value": {"max": 2}},
        {"type": "latency", "threshold": 600_000},
        {"type": "tokens", "threshold": 1_000_000},
        {"type": "finish-reason", "value": "stop"},
        {"type": "is-json"},
    ]
    write_suite(assay.home, assertions)
    async with ModelServer(say("It is Paris.")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        for stream in ("--stream", "--no-stream"):
            done = await assay.run_async("run", "suite.json", stream, "-f", "json", env=env)
            assert done.code == 1, done.err
            assert [(check["kind"], check["state"]) for check in checks_of(done.out)] == [
                ("assert.contains", "passed"),
                ("assert.word-count", "failed"),
                ("assert.latency", "passed"),
                ("assert.tokens", "passed"),
                ("assert.finish-reason", "passed"),
                ("assert.is-json", "failed"),
            ]
    assert checks_of(done.out)[0]["spans"] == [[6, 11]]
    for format_ in ("markdown", "html", "csv", "junit"):
        text = (await assay.run_async("report", "last", "-f", format_)).out
        assert "word-count" in text
        assert "got 3 words" in text


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
async def test_a_finish_reason_that_no_server_sent_is_an_error_of_the_assertion(
    assay: CommandLine, stream: str
) -> None:
    write_suite(assay.home, [{"type": "finish-reason", "value": "stop"}])
    reply = events(delta("It is Paris."), "[DONE]") if stream == "--stream" else whole("It is Paris.", finish=None)
    async with ModelServer(lambda _: reply) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        ran = await assay.run_async("run", "suite.json", stream, "-f", "json", env=env)
        replayed = await assay.run_async("run", "suite.json", "-m", "replay/last", "-f", "json", env=env)
    for done in (ran, replayed):
        (result,) = json.loads(done.out)["results"]
        assert (result["verdict"], result["attempts"][0]["steps"][0]["finish_reason"]) == ("error", None), done.err
        assert "the finish reason of the answer is unknown" in done.out


async def test_a_replay_is_judged_by_the_figures_of_the_recorded_answer(assay: CommandLine) -> None:
    write_suite(assay.home, [{"type": "latency", "threshold": 100}, {"type": "finish-reason", "value": "stop"}])
    async with ModelServer(say("Paris.", latency_s=0.3)) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        slow = await assay.run_async("run", "suite.json", "-f", "json", env=env)
    assert [check["state"] for check in checks_of(slow.out)] == ["failed", "passed"]
    replayed = await assay.run_async("run", "suite.json", "-m", "replay/last/openai/m", "-f", "json")
    assert [check["state"] for check in checks_of(replayed.out)] == ["failed", "passed"], replayed.err


async def test_a_command_judges_the_answer_on_its_standard_input(assay: CommandLine) -> None:
    (assay.home / "judge.sh").write_text('#!/bin/sh\necho "key: $OPENAI_API_KEY"; grep -q "$1"\n')
    (assay.home / "judge.sh").chmod(0o755)
    write_suite(
        assay.home,
        [
            {"type": "contains", "value": "Paris"},
            {"type": "command", "value": ["./judge.sh", "Paris"]},
            {"type": "command", "value": ["./judge.sh", "London"]},
            {"type": "command", "value": ["./missing", "$HOME"]},
        ],
    )
    async with ModelServer(say("It is Paris. " * 20_000)) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        refused = await assay.run_async("run", "suite.json", env=env)
        assert (refused.code, server.asked) == (2, [])
        assert "--allow-commands" in refused.err
        done = await assay.run_async("run", "suite.json", "--allow-commands", "-f", "json", env=env)
    checks = checks_of(done.out)
    assert [check["state"] for check in checks] == ["passed", "passed", "failed", "timed_out"]
    assert [check["kind"] for check in checks[1:]] == ["assert.command"] * 3
    assert [check["target"] for check in checks[2:]] == ["./judge.sh London", "./missing '$HOME'"]
    assert "exit status 0" in checks[1]["detail"]
    assert "exit status 1" in checks[2]["detail"]
    assert checks[3]["detail"].startswith("cannot be started (FileNotFoundError")
    assert "key-of-the-test" not in done.out
    assert checks[1]["detail"].endswith("\nkey:")
    assert done.code == 1


async def test_a_command_is_judged_by_its_exit_status_where_its_end_is_ignored(assay: CommandLine) -> None:
    write_suite(assay.home, [{"type": "command", "value": ["grep", "-q", word]} for word in ("Paris", "London")])
    async with ModelServer(say("It is Paris.")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-test"}
        words = ("run", "suite.json", "--allow-commands", "-f", "json")
        process = assay.start(*words, env=env, before=("env", "--ignore-signal=CHLD"))
        out, err = await asyncio.to_thread(process.communicate)
    assert [check["state"] for check in checks_of(out)] == ["passed", "failed"], err
