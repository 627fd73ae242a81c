"""The walk through the cases that two sources have both answered. Without textual."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from tui.model.outcomes import Outcome
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite
from tui.session.answers import Answer, Source
from tui.session.preferences import AnswerPlace, Choice, Preferred, turned

Outcomes = Mapping[str, Sequence[Outcome]]


@dataclass(frozen=True, slots=True)
class Pair:
    """The two sources, and their results by case."""

    a: Source
    b: Source
    a_outcomes: Outcomes
    b_outcomes: Outcomes

    def answered(self, case: str) -> bool:
        """Whether both have a result."""
        return _of(self.a_outcomes, case, self.a.repeat) is not None and (
            _of(self.b_outcomes, case, self.b.repeat) is not None
        )

    def outcomes(self, case: str) -> tuple[Outcome | None, Outcome | None]:
        """Both results of a case."""
        return _of(self.a_outcomes, case, self.a.repeat), _of(self.b_outcomes, case, self.b.repeat)


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case on the way; `choice` is what was preferred before, None where nothing was yet."""

    case: str
    name: str
    marks: tuple[Outcome | None, Outcome | None]
    choice: Choice | None = None


class ComparisonSession:
    """Where one is. `seed` None means that nothing is hidden; else names and verdicts are, and the seed decides for
    each case which answer stands on the left."""

    def __init__(self, suite: Suite, pair: Pair, seed: int | None = None) -> None:
        self.suite, self.pair, self.seed = suite, pair, seed
        self.stops = [
            CaseEntry(case.id, sanitize_line(case.name or case.id, 200), pair.outcomes(case.id))
            for case in suite.cases
            if pair.answered(case.id)
        ]
        self.at = 0

    @property
    def stop(self) -> CaseEntry | None:
        """The case that is looked at."""
        return self.stops[self.at] if self.at < len(self.stops) else None

    @property
    def blind(self) -> bool:
        """Whether names and verdicts are hidden."""
        return self.seed is not None

    @property
    def chosen(self) -> int:
        """How many cases have a preference."""
        return sum(stop.choice is not None for stop in self.stops)

    def go_to_case(self, case: str) -> None:
        """Look at that case, where it is on the way."""
        self.at = next((place for place, stop in enumerate(self.stops) if stop.case == case), self.at)

    def step(self, by: int) -> bool:
        """To the next case or the one before; False where there is none."""
        place = self.at + by
        if not 0 <= place < len(self.stops):
            return False
        self.at = place
        return True

    def swapped(self, case: str) -> bool:
        """Whether `b` stands on the left."""
        return self.seed is not None and Random(f"{self.seed}:{case}").random() < 0.5

    def remember(self, preferred: Sequence[Preferred]) -> None:
        """Take what was preferred between these two sources before: the last choice for each case counts."""
        last: dict[str, Choice] = {}
        for one in preferred:
            for each in (one, turned(one)):
                if each.suite == self.suite.path and _is_from(each.a, self.pair.a) and _is_from(each.b, self.pair.b):
                    last[each.case] = each.choice
        self.stops = [replace(stop, choice=last.get(stop.case)) for stop in self.stops]

    def decide(self, shown: Choice, a: Answer, b: Answer) -> Preferred:
        """What to write down of a choice between the answers as they are shown: `a` is the left one."""
        stop = self.stops[self.at]
        swapped = self.swapped(stop.case)
        meant = {"a": "b", "b": "a"}.get(shown, shown) if swapped else shown
        choice: Choice = next(each for each in _CHOICES if each == meant)
        self.stops[self.at] = replace(stop, choice=choice)
        return Preferred(self.suite.path, stop.case, a.place, b.place, choice, self.blind, swapped, self.seed)


_CHOICES: tuple[Choice, ...] = ("a", "b", "tie", "both_bad")


def _of(outcomes: Outcomes, case: str, repeat: int) -> Outcome | None:
    return next((each for each in outcomes.get(case, ()) if each.trial.repeat == repeat), None)


def _is_from(place: AnswerPlace, source: Source) -> bool:
    """Newest answers are of any run."""
    return (
        place.model == source.model
        and place.repeat == source.repeat
        and (not source.run or place.run == source.run)
        and (not source.attempt or place.attempt == source.attempt)
    )


def other_answers(outcomes: Sequence[Outcome]) -> list[tuple[int, int]]:
    """Every repeat and attempt of a case, as (repeat, attempt); attempt 0 is the last one."""
    found: list[tuple[int, int]] = []
    for outcome in outcomes:
        found += [(outcome.trial.repeat, number) for number in range(1, outcome.attempts)]
        found.append((outcome.trial.repeat, 0))
    return found


def next_answer(source: Source, outcomes: Sequence[Outcome]) -> Source:
    """The same source with its next repeat or attempt, after the last one the first."""
    others = other_answers(outcomes)
    here = (source.repeat, source.attempt)
    if not others:
        return source
    repeat, attempt = others[(others.index(here) + 1) % len(others)] if here in others else others[0]
    return replace(source, repeat=repeat, attempt=attempt)
