"""News of runs for the screen: each change of state is one message; text and moving checks are gathered for a timer."""

from pathlib import Path

from textual.message import Message
from textual.message_pump import MessagePump

from tui.app.flushing import StreamBuffers
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    Event,
    LimitMoved,
    ReasoningArrived,
    RepositoryCloned,
    RepositoryCloning,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StepFinished,
    StoreRecovered,
    StoreStalled,
    TextArrived,
    TrialFinished,
)
from tui.model.results import TrialKey

_QUIET = (CheckMoved, StepFinished)


class RunMessages:
    """Tells `told` what happens, by the messages below.

    Text is put into `text` and `thoughts` instead, and trials whose checks move are remembered for `take_moved`: a
    timer reads all three.
    """

    class RunBegan(Message):
        """A run of the suite at `path` has started."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class TrialMoved(Message):
        """A trial has another state."""

        def __init__(self, path: Path, trial: TrialKey) -> None:
            super().__init__()
            self.path, self.trial = path, trial

    class PaceMoved(Message):
        """The run was paused or goes on, or another number of questions goes at once: the suite's state has it."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class StoreTroubled(Message):
        """Results cannot be kept; `reason` is empty when they can be again."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class CloneMoved(Message):
        """The repository of a run is being cloned, or it is there now: the suite's state says how far."""

        def __init__(self, path: Path, cloned: RepositoryCloned | None) -> None:
            super().__init__()
            self.path, self.cloned = path, cloned

    def __init__(self, told: MessagePump) -> None:
        self._told = told
        self._moved: set[TrialKey] = set()
        self.text: StreamBuffers[TrialKey] = StreamBuffers()
        self.thoughts: StreamBuffers[TrialKey] = StreamBuffers()

    def drop_text(self, trial: TrialKey) -> None:
        """Forget what waits to be shown of a trial: it is shown anew, or is over."""
        self.text.drop(trial)
        self.thoughts.drop(trial)

    def take_moved(self) -> set[TrialKey]:
        """Trials that have moved since this was asked last, other than by more text."""
        moved, self._moved = self._moved, set()
        return moved

    def tell(self, path: Path, event: Event) -> None:
        """Tell of an event in a run of the suite at `path`."""
        match event:
            case RunStarted():
                self._told.post_message(self.RunBegan(path))
            case RunFinished():
                pass  # the state has it
            case RepositoryCloning():
                self._told.post_message(self.CloneMoved(path, None))
            case RepositoryCloned():
                self._told.post_message(self.CloneMoved(path, event))
            case RunPaused() | RunResumed() | LimitMoved():
                self._told.post_message(self.PaceMoved(path))
            case StoreStalled(reason):
                self._told.post_message(self.StoreTroubled(reason))
            case StoreRecovered():
                self._told.post_message(self.StoreTroubled(""))
            case _:
                if isinstance(event, TextArrived):
                    self.text.put(event.trial, event.text)
                    return
                if isinstance(event, ReasoningArrived):
                    self.thoughts.put(event.trial, event.text)
                    return
                if isinstance(event, AttemptStarted | TrialFinished):
                    self.drop_text(event.trial)
                self._moved.add(event.trial)
                if not isinstance(event, _QUIET):
                    self._told.post_message(self.TrialMoved(path, event.trial))
