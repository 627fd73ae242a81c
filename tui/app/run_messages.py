"""Messages from the run queue to the screens, one for each change of state, and buffers for streamed text."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from textual.message import Message

from tui.app.presentation.model_faults import ModelFault
from tui.app.run_requests import RunRequest
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    ContextRead,
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
    ToolsCalled,
    TrialFinished,
)
from tui.model.results import TrialKey
from tui.model.run import RunState as Outcome

FLUSHES_PER_SECOND = 15
LARGEST_FLUSH = 16_384
_WITHOUT_A_MESSAGE = (CheckMoved, StepFinished)

Key = TypeVar("Key", bound=Hashable)


class RunQueued(Message, bubble=False):
    """Posted when a run was added to the queue."""

    def __init__(self, request: RunRequest) -> None:
        super().__init__()
        self.request = request


class RunBegan(Message, bubble=False):
    """Posted when a run of the suite at `path` has started."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


class RunEnded(Message, bubble=False):
    """Posted when a run has ended; `outcome` is None if it was cancelled before it started."""

    def __init__(self, path: Path, outcome: Outcome | None) -> None:
        super().__init__()
        self.path, self.outcome = path, outcome


class RunRefused(Message, bubble=False):
    """Posted when a run did not start, or could not continue; `why` is a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class FilesRecorded(Message, bubble=False):
    """Posted when the files of a run were read; `note` is a sentence if some are sent as they were recorded."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.note = note


class ModelsUnresolved(Message, bubble=False):
    """Posted when models are omitted from a run; `errors` has the fault of each of them."""

    def __init__(self, path: Path, errors: dict[str, ModelFault]) -> None:
        super().__init__()
        self.path, self.errors = path, errors


class TrialChanged(Message, bubble=False):
    """Posted when a trial has a new state."""

    def __init__(self, path: Path, trial: TrialKey) -> None:
        super().__init__()
        self.path, self.trial = path, trial


class PaceChanged(Message, bubble=False):
    """Posted when a run was paused or resumed, or its concurrency has changed.

    The state of the suite at `path` has the details.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


class StoreTrouble(Message, bubble=False):
    """Posted when results cannot be stored, with the reason; `reason` is empty once they can be stored again."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class CloneProgress(Message, bubble=False):
    """Posted while the repository of a run is cloned; `cloned` is set when the clone is complete."""

    def __init__(self, path: Path, cloned: RepositoryCloned | None) -> None:
        super().__init__()
        self.path, self.cloned = path, cloned


class StreamBuffers(Generic[Key]):
    """Buffer streamed text for each pane, in the order of its arrival.

    `put` is called for each piece; it costs well under a microsecond and paints nothing. A timer of the screen calls
    `pop` FLUSHES_PER_SECOND times with the displayed panes; the text of other panes stays in the buffer. A pane gets at
    most `largest` code points at once, so that a burst does not delay keys; the next flush gets the rest.
    """

    def __init__(self, largest: int = LARGEST_FLUSH) -> None:
        self._largest = largest
        self._waiting: dict[Key, deque[str]] = {}

    def put(self, key: Key, text: str) -> None:
        """Append a piece of text for a pane."""
        try:
            self._waiting[key].append(text)
        except KeyError:
            self._waiting[key] = deque((text,))

    def __bool__(self) -> bool:
        """Return whether any text is buffered."""
        return bool(self._waiting)

    def pop(self, displayed: Iterable[Key]) -> Iterator[tuple[Key, str]]:
        """Remove and yield the next portion of text of each displayed pane that has any."""
        if not self._waiting:
            return
        for key in displayed:
            pieces = self._waiting.get(key)
            if pieces is not None:
                yield key, self._portion(key, pieces)

    def drop(self, key: Key) -> None:
        """Discard the buffered text of a pane."""
        self._waiting.pop(key, None)

    def _portion(self, key: Key, pieces: deque[str]) -> str:
        taken: list[str] = []
        room = self._largest
        while pieces and room > 0:
            piece = pieces.popleft()
            if len(piece) > room:
                pieces.appendleft(piece[room:])
                piece = piece[:room]
            taken.append(piece)
            room -= len(piece)
        if not pieces:
            del self._waiting[key]
        return "".join(taken)


class RunMessages:
    """Convert the events of a run to messages for `post`.

    Text goes to the buffers `text` and `reasoning` instead, and trials whose checks change are collected for
    `pop_changed`: a timer reads all three.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._changed: set[TrialKey] = set()
        self.text: StreamBuffers[TrialKey] = StreamBuffers()
        self.reasoning: StreamBuffers[TrialKey] = StreamBuffers()

    def drop_text(self, trial: TrialKey) -> None:
        """Discard the buffered text of a trial that starts again, begins another turn, or has ended."""
        self.text.drop(trial)
        self.reasoning.drop(trial)

    def pop_changed(self) -> set[TrialKey]:
        """Return the trials that have changed since the last call, other than by more text."""
        changed, self._changed = self._changed, set()
        return changed

    def post_event(self, path: Path, event: Event) -> None:
        """Post the message for an event of a run of the suite at `path`."""
        match event:
            case TextArrived():
                self.text.put(event.trial, event.text)
            case ReasoningArrived():
                self.reasoning.put(event.trial, event.text)
            case RunStarted():
                self._post(RunBegan(path))
            case RunFinished():
                pass  # the queue posts RunEnded
            case ContextRead(planned):
                self._post(FilesRecorded(planned.note))  # each prompt names its files
            case RepositoryCloning() | RepositoryCloned():
                self._post(CloneProgress(path, event if isinstance(event, RepositoryCloned) else None))
            case RunPaused() | RunResumed() | LimitMoved():
                self._post(PaceChanged(path))
            case StoreStalled(reason):
                self._post(StoreTrouble(reason))
            case StoreRecovered():
                self._post(StoreTrouble(""))
            case _:
                if isinstance(event, AttemptStarted | ToolsCalled | TrialFinished):
                    self.drop_text(event.trial)
                self._changed.add(event.trial)
                if not isinstance(event, _WITHOUT_A_MESSAGE):
                    self._post(TrialChanged(path, event.trial))
