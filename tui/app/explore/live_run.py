"""The current run as Explore displays it: streamed text, the case to follow, and the header."""

from collections.abc import Mapping
from typing import Protocol

from tui.app.context import AppContext
from tui.app.explore.header_lines import Heading
from tui.app.open_suites import OpenSuite, Selection
from tui.app.presentation.pace import pace_of
from tui.app.run_requests import RunRequest
from tui.model.events import RepositoryCloning
from tui.model.results import TrialKey
from tui.model.suite import Case

_SHORTEST_STAY_SECONDS = 0.5


class AutoFollow:
    """Whether the selection follows the run: from the start of a run of several cases until the user selects a case."""

    def __init__(self) -> None:
        self.on = False
        self._moved_at = 0.0

    def start(self) -> None:
        """Follow the run, starting with the next trial."""
        self.on, self._moved_at = True, 0.0

    def stop(self) -> None:
        """Keep the selection where it is."""
        self.on = False

    def next_case(self, selection: Selection, current: RunRequest, now: float) -> Case | None:
        """Return the case to select: the first running one that the filter selects.

        None if the selected case is running or was selected a moment ago. `now` is in monotonic seconds.
        """
        state = selection.open_suites.state(current.path)
        selected = selection.case_id if selection.path == current.path else None
        running = {key.case for key in state.in_progress}
        if not self.on or selected in running or now - self._moved_at < _SHORTEST_STAY_SECONDS:
            return None
        found = (
            case for case in current.suite.cases if case.id in running and selection.matches_filter(current.path, case)
        )
        case = next(found, None) if running else None
        if case is not None:
            self._moved_at = now
        return case


class StreamPane(Protocol):
    """A pane that displays the answer of one model."""

    def append(self, text: str) -> None:
        """Append text of the answer."""

    def append_reasoning(self, text: str) -> None:
        """Append text of the reasoning."""

    def mark(self) -> None:
        """Mark the matches of the checks."""


class LiveRun:
    """Return what has happened in the current run since the last call, for a timer of the screen."""

    def __init__(self, context: AppContext) -> None:
        self._selection, self._runs = context.selection, context.runs
        self._open_suites = context.open_suites
        self.auto_follow = AutoFollow()

    @property
    def can_follow(self) -> bool:
        """Return whether a run is in progress that is not followed."""
        return self._runs.busy and not self.auto_follow.on

    def case_to_follow(self, now: float) -> tuple[OpenSuite, Case] | None:
        """Return the case to select next; None to keep the selection. `now` is in monotonic seconds."""
        current = self._runs.current
        if current is None:
            return None
        case = self.auto_follow.next_case(self._selection, current, now)
        open_suite = self._open_suites.get(current.path)
        return (open_suite, case) if case is not None and open_suite is not None else None

    def flush(self, panes: Mapping[str, StreamPane]) -> set[TrialKey]:
        """Append the buffered text of the selected case to the panes of its models, and return the changed trials."""
        changed = self._runs.messages.pop_changed()
        current, case_id = self._runs.current, self._selection.case_id
        if case_id is None or (current is not None and current.path != self._selection.path):
            return changed
        displayed = {TrialKey(case_id, model): pane for model, pane in panes.items()}
        for key, text in self._runs.messages.reasoning.pop(displayed):
            displayed[key].append_reasoning(text)
        for key, text in self._runs.messages.text.pop(displayed):
            displayed[key].append(text)
        for key in changed & displayed.keys():
            displayed[key].mark()
        return changed

    def header(self, now: float, pause_key: str) -> Heading:
        """Return the header of the running suite, else of the selected one. `now` is in monotonic seconds."""
        runs, current = self._runs, self._runs.current
        path = current.path if current else self._selection.path
        if path is None:
            return Heading()
        open_suite, state = self._open_suites.get(path), self._open_suites.state(path)
        suite = open_suite.suite if open_suite else None
        repository = state.repository if current and not state.running else None
        cloning = None
        if isinstance(repository, RepositoryCloning):
            cloning = repository.received_objects, repository.total_objects
        return Heading(
            suite=open_suite.heading if open_suite else "",
            cases=len(suite.cases) if suite else 0,
            models=len(self._selection.models_of(path)),
            counts=state.counts if state.run_id else None,
            running=current is not None,
            rerun=runs.is_rerun(path),
            cloning=cloning,
            following=self.auto_follow.on,
            elapsed=runs.elapsed(path, now) if state.run_id or cloning else None,
            queued=len(runs.queued),
            outcome=state.ended or "",
            pace=pace_of(state.limits, now),
            paused=state.paused,
            unsaved=state.stalled is not None,
            answering=state.answering if state.paused else 0,
            pause_key=pause_key if state.paused else "",
        )
