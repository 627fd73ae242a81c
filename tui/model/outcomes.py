"""A result without its texts: what lists, matrices and figures need."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui.model.prices import add_costs
from tui.model.results import CountedVerdict, StepResult, TrialKey, TrialResult, Verdict, counted_as

_LEAST_WRITING_MS = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended: `verdict` is the latest, `first_verdict` the one that counts in figures (see TrialResult).
    Times (milliseconds) and `retries` (in transport) are those of the last attempt's steps taken together. `attempts`
    is how many there were; tokens and `cost_usd` are of all of them together, which were all paid for. Tokens are None
    where nobody counted, the cost where that of one step is not known, or none was asked."""

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

    @property
    def case(self) -> str:
        """The case's id."""
        return self.trial.case

    @property
    def counted(self) -> CountedVerdict:
        """The word that every figure counts it under."""
        return counted_as(self)

    @property
    def speed(self) -> float | None:
        """Tokens a second after the first one; None where it is not known, of several attempts, and of an answer that
        took next to no time."""
        writing = self.duration_ms - (self.first_token_ms or 0.0)
        if self.attempts != 1 or not self.output_tokens or writing < _LEAST_WRITING_MS:
            return None
        return self.output_tokens / writing * 1000


def outcome_of(result: TrialResult) -> Outcome:
    """The outcome of a result."""
    last = result.attempts[-1] if result.attempts else None
    steps: tuple[StepResult, ...] = last.steps if last else ()
    usages = [step.usage for attempt in result.attempts for step in attempt.steps]
    return Outcome(
        result.trial,
        result.verdict,
        result.first_verdict,
        result.flaky,
        result.reruns,
        result.error,
        len(result.attempts),
        steps[0].timing.first_token_ms if steps else None,
        last.answer_ms if last else 0.0,
        add_known(usage.input_tokens for usage in usages),
        add_known(usage.output_tokens for usage in usages),
        add_known(usage.reasoning_tokens for usage in usages),
        sum(len(step.retries) for step in steps),
        add_costs(step.cost_usd for attempt in result.attempts for step in attempt.steps),
    )


def add_known(counts: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
