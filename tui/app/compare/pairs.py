"""Pairs of answers: the cases that two sources have both answered, the preferences, and how two answers differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from tui.model.diffs import DiffLine, FileDiff, Hunk
from tui.model.outcomes import Outcome
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Suite, with_inputs
from tui.session.answers import Answer, SavedAnswers, Source
from tui.session.preferences import AnswerPlace, Choice, Preferred, swap_sides
from tui.session.recorded_cases import RecordedCases

Outcomes = Mapping[str, Sequence[Outcome]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sources with their results by case."""

    a: Source
    b: Source
    a_outcomes: Outcomes
    b_outcomes: Outcomes

    def answered(self, case: str) -> bool:
        """Return whether both have a result for a case."""
        return _of(self.a_outcomes, case, self.a.repeat) is not None and (
            _of(self.b_outcomes, case, self.b.repeat) is not None
        )

    def outcomes(self, case: str) -> tuple[Outcome | None, Outcome | None]:
        """Return both results for a case."""
        return _of(self.a_outcomes, case, self.a.repeat), _of(self.b_outcomes, case, self.b.repeat)


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case that both sources have answered, with the preference between them, if there is one."""

    case: str
    name: str
    marks: tuple[Outcome | None, Outcome | None]
    preferred: Preferred | None = None

    @property
    def choice(self) -> Choice | None:
        """The choice between the two answers, None without one."""
        return self.preferred.choice if self.preferred is not None else None


class ComparisonSession:
    """One pass through the cases of two sources; `position` counts in `entries`.

    With a `seed` names and verdicts are hidden, and the seed decides for each case which answer is on the left.
    `newest_result` is the number of the newest result when the outcomes were read.
    """

    def __init__(self, suite: Suite, pair: Pair, seed: int | None = None, newest_result: int = 0) -> None:
        self.suite, self.pair, self.seed, self.newest_result = suite, pair, seed, newest_result
        self.entries = [
            CaseEntry(case.id, sanitize_line(case.title, 200), pair.outcomes(case.id))
            for case in suite.cases
            if pair.answered(case.id)
        ]
        self.position = 0

    @property
    def entry(self) -> CaseEntry | None:
        """The current case, None if there is none."""
        return self.entries[self.position] if self.position < len(self.entries) else None

    @property
    def blind(self) -> bool:
        """Return whether names and verdicts are hidden."""
        return self.seed is not None

    @property
    def chosen(self) -> int:
        """Return how many cases have a preference."""
        return sum(entry.choice is not None for entry in self.entries)

    def go_to_case(self, case: str) -> None:
        """Go to a case, if both sources have answered it."""
        self.position = next((index for index, entry in enumerate(self.entries) if entry.case == case), self.position)

    def step(self, by: int) -> bool:
        """Go to the next case or back to the one before. Return False if there is none."""
        position = self.position + by
        if not 0 <= position < len(self.entries):
            return False
        self.position = position
        return True

    def swapped(self, case: str) -> bool:
        """Return whether the answer of `b` is on the left."""
        return self.seed is not None and Random(f"{self.seed}:{case}").random() < 0.5

    def load_preferences(
        self, preferred: Sequence[Preferred], places: Mapping[str, tuple[AnswerPlace, AnswerPlace]]
    ) -> None:
        """Take over earlier preferences between the answers in these `places`, the last one for each case."""
        last = {
            each.case: each
            for one in preferred
            for each in (one, swap_sides(one))
            if each.case in places and each.is_between(*places[each.case])
        }
        self.entries = [replace(entry, preferred=last.get(entry.case)) for entry in self.entries]

    def preference(self, choice: Choice, a: Answer, b: Answer) -> Preferred:
        """Return a choice between the sides that are shown as a preference between the answers of the two sources."""
        case = self.entries[self.position].case
        swapped = self.swapped(case)
        meant = swapped_choice(choice) if swapped else choice
        return Preferred(self.suite.path, case, a.place, b.place, meant, self.blind, swapped, self.seed)

    def record(self, preferred: Preferred) -> None:
        """Show a preference that was saved."""
        self.entries = [
            replace(entry, preferred=preferred) if entry.case == preferred.case else entry for entry in self.entries
        ]


class AnswerPairs:
    """Read the answers of a suite in pairs, and save the preferences of the current `reviewer`.

    All methods block: call them in a thread. They raise StoreError.
    """

    def __init__(self, answers: SavedAnswers, suite: Suite, reviewer: Callable[[], str | None]) -> None:
        self.suite = suite
        self._answers, self._reviewer = answers, reviewer

    def open(self, a: Source, b: Source, seed: int | None) -> ComparisonSession:
        """Begin a pass through the cases that both sources have answered; with a `seed` it is blind."""
        newest = self._answers.newest_result()
        pair = Pair(a, b, self._answers.outcomes(a, self.suite), self._answers.outcomes(b, self.suite))
        comparison = ComparisonSession(self.suite, pair, seed, newest)
        reviewers = ("", self._reviewer() or "")
        models = {a.model, b.model}
        preferred = [
            each
            for each in self.preferences()
            if each.reviewer in reviewers and {each.a.model, each.b.model} == models and pair.answered(each.case)
        ]
        places: dict[str, tuple[AnswerPlace, AnswerPlace]] = {}
        for case in {each.case for each in preferred}:
            one, other = self._answers.read(a, case), self._answers.read(b, case)
            if one is not None and other is not None:
                places[case] = one.place, other.place
        comparison.load_preferences(preferred, places)
        return comparison

    def is_outdated(self, comparison: ComparisonSession) -> bool:
        """Return whether results were saved after those of a pass were read."""
        return self._answers.newest_result() != comparison.newest_result

    @cached_property
    def _recorded(self) -> RecordedCases:
        """The cases as they were run; read once, since every case that is shown asks for them."""
        return self._answers.recorded_cases(self.suite)

    def runs(self) -> dict[str, RunRecord]:
        """Return the saved runs of the suite by their ids."""
        return {run.id: run for run in self._answers.list_runs(self.suite.path)}

    def sources(self) -> Sequence[tuple[Source, RunRecord | None]]:
        """Return the sources that have answered the suite, each with its run."""
        return self._answers.list_sources(self.suite.path)

    def read(self, comparison: ComparisonSession, case: str, *, folded: bool) -> "AnswerPair":
        """Read both answers to a case."""
        a, b = (self._answers.read(source, case) for source in (comparison.pair.a, comparison.pair.b))
        left, right = (b, a) if comparison.swapped(case) else (a, b)
        texts = [side.text if side else "" for side in (left, right)]
        first = [first_lines(text) for text in texts]
        asked = [found for side in (a, b) if side and (found := self._asked(side, case))]
        return AnswerPair(a, b, answer_diff(*first, folded=folded), tuple(asked), is_cut=first != texts)

    def _asked(self, answer: Answer, case: str) -> Case | None:
        """Return the case as an answer was asked: recorded answers keep the prompt that they were given to."""
        then = self._recorded.case(answer.place.run, case)
        return None if then is None else with_inputs(then.case, answer.inputs)

    def preferences(self) -> Sequence[Preferred]:
        """Return all preferences in the suite, of any reviewer."""
        return self._answers.read_preferences(self.suite.path)

    def ranked(self) -> Sequence[Preferred]:
        """Return the preferences that count in a ranking of the models, of any reviewer."""
        return self._answers.read_ranked(self.suite.path)

    def save(self, preferred: Preferred) -> None:
        """Save a preference of the reviewer."""
        self._answers.prefer(replace(preferred, reviewer=self._reviewer() or ""))


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two sources to a case, None where there is none, and the `diff` from the left to the right one.

    `asked` are the cases as they were run. `is_cut` says that the diff ends after the first lines of a long answer.
    """

    a: Answer | None
    b: Answer | None
    diff: FileDiff
    asked: tuple[Case, ...] = ()
    is_cut: bool = False

    @property
    def case(self) -> Case | None:
        """The case that both were run with, or None if they asked different things."""
        return next(iter(self.asked), None) if self._asked_the_same else None

    @property
    def versions(self) -> tuple[Case, Case] | None:
        """The case as the first source ran it, and as the second one did, if they asked different things."""
        return None if self._asked_the_same else (self.asked[0], self.asked[-1])

    @property
    def _asked_the_same(self) -> bool:
        return all(each.question == self.asked[0].question for each in self.asked)

    @property
    def both(self) -> tuple[Answer, Answer] | None:
        """Both answers, None unless there are two."""
        return None if self.a is None or self.b is None else (self.a, self.b)

    def choice_of(self, entry: CaseEntry) -> Choice | None:
        """Return the choice of a case that is about these answers; newer ones may have come since it was read."""
        if self.both is None or entry.preferred is None:
            return None
        a, b = self.both
        return entry.choice if entry.preferred.is_between(a.place, b.place) else None

    @property
    def run_ids(self) -> Sequence[str]:
        """The runs from which the answers are."""
        return tuple(dict.fromkeys(each.place.run for each in (self.a, self.b) if each is not None))

    @property
    def note(self) -> str:
        """What a reader should know of the answers; empty for nothing."""
        if self.a is None or self.b is None:
            return "one side has no answer"
        if not self._asked_the_same:
            return "different versions of this case"
        if self.is_cut:
            return f"only the first {_MOST_LINES:,} lines of each answer are compared"
        if self.diff.added or self.diff.removed:
            return ""
        return "both answers are identical" if self.a.text else "both answers are empty"


def swapped_choice(choice: Choice) -> Choice:
    """Return what a choice means if the answers change sides."""
    match choice:
        case "a":
            return "b"
        case "b":
            return "a"
    return choice


def _of(outcomes: Outcomes, case: str, repeat: int) -> Outcome | None:
    return next((each for each in outcomes.get(case, ()) if each.trial.repeat == repeat), None)


def other_answers(outcomes: Sequence[Outcome]) -> list[tuple[int, int]]:
    """Return every repeat and attempt of a case as (repeat, attempt); attempt 0 is the last one."""
    found: list[tuple[int, int]] = []
    for outcome in outcomes:
        found += [(outcome.trial.repeat, number) for number in range(1, outcome.attempts)]
        found.append((outcome.trial.repeat, 0))
    return found


def next_answer(source: Source, outcomes: Sequence[Outcome]) -> Source:
    """Return the source with its next repeat or attempt, after the last one with the first."""
    others = other_answers(outcomes)
    here = (source.repeat, source.attempt)
    if not others:
        return source
    repeat, attempt = others[(others.index(here) + 1) % len(others)] if here in others else others[0]
    return replace(source, repeat=repeat, attempt=attempt)


def sources_of_models(
    suite: str, run: str, models: Sequence[str], current: str, runs: Sequence[RunRecord]
) -> tuple[Source, Source] | None:
    """Return which answers to compare first: those of the first model and of the `current` one, or of the next.

    With a single model these are its newest run and the one before, or its first two repeats. An empty `run` means the
    newest answers; `runs` are those of the suite, the newest first. Return None without a model.
    """
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
    """Return which answers of a run to compare first: with the baseline of its suite if both ran the same model; else
    two of its models, or the same model in the run before."""
    base = next((each for each in runs if each.id == baseline and each.id != run.id), None)
    shared = [model for model in run.models if base is not None and model in base.models]
    if base is not None and shared:
        return Source(run.suite_path, base.id, shared[0]), Source(run.suite_path, run.id, shared[0])
    return sources_of_models(run.suite_path, run.id, run.models, "", runs)


_ALL_LINES = 1_000_000_000
_MOST_LINES = 20_000  # of each answer: the git library blocks all threads, for 30 ms if so many lines differ
_CONTEXT_LINES = 3


def answer_diff(left: str, right: str, *, folded: bool) -> FileDiff:
    """Return the differences of two answers, the left one as the old text; `folded` leaves out identical parts.

    Equal answers are returned whole. Loads the git library on first use, and can take a while: call it in a thread.
    """
    from tui.session.changes import diff_texts

    left, right = _with_newline(left), _with_newline(right)
    if left == right:
        return _unchanged(left)
    context = _CONTEXT_LINES if folded else _ALL_LINES
    # A NUL would make git call the text binary; it is shown as a picture anyway.
    found = diff_texts(_bytes(left), _bytes(right), min(context, left.count("\n") + right.count("\n") + 1))
    # What git takes for the head of a function is any line of an answer.
    hunks = tuple(replace(hunk, heading="") for hunk in found.hunks)
    return FileDiff("answer", "modified", hunks, added=found.added, removed=found.removed)


def first_lines(text: str) -> str:
    """Return the part of an answer that is compared."""
    lines = text.split("\n", _MOST_LINES)
    return "\n".join(lines[:_MOST_LINES]) if len(lines) > _MOST_LINES and lines[_MOST_LINES] else text


def whole_answer(text: str) -> FileDiff:
    """Return the part of an answer that is compared, as a diff without differences."""
    return _unchanged(_with_newline(first_lines(text)))


def _with_newline(text: str) -> str:
    """Return the text with a newline at its end: one that is missing is no difference between answers."""
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
