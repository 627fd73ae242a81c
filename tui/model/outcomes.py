"""The outcome of a trial: its result without texts, as lists, matrices and figures need it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tui.model.prices import add_costs
from tui.model.results import MOST_TOKENS, CountedVerdict, StepResult, TrialKey, TrialResult, Verdict, counted_as
from tui.model.suite import Case

_LEAST_WRITING_MS = 50
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended, without its texts.

    `verdict` is the latest verdict, `first_verdict` the one that counts in figures (see TrialResult). Times
    (milliseconds) and `retries` (in transport) sum the steps of the last attempt. `attempts` is the number of attempts;
    tokens and `cost_usd` sum all of them. Input tokens, output tokens and the cost are None if those of one step are
    unknown, or no step was run; `least_…` sum the known ones then, too, and are None if none is known. Reasoning tokens
    sum those that were reported: many servers leave them out if there are none.
    """

    trial: TrialKey
    verdict: Verdict
    first_verdict: Verdict
    flaky: bool
    reruns: int
    error: str | None
    attempts: int
    first_token_ms: float | None
    duration_ms: float
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    retries: int
    cost_usd: float | None = None
    least_input_tokens: int | None = None
    least_output_tokens: int | None = None
    least_cost_usd: float | None = None

    @property
    def case(self) -> str:
        """The id of the trial's case."""
        return self.trial.case

    @property
    def counted(self) -> CountedVerdict:
        """The category in which every figure counts the trial."""
        return counted_as(self)

    @property
    def speed(self) -> float | None:
        """Output tokens per second after the first token.

        None if it is unknown, if there were several attempts, or if the answer took too little time to measure.
        """
        writing = self.duration_ms - (self.first_token_ms or 0.0)
        if self.attempts != 1 or not self.output_tokens or writing < _LEAST_WRITING_MS:
            return None
        return self.output_tokens / writing * 1000


def outcome_of(result: TrialResult) -> Outcome:
    """Return the outcome of a trial's result."""
    last = result.attempts[-1] if result.attempts else None
    steps: tuple[StepResult, ...] = last.steps if last else ()
    every_step = [step for attempt in result.attempts for step in attempt.steps]
    read = [step.usage.input_tokens for step in every_step]
    wrote = [step.usage.output_tokens for step in every_step]
    costs = [step.cost_usd for step in every_step]
    return Outcome(
        result.trial,
        result.verdict,
        result.first_verdict,
        result.flaky,
        result.reruns,
        result.error,
        len(result.attempts),
        steps[0].timing.first_token_ms if steps else None,
        (last.answer_ms or 0.0) if last else 0.0,
        _total(read),
        _total(wrote),
        _total(_known([step.usage.reasoning_tokens for step in every_step])),
        sum(len(step.retries) for step in steps),
        add_costs(costs),
        _total(_known(read)),
        _total(_known(wrote)),
        add_costs(_known(costs)),
    )


def unchecked_cases(cases: Iterable[Case], outcomes: Iterable[Outcome]) -> frozenset[str]:
    """Return the ids of the cases without a check; results of imported runs may have checks that their case lacks."""
    unchecked = {case.id for case in cases if not case.is_checked}
    if unchecked:
        unchecked -= {outcome.case for outcome in outcomes if outcome.counted in ("passed", "flaky", "failed")}
    return frozenset(unchecked)


def _known(values: Sequence[Number | None]) -> list[Number]:
    return [value for value in values if value is not None]


def _total(counts: Sequence[int | None]) -> int | None:
    """Return the sum of counts; None if one is unknown, there are none, or the sum is out of the range of a count."""
    known = _known(counts)
    total = sum(known)
    return total if counts and len(known) == len(counts) and total <= MOST_TOKENS else None
