"""How many at once: what narrows, what widens, and what never happens whatever a server does."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.providers.http.rate_limit import Throttle

ACTS = st.sampled_from(["start", "answered", "refused", "failed", "late"])


def allowed(most: int) -> Throttle:
    throttle = Throttle()
    throttle.allow(most)
    return throttle


def round_of(throttle: Throttle) -> None:
    """As many answers as go at once."""
    for _ in range(throttle.limit):
        throttle.answered(throttle.start())
        throttle.end()


def test_it_begins_at_the_ceiling() -> None:
    assert allowed(8).limit == 8
    assert allowed(1).limit == 1


def test_each_episode_takes_a_fifth_down_to_one() -> None:
    throttle = allowed(8)
    seen = []
    for _ in range(10):
        throttle.refused(throttle.start())
        seen.append(throttle.limit)
    assert seen == [6, 5, 4, 3, 2, 2, 1, 1, 1, 1]


def test_a_burst_is_one_episode() -> None:
    throttle = allowed(10)
    burst = [throttle.start() for _ in range(10)]
    assert [throttle.refused(episode) for episode in burst] == [True, *[False] * 9]
    assert throttle.limit == 8
    assert throttle.refused(throttle.start())
    assert throttle.limit == 6


def test_what_was_asked_before_the_refusal_does_not_widen() -> None:
    throttle = allowed(4)
    burst = [throttle.start() for _ in range(40)]
    throttle.refused(burst.pop())
    assert throttle.limit == 3
    assert not any(throttle.answered(episode) for episode in burst)
    assert throttle.limit == 3


def test_a_round_of_answers_gives_one_more_until_the_ceiling() -> None:
    throttle = allowed(8)
    for _ in range(3):
        throttle.refused(throttle.start())
    seen = [throttle.limit]
    while throttle.limit < 8:
        round_of(throttle)
        seen.append(throttle.limit)
    assert seen == [4, 5, 6, 7, 8]
    assert not throttle.answered(throttle.start())


def test_other_faults_move_nothing() -> None:
    throttle = allowed(8)
    for _ in range(100):
        throttle.start()
        throttle.end()
    assert throttle.limit == 8


def test_another_ceiling_takes_the_limit_along_only_where_it_stood_there() -> None:
    throttle = allowed(8)
    throttle.allow(10)
    assert throttle.limit == 10
    throttle.refused(throttle.start())
    throttle.allow(12)
    assert throttle.limit == 8
    throttle.allow(5)
    assert throttle.limit == 5
    throttle.allow(6)
    assert throttle.limit == 6


def test_a_new_run_forgets_the_limit_but_not_the_wait() -> None:
    throttle = allowed(8)
    throttle.hold(7.0)
    throttle.refused(throttle.start())
    throttle.forget()
    assert throttle.has_room
    assert throttle.opens_in(5.0) == 2.0
    throttle.allow(8)
    assert throttle.limit == 8


@pytest.mark.parametrize(("now", "left"), [(0.0, 5.0), (4.5, 0.5), (5.0, 0.0), (9.0, 0.0)])
def test_the_longest_wait_holds(now: float, left: float) -> None:
    throttle = allowed(4)
    throttle.hold(5.0)
    throttle.hold(2.0)
    assert throttle.opens_in(now) == left


@given(st.integers(1, 40), st.lists(st.tuples(ACTS, st.integers(0, 60)), max_size=200))
def test_whatever_a_server_does(most: int, story: Sequence[tuple[str, int]]) -> None:
    throttle = allowed(most)
    going: list[tuple[int, int]] = []
    narrowings = 0
    for act, which in story:
        before = throttle.limit
        if act == "start":
            if throttle.has_room:
                going.append((throttle.start(), narrowings))
                assert len(going) <= throttle.limit
        elif going:
            episode, narrowings_then = going.pop(which % len(going))
            if act == "refused":
                throttle.refused(episode)
                is_first = narrowings_then == narrowings
                narrowings += is_first
                assert throttle.limit == before if not is_first else throttle.limit <= before
            elif act == "answered":
                throttle.answered(episode)
                assert before <= throttle.limit <= before + 1
            else:
                assert throttle.limit == before
            throttle.end()
        assert 1 <= throttle.limit <= most


@given(st.integers(1, 40), st.integers(0, 30))
def test_it_always_comes_back(most: int, episodes: int) -> None:
    throttle = allowed(most)
    for _ in range(episodes):
        throttle.refused(throttle.start())
        throttle.end()
    for _ in range(most):
        round_of(throttle)
    assert throttle.limit == most
