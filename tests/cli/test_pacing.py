"""How many go at once, headless: a server that refuses bursts, and what is said of it."""

import re
from itertools import count

import pytest

from tests.cli.test_run import keys_for, report_of, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import Asked, ModelServer, say
from tests.support.replies import Reply, status
from tui.cli.progress import LimitLines
from tui.model.events import LimitMoved


def moved(limit: int, reason: str = "") -> LimitMoved:
    return LimitMoved("openai", limit, 8, reason)


def test_a_line_tells_the_way_from_what_was_printed_last() -> None:
    lines = LimitLines()
    printed = [
        lines.line(moved(8), 0),
        lines.line(moved(6, "429, Retry-After 2 s"), 1),
        lines.line(moved(5, "429"), 2),
        lines.line(moved(4, "429"), 3),
        lines.line(moved(3, "429"), 7),
        lines.line(moved(4), 8),
        lines.line(moved(5), 13),
    ]
    assert printed == [
        "", "openai: concurrency 8 → 6: 429, Retry-After 2 s", "", "", "openai: concurrency 6 → 3: 429", "",
        "openai: concurrency 3 → 5",
    ]  # fmt: skip
    assert lines.narrowed == "concurrency 5/8"
    assert lines.line(moved(8), 14) == "openai: concurrency 5 → 8"
    assert lines.narrowed == ""


@pytest.mark.parametrize("seconds", [60, 600])
def test_it_never_floods(seconds: int) -> None:
    lines, limits = LimitLines(), [8, 6, 7, 8, 6, 5, 6, 7, 8]
    printed = [lines.line(moved(limits[at % 9], "429" if at % 2 else ""), at / 10) for at in range(seconds * 10)]
    assert len([line for line in printed if line]) <= 2 * seconds / 5 + 2


async def test_a_server_that_takes_six_at_once_is_asked_six_after_a_while(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 200)
    most = 6
    server: list[ModelServer] = []
    refused = count()

    def script(asked: Asked) -> Reply:
        if server[0].in_flight > most:
            next(refused)
            return status(429, {"error": {"message": "Too many at once"}}, headers={"Retry-After-Ms": "20"})
        return say("oh yes", latency_s=0.02)(asked)

    server.append(ModelServer(script))
    async with server[0]:
        words = ("run", str(suite), "--concurrency", "8", "-f", "json")
        ran = await assay.run_async(*words, env=keys_for(server[0]))
    assert report_of(ran)["summary"]["passed"] == 200
    assert "openai: concurrency 8 → 6: 429, Retry-After 0.02 s" in ran.err
    assert server[0].most_in_flight <= 8
    assert next(refused) < 40
    assert len(re.findall(r"concurrency \d → \d", ran.err)) < 10


async def test_5xx_narrows_nothing(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 12)

    def script(asked: Asked) -> Reply:
        return status(503, {"error": {"message": "busy"}}) if asked.attempt == 1 else say("oh yes")(asked)

    async with ModelServer(script) as server:
        ran = await assay.run_async("run", str(suite), "--concurrency", "6", "-f", "json", env=keys_for(server))
    assert report_of(ran)["summary"]["passed"] == 12
    assert "concurrency" not in ran.err
