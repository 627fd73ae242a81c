"""Stored, then shown: also when the store cannot write for a while, or not at all."""

import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.plans import case_of, plan_of, suite_of
from tui.model.errors import StoreError
from tui.model.events import Event, RunFinished, RunStarted, StoreRecovered, StoreStalled, TrialFinished, TrialStarted
from tui.model.results import Attempt, TrialKey, TrialResult, Verdict
from tui.model.run import RunOptions, RunState
from tui.runner.control import Control
from tui.session.store_writer import ResultsNotStored, RetryLimits, store_events
from tui.store.sqlite import SqliteStore

PLAN = plan_of(suite_of(*(case_of(f"c{number}") for number in range(3))), RunOptions())


def result_of(key: TrialKey) -> TrialResult:
    return TrialResult(key, "passed", False, None, (Attempt(1, "passed", None, ()),))


async def story(trials: tuple[TrialKey, ...] = PLAN.trials) -> AsyncIterator[list[Event]]:
    yield [RunStarted(PLAN.run_id, trials, "2026-01-01T00:00:00+00:00")]
    for key in trials:
        yield [TrialStarted(key), TrialFinished(result_of(key))]
    yield [RunFinished(PLAN.run_id, "finished", "2026-01-01T00:00:01+00:00")]


async def test_a_run_is_finished_when_each_of_its_trials_has_a_result(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    states: list[str] = []
    for trials in (PLAN.trials[:1], (), PLAN.trials[:2], PLAN.trials[2:], PLAN.trials[:1]):
        store.begin_run(replace(PLAN, trials=trials) if states else PLAN, "2026-01-01T00:00:00+00:00")
        async for _ in store_events(story(trials), store, PLAN.run_id, RetryLimits(), Control()):
            pass
        states.append(store.list_runs()[0].state)
    store.close()
    assert states == ["interrupted", "interrupted", "interrupted", "finished", "finished"]


@pytest.mark.parametrize(
    ("verdict", "is_rerun", "state"),
    [("failed", True, "finished"), ("cancelled", True, "cancelled"), ("failed", False, "cancelled")],
)
async def test_a_finished_run_stays_finished_if_a_rerun_is_stopped(
    tmp_path: Path, verdict: Verdict, is_rerun: bool, state: RunState
) -> None:
    async def stopped() -> AsyncIterator[list[Event]]:
        yield [RunStarted(PLAN.run_id, PLAN.trials[:1], "2026-01-01T00:00:00+00:00", continues=True)]
        yield [RunFinished(PLAN.run_id, "cancelled", "2026-01-01T00:00:02+00:00")]

    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    first, *others = map(result_of, PLAN.trials)
    first = replace(first, verdict=verdict, attempts=(Attempt(1, verdict, None, ()),))
    store.save_trials(PLAN.run_id, [first, *others])
    store.finish_run(PLAN.run_id, "finished", "2026-01-01T00:00:01+00:00")
    rerun = replace(PLAN, trials=PLAN.trials[:1], earlier={first.trial: first}, continues=True)
    store.begin_run(rerun, "2026-01-01T00:00:00+00:00")
    stored = store_events(stopped(), store, PLAN.run_id, RetryLimits(), Control(), is_rerun=is_rerun)
    ending = [event async for event in stored][-1]
    assert store.list_runs()[0].state == state
    assert ending == RunFinished(PLAN.run_id, "cancelled", "2026-01-01T00:00:02+00:00", saved_as=state)
    store.close()


class FullDisk(SqliteStore):
    """A real store whose disk is full for the first `failures` writes."""

    def __init__(self, path: Path, failures: int) -> None:
        super().__init__(path)
        self.failures = failures

    def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreError("The disk is full")
        super().save_trials(run_id, results)


async def test_what_is_shown_as_finished_is_stored_already(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    shown: list[Event] = []
    async for event in store_events(story(), store, PLAN.run_id, RetryLimits(), Control()):
        shown.append(event)
        if isinstance(event, TrialFinished):
            kept = store.read_run(PLAN.run_id)
            assert event.result in kept.results
        if isinstance(event, RunFinished):
            assert store.read_run(PLAN.run_id).record.state == "finished"
    store.close()
    events = [event async for batch in story() for event in batch]
    assert shown == [replace(each, saved_as="finished") if isinstance(each, RunFinished) else each for each in events]


async def test_a_store_that_recovers_loses_nothing_and_is_reported_once(tmp_path: Path) -> None:
    store = FullDisk(tmp_path / "runs.sqlite", failures=3)
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    events = [event async for event in store_events(story(), store, PLAN.run_id, RetryLimits(between=0.0), Control())]
    notices = [event for event in events if isinstance(event, StoreStalled | StoreRecovered)]
    assert notices == [StoreStalled("The disk is full"), StoreRecovered()]
    assert len(store.read_run(PLAN.run_id).results) == 3
    store.close()


async def test_no_request_is_sent_until_the_store_recovers_and_a_pause_of_the_user_stays(tmp_path: Path) -> None:
    for is_paused in (False, True):
        store = FullDisk(tmp_path / f"{is_paused}.sqlite", failures=2)
        store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
        control, paused = Control(), {}
        if is_paused:
            control.pause()
        async for event in store_events(story(), store, PLAN.run_id, RetryLimits(between=0.0), control):
            if isinstance(event, StoreStalled):
                control.resume()
            paused[type(event)] = control.is_paused
            if isinstance(event, StoreStalled) and is_paused:
                control.pause()
        store.close()
        assert (paused[StoreStalled], paused[StoreRecovered], paused[RunFinished]) == (True, is_paused, is_paused)


async def test_an_interruption_ends_the_retries(tmp_path: Path) -> None:
    store = FullDisk(tmp_path / "runs.sqlite", failures=1_000_000)
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    control, stalled = Control(), list[Event]()

    async def follow() -> None:
        patience = RetryLimits(between=0.0, after_interruption=0.0)
        async for event in store_events(story(), store, PLAN.run_id, patience, control):
            if isinstance(event, StoreStalled):
                stalled.append(event)
                control.interrupt()

    with pytest.raises(ResultsNotStored, match="disk is full") as caught:
        await follow()
    store.close()
    assert stalled == [StoreStalled("The disk is full")]
    assert caught.value.results == tuple(map(result_of, PLAN.trials))


async def test_a_write_that_takes_long_pauses_the_run_and_is_not_repeated(tmp_path: Path) -> None:
    release = threading.Event()

    class SlowDisk(SqliteStore):
        writes = 0

        def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
            self.writes += 1
            release.wait(60)
            super().save_trials(run_id, results)

    store = SlowDisk(tmp_path / "runs.sqlite")
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    control, notices = Control(), list[Event]()
    async for event in store_events(story(), store, PLAN.run_id, RetryLimits(slow=0.01), control):
        if isinstance(event, StoreStalled | StoreRecovered):
            notices.append(event)
            assert control.is_paused is isinstance(event, StoreStalled)
            release.set()
    store.close()
    assert notices[:2] == [StoreStalled("The run history is busy or does not answer."), StoreRecovered()]
    assert store.writes == len(PLAN.trials)


async def test_the_patience_ends_and_nothing_is_shown_as_finished(tmp_path: Path) -> None:
    store = FullDisk(tmp_path / "runs.sqlite", failures=1_000_000)
    store.begin_run(PLAN, "2026-01-01T00:00:00+00:00")
    shown: list[Event] = []
    control = Control()

    async def follow() -> None:
        patience = RetryLimits(total=0.0, between=0.0)
        async for event in store_events(story(), store, PLAN.run_id, patience, control):
            shown.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ResultsNotStored, match="disk is full") as caught:
        await follow()
    store.close()
    assert not any(isinstance(event, TrialFinished) for event in shown)
    assert control.outcome == "interrupted"
    assert caught.value.results == tuple(map(result_of, PLAN.trials))
