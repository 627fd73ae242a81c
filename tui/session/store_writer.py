"""Writing of a run's events to the store before they are passed on."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace

from tui.model.errors import StoreError
from tui.model.events import Event, RunFinished, StoreRecovered, StoreStalled, TrialFinished
from tui.model.results import TrialResult
from tui.model.run import RunState
from tui.runner.control import Control
from tui.session.records import find_record
from tui.store.protocol import Store


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """The total time of retries after a failed write (None: for ever), and the delay between them, in seconds.

    `after_interruption` is the time of retries after the run was interrupted. A write that takes longer than `slow`
    seconds is treated as a failed one that is being retried.
    """

    total: float | None = None
    between: float = 1.0
    after_interruption: float = 2.0
    slow: float = 3.0


class ResultsNotStored(StoreError):
    """The history could not be written, so the run had to stop. `results` ended without being stored."""

    def __init__(self, error: StoreError, results: tuple[TrialResult, ...]) -> None:
        super().__init__(error.what, where=error.where, fix=error.fix)
        self.results = results


async def store_events(
    batches: AsyncIterator[list[Event]],
    store: Store,
    run_id: str,
    patience: RetryLimits,
    control: Control,
    *,
    is_rerun: bool = False,
) -> AsyncGenerator[Event, None]:
    """Store the events and yield them one by one; the end of a trial or run is yielded only after it is stored.

    A run in which other planned trials have no result is stored as interrupted. One of which trials with results are
    run again (`is_rerun`) stays finished if that is stopped, unless a result is missing. Trials that finish together
    are written together while the run continues. While the store cannot be written (disk full), events wait in memory,
    no new request is sent, and StoreStalled is yielded once. When the time of `patience` is over, or a few seconds
    after an interruption, the run is interrupted, and ResultsNotStored is raised with the results of all trials that
    have ended by then.
    """
    async for batch in batches:
        try:
            async for notice in _save(batch, store, run_id, patience, control):
                yield notice
        except StoreError as error:
            control.interrupt()
            unsaved = [*batch, *[event async for later in batches for event in later]]
            raise ResultsNotStored(error, tuple(_results(unsaved))) from error
        for event in batch:
            if isinstance(event, RunFinished):
                yield replace(event, saved_as=await asyncio.to_thread(_saved_as, store, event, is_rerun=is_rerun))
            else:
                yield event


def _saved_as(store: Store, ending: RunFinished, *, is_rerun: bool) -> RunState | None:
    """Return the state in which an ended run is stored; store a stopped rerun as finished if nothing is left to run."""
    try:
        if is_rerun and ending.state != "finished" and store.is_settled(ending.run_id):
            store.finish_run(ending.run_id, "finished", ending.finished_at)
        record = find_record(store, ending.run_id)
    except StoreError:  # it stays as it was stored, and can be continued
        return None
    return record.state if record else None


async def _save(
    batch: list[Event], store: Store, run_id: str, patience: RetryLimits, control: Control
) -> AsyncGenerator[StoreStalled | StoreRecovered, None]:
    results = _results(batch)
    ending = next((event for event in batch if isinstance(event, RunFinished)), None)
    if not results and ending is None:
        return
    since = time.monotonic()
    interrupted: float | None = None
    stalled = False
    while True:
        began = time.monotonic()
        writing = asyncio.create_task(asyncio.to_thread(_write, store, run_id, results, ending))
        try:
            if not stalled and not (await asyncio.wait([writing], timeout=patience.slow))[0]:
                stalled = True
                control.pause("store")
                yield StoreStalled("The run history is busy or does not answer.")
            await writing
        except StoreError as error:
            interrupted = interrupted or (began if control.outcome == "interrupted" else None)
            if _has_passed(patience.total, since) or _has_passed(patience.after_interruption, interrupted):
                raise
            if not stalled:
                stalled = True
                control.pause("store")
                yield StoreStalled(str(error))
            await asyncio.sleep(patience.between)
        else:
            break
        finally:
            writing.cancel()  # the run was closed meanwhile: nobody asks for the outcome of the write
    if stalled:
        control.resume("store")
        yield StoreRecovered()


def _has_passed(seconds: float | None, since: float | None) -> bool:
    return seconds is not None and since is not None and time.monotonic() - since >= seconds


def _results(events: list[Event]) -> list[TrialResult]:
    return [event.result for event in events if isinstance(event, TrialFinished)]


def _write(store: Store, run_id: str, results: list[TrialResult], ending: RunFinished | None) -> None:
    if results:
        store.save_trials(run_id, results)
    if ending:
        # A rerun of selected trials of an interrupted run leaves its other trials without a result.
        stays_open = ending.state == "finished" and not store.is_complete(run_id)
        store.finish_run(run_id, "interrupted" if stays_open else ending.state, ending.finished_at)
