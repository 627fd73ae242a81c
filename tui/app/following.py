"""Whether the selection goes with what runs, and where to. Without textual."""

from tui.app.exploring import Selection
from tui.app.run_requests import RunRequest
from tui.model.suite import Case

_LEAST_STAY_SECONDS = 0.5


class AutoFollow:
    """On from when a person runs several cases until they choose a case themselves."""

    def __init__(self) -> None:
        self.on = False
        self._went_at = 0.0

    def begin(self) -> None:
        """Go with what runs, from the next question on."""
        self.on, self._went_at = True, 0.0

    def stop(self) -> None:
        """Stay."""
        self.on = False

    def next_case(self, selection: Selection, current: RunRequest, now: float) -> Case | None:
        """The case to go to: the first that runs, unless the one that is looked at still does, or was only just
        reached; `now` is in monotonic seconds."""
        state = selection.open_suites.state(current.path)
        here = selection.case_id if selection.path == current.path else None
        running = {key.case for key in state.in_progress}
        if not self.on or here in running or now - self._went_at < _LEAST_STAY_SECONDS:
            return None
        shown = (case for case in current.suite.cases if case.id in running and selection.wanted(current.path, case))
        case = next(shown, None) if running else None
        if case is not None:
            self._went_at = now
        return case
