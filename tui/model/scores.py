"""What a person does while scoring risk, act by act: nothing is overwritten, the latest counts."""

import hashlib
import secrets
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from tui.model.results import Attempt, StepResult, TrialKey, TrialResult

ActKind = Literal["score", "invalidate", "adjudicate", "reveal", "look"]
OF_A_RUN = frozenset({"reveal", "look"})
"""Acts that are of a whole run: they name no item."""
Extent = int | Literal["n/a"]
"""0 to 4 (`tui.model.risk.EXTENTS`), or not applicable."""
_OPTIONAL = ("answer", "attempt", "seed", "took_ms", "withdraws", "masked", "repeats")


class ItemKey(NamedTuple):
    """What is scored: an answer × a criterion's name. `again` is the same item shown a second time, unannounced: what
    is given there shows how far a reviewer agrees with themselves, and counts nowhere else."""

    case: str
    model: str
    repeat: int
    criterion: str
    again: bool = False

    @property
    def first(self) -> "ItemKey":
        """The item itself, as it is scored for good."""
        return self._replace(again=False) if self.again else self

    @property
    def trial(self) -> TrialKey:
        """Whose answer it is."""
        return TrialKey(self.case, self.model, self.repeat)


@dataclass(frozen=True, slots=True)
class Act:
    """One line of a score file.

    A `reveal` or `look` needs no `item`, a `reveal`, `look` or `invalidate` no `extent`: what others wrote there is
    kept and means nothing. A `look` says that its reviewer saw names during a blind session; its note says where.
    `scored_at` is ISO 8601 with zone; `blind` says whether names were hidden, `seed` what ordered the queue then;
    `guidance` is the version of the text that explained the extents. `answer` is the SHA-256 of the answer that was
    read (`answer_hash`; None: not said), `attempt` the number of its attempt, `took_ms` how long it was looked at,
    `withdraws` the id of the decision that an `invalidate` takes back (None: the reviewer's own score of the item).
    `masked` is how many names were masked in the answer when it was scored blind, `repeats` how many percent of the
    answers the session shows twice.
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
        """What is acted on; None for what is of the whole run (`reveal`, `look`)."""
        return None if self.act in OF_A_RUN else self.item

    @property
    def order(self) -> tuple[datetime, str]:
        """Acts are in the order of time; of the same instant, of ids."""
        return datetime.fromisoformat(self.scored_at), self.id


def joined(one: Act, other: Act) -> Act | None:
    """Two readings of one line put together: a file that another program wrote may lack the keys that are ours alone.
    None where they are no readings of the same line."""
    if one == other:
        return one
    ours: dict[str, Any] = {}
    if one.item and other.item and one.item.first == other.item.first:
        ours["item"] = one.item._replace(again=one.item.again or other.item.again)
    for key in _OPTIONAL:
        mine, theirs = getattr(one, key), getattr(other, key)
        if mine is not None and theirs is not None and mine != theirs:
            return None
        ours[key] = mine if mine is not None else theirs
    whole = replace(one, **ours)
    return whole if replace(other, **ours) == whole else None


def answer_text(steps: Iterable[StepResult]) -> str:
    """Return the text of an answer as score files name it: the outputs of all steps, joined by LF."""
    return "\n".join([step.response for step in steps])


def answer_hash(steps: Iterable[StepResult]) -> str:
    """Return the SHA-256 (hex) of the UTF-8 text of an answer.

    A lone surrogate, which UTF-8 cannot hold, is hashed as U+FFFD: what any UTF-8 encoder of the web writes for it.
    """
    text = answer_text(steps)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text).encode()
    return hashlib.sha256(data).hexdigest()


def current_answer_hash(result: TrialResult) -> str:
    """Return the hash of a result's current answer: that of its last attempt."""
    return answer_hash(result.attempts[-1].steps if result.attempts else ())


def answer_at(attempts: Iterable[Attempt], instant: datetime) -> str | None:
    """Return the hash of the answer that was the current one at that time; None where none was finished yet.

    An attempt whose start is not known counts as finished before every instant.
    """
    finished = [attempt for attempt in attempts if _finished_by(attempt, instant)]
    return answer_hash(finished[-1].steps) if finished else None


def _finished_by(attempt: Attempt, instant: datetime) -> bool:
    try:
        started = datetime.fromisoformat(attempt.started_at)
        return started.tzinfo is None or (instant - started).total_seconds() * 1000 >= attempt.duration_ms
    except (ValueError, OverflowError):
        return True


def new_act_id() -> str:
    """32 random hex digits."""
    return secrets.token_hex(16)


HowFound = Literal["single", "agreed", "highest", "decided"]


@dataclass(frozen=True, slots=True)
class CountedScore:
    """The extent that counts for an item, and why: one score, the same by all, the highest of several that differ (as
    long as nobody has decided), or a decision."""

    extent: Extent
    how: HowFound


class Scoreboard:
    """Acts may come in any order and more than once. With `answers` (of each trial the hash of its current answer) an
    act counts only where it names that answer; others stay in the trail."""

    def __init__(self, acts: Iterable[Act] = (), answers: Mapping[TrialKey, str] | None = None) -> None:
        self._answers = None if answers is None else dict(answers)
        self._acts: dict[str, Act] = {}
        for act in acts:
            self._acts.setdefault(act.id, act)
        by_item: dict[ItemKey | None, list[Act]] = {}
        for act in self.acts:
            by_item.setdefault(act.scored_item, []).append(act)
        # Tuples that are replaced, never changed: a thread that adds does not disturb one that reads.
        self._of_run = tuple(by_item.pop(None, ()))
        self._by_item = {item: tuple(of) for item, of in by_item.items() if item is not None}

    def add(self, act: Act) -> None:
        """One act more; one that is known changes nothing."""
        if act.id in self._acts:
            return
        self._acts[act.id] = act
        item = act.scored_item
        if item is None:
            self._of_run = _with(self._of_run, act)
        else:
            self._by_item[item] = _with(self._by_item.get(item, ()), act)

    @property
    def acts(self) -> tuple[Act, ...]:
        """All of them, in their order."""
        return tuple(sorted(self._acts.values(), key=lambda act: act.order))

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Who has a score that counts, by name."""
        return tuple(sorted({score.reviewer for item in self.items for score in self.scores(item)}))

    @property
    def items(self) -> tuple[ItemKey, ...]:
        """What anybody has acted on, by name; without what was scored a second time."""
        return tuple(sorted(item for item in self._by_item if not item.again))

    @property
    def scored_again(self) -> tuple[ItemKey, ...]:
        """What was shown to somebody a second time, by name."""
        return tuple(sorted(item for item in self._by_item if item.again))

    def score_before(self, again: Act) -> Act | None:
        """Return the reviewer's score of the same item that counted when they scored it `again`."""
        assert again.item is not None
        before = [act for act in self._by_item.get(again.item.first, ()) if act.order < again.order]
        return current_score(before, again.reviewer, self._is_of_now)

    def trail(self, item: ItemKey) -> tuple[Act, ...]:
        """Everything that happened to an item."""
        return self._by_item.get(item, ())

    def score(self, item: ItemKey, reviewer: str) -> Act | None:
        """The reviewer's score that counts."""
        return current_score(self._by_item.get(item, ()), reviewer, self._is_of_now)

    def scores(self, item: ItemKey) -> tuple[Act, ...]:
        """Of each reviewer the score that counts, by reviewer."""
        names = sorted({act.reviewer for act in self._by_item.get(item, ())})
        return tuple(score for name in names if (score := self.score(item, name)) is not None)

    def decision(self, item: ItemKey) -> Act | None:
        """The latest decision that was not taken back."""
        acts = self._by_item.get(item, ())
        withdrawn = {act.withdraws for act in acts if act.act == "invalidate"}
        found = [act for act in acts if act.act == "adjudicate" and act.id not in withdrawn and self._is_of_now(act)]
        return found[-1] if found else None

    def counted(self, item: ItemKey) -> CountedScore | None:
        """The extent that counts; None where nobody has scored."""
        decision = self.decision(item)
        if decision is not None and decision.extent is not None:
            return CountedScore(decision.extent, "decided")
        extents = [score.extent for score in self.scores(item) if score.extent is not None]
        if not extents:
            return None
        if len(set(extents)) == 1:
            return CountedScore(extents[0], "single" if len(extents) == 1 else "agreed")
        return CountedScore(max(extent for extent in extents if extent != "n/a"), "highest")

    def disputed(self, item: ItemKey) -> bool:
        """Reviewers differ and nobody has decided."""
        counted = self.counted(item)
        return counted is not None and counted.how == "highest"

    @property
    def outdated(self) -> int:
        """How many scores are of answers that were replaced since, and were not given anew: none counts."""
        return len(self.outdated_scores())

    @property
    def unbound(self) -> int:
        """How many acts name no answer, nor can one be found for them: none counts."""
        if self._answers is None:
            return 0
        return sum(act.answer is None and act.act not in OF_A_RUN for act in tuple(self._acts.values()))

    def outdated_scores(self) -> tuple[tuple[ItemKey, str], ...]:
        """The items and reviewers of `outdated`."""
        last: dict[tuple[ItemKey, str], ActKind] = {}
        for item, acts in tuple(self._by_item.items()):
            for act in () if item.again else acts:
                if act.act != "adjudicate" and not act.withdraws and act.answer and not self._is_of_now(act):
                    last[item, act.reviewer] = act.act
        return tuple(key for key, kind in last.items() if kind == "score" and self.score(*key) is None)

    def masked_trials(self) -> frozenset[TrialKey]:
        """Return the answers in which names were masked when somebody gave a score that counts."""
        by_trial = {item.trial for item in tuple(self._by_item) if any(act.masked for act in self.scores(item))}
        return frozenset(by_trial)

    def replace_answer(self, trial: TrialKey, answer: str) -> None:
        """Say which answer of a trial is the current one from now on."""
        if self._answers is not None:
            self._answers[trial] = answer

    def revealed(self, reviewer: str) -> bool:
        """Whether the reviewer has asked for the names."""
        return any(act.reviewer == reviewer for act in self.reveals())

    def reveals(self) -> tuple[Act, ...]:
        """Every reveal, in order."""
        return tuple(act for act in self._of_run if act.act == "reveal")

    def looks(self, reviewer: str) -> int:
        """How often the reviewer has seen names during a blind session."""
        return sum(act.act == "look" and act.reviewer == reviewer for act in self._of_run)

    def _is_of_now(self, act: Act) -> bool:
        if self._answers is None or act.item is None:
            return True
        return act.answer is not None and self._answers.get(act.item.trial) == act.answer


def current_score(acts: Sequence[Act], reviewer: str, counts: Callable[[Act], bool]) -> Act | None:
    """Return the reviewer's score that is current after these acts of one item, of those that count."""
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
    """Return a sentence about the scores of replaced answers and one about acts that name no answer, where there are
    any."""
    said = []
    if count := board.outdated:
        one = "1 score is of an answer that was replaced since, and counts nowhere."
        said.append(
            one if count == 1 else f"{count:,} scores are of answers that were replaced since, and count nowhere."
        )
    if count := board.unbound:
        one = "1 line names no answer and is older than the first one: it counts nowhere."
        several = f"{count:,} lines name no answer and are older than the first one: they count nowhere."
        said.append(one if count == 1 else several)
    return tuple(said)


def is_blind_open(acts: Iterable[Act], reviewer: str) -> bool:
    """Whether the reviewer has acted without knowing the names, and has not revealed them."""
    mine = [act for act in acts if act.reviewer == reviewer]
    return any(act.blind for act in mine) and not any(act.act == "reveal" for act in mine)
