"""The events of a run, in the order in which they happened.

Every event of a trial names it by `trial`; `attempt` counts from 1, `step` from 0. No event of a trial follows its
`TrialFinished`, and no event follows `RunFinished`.
"""

from dataclasses import dataclass
from typing import Literal

from tui.model.context import PlannedContext
from tui.model.results import Attempt, Prompt, Span, StepResult, ToolUse, TrialKey, TrialResult
from tui.model.run import RunState

LiveState = Literal["waiting", "found", "clear", "forbidden", "timed_out"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run has started; `trials` is every trial that will be run.

    `continues` says that they belong to a stored run, which keeps its other results.
    """

    run_id: str
    trials: tuple[TrialKey, ...]
    started_at: str
    continues: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryCloning:
    """The progress of cloning the run's repository, before RunStarted; the total is 0 until it is known."""

    received_objects: int
    total_objects: int
    received_bytes: int


@dataclass(frozen=True, slots=True)
class RepositoryCloned:
    """The repository was cloned: its branch, notes, its folder if that is not deleted after the run, and the commit
    from which every trial starts."""

    url: str
    branch: str
    notes: tuple[str, ...]
    kept_folder: str | None
    commit: str = ""


@dataclass(frozen=True, slots=True)
class ContextRead:
    """The files that prompts will contain were read, before RunStarted; only for a suite that names files."""

    planned: PlannedContext


@dataclass(frozen=True, slots=True)
class TrialDelayed:
    """The next case of a model waits for the delay between two starts."""

    trial: TrialKey
    wait_ms: int


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial has started."""

    trial: TrialKey


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """An attempt has started; `of` is the maximum number of attempts."""

    trial: TrialKey
    attempt: int
    of: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step was passed to the provider."""

    trial: TrialKey
    attempt: int
    step: int
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The request was sent (again): the step's clock starts."""

    trial: TrialKey
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class RequestRetried:
    """A request failed in transport and is retried after `wait_ms`."""

    trial: TrialKey
    attempt: int
    step: int
    reason: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class TextArrived:
    """A chunk of the answer has arrived."""

    trial: TrialKey
    attempt: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningArrived:
    """A chunk of the model's reasoning has arrived."""

    trial: TrialKey
    attempt: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolsCalled:
    """A turn of the model has ended with calls of tools; the text of the next turn replaces that of this one."""

    trial: TrialKey
    attempt: int
    step: int
    calls: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class CheckMoved:
    """Check number `check` of the step has a new provisional state or more matches while the answer streams."""

    trial: TrialKey
    attempt: int
    step: int
    check: int
    state: LiveState
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step has finished; its checks were decided on the whole answer."""

    trial: TrialKey
    attempt: int
    step: int
    result: StepResult


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """An attempt has finished, with its final result."""

    trial: TrialKey
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has finished, and its result is stored."""

    result: TrialResult

    @property
    def trial(self) -> TrialKey:
        """The key of the finished trial."""
        return self.result.trial


@dataclass(frozen=True, slots=True)
class RunPaused:
    """The run is paused: no new request is sent, and requests in progress are finished."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """The run continues after a pause."""


@dataclass(frozen=True, slots=True)
class LimitMoved:
    """The number of concurrent requests to a provider has changed.

    `most` is the ceiling set by the run or the user. `reason` explains why the limit was lowered; it is empty if the
    limit was raised or the ceiling changed.
    """

    provider: str
    limit: int
    most: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoreStalled:
    """A result cannot be written (disk full, read-only); it is held in memory and the write is retried."""

    reason: str


@dataclass(frozen=True, slots=True)
class StoreRecovered:
    """All results that could not be written before are now written."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run has ended, in this final state.

    `saved_as` is the state in which it is saved, if that is known. A rerun that is stopped leaves a finished run
    finished; a rerun of some trials leaves a run interrupted of which other trials have no result.
    """

    run_id: str
    state: RunState
    finished_at: str
    saved_as: RunState | None = None


TrialEvent = (
    TrialDelayed
    | TrialStarted
    | AttemptStarted
    | StepStarted
    | RequestSent
    | RequestRetried
    | TextArrived
    | ReasoningArrived
    | ToolsCalled
    | CheckMoved
    | StepFinished
    | AttemptFinished
    | TrialFinished
)
RepositoryEvent = RepositoryCloning | RepositoryCloned
PaceEvent = RunPaused | RunResumed | LimitMoved
PreparationEvent = RepositoryEvent | ContextRead
Event = RunStarted | PreparationEvent | TrialEvent | PaceEvent | StoreStalled | StoreRecovered | RunFinished
