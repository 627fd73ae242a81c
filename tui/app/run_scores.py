"""Scores of runs for the current reviewer: who reviews, which scores are hidden, and when names were displayed."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.message import Message

from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite, OpenSuites, Selection
from tui.app.session_protocol import Session
from tui.app.workers import start_worker
from tui.model.errors import AssayError
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.model.sanitize import sanitize_line
from tui.session.reviews import Reviews
from tui.session.run_review import RunReview

Found = TypeVar("Found")
_POLL_SECONDS = 2.0
_MOST_WATCHED = 8  # runs


class ScoresChanged(Message, bubble=False):
    """Posted after scores or settings were stored, or another program stored scores of a run that were read here."""


class RunScores:
    """Read scores for display beside the answers, and record when a blind reviewer sees model names.

    `app` displays notifications and runs the workers, `post` posts a message to every screen.
    """

    def __init__(
        self, app: App[Any], session: Session, open_suites: OpenSuites, post: Callable[[Message], object]
    ) -> None:
        self._app, self._session, self._open_suites, self._post = app, session, open_suites, post
        self._stamps: dict[str, object] = {}
        self._reviewer: str | None = None
        self._recorded: set[str] = set()
        self._in_review: set[str] = set()

    async def work(self) -> None:
        """Look every other second for scores that other programs have stored of the runs read last, until cancelled."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            before = dict(self._stamps)
            with contextlib.suppress(AssayError):  # the next one who reads the scores reports it
                changed = await asyncio.to_thread(self._changed_since, before)
                self._stamps.update(changed)
                if changed:
                    self._post(ScoresChanged())

    def _changed_since(self, stamps: Mapping[str, object]) -> dict[str, object]:
        now = {run: self._session.reviews.stamp(run) for run in stamps}
        return {run: stamp for run, stamp in now.items() if stamp != stamps[run]}

    def reviewer(self) -> str | None:
        """Return the last reviewer of this process, else the configured one. Blocks."""
        return self._reviewer or self._session.reviews.default_reviewer()

    def _reviewer_of(self, run_id: str) -> str | None:
        """Return the last reviewer of this process, else that of the run.

        Scores that this person gave blind stay hidden from them. Blocks.
        """
        return self._reviewer or self._session.reviews.reviewer_of(run_id)

    async def set_reviewer(self, name: str) -> None:
        """Use a name as the reviewer from now on, and store it for the next start of the app."""
        self._reviewer = name
        reviews = self._session.reviews
        try:
            if name != await asyncio.to_thread(reviews.last_reviewer):
                await asyncio.to_thread(reviews.remember_reviewer, name)
        except AssayError as error:  # the name is only a default: scoring still works
            notify_error(self._app, error, severity="warning")

    def hidden_scores(self, run_id: str) -> int:
        """Return how many scores of a run the reviewer gave blind and has not revealed. Blocks. Raises AssayError."""
        return self._session.reviews.hidden_scores(run_id, self._reviewer_of(run_id))

    def begin_review(self, run_id: str) -> None:
        """Note that Review was opened for a run: names that are displayed after it are recorded again."""
        self._recorded.discard(run_id)
        self._in_review.add(run_id)

    def end_review(self, run_id: str) -> None:
        """Note that Review was closed for a run. Review itself has recorded that names were displayed."""
        self._in_review.discard(run_id)
        self._recorded.add(run_id)

    def record_names(self, run_id: str, where: str) -> None:
        """Record that model names of a run reviewed blind are displayed, once between two sessions of Review."""
        if run_id not in self._recorded:
            self._recorded.add(run_id)
            start_worker(self._app, partial(self._record_names, run_id, where), group="record names")

    def record_answers(self, selection: Selection) -> None:
        """Record that the names of the models whose saved answers to the selected case are displayed were displayed.

        Review itself records it for the run of this process, when it is left, and covers the names until then.
        """
        for run in {trial.run for trial in selection.repeats()} - {"", selection.state.run_id} - self._in_review:
            self.record_names(run, "Explore")

    async def _record_names(self, run_id: str, where: str) -> None:
        try:
            name = await asyncio.to_thread(self._session.reviews.record_look, run_id, where, self._reviewer)
        except AssayError as error:
            self._recorded.discard(run_id)
            notify_error(self._app, error)
            return
        if name is not None:
            text = (
                f"{sanitize_line(name, 60)} reviews this run blind and has now seen model names:"
                " recorded in the score file."
            )
            self._app.notify(text, severity="warning", markup=False, timeout=8)

    def run_of(self, open_suite: OpenSuite, run_id: str = "") -> str:
        """Return the id of the saved run whose answers a suite displays; empty if no run is saved.

        This is the saved run that is open; else `run_id`, by default the current run, if it is saved; else the newest
        run of the suite. Blocks. Raises AssayError.
        """
        if open_suite.run or open_suite.suite is None:
            return open_suite.run
        runs = [run.id for run in self._session.history.answers.list_runs(open_suite.suite.path)]
        current = run_id or self.current_run(open_suite)
        return current if current in runs else next(iter(runs), "")

    def current_run(self, open_suite: OpenSuite) -> str:
        """Return the id of the open saved run, or of the run that was started in this process, else an empty text."""
        return open_suite.run or self._open_suites.state(open_suite.path).run_id or ""

    def run_of_case(self, open_suite: OpenSuite, case_id: str | None, models: Sequence[str]) -> str:
        """Return the id of the run from which the first displayed answer to a case is; empty if it is not known."""
        state = self._open_suites.state(open_suite.path)
        runs = (trial.run for model in models for trial in state.repeats(case_id, model)) if case_id else ()
        return open_suite.run or next(filter(None, runs), "") or self.current_run(open_suite)

    async def read_review(self, open_suite: OpenSuite, run_id: str = "") -> RunReview | None:
        """Return the scores of a run, by default of the one that a suite displays.

        None if there is no run or after an error, which is notified.
        """

        def read() -> RunReview | None:
            run = self.run_of(open_suite, run_id)
            return (
                self._reviews_of(run).open_review(run, self._reviewer_of(run) or "reviewer", blind=False)
                if run
                else None
            )

        return await self._read(read)

    async def read_bands(self, open_suite: OpenSuite) -> Mapping[TrialKey, Band]:
        """Return the risk band of each displayed trial, of the scores of its own run.

        Bands that the reviewer may not see beside names yet are left out.
        """
        state = self._open_suites.state(open_suite.path)
        runs = {key: trial.run for key, trial in state.trials.items()}
        only = next(iter(state.run_ids)) if len(state.run_ids) == 1 and not open_suite.run else ""

        def read() -> dict[TrialKey, Band]:
            current = self.run_of(open_suite, only)
            found: dict[TrialKey, Band] = {}
            for run in dict.fromkeys((current, *runs.values())):
                bands = self._reviews_of(run).bands(run, self._reviewer_of(run)) if run else {}
                found |= {key: band for key, band in bands.items() if key in runs and (runs[key] or current) == run}
            return found

        return await self._read(read) or {}

    def _reviews_of(self, run_id: str) -> Reviews:
        """Return the reviews, and watch the scores of a run from now on. Blocks. Raises AssayError."""
        reviews = self._session.reviews
        self._stamps.pop(run_id, None)
        self._stamps[run_id] = reviews.stamp(run_id)
        while len(self._stamps) > _MOST_WATCHED:
            self._stamps.pop(next(iter(self._stamps)), None)
        return reviews

    async def _read(self, read: Callable[[], Found]) -> Found | None:
        try:
            return await asyncio.to_thread(read)
        except AssayError as error:
            notify_error(self._app, error, severity="warning")
            return None
