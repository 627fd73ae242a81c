"""What all trials of a model took and gave, added up as they come."""

from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from tui.model.outcomes import Outcome, add_known
from tui.model.prices import Spent, spent_on
from tui.model.trials import Counted, TrialKey, counted_as
from tui.statistics.shares import Passes

_LEAST_WRITING_MS = 50


class Taken(NamedTuple):
    """What one trial adds: milliseconds, tokens, tokens a second, USD; None where it is not known."""

    word: Counted
    duration_ms: float
    first_token_ms: float | None
    speed: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = None


def taken_of(outcome: Outcome) -> Taken:
    """What a trial adds."""
    first = outcome.first_token_ms
    tokens, writing = outcome.output_tokens, outcome.duration_ms - (first or 0.0)
    speed = tokens / writing * 1000 if tokens and writing >= _LEAST_WRITING_MS else None
    return Taken(counted_as(outcome), outcome.duration_ms, first, speed, outcome.input_tokens, tokens, outcome.cost_usd)


@dataclass(slots=True)
class Tally:
    """Of one model. `words` counts what trials count as; `passes` is by case, of those that are checked."""

    taken: dict[TrialKey, Taken] = field(default_factory=dict)
    words: dict[Counted, int] = field(default_factory=lambda: dict.fromkeys(get_args(Counted), 0))
    passes: dict[str, Passes] = field(default_factory=dict)

    @property
    def trials(self) -> int:
        """How many have a result."""
        return len(self.taken)

    def put(self, key: TrialKey, taken: Taken | None) -> None:
        """What a trial adds now, instead of what it added before."""
        before = self.taken.pop(key, None)
        if before is not None:
            self._count(key.case, before.word, -1)
        if taken is not None:
            self.taken[key] = taken
            self._count(key.case, taken.word, 1)

    def copy(self) -> "Tally":
        """As it stands now, for a thread."""
        return Tally(dict(self.taken), dict(self.words), dict(self.passes))

    def _count(self, case: str, word: Counted, by: int) -> None:
        self.words[word] += by
        if word == "unchecked":
            return
        passed, results = self.passes.get(case, (0, 0))
        self.passes[case] = Passes(passed + by * (word == "passed"), results + by)


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """The head of a model's column. Times are milliseconds, shares fractions; None where there is nothing, or not
    enough, to tell. `counted` of `trials` told their tokens."""

    trials: int = 0
    passed: int = 0
    flaky: int = 0
    errors: int = 0
    unchecked: int = 0
    interval: tuple[float, float] | None = None
    median_ms: float | None = None
    p95_ms: float | None = None
    first_token_ms: float | None = None
    speed: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    counted: int = 0
    spent: Spent = field(default_factory=Spent)


def figures_of(tally: Tally) -> ModelFigures:
    """The figures; costs a sort of all values, and with repeats loads a library: made for a thread."""
    from tui.statistics.quantiles import spread_of
    from tui.statistics.shares import clustered_interval

    taken = [*tally.taken.values()]
    spread = spread_of(each.duration_ms for each in taken if each.duration_ms > 0)
    return ModelFigures(
        len(taken),
        tally.words["passed"],
        tally.words["flaky"],
        tally.words["error"],
        tally.words["unchecked"],
        clustered_interval([*tally.passes.values()]) if tally.passes else None,
        spread.median,
        spread.p95,
        spread_of(each.first_token_ms for each in taken if each.first_token_ms is not None).median,
        spread_of(each.speed for each in taken if each.speed is not None).median,
        add_known(each.input_tokens for each in taken),
        add_known(each.output_tokens for each in taken),
        sum(each.output_tokens is not None for each in taken),
        spent_on(each.cost_usd for each in taken),
    )
