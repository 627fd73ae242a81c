"""The Explore screen: looking, steering, and running what is looked at."""

from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType

from tui.app.exploring import Selection
from tui.app.flushing import FLUSHES_A_SECOND
from tui.app.following import AutoFollow
from tui.app.notifications import NotificationHold
from tui.app.presentation.heading import Heading, clone_note
from tui.app.presentation.pace import NO_PACE
from tui.app.run_messages import RunMessages
from tui.app.run_queue import RunQueue
from tui.app.run_requests import RunRequest, request_of_failed, request_of_row, request_of_suite
from tui.app.screens.comparing import ComparingScreen
from tui.app.screens.explore_keys import EXPLORE_KEYS
from tui.app.screens.pacing import PAUSE_KEY, pace_now, pause_key
from tui.app.screens.reviewing import ReviewingScreen
from tui.app.session_protocol import Session
from tui.model.events import RepositoryCloning
from tui.model.results import TrialKey
from tui.model.sanitize import sanitize_line
from tui.session.consent import Consent

_FLUSHES_A_FIGURE = 4


class ExploreScreen(ReviewingScreen, ComparingScreen):
    """The first place of the app."""

    BINDINGS: ClassVar[list[BindingType]] = EXPLORE_KEYS

    def on_mount(self) -> None:
        """One timer hands text, figures and marks over while something runs."""
        self._following = AutoFollow()
        self._flush_timer = self.set_interval(1 / FLUSHES_A_SECOND, self._flush, pause=True)
        self._flushes = 0

    def session_taken(self, session: Session) -> None:
        """Runs can be asked for now."""
        if self.selection is not None:
            self.queue = RunQueue(session, self.selection.open_suites, self, self._ask)
            self._work(self.queue)

    @work(group="runs")
    async def _work(self, queue: RunQueue) -> None:
        await queue.work()

    async def _ask(self, consent: Consent) -> bool:
        from tui.app.screens.confirm import ConfirmScreen

        if isinstance(self.app, NotificationHold):
            await self.app.until_nothing_is_held()  # it may name an agent
        question = f"{consent.what}.\n\nAllow it? The answer is kept for as long as it stays the same."
        return await self.app.push_screen_wait(ConfirmScreen("Allow this?", question, yes="allow it", no="do not run"))

    # --- what comes from the run

    @on(RunMessages.RunBegan)
    def show_beginning(self, message: RunMessages.RunBegan) -> None:
        """Everything of it is waiting now."""
        del message
        self.refresh_bindings()
        self.suites.tree_of_suites.refresh_marks()
        self.show_choice()

    @on(RunMessages.CloneMoved)
    def show_clone(self, message: RunMessages.CloneMoved) -> None:
        """How far it is; what is worth knowing of it when it is there."""
        self.show_heading()
        text = clone_note(message.cloned) if message.cloned else ""
        if text:
            self.notify(text, title="Cloned", markup=False, timeout=12)

    @on(RunMessages.TrialMoved)
    def show_trial(self, message: RunMessages.TrialMoved) -> None:
        """A trial has another state: its mark, and its pane where it is seen."""
        self._marks_moved = True
        selection = self.selection
        if selection is None or selection.path != message.path or selection.case_id != message.trial.case:
            return
        pane = self.answers.pane_of(message.trial.model)
        if pane is not None:
            self.answers.show_one(pane, selection, self.queue, self.faults)

    @on(RunQueue.RunEnded)
    def show_end(self, message: RunQueue.RunEnded) -> None:
        """Nothing moves any more; a filter by status may want other cases."""
        del message
        if self.queue is None or not self.queue.busy:
            self._flush_timer.pause()
            self._following.stop()
        self._flush()
        self.refresh_bindings()
        if self.selection is not None and self.selection.filter:
            self.suites.show(self.selection)
        self.suites.tree_of_suites.refresh_marks(exact=True)
        self.show_choice()

    @on(RunQueue.RunRefused)
    def tell_refusal(self, message: RunQueue.RunRefused) -> None:
        """Say why nothing runs."""
        self.notify(sanitize_line(message.why, 600), title="Not run", severity="error", markup=False, timeout=12)

    @on(RunQueue.ModelsMissed)
    def tell_missed(self, message: RunQueue.ModelsMissed) -> None:
        """The panes of these models say why."""
        if self.selection is not None and self.selection.path == message.path:
            self.faults = {**self.faults, **message.faults}
            self.show_choice()
        names = ", ".join(sanitize_line(model, 60) for model in message.faults)
        where = "Its pane says" if len(message.faults) == 1 else "Their panes say"
        self.notify(f"Not asked: {names}. {where} why.", severity="warning", markup=False, timeout=6)

    @on(RunMessages.StoreTroubled)
    def tell_store(self, message: RunMessages.StoreTroubled) -> None:
        """Results wait in memory, or were written after all."""
        if message.reason:
            text = f"{message.reason} Results stay in memory and are tried again."
            self.notify(sanitize_line(text, 600), title="Not stored", severity="error", markup=False, timeout=20)
        else:
            self.notify("What could not be stored is stored now.", markup=False)

    # --- what moves while it runs

    _marks_moved = False

    def _flush(self) -> None:
        selection, queue = self.selection, self.queue
        if selection is None or queue is None:
            return
        self._flushes += 1
        self._go_with_run(selection, queue)
        moved = queue.news.take_moved()
        self._flush_text(selection, queue, moved)
        if self._marks_moved:
            self._marks_moved = False
            self.suites.tree_of_suites.refresh_marks()
        if any(key.case == selection.case_id for key in moved):
            self.show_evidence()
        if self._flushes % _FLUSHES_A_FIGURE == 0:
            self.show_heading()
            for pane in self.answers.seen:
                pane.draw_figures()

    def _go_with_run(self, selection: Selection, queue: RunQueue) -> None:
        """Look at what runs, while nobody has chosen otherwise."""
        case = self._following.next_case(selection, queue.current, monotonic()) if queue.current else None
        open_suite = selection.open_suites.open_suite(queue.current.path) if queue.current else None
        if case is not None and open_suite is not None:
            self.open_case(open_suite, case)

    def _flush_text(self, selection: Selection, queue: RunQueue, moved: set[TrialKey]) -> None:
        current = queue.current
        if selection.case_id is None or (current is not None and current.path != selection.path):
            return
        seen = {TrialKey(selection.case_id, pane.model): pane for pane in self.answers.seen}
        for key, text in queue.news.thoughts.take(seen):
            seen[key].append_reasoning(text)
        for key, text in queue.news.text.take(seen):
            seen[key].append(text)
        for key in moved & seen.keys():
            seen[key].mark()

    def show_heading(self) -> None:
        """The suite that runs, else the one that is looked at."""
        selection, queue = self.selection, self.queue
        if selection is None:
            return
        current = queue.current if queue else None
        path = current.path if current else selection.path
        open_suite = selection.open_suites.open_suite(path) if path else None
        suite = open_suite.suite if open_suite else None
        state = selection.open_suites.state(path) if path else None
        coming = state.repository if current and state and not state.running else None
        cloning = (coming.received_objects, coming.total_objects) if isinstance(coming, RepositoryCloning) else None
        paused = state is not None and state.paused
        self.header.show(
            Heading(
                suite=open_suite.heading if open_suite else "",
                cases=len(suite.cases) if suite else 0,
                models=len(selection.models_of(path)) if path else 0,
                counts=state.counts if state and state.run_id else None,
                running=current is not None,
                rerun=queue is not None and path is not None and queue.is_rerun(path),
                cloning=cloning,
                following=self._following.on,
                elapsed=queue.watch.elapsed(monotonic()) if queue and state and (state.run_id or cloning) else None,
                queued=len(queue.waiting) if queue else 0,
                outcome=state.ended or "" if state else "",
                pace=pace_now(state) if state else NO_PACE,
                paused=paused,
                answering=state.answering if state and paused else 0,
                pause_key=pause_key(self, PAUSE_KEY) if paused else "",
            )
        )

    # --- keys

    def person_moved(self) -> None:
        """They look where they want to look now."""
        if self._following.on:
            self._following.stop()
            self.refresh_bindings()
            self.show_heading()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to follow only while something runs, and not while it is followed."""
        if not super().check_action(action, parameters):
            return False
        return action != "follow_run" or (self.queue is not None and self.queue.busy and not self._following.on)

    def action_follow_run(self) -> None:
        """Look at what runs, from now on."""
        self._following.begin()
        self.refresh_bindings()
        self.show_heading()

    def start_request(self, request: RunRequest | None, nothing: str) -> None:
        """Run this when everything before it is over, or say that there is nothing to run."""
        if request is None or self.queue is None:
            self.notify(nothing, severity="warning", markup=False)
            return
        if self.queue.busy:
            self.notify("Queued: it runs when this run is over.", markup=False, timeout=3)
        self.queue.add(request)
        self._flush_timer.resume()
        if len({trial.case for trial in request.trials}) > 1:
            self._following.begin()
        self.refresh_bindings()
        self.show_choice()

    def action_run_case(self) -> None:
        """Run the case, or the part of the suite that the cursor is on."""
        if self.selection is not None:
            row = self.suites.tree_of_suites.row
            self.start_request(request_of_row(self.selection, row), "Nothing to run here: choose a case first.")

    def action_run_suite(self) -> None:
        """Run the whole suite."""
        if self.selection is not None:
            self.start_request(request_of_suite(self.selection), "Nothing to run here: choose a suite first.")

    def action_run_failed(self) -> None:
        """Run again what did not pass."""
        if self.selection is not None:
            self.start_rerun(request_of_failed(self.selection), "Nothing has failed here.")

    def action_cancel(self) -> None:
        """Cancel what is running of the case: with the focus in a pane that one alone."""
        selection, queue = self.selection, self.queue
        if selection is None or queue is None:
            return
        panes = [pane for pane in self.answers.panes if pane.has_focus_within] or self.answers.panes
        trials = (selection.trial(pane.model) for pane in panes)
        keys = tuple(trial.key for trial in trials if trial and trial.is_open)
        if keys and queue.current and queue.current.path == selection.path:
            queue.cancel(keys)
        else:
            more = " X cancels the whole run." if queue.busy else ""
            self.notify(f"Nothing of this case is running.{more}", markup=False, timeout=4)

    def action_cancel_all(self) -> None:
        """Cancel the run, and what is queued."""
        if self.queue is not None and self.queue.busy:
            self.queue.cancel_all()
            self.show_choice()
        else:
            self.notify("Nothing is running.", markup=False, timeout=3)

    def action_turn_streaming(self) -> None:
        """Streaming on or off for the next run."""
        selection = self.selection
        if selection is None:
            return
        now = selection.streams
        if now is None:
            said = selection.suite.options.streaming if selection.suite else None
            now = True if said is None else said
        selection.streams = not now
        self.notify(f"The next run {'streams' if selection.streams else 'does not stream'}.", markup=False, timeout=3)
