"""What happens in a run, as past-tense facts in the order in which they happened.

Every event of a trial names it by `trial`; `attempt` counts from 1, `step` from 0. Nothing follows a trial's
`TrialFinished`, and nothing follows `RunFinished`.
"""

from dataclasses import dataclass
from typing import Literal

from tui.model.results import Attempt, Prompt, Span, StepResult, TrialKey, TrialResult
from tui.model.run import RunState

LiveState = Literal["waiting", "found", "clear", "forbidden", "timed_out"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins; `trials` is everything that will be asked."""

    run_id: str
    trials: tuple[TrialKey, ...]
    started_at: str


@dataclass(frozen=True, slots=True)
class RepositoryCloning:
    """The run's repository is being cloned, before RunStarted; the total is 0 until the server has told it."""

    received_objects: int
    total_objects: int
    received_bytes: int


@dataclass(frozen=True, slots=True)
class RepositoryCloned:
    """The clone is there: its branch, what is worth saying about it, and its folder where that will stay."""

    url: str
    branch: str
    notes: tuple[str, ...]
    kept_folder: str | None


@dataclass(frozen=True, slots=True)
class TrialDelayed:
    """The next case of a model waits for the pause between two starts."""

    trial: TrialKey
    wait_ms: int


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial has begun."""

    trial: TrialKey


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """An attempt has begun; `of` is how many there may be."""

    trial: TrialKey
    attempt: int
    of: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step was handed to the provider."""

    trial: TrialKey
    attempt: int
    step: int
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The request went out; the step's clock starts (again)."""

    trial: TrialKey
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class RequestRetried:
    """A try failed in transport; the next one follows after `wait_ms`."""

    trial: TrialKey
    attempt: int
    step: int
    reason: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class TextArrived:
    """A piece of the answer."""

    trial: TrialKey
    attempt: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningArrived:
    """A piece of what the model thought aloud."""

    trial: TrialKey
    attempt: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class CheckMoved:
    """While text arrives: check number `check` of the step has a new state, or more matches. Provisional."""

    trial: TrialKey
    attempt: int
    step: int
    check: int
    state: LiveState
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step is over, its checks decided on the whole answer."""

    trial: TrialKey
    attempt: int
    step: int
    result: StepResult


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """An attempt is over."""

    trial: TrialKey
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial is over. Whoever shows this may rely on it being stored."""

    result: TrialResult

    @property
    def trial(self) -> TrialKey:
        """The trial that is over."""
        return self.result.trial


@dataclass(frozen=True, slots=True)
class RunPaused:
    """Nothing new is asked from now on; what is being answered goes on to its end."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """The run goes on after a pause."""


@dataclass(frozen=True, slots=True)
class LimitMoved:
    """So many questions at once go to a provider from now on, `most` is the ceiling that the run or a person gave;
    `reason` says why it was narrowed, and is empty where it grew or the ceiling is another."""

    provider: str
    limit: int
    most: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoreStalled:
    """A result cannot be written (disk full, read-only); it is kept in memory and tried again."""

    reason: str


@dataclass(frozen=True, slots=True)
class StoreRecovered:
    """What could not be written has been written."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    run_id: str
    state: RunState
    finished_at: str


TrialEvent = (
    TrialDelayed
    | TrialStarted
    | AttemptStarted
    | StepStarted
    | RequestSent
    | RequestRetried
    | TextArrived
    | ReasoningArrived
    | CheckMoved
    | StepFinished
    | AttemptFinished
    | TrialFinished
)
RepositoryEvent = RepositoryCloning | RepositoryCloned
PaceEvent = RunPaused | RunResumed | LimitMoved
Event = RunStarted | RepositoryEvent | TrialEvent | PaceEvent | StoreStalled | StoreRecovered | RunFinished
