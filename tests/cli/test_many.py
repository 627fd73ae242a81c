"""A thousand cases against a server that fails on the first attempt: nothing is lost, and every retry is told."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_run import keys_for, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, faulty, say


async def ask_many(assay: CommandLine, count: int) -> dict[str, Any]:
    suite = write_suite(assay.home, count)
    script = faulty(say("oh yes"), rate_429=0.05, dropped=0.05, malformed=0.01)
    async with ModelServer(script, record=False) as server:
        ran = await assay.run_async("run", str(suite), "--concurrency", "20", "-o", "r.json", env=keys_for(server))
    assert ran.code == 0, ran.err[-500:]
    return read_report(assay.home / "r.json")


def read_report(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def reasons_of(report: dict[str, Any]) -> Counter[str]:
    steps = (step for result in report["results"] for attempt in result["attempts"] for step in attempt["steps"])
    kinds = {"Rate limit reached": "429", "was lost during the answer": "dropped", "not JSON": "malformed"}
    reasons = [retry["reason"] for step in steps for retry in step["retries"]]
    return Counter(next(kind for words, kind in kinds.items() if words in reason) for reason in reasons)


async def test_a_hundred_with_faults(assay: CommandLine) -> None:
    report = await ask_many(assay, 100)
    assert report["summary"]["passed"] == report["summary"]["trials"] == 100
    assert reasons_of(report) == {"429": 5, "dropped": 5, "malformed": 1}
    assert all(len(result["attempts"]) == 1 for result in report["results"])


@pytest.mark.long
async def test_a_thousand_with_faults(assay: CommandLine) -> None:
    report = await ask_many(assay, 1000)
    assert report["summary"]["passed"] == report["summary"]["trials"] == 1000
    assert reasons_of(report) == {"429": 50, "dropped": 50, "malformed": 10}
