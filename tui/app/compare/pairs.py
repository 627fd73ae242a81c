"""The walk through the cases that two sources have both answered. Without textual."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from tui.model.diffs import DiffLine, FileDiff, Hunk
from tui.model.outcomes import Outcome
from tui.model.run import RunRecord
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


def sources_of_models(
    suite: str, run: str, models: Sequence[str], current: str, runs: Sequence[RunRecord]
) -> tuple[Source, Source] | None:
    """The first model and the current one, or the next; of a single model its newest run and the one before, else its
    first two repeats. `run` is empty for what is newest; `runs` are those of the suite, the newest first."""
    if not models:
        return None
    if len(models) > 1:
        other = current if current in models[1:] else models[1]
        return Source(suite, run, models[0]), Source(suite, run, other)
    [model] = models
    earlier = [each.id for each in runs if model in each.models and each.id != run]
    if run and earlier:
        return Source(suite, run, model), Source(suite, earlier[0], model)
    if not run and len(earlier) > 1:
        return Source(suite, earlier[0], model), Source(suite, earlier[1], model)
    return Source(suite, run, model), Source(suite, run, model, repeat=2)


def sources_of_run(run: RunRecord, baseline: str | None, runs: Sequence[RunRecord]) -> tuple[Source, Source] | None:
    """A run against the baseline of its suite where one is marked and has asked the same model; else its models
    against each other, or the same model in the run before."""
    against = next((each for each in runs if each.id == baseline and each.id != run.id), None)
    shared = [model for model in run.models if against is not None and model in against.models]
    if against is not None and shared:
        return Source(run.suite_path, against.id, shared[0]), Source(run.suite_path, run.id, shared[0])
    return sources_of_models(run.suite_path, run.id, run.models, "", runs)


_WHOLE = 1_000_000_000
_FOLDED = 3


def answer_diff(left: str, right: str, *, folded: bool) -> FileDiff:
    """The left answer as the old text, the right one as the new; identical parts are left out where it is `folded`.
    Equal answers are shown whole. Loads git's library on first use, and may take a while: for a thread."""
    from tui.workspace.git.diff import diff_texts

    left, right = _ended(left), _ended(right)
    if left == right:
        return _unchanged(left)
    context = _FOLDED if folded else _WHOLE
    # A NUL would make git call the text binary; it is shown as a picture anyway.
    found = diff_texts(_bytes(left), _bytes(right), min(context, left.count("\n") + right.count("\n") + 1))
    # What git takes for the head of a function is any line of an answer.
    hunks = tuple(replace(hunk, heading="") for hunk in found.hunks)
    return FileDiff("answer", "modified", hunks, added=found.added, removed=found.removed)


def _ended(text: str) -> str:
    """Whether the last line has an end is no difference between two answers."""
    text = text.replace("\r\n", "\n")
    return text if not text or text.endswith("\n") else text + "\n"


def _bytes(text: str) -> bytes:
    return text.replace("\0", "␀").encode("utf-8", "replace")


def _unchanged(text: str) -> FileDiff:
    lines = text.split("\n")[:-1]
    if not lines:
        return FileDiff("answer", "modified")
    numbered = tuple(DiffLine("context", line, number, number) for number, line in enumerate(lines, 1))
    return FileDiff("answer", "modified", (Hunk(1, len(lines), 1, len(lines), "", numbered),))
