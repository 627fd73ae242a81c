"""Garbage collection between keys, and that the app leaves Python's own as it was."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from tui.app.idle_collector import IdleCollector


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Node:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def frozen_before() -> Iterator[None]:
    """Freeze what the process has allocated before: only the objects of the test are new."""
    gc.freeze()
    yield
    gc.unfreeze()


def make_garbage(count: int) -> "weakref.ref[Node]":
    """Make unreachable cycles, and return a reference to one of them."""
    gone = weakref.ref(Node())
    for _ in range(count):
        Node()
    return gone


@pytest.fixture
def garbage() -> Iterator["weakref.ref[Node]"]:
    """Provide a reference to one of 30,000 unreachable cycles, which Python would collect by itself while more come."""
    gc.disable()
    yield make_garbage(30_000)
    gc.enable()


def test_garbage_is_collected_after_some_seconds_without_a_key(garbage: "weakref.ref[Node]") -> None:
    clock = Clock()
    collector = IdleCollector(lambda: 28.0, clock)
    collector.tick()
    gc.collect()
    assert garbage() is not None, "frozen"
    for clock.now in (29.0, 32.0):
        collector.tick()
        assert garbage() is not None
    clock.now = 33.0
    collector.tick()
    assert garbage() is None
    assert gc.get_freeze_count() > 0, "what is left is frozen again"


def test_nothing_is_traversed_while_keys_are_pressed(garbage: "weakref.ref[Node]") -> None:
    clock = Clock()
    collector = IdleCollector(clock, clock)
    for clock.now in range(0, 600, 2):
        collector.tick()
    assert garbage() is not None


def test_a_long_time_with_keys_does_not_keep_garbage_for_good() -> None:
    clock = Clock()
    collector = IdleCollector(clock, clock)
    gc.disable()
    try:
        gone = make_garbage(510_000)
        collector.tick()
        clock.now = 30.0
        collector.tick()
    finally:
        gc.enable()
    assert gone() is None


def test_without_new_objects_nothing_is_traversed() -> None:
    clock = Clock()
    gc.collect()
    gc.freeze()
    collector = IdleCollector(lambda: 0.0, clock)
    collections = gc.get_stats()[2]["collections"]
    for clock.now in (100.0, 200.0):
        collector.tick()
    assert gc.get_stats()[2]["collections"] == collections


def test_python_collects_among_all_objects_afterwards() -> None:
    collector = IdleCollector(lambda: 0.0, Clock())
    collector.tick()
    assert gc.get_freeze_count() > 0
    collector.stop()
    assert gc.get_freeze_count() == 0
