"""Writing of a run's events to the store before they are passed on."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from tui.model.errors import StoreError
from tui.model.events import Event, RunFinished, StoreRecovered, StoreStalled, TrialFinished
from tui.model.results import TrialResult
from tui.store.protocol import Store


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """The total time of retries after a failed write (None: for ever), and the delay between them, in seconds."""

    total: float | None = None
    between: float = 1.0


async def store_events(
    batches: AsyncIterator[list[Event]], store: Store, run_id: str, patience: RetryLimits
) -> AsyncGenerator[Event, None]:
    """Store the events and yield them one by one; the end of a trial or run is yielded only after it is stored.

    Trials that finish together are written together while the run continues. While the store cannot be written (disk
    full), events wait in memory and StoreStalled is yielded once; StoreError is raised when the time of `patience` is
    over.
    """
    async for batch in batches:
        async for notice in _save(batch, store, run_id, patience):
            yield notice
        for event in batch:
            yield event


async def _save(
    batch: list[Event], store: Store, run_id: str, patience: RetryLimits
) -> AsyncGenerator[StoreStalled | StoreRecovered, None]:
    results = [event.result for event in batch if isinstance(event, TrialFinished)]
    ending = next((event for event in batch if isinstance(event, RunFinished)), None)
    if not results and ending is None:
        return
    since = time.monotonic()
    stalled = False
    while True:
        try:
            await asyncio.to_thread(_write, store, run_id, results, ending)
        except StoreError as error:
            if patience.total is not None and time.monotonic() - since >= patience.total:
                raise
            if not stalled:
                stalled = True
                yield StoreStalled(str(error))
            await asyncio.sleep(patience.between)
        else:
            break
    if stalled:
        yield StoreRecovered()


def _write(store: Store, run_id: str, results: list[TrialResult], ending: RunFinished | None) -> None:
    if results:
        store.save_trials(run_id, results)
    if ending:
        store.finish_run(run_id, ending.state, ending.finished_at)
