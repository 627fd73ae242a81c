"""How a run obeys a real server that refuses bursts: how many are asked at once, and when."""

import asyncio
from dataclasses import replace

import pytest

from tests.support.asking import server_settings
from tests.support.model_server import Asked, ModelServer, say
from tests.support.plans import case_of, plan_of, results_of, run_events, suite_of
from tests.support.replies import Reply, status
from tui.model.events import LimitMoved
from tui.model.run import RunOptions
from tui.providers.openai.provider import OpenAIProvider

WAIT_S = 0.3


def refuse(*, code: int = 429, wait_s: float = WAIT_S) -> Reply:
    return status(code, {"error": {"message": "Not now"}}, headers={"Retry-After-Ms": str(round(wait_s * 1000))})


async def limits_of(server: ModelServer, cases: int, at_once: int, *models: str) -> list[LimitMoved]:
    """What was told of limits in a run over so many cases, all of which passed."""
    names = models or ("a",)
    suite = suite_of(*(case_of(f"c{number}", f"question {number}") for number in range(cases)))
    plan = plan_of(suite, RunOptions(delay_ms=0, concurrency=at_once, parallel_models=True), names)
    plan = replace(plan, subjects=tuple(replace(subject, provider="one") for subject in plan.subjects))
    provider = OpenAIProvider(server_settings(server.url))
    try:
        events = await run_events(plan, dict.fromkeys(names, provider))
    finally:
        await provider.close()
    assert {result.verdict for result in results_of(events).values()} == {"passed"}
    return [event for event in events if isinstance(event, LimitMoved)]


async def test_a_burst_of_429_narrows_once_and_nothing_is_asked_before_its_time() -> None:
    """Eight refusals at once, then six at once, and nobody before Retry-After is over."""
    came: list[tuple[float, int, int]] = []

    def script(asked: Asked) -> Reply:
        came.append((asyncio.get_running_loop().time(), asked.attempt, server.in_flight))
        return refuse() if asked.attempt == 1 and len(came) <= 8 else say("fine", latency_s=0.05)(asked)

    async with ModelServer(script) as server:
        limits = await limits_of(server, 20, 8)
    assert limits[:2] == [LimitMoved("one", 8, 8), LimitMoved("one", 6, 8, "429, Retry-After 0.3 s")]
    assert [limit.limit for limit in limits[2:]] == [7, 8]
    refused, later = came[:8], came[8:]
    assert later[0][0] - refused[0][0] >= WAIT_S
    assert max(in_flight for _, _, in_flight in later[:6]) <= 6


async def test_the_models_of_one_provider_share_its_limit() -> None:
    """Two models with three cases each at once: six questions, and after a refusal four."""
    refused = False

    def script(asked: Asked) -> Reply:
        nonlocal refused
        if server.in_flight == 6 and not refused:
            refused = True
            return refuse(wait_s=0.05)
        return say("fine", latency_s=0.05)(asked)

    async with ModelServer(script) as server:
        limits = await limits_of(server, 6, 3, "a", "b")
    assert limits[:2] == [LimitMoved("one", 6, 6), LimitMoved("one", 4, 6, "429, Retry-After 0.05 s")]
    assert server.most_in_flight == 6


@pytest.mark.parametrize("code", [500, 503, 529, 408])
async def test_other_faults_narrow_nothing_however_many(code: int) -> None:
    def script(asked: Asked) -> Reply:
        return refuse(code=code, wait_s=0.01) if asked.attempt == 1 else say("fine")(asked)

    async with ModelServer(script) as server:
        assert await limits_of(server, 6, 6) == [LimitMoved("one", 6, 6)]


async def test_a_limit_of_one_is_not_reported() -> None:
    def script(asked: Asked) -> Reply:
        return refuse(wait_s=0.01) if asked.attempt == 1 else say("fine")(asked)

    async with ModelServer(script) as server:
        assert await limits_of(server, 3, 1) == []
        assert server.most_in_flight == 1
