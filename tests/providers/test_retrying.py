"""The retry policy, to the letter."""

import asyncio
from email.utils import formatdate

import pytest

from tests.support.clocks import NOON, FakeTime
from tui.model.errors import ProviderError
from tui.providers.faults import TryFailed
from tui.providers.retrying import Queue, retry_after, wait_before


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
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOON) == seconds


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
    assert str(caught.value) == "h failed (503); it asks to wait 121 s. Ask again then; Assay waits 120 s at most."


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
    queue.stop(ProviderError("unauthorized", "h does not accept the key (401)", fix="Check K."))
    for _ in range(2):
        with pytest.raises(ProviderError, match=r"^h does not accept the key \(401\)\. Check K\.$") as caught:
            await queue.wait()
        assert caught.value.fault == "unauthorized"


async def test_a_stop_reaches_those_who_wait_for_the_end_of_a_pause() -> None:
    time = FakeTime()
    queue = Queue(time.patience())
    queue.pause(5.0)
    waiting = asyncio.create_task(queue.wait())
    await asyncio.sleep(0)
    queue.stop(ProviderError("unauthorized", "no"))
    with pytest.raises(ProviderError):
        await waiting
