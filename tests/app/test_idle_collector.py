"""Garbage collection between keys, and that the app leaves Python's own as it was.

Each check runs in a new process: in the process of the tests, a collection traverses what all other tests have left.
"""

import gc
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tui.app import idle_collector
from tui.app.idle_collector import IdleCollector

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Node:
    def __init__(self) -> None:
        self.itself = self


def make_garbage(count: int) -> "weakref.ref[Node]":
    """Make unreachable cycles, and return a reference to one of them."""
    gone = weakref.ref(Node())
    for _ in range(count):
        Node()
    return gone


def collects_after_some_seconds_without_a_key() -> None:
    gc.disable()  # Python would collect by itself while more garbage comes
    clock = Clock()
    collector = IdleCollector(lambda: 28.0, clock)
    garbage = make_garbage(60_000)
    collector.tick()
    gc.collect()
    assert garbage() is not None, "frozen"
    for clock.now in (29.0, 29.5):
        collector.tick()
        assert garbage() is not None
    clock.now = 40.0
    collector.tick()
    assert garbage() is None
    assert gc.get_freeze_count() > 0, "what is left is frozen again"


def traverses_nothing_while_keys_are_pressed() -> None:
    gc.disable()
    clock = Clock()
    collector = IdleCollector(clock, clock)
    garbage = make_garbage(60_000)
    for clock.now in range(0, 600, 2):
        collector.tick()
    assert garbage() is not None


def keeps_no_garbage_for_good_during_a_long_time_with_keys() -> None:
    gc.disable()
    clock = Clock()
    collector = IdleCollector(clock, clock)
    garbage = make_garbage(510_000)
    collector.tick()
    clock.now = 30.0
    collector.tick()
    assert garbage() is None


def traverses_nothing_without_new_objects() -> None:
    clock = Clock()
    gc.collect()
    gc.freeze()
    collector = IdleCollector(lambda: 0.0, clock)
    collections = gc.get_stats()[2]["collections"]
    for clock.now in (100.0, 200.0):
        collector.tick()
    assert gc.get_stats()[2]["collections"] == collections


def waits_longer_before_a_collection_that_takes_seconds() -> None:
    gc.disable()
    clock = Clock()
    idle_collector._SECONDS_PER_BLOCK = 2.0 / sys.getallocatedblocks()
    collector = IdleCollector(lambda: 0.0, clock)
    garbage = make_garbage(60_000)
    for clock.now in (40.0, 60.0):
        collector.tick()
        assert garbage() is not None, "a person who has read for a minute presses the next key"
    clock.now = 1000.0
    collector.tick()
    assert garbage() is None


def lets_python_collect_among_all_objects_afterwards() -> None:
    collector = IdleCollector(lambda: 0.0, Clock())
    collector.tick()
    assert gc.get_freeze_count() > 0
    collector.stop()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(
    "check",
    [
        collects_after_some_seconds_without_a_key,
        traverses_nothing_while_keys_are_pressed,
        keeps_no_garbage_for_good_during_a_long_time_with_keys,
        traverses_nothing_without_new_objects,
        waits_longer_before_a_collection_that_takes_seconds,
        lets_python_collect_among_all_objects_afterwards,
    ],
)
def test_the_collector(check: Callable[[], None]) -> None:
    with ProcessPoolExecutor(1, CONTEXT) as process:
        process.submit(check).result()
