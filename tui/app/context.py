"""The state and services that all screens share: session, open suites, selection and run queue."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.message import Message

from tui.app.notifications import NotificationHold
from tui.app.open_suites import OpenSuites, Selection
from tui.app.run_queue import RunQueue
from tui.app.run_scores import RunScores
from tui.app.session_protocol import Session
from tui.app.suite_loader import SuiteLoader
from tui.session.consent import Consent

if TYPE_CHECKING:
    from tui.app.matrix.matrix import Matrix


@dataclass(frozen=True, slots=True)
class AppContext:
    """State and services that outlive every screen.

    The app creates one context when the session is ready, keeps it until it quits, and passes it to the constructor of
    each screen. Nothing else owns what is in it, so a screen keeps no second copy and finds no service through
    `self.app`:

    - `session`: config, suites, models, `history` (saved runs), `reviews` (scores by people) and `pane_sizes`;
    - `open_suites`: the suite files and saved runs that are open, and the `RunState` of each (`state(path)`);
    - `selection`: the selected suite and case, the models displayed for each suite, filter and streaming option;
    - `runs`: the run queue: `add`, `cancel_all`, `toggle_pause`, `change_concurrency`, `current`, `queued`;
    - `scores`: scores of runs as the current reviewer may see them, and the record of names that were displayed;
    - `notification_hold`: `hold()` keeps notifications back until `release()`; `show_now()` passes;
    - `unsaved_work`: functions that return a sentence about what quitting would lose, or an empty text. A screen
      appends one when it is mounted and removes it when it is unmounted;
    - `matrices`: the matrix of each suite that was opened, with the order and the filter that were chosen in it.

    A screen composes `RunControls(context, self)` for the commands of runs, and `Navigator(context, self)` to open
    other screens.

    What happens in a run or on disk is posted to every screen of the stack (`post`), with the messages of
    `tui.app.run_messages` (`RunBegan`, `TrialChanged`, `PaceChanged`, `RunEnded` …),
    `tui.app.suite_loader.SuitesRead` and `tui.app.run_scores.ScoresChanged`: a screen that wants one has a handler,
    `@on(TrialChanged)`, and compares `message.path` with the suite that it displays. They do not bubble.
    """

    session: Session
    open_suites: OpenSuites
    selection: Selection
    runs: RunQueue
    scores: RunScores
    suite_loader: SuiteLoader
    notification_hold: NotificationHold
    post: Callable[[Message], object]
    unsaved_work: list[Callable[[], str]] = field(default_factory=list)
    matrices: "dict[Path, Matrix]" = field(default_factory=dict)


async def open_context(
    app: App[Any],
    open_session: Callable[[], Session],
    paths: Sequence[Path],
    *,
    post: Callable[[Message], object],
    confirm: Callable[[Consent], Awaitable[bool]],
    notification_hold: NotificationHold,
) -> AppContext:
    """Open the session in a thread, find the suite files, and return the context. Raises AssayError.

    `post` posts a message to every screen, `confirm` asks for a consent.
    """
    session = await asyncio.to_thread(open_session)
    open_suites = OpenSuites(session, paths)
    try:
        await asyncio.to_thread(open_suites.find)
        remembered = await asyncio.to_thread(lambda: session.catalog.choices.read())
        await asyncio.to_thread(session.pane_sizes.load)
        await asyncio.to_thread(lambda: session.filters.read())
    except BaseException:
        await session.close()
        raise
    runs = RunQueue(session, open_suites, post, confirm)
    return AppContext(
        session,
        open_suites,
        Selection(open_suites, remembered),
        runs,
        RunScores(app, session, open_suites, post),
        SuiteLoader(open_suites, runs, post),
        notification_hold,
        post,
    )
