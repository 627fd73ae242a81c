"""The log of manual risk scoring: acts are only appended, and the latest one counts."""

import hashlib
import secrets
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from tui.model.results import Attempt, StepResult, TrialKey, TrialResult, current_attempt
from tui.model.suite import Case, RiskCriterion

ActKind = Literal["score", "invalidate", "adjudicate", "reveal", "look"]
OF_A_RUN = frozenset({"reveal", "look"})
"""The acts on a whole run, which name no item."""
Extent = int | Literal["n/a"]
"""The extent of a violation, 0 to 4 (`tui.model.risk.EXTENTS`), or not applicable."""
_OPTIONAL = ("answer", "attempt", "seed", "took_ms", "masked", "repeats")


class ItemKey(NamedTuple):
    """The item that is scored: an answer × a criterion's name.

    `again` is the same item shown a second time, unannounced: its scores only measure how far a reviewer agrees with
    themselves.
    """

    case: str
    model: str
    repeat: int
    criterion: str
    again: bool = False

    @property
    def first(self) -> "ItemKey":
        """The item itself, without `again`."""
        return self._replace(again=False) if self.again else self

    @property
    def trial(self) -> TrialKey:
        """The trial whose answer is scored."""
        return TrialKey(self.case, self.model, self.repeat)


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One answer × criterion.

    `answer` is the number of the answer in the queue, `of` how many criteria the answer has and `number` which one
    this is; both numbers count from 1.
    """

    key: ItemKey
    case: Case
    criterion: RiskCriterion
    answer: int
    number: int
    of: int

    @property
    def unit(self) -> str:
        """The independent unit: the case, or the cluster that it belongs to."""
        return f"cluster {self.case.cluster}" if self.case.cluster else f"case {self.case.id}"


@dataclass(frozen=True, slots=True)
class Act:
    """One line of a score file.

    A `reveal` or `look` needs no `item`, a `reveal`, `look` or `invalidate` no `extent`: values that other programs
    wrote there are preserved and ignored. A `look` records that its reviewer saw names during a blind session; its note
    says where. `scored_at` is ISO 8601 with a time zone. `blind` is whether names were hidden, `seed` the seed of the
    queue's order; `guidance` is the version of the text that explained the extents. `answer` is the SHA-256 of the
    scored answer (`answer_hash`; None if not recorded), `attempt` the number of its attempt, `took_ms` how long it was
    shown, `withdraws` the id of the decision that an `invalidate` withdraws (None: the reviewer's own score of the
    item). `masked` is the number of names masked in the answer when it was scored blind, `repeats` the percentage of
    answers that the session shows twice.
    """

    act: ActKind
    id: str
    run: str
    item: ItemKey | None
    extent: Extent | None
    note: str
    reviewer: str
    scored_at: str
    blind: bool = False
    guidance: str = ""
    attempt: int | None = None
    seed: int | None = None
    took_ms: int | None = None
    withdraws: str | None = None
    answer: str | None = None
    masked: int | None = None
    repeats: int | None = None

    @property
    def scored_item(self) -> ItemKey | None:
        """The item that the act is about; None for acts on the whole run (`reveal`, `look`)."""
        return None if self.act in OF_A_RUN else self.item

    @property
    def order(self) -> tuple[datetime, str]:
        """The sort key of acts: the time, then the id."""
        return datetime.fromisoformat(self.scored_at), self.id


def joined(one: Act, other: Act) -> Act | None:
    """Return two versions of the same line merged, or None if they differ.

    A file that another program wrote may lack the keys that only Assay writes, and may contain the same time in another
    notation. Versions with and without `again` or `withdraws` differ: those keys decide which score counts.
    """
    if one == other:
        return one
    ours: dict[str, Any] = {"scored_at": one.scored_at} if one.order[0] == other.order[0] else {}
    for key in _OPTIONAL:
        mine, theirs = getattr(one, key), getattr(other, key)
        if mine is not None and theirs is not None and mine != theirs:
            return None
        ours[key] = mine if mine is not None else theirs
    whole = replace(one, **ours)
    return whole if replace(other, **ours) == whole else None


def is_copy(line: Act, stored: Act) -> bool:
    """Return whether a line is a copy of a stored one.

    As in `joined`, optional keys may be missing; `again` and `withdraws` only in the copy.
    """
    if line.item and stored.item and line.item == stored.item.first:
        line = replace(line, item=stored.item)
    if line.withdraws is None and stored.withdraws is not None:
        line = replace(line, withdraws=stored.withdraws)
    return joined(line, stored) is not None


def is_overridden(stored: Act, act: Act) -> bool:
    """Return whether a stored act counts no longer after `act`, or makes it wrong.

    Those are acts of the same reviewer on the same item, for a decision the decisions of all reviewers, and for a blind
    act the reviewer's reveal of the names.
    """
    if stored.run != act.run or act.item is None:
        return False
    if stored.act == "reveal":
        return act.blind and stored.reviewer == act.reviewer
    if stored.scored_item is None or stored.scored_item.first != act.item.first:
        return False
    if stored.act == "score" and stored.extent is None:  # a line of a template
        return False
    return stored.reviewer == act.reviewer or (_is_of_decision(stored) and _is_of_decision(act))


def _is_of_decision(act: Act) -> bool:
    return act.act == "adjudicate" or act.withdraws is not None


def answer_text(steps: Iterable[StepResult]) -> str:
    """Return the text of an answer for its hash: the outputs of all steps, joined by LF."""
    return "\n".join([step.response for step in steps])


def prompt_texts(case: Case, steps: Sequence[StepResult]) -> list[str]:
    """Return the text of each step's prompt: what was recorded with its answer, else that of the case.

    They differ for replayed answers after an edit, and for imported answers with prompts of their own.
    """
    sent = {number: step.prompt.input for number, step in enumerate(steps)}
    return [sent.get(number) or step.input for number, step in enumerate(case.steps)]


def answer_hash(steps: Iterable[StepResult]) -> str:
    """Return the SHA-256 (hex) of the UTF-8 text of an answer.

    A lone surrogate, which UTF-8 cannot encode, is hashed as U+FFFD, like in any UTF-8 encoder of the web.
    """
    text = answer_text(steps)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text).encode()
    return hashlib.sha256(data).hexdigest()


def current_answer_hash(result: TrialResult) -> str:
    """Return the hash of a result's current answer."""
    return answer_hash(result.current_steps)


def answer_at(attempts: Iterable[Attempt], instant: datetime) -> str | None:
    """Return the hash of the answer that was current at that time, or None if none was finished yet.

    An attempt without a start time counts as finished before any time.
    """
    current = current_attempt(attempt for attempt in attempts if _finished_by(attempt, instant))
    return answer_hash(current.steps) if current is not None else None


def _finished_by(attempt: Attempt, instant: datetime) -> bool:
    try:
        started = datetime.fromisoformat(attempt.started_at)
        return started.tzinfo is None or (instant - started).total_seconds() * 1000 >= attempt.duration_ms
    except (ValueError, OverflowError):
        return True


def new_act_id() -> str:
    """Return a new act id: 32 random hex digits."""
    return secrets.token_hex(16)


HowFound = Literal["single", "agreed", "highest", "decided"]


@dataclass(frozen=True, slots=True)
class CountedScore:
    """The extent that counts for an item, and its source.

    It comes from one score, equal scores, the highest of several different scores (without a decision), or a decision.
    """

    extent: Extent
    how: HowFound


class Scoreboard:
    """The current state of all scores, computed from acts in any order, which may be repeated.

    With `answers` (the hash of each trial's current answer) an act counts only if it names that answer; other acts
    remain in the trail.
    """

    def __init__(self, acts: Iterable[Act] = (), answers: Mapping[TrialKey, str] | None = None) -> None:
        self._answers = None if answers is None else dict(answers)
        self._acts: dict[str, Act] = {}
        for act in acts:
            self._acts.setdefault(act.id, act)
        by_item: dict[ItemKey | None, list[Act]] = {}
        for act in self.acts:
            by_item.setdefault(act.scored_item, []).append(act)
        # Tuples are replaced, never changed, so that one thread may add while another reads.
        self._of_run = tuple(by_item.pop(None, ()))
        self._revealed = self._first_reveals()
        self._by_item = {item: tuple(of) for item, of in by_item.items() if item is not None}

    def add(self, act: Act) -> None:
        """Add one act; an act that was added before changes nothing."""
        if act.id in self._acts:
            return
        self._acts[act.id] = act
        item = act.scored_item
        if item is None:
            self._of_run = _with(self._of_run, act)
            self._revealed = self._first_reveals()
        else:
            self._by_item[item] = _with(self._by_item.get(item, ()), act)

    def has(self, id: str) -> bool:
        """Return whether an act of this id was added."""
        return id in self._acts

    @property
    def acts(self) -> tuple[Act, ...]:
        """All acts, in their order."""
        return tuple(sorted(self._acts.values(), key=lambda act: act.order))

    @property
    def reviewers(self) -> tuple[str, ...]:
        """The names of reviewers with a score that counts, sorted."""
        return tuple(sorted({score.reviewer for item in self.items for score in self.scores(item)}))

    @property
    def items(self) -> tuple[ItemKey, ...]:
        """The items with any act, sorted by name; without repeated items."""
        return tuple(sorted(item for item in self._by_item if not item.again))

    @property
    def scored_again(self) -> tuple[ItemKey, ...]:
        """The repeated items with any act, sorted by name."""
        return tuple(sorted(item for item in self._by_item if item.again))

    def score_before(self, again: Act) -> Act | None:
        """Return the reviewer's score of the same item that counted when they scored it `again`."""
        assert again.item is not None
        before = [act for act in self._by_item.get(again.item.first, ()) if act.order < again.order]
        return current_score(before, again.reviewer, self._is_of_now)

    def trail(self, item: ItemKey) -> tuple[Act, ...]:
        """Return all acts on an item."""
        return self._by_item.get(item, ())

    def latest_before(self, act: Act) -> datetime | None:
        """Return the time of the latest act that a new one has to follow in order to count, or None.

        Acts on other items are not among them: one that was dated by a clock that was ahead dates no others.
        """
        item = act.scored_item
        if item is None:
            earlier = [each for each in self._acts.values() if each.reviewer == act.reviewer]
        else:
            of_item = self.trail(item.first) + self.trail(item.first._replace(again=True))
            earlier = [*of_item, *(each for each in self._of_run if each.reviewer == act.reviewer)]
        return max((each.order[0] for each in earlier), default=None)

    def score(self, item: ItemKey, reviewer: str) -> Act | None:
        """Return the reviewer's score that counts, or None."""
        return current_score(self._by_item.get(item, ()), reviewer, self._is_of_now)

    def scores(self, item: ItemKey) -> tuple[Act, ...]:
        """Return the score that counts of each reviewer."""
        names = sorted({act.reviewer for act in self._by_item.get(item, ())})
        return tuple(score for name in names if (score := self.score(item, name)) is not None)

    def decision(self, item: ItemKey) -> Act | None:
        """Return the latest decision that was not withdrawn."""
        acts = self._by_item.get(item, ())
        withdrawn = {act.withdraws for act in acts if act.act == "invalidate"}
        found = [act for act in acts if act.act == "adjudicate" and act.id not in withdrawn and self._is_of_now(act)]
        return found[-1] if found else None

    def counted(self, item: ItemKey) -> CountedScore | None:
        """Return the extent that counts for an item, or None if it has no score."""
        decision = self.decision(item)
        if decision is not None and decision.extent is not None:
            return CountedScore(decision.extent, "decided")
        extents = [score.extent for score in self.scores(item) if score.extent is not None]
        if not extents:
            return None
        if len(set(extents)) == 1:
            return CountedScore(extents[0], "single" if len(extents) == 1 else "agreed")
        return CountedScore(max(extent for extent in extents if extent != "n/a"), "highest")

    @property
    def outdated(self) -> int:
        """The number of scores of answers that were replaced since and not scored again: none counts."""
        return len(self.outdated_scores())

    @property
    def unbound(self) -> int:
        """The number of acts that cannot be matched to an answer: none counts."""
        if self._answers is None:
            return 0
        return sum(act.answer is None and act.act not in OF_A_RUN for act in tuple(self._acts.values()))

    def outdated_scores(self) -> tuple[tuple[ItemKey, str], ...]:
        """Return the items and reviewers of the `outdated` scores."""
        last: dict[tuple[ItemKey, str], ActKind] = {}
        for item, acts in tuple(self._by_item.items()):
            for act in () if item.again else acts:
                if act.act != "adjudicate" and not act.withdraws and act.answer and not self._is_of_now(act):
                    last[item, act.reviewer] = act.act
        return tuple(key for key, kind in last.items() if kind == "score" and self.score(*key) is None)

    def masked_trials(self) -> frozenset[TrialKey]:
        """Return the trials whose answers were scored, with a score that counts, while names were masked."""
        by_trial = {item.trial for item in tuple(self._by_item) if any(act.masked for act in self.scores(item))}
        return frozenset(by_trial)

    def replace_answer(self, trial: TrialKey, answer: str) -> None:
        """Set the current answer of a trial."""
        if self._answers is not None:
            self._answers[trial] = answer

    def add_answers(self, answers: Mapping[TrialKey, str]) -> None:
        """Set the current answers of the trials of which none is known yet."""
        if self._answers is not None:
            self._answers = {**answers, **self._answers}

    def revealed(self, reviewer: str) -> bool:
        """Return whether the reviewer has revealed the names."""
        return any(act.reviewer == reviewer for act in self.reveals())

    def reveals(self) -> tuple[Act, ...]:
        """Return every reveal, in order."""
        return tuple(act for act in self._of_run if act.act == "reveal")

    def is_blind(self, act: Act) -> bool:
        """Return whether an act was blind: none is after a reveal of the reviewer, whatever its line says."""
        revealed = self._revealed.get(act.reviewer)
        return act.blind and (revealed is None or act.order < revealed.order)

    def _first_reveals(self) -> dict[str, Act]:
        return {reveal.reviewer: reveal for reveal in reversed(self.reveals())}

    def looks(self, reviewer: str) -> int:
        """Return how often the reviewer saw names during a blind session."""
        return sum(act.act == "look" and act.reviewer == reviewer for act in self._of_run)

    def _is_of_now(self, act: Act) -> bool:
        if self._answers is None or act.item is None:
            return True
        return act.answer is not None and self._answers.get(act.item.trial) == act.answer


def current_score(acts: Sequence[Act], reviewer: str, counts: Callable[[Act], bool]) -> Act | None:
    """Return the reviewer's current score after these acts on one item, among those that count."""
    for act in reversed(acts):
        if act.reviewer == reviewer and counts(act):
            if act.act == "score":
                return act
            if act.act == "invalidate" and not act.withdraws:
                return None
    return None


def _with(acts: tuple[Act, ...], act: Act) -> tuple[Act, ...]:
    more = list(acts)
    insort(more, act, key=lambda each: each.order)
    return tuple(more)


def replaced_answers(board: Scoreboard) -> tuple[str, ...]:
    """Return sentences about the scores of replaced answers and about acts that name no answer, if there are any."""
    sentences = []
    if count := board.outdated:
        why = "(replaced later, or with a key removed)"
        one = f"1 score belongs to another version of its answer {why}, and is not counted."
        several = f"{count:,} scores belong to other versions of their answers {why}, and are not counted."
        sentences.append(one if count == 1 else several)
    if count := board.unbound:
        one = "1 line has no answer hash and is older than all answers: it is not counted."
        several = f"{count:,} lines have no answer hash and are older than all answers: they are not counted."
        sentences.append(one if count == 1 else several)
    return tuple(sentences)


def is_blind_open(acts: Iterable[Act], reviewer: str) -> bool:
    """Return whether the reviewer has acted without seeing the names, and has not revealed them."""
    mine = [act for act in acts if act.reviewer == reviewer]
    return any(act.blind for act in mine) and not any(act.act == "reveal" for act in mine)
