"""A result without its texts: what lists, matrices and figures need."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui.model.prices import add_costs
from tui.model.trials import StepResult, TrialKey, TrialResult, Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended: `verdict` is the latest, `first_verdict` the one that counts in figures (see TrialResult).
    Times (milliseconds), tokens and `retries` (in transport) are those of the last attempt's
    steps taken together; None where nobody counted. `attempts` is how many there were. `cost_usd` is what all of them
    cost together: they were all paid for; None where that of one step is not known, or none was asked."""

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


def outcome_of(result: TrialResult) -> Outcome:
    """The outcome of a result."""
    steps: tuple[StepResult, ...] = result.attempts[-1].steps if result.attempts else ()
    return Outcome(
        result.trial,
        result.verdict,
        result.first_verdict,
        result.flaky,
        result.reruns,
        result.error,
        len(result.attempts),
        steps[0].timing.first_token_ms if steps else None,
        sum(step.timing.duration_ms for step in steps),
        add_known(step.usage.input_tokens for step in steps),
        add_known(step.usage.output_tokens for step in steps),
        add_known(step.usage.reasoning_tokens for step in steps),
        sum(len(step.retries) for step in steps),
        add_costs(step.cost_usd for attempt in result.attempts for step in attempt.steps),
    )


def add_known(counts: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
