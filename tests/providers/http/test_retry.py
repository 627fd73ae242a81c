"""The retry policy, to the letter."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from email.utils import formatdate

import pytest

from tests.support.clocks import NOON, FakeTime
from tui.model.errors import ProviderError
from tui.model.provider_messages import Limited, Sent, Text, Waiting
from tui.providers.http.errors import TryFailed
from tui.providers.http.rate_limit import Queue
from tui.providers.http.retry import Tries, retry_after, wait_before

REJECTED = ProviderError("unauthorized", "h rejected the API key (401)", fix="Check K.")


def failed(tries: int = 5, least_wait_s: float | None = None) -> TryFailed:
    return TryFailed(ProviderError("overloaded", "h failed (503)", fix="Wait."), tries=tries, least_wait_s=least_wait_s)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": formatdate(NOON + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOON - 30, usegmt=True)}, 0.0),
        ({"retry-after": "Thu, 20 Nov 2025 13:00:45 +0100"}, 45.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "1_0_0"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "9" * 400}, 1e9),
        ({"retry-after-ms": "9" * 400}, 1e6),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 1e9),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOON) == seconds


@pytest.mark.parametrize("date", ["Thu Nov 20 12:00:45 2025", "Thu, 20 Nov 2025 12:00:45 -0000"])
def test_a_date_without_a_zone_is_in_utc(date: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after({"retry-after": date}, NOON) == 45.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_wait_is_random_up_to_a_doubling_bound_of_at_most_thirty_seconds() -> None:
    most = FakeTime(luck=1.0).patience()
    assert [wait_before(failed(99), number, most) for number in range(1, 10)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    least = FakeTime(luck=0.0).patience()
    assert [wait_before(failed(99), number, least) for number in (1, 5, 9)] == [0, 0, 0]


def test_the_wait_is_not_below_what_the_server_asks() -> None:
    assert wait_before(failed(least_wait_s=3.0), 1, FakeTime(luck=1.0).patience()) == 3.0
    assert wait_before(failed(least_wait_s=3.0), 4, FakeTime(luck=1.0).patience()) == 4.0
    assert wait_before(failed(least_wait_s=120.0), 1, FakeTime().patience()) == 120.0


def test_a_wait_over_two_minutes_is_reported_and_not_waited() -> None:
    with pytest.raises(ProviderError) as caught:
        wait_before(failed(least_wait_s=121.0), 1, FakeTime().patience())
    assert str(caught.value) == "h failed (503); retry after 121 s. Try again then; Assay waits at most 120 s."


def test_the_last_try_says_how_many_there_were() -> None:
    with pytest.raises(ProviderError) as caught:
        wait_before(failed(5), 5, FakeTime().patience())
    assert str(caught.value) == "h failed (503). Wait."
    with pytest.raises(ProviderError) as caught:
        wait_before(failed(1), 1, FakeTime().patience())
    assert str(caught.value) == "h failed (503). Wait."


async def test_a_paused_queue_lets_nobody_through_until_its_time() -> None:
    time = FakeTime()
    queue = Queue(time.patience())
    await queue.wait()
    assert time.waits == []
    queue.pause(5.0)
    queue.pause(2.0)
    await asyncio.gather(queue.wait(), queue.wait())
    assert time.elapsed >= 5.0
    await queue.wait()
    assert len(time.waits) == 2


async def test_a_stopped_queue_says_the_same_to_everybody() -> None:
    queue = Queue(FakeTime().patience())
    queue.stop(REJECTED)
    for _ in range(2):
        with pytest.raises(ProviderError, match=r"^h rejected the API key \(401\)\. Check K\.$") as caught:
            await queue.wait()
        assert caught.value.fault == "unauthorized"


async def test_a_rejection_waits_for_the_requests_in_progress_and_an_answer_lifts_it() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(2)
    tasks = await entered(queue, 4)
    queue.leave()
    queue.stop(REJECTED)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert out(tasks) == [0, 1]
    queue.leave()
    queue.answered(0)
    await asyncio.gather(*tasks)
    for _ in range(2):
        queue.leave()
        queue.stop(REJECTED)  # of its own request: the server accepts the key
    await queue.wait()


async def test_a_rejection_stops_the_queue_after_the_last_request_in_progress() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(2)
    tasks = await entered(queue, 5)
    for _ in range(2):
        queue.leave()
        queue.stop(REJECTED)
    assert [type(each) for each in await asyncio.gather(*tasks[2:], return_exceptions=True)] == [ProviderError] * 3
    queue.reopen()
    await queue.wait()


async def test_an_answer_of_the_run_before_does_not_keep_the_queue_open() -> None:
    queue = Queue(FakeTime().patience())
    queue.answered(await queue.wait())
    queue.leave()
    queue.reopen()
    queue.stop(REJECTED)
    with pytest.raises(ProviderError):
        await queue.wait()


async def test_a_stop_reaches_those_who_wait_for_the_end_of_a_pause() -> None:
    time = FakeTime()
    queue = Queue(time.patience())
    queue.pause(5.0)
    waiting = asyncio.create_task(queue.wait())
    await asyncio.sleep(0)
    queue.stop(ProviderError("unauthorized", "no"))
    with pytest.raises(ProviderError):
        await waiting


async def entered(queue: Queue, count: int) -> list["asyncio.Task[int]"]:
    """So many that want to ask; those that may are done."""
    tasks = [asyncio.create_task(queue.wait()) for _ in range(count)]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


def out(tasks: list["asyncio.Task[int]"]) -> list[int]:
    return [number for number, task in enumerate(tasks) if task.done() and not task.cancelled()]


async def test_so_many_at_once_and_the_others_in_their_order() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(2)
    tasks = await entered(queue, 5)
    assert out(tasks) == [0, 1]
    for expected in ([0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]):
        queue.leave()
        await asyncio.sleep(0)
        assert out(tasks) == expected


async def test_who_gives_up_while_waiting_keeps_no_place() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(1)
    tasks = await entered(queue, 4)
    tasks[1].cancel()
    queue.leave()  # calls the second or, where that one has gone, the third
    tasks[2].cancel()
    await asyncio.gather(tasks[1], tasks[2], return_exceptions=True)
    await asyncio.wait_for(tasks[3], 60)


async def test_who_is_called_and_gives_up_passes_the_call_on() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(1)
    tasks = await entered(queue, 3)
    queue.leave()
    tasks[1].cancel()
    await asyncio.gather(tasks[1], return_exceptions=True)
    await asyncio.wait_for(tasks[2], 60)


async def test_more_is_let_out_when_more_is_allowed_and_all_when_it_stops() -> None:
    queue = Queue(FakeTime().patience())
    queue.allow(1)
    tasks = await entered(queue, 6)
    assert queue.allow(4) == 4
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert out(tasks) == [0, 1, 2, 3]
    queue.stop(ProviderError("unauthorized", "no"))
    for _ in range(4):
        queue.leave()
    found = await asyncio.gather(*tasks[4:], return_exceptions=True)
    assert [str(each) for each in found] == ["no", "no"]


async def test_a_wait_that_is_asked_for_holds_where_there_is_room() -> None:
    time = FakeTime()
    queue = Queue(time.patience())
    queue.allow(4)
    queue.pause(3.0)
    assert queue.refused(await queue.wait(), "429") is not None
    assert time.elapsed >= 3.0


async def tried(tries: Tries, *faults: TryFailed) -> list[object]:
    """What one question yields whose tries fail like that, and what it raises."""
    left = list(faults)

    async def one_try() -> AsyncGenerator[Text, None]:
        if left:
            raise left.pop(0)
        yield Text("ok")

    heard: list[object] = []
    try:
        async with aclosing(tries.ask(one_try)) as pieces:
            async for piece in pieces:
                heard.append(piece)  # noqa: PERF401 - what came before a fault counts
    except ProviderError as error:
        heard.append(error.fault)
    return heard


def refused(least_wait_s: float | None = None, tries: int = 5) -> TryFailed:
    error = ProviderError("overloaded", "h reached its rate limit (429)")
    return TryFailed(error, tries=tries, least_wait_s=least_wait_s, effect="pause", status=429)


async def test_a_429_narrows_and_says_why_and_answers_widen_again() -> None:
    tries = Tries(FakeTime().patience())
    tries.allow(3)
    narrowed = Limited(2, 3, "429, Retry-After 2 s")
    assert await tried(tries, refused(2.0)) == [
        Sent(), narrowed, Waiting("h reached its rate limit (429)", 2000), Sent(), Text("ok"),
    ]  # fmt: skip
    assert await tried(tries) == [Sent(), Text("ok"), Limited(3, 3)]


async def test_other_faults_narrow_nothing() -> None:
    tries = Tries(FakeTime().patience())
    tries.allow(8)
    heard = await tried(tries, failed(), failed(least_wait_s=3.0), failed())
    assert not any(isinstance(each, Limited) for each in heard)


async def test_a_429_that_is_given_up_still_holds_the_others_back() -> None:
    time = FakeTime()
    tries = Tries(time.patience())
    tries.allow(8)
    assert await tried(tries, refused(60.0, tries=1)) == [Sent(), Limited(6, 8, "429, Retry-After 60 s"), "overloaded"]
    await tried(tries)
    assert time.elapsed >= 60.0


async def test_a_wait_of_more_than_two_minutes_holds_nobody_back() -> None:
    time = FakeTime()
    tries = Tries(time.patience())
    tries.allow(8)
    assert (await tried(tries, refused(300.0)))[-1] == "overloaded"
    await tried(tries)
    assert time.elapsed == 0.0
