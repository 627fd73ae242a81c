"""What a run costs and what took part in it, from a real server to the report and the list of runs."""

import json
import platform
from pathlib import Path
from typing import Any

from tests.cli.test_run import keys_for, report_of, write_suite
from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import Asked, ModelServer, answer_by, say
from tests.support.replies import Reply, status, whole


def write_prices(assay: CommandLine, text: str) -> None:
    folder = Path(assay.environ()["ASSAY_CONFIG_DIR"])
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text)


def costs_of(ran: Ran) -> list[float | None]:
    return [result["cost_usd"] for result in report_of(ran)["results"]]


async def test_every_attempt_is_paid_for_by_the_price_of_the_config(assay: CommandLine) -> None:
    """An answer has 7 tokens in and its words out."""
    write_prices(assay, "prices:\n  openai/mock-a: {input: 100000, output: 1000000}\n")
    suite = write_suite(assay.home, 2, options={"retries": 3})
    async with ModelServer(answer_by({"question 0": "yes", "question 1": "no no"})) as server:
        args = ("run", str(suite), "-m", "openai/mock-a,openai/mock-b")
        ran = await assay.run_async(*args, "-f", "json", env=keys_for(server))
        markdown = assay.run("report", "last", "-f", "markdown")
    report = report_of(ran)
    once, thrice = 0.7 + 1.0, 3 * (0.7 + 2.0)
    assert [(each["model"], each["case"], each["cost_usd"]) for each in report["results"]] == [
        ("openai/mock-a", "case-0", once), ("openai/mock-a", "case-1", round(thrice, 12)),
        ("openai/mock-b", "case-0", None), ("openai/mock-b", "case-1", None),
    ]  # fmt: skip
    assert report["summary"]["cost_usd"] == {"openai/mock-a": round(once + thrice, 12), "openai/mock-b": None}
    assert report["summary"]["cost_usd_at_least"]["openai/mock-b"] is None
    assert "$9.80" in markdown.out.replace("\\", "")
    assert "unknown" in markdown.out


async def test_an_answer_that_was_not_counted_makes_the_sum_the_least(assay: CommandLine) -> None:
    write_prices(assay, "prices:\n  mock-a: {input: 100000, output: 1000000}\n")
    suite = write_suite(assay.home, 2)

    def script(asked: Asked) -> Reply:
        return status(400, {"error": {"message": "no"}}) if asked.prompt == "question 1" else whole("yes")

    async with ModelServer(script) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        markdown = assay.run("report", "last", "-f", "markdown")
    assert costs_of(ran) == [1.7, None]
    summary = report_of(ran)["summary"]
    assert (summary["cost_usd"], summary["cost_usd_at_least"]) == ({"openai/mock-a": None}, {"openai/mock-a": 1.7})
    assert "≥ $1.70" in markdown.out.replace("\\", "")


async def test_a_server_at_home_has_no_price_although_its_model_is_called_like_a_known_one(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, models=["gpt-5.2"])
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    assert costs_of(ran) == [None]
    assert report_of(ran)["run"]["prices"] == {"gpt-5.2": None}


async def test_a_run_keeps_the_prices_that_it_was_begun_with(assay: CommandLine) -> None:
    write_prices(assay, "prices:\n  mock-a: {input: 100000, output: 1000000}\n")
    suite = write_suite(assay.home, 1)
    async with ModelServer(answer_by({}, "no")) as server:
        first = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        write_prices(assay, "prices:\n  mock-a: {input: 1, output: 1}\n")
        again = await assay.run_async("run", "--rerun-failed", "last", "-f", "json", env=keys_for(server))
        new = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        replayed = await assay.run_async("run", str(suite), "-m", "replay/last/openai/mock-a", "-f", "json")
    assert (costs_of(first), costs_of(again), costs_of(new)) == ([1.7], [3.4], [0.000008])
    assert costs_of(replayed) == [None]
    assert report_of(again)["run"]["prices"]["openai/mock-a"]["input"] == 100_000.0


async def test_what_took_part_and_who_answered_is_in_the_report(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)

    def script(_: Asked) -> Reply:
        body: dict[str, Any] = {
            "model": "mock-a-2026-01-01",
            "system_fingerprint": "fp_sk-test-4711-secret",
            "choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}],
        }
        return Reply((json.dumps(body).encode(),), headers=(("Content-Type", "application/json"), ("Server", "mock/1")))

    async with ModelServer(script) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        markdown = assay.run("report", "last", "-f", "markdown")
    versions = report_of(ran)["run"]["versions"]
    assert versions["python"] == platform.python_version()
    assert set(versions) == {"assay", "python", "platform", "quickjs-ng"}
    assert report_of(ran)["results"][0]["attempts"][0]["steps"][0]["served_by"] == {
        "model": "mock-a-2026-01-01", "fingerprint": "fp_[removed key]", "api_version": "", "server": "mock/1",
    }  # fmt: skip
    assert "mock-a-2026-01-01, fingerprint fp_" in markdown.out.replace("\\", "")


def test_prices_that_make_no_sense_are_reported_before_anything_is_asked(assay: CommandLine) -> None:
    write_prices(assay, "prices:\n  mock-a: {input: free, output: 1}\n")
    ran = assay.run("run", str(write_suite(assay.home, 1)))
    assert (ran.code, ran.out) == (2, "")
    assert "config.yaml:2:19: error: prices.mock-a.input: expected a number of USD per million tokens" in ran.err
