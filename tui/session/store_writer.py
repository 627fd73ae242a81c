"""Stored, then shown: the events of a run on their way through the store."""

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
    """How long a store that cannot write is tried again (None: for ever), and how far apart. Seconds."""

    total: float | None = None
    between: float = 1.0


async def keep_events(
    batches: AsyncIterator[list[Event]], store: Store, run_id: str, patience: RetryLimits
) -> AsyncGenerator[Event, None]:
    """The same events, one by one; those that say that a trial or the run is over come only after it is stored.

    Trials that finish together are written together; the run goes on meanwhile. While the store cannot write (disk
    full), they wait in memory and StoreStalled is told once; StoreError is raised when the patience ends.
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
