"""Pausing a run, letting it go on, and asking more or less at once while it goes."""

from time import monotonic
from typing import Any

from textual import on
from textual.screen import Screen

from tui.app.presentation.pace import Pace, at_once_words, pace_of
from tui.app.run_messages import RunMessages
from tui.app.screens.steering import SteeringScreen
from tui.model.state import RunState

PAUSE_KEY = "run.pause"


class PacingScreen(SteeringScreen):
    """What is chosen here holds for the run that is going."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to pause only while something runs."""
        if action == "turn_pause":
            return self._going_on is not None
        return super().check_action(action, parameters)

    @property
    def _going_on(self) -> RunState | None:
        queue, selection = self.queue, self.selection
        if queue is None or queue.current is None or selection is None:
            return None
        state = selection.open_suites.state(queue.current.path)
        return state if state.running else None

    def action_turn_pause(self) -> None:
        """Ask nothing new, or go on."""
        if self.queue is not None and self._going_on is not None:
            self.queue.turn_pause()

    def action_ask_more(self, by: int) -> None:
        """So many more cases at once: with the focus in a pane of its model alone."""
        panes = (pane.model for pane in self.answers.panes if pane.has_focus_within)
        self.ask_more(by, next(panes, ""))

    def ask_more(self, by: int, model: str) -> None:
        """So many more cases of a model at once, of each where it is not asked; say how many it is now."""
        queue = self.queue
        numbers = (queue.ask_more(by, model) or queue.ask_more(by)) if queue is not None else {}
        self.notify(f"{at_once_words(numbers)}." if numbers else "Nothing is running.", markup=False, timeout=3)

    @on(RunMessages.PaceMoved)
    def show_pace(self, message: RunMessages.PaceMoved) -> None:
        """The header, and the panes of what waits."""
        del message
        self.refresh_bindings()
        self.show_choice()


def pause_key(screen: Screen[Any], name: str) -> str:
    """The key that lets a paused run go on, as it is shown."""
    keys = (each.binding for each in screen.active_bindings.values() if each.binding.id == name)
    return next((screen.app.get_key_display(binding) for binding in keys), "")


def pace_now(state: RunState) -> Pace:
    """How many go at once, as it is to be shown now."""
    return pace_of(state.limits, monotonic())
