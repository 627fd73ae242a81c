"""What a person does while scoring risk, act by act: nothing is overwritten, the latest counts."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from tui.model.results import Attempt, StepResult, TrialKey, TrialResult

ActKind = Literal["score", "invalidate", "adjudicate", "reveal", "look"]
OF_A_RUN = frozenset({"reveal", "look"})
"""Acts that are of a whole run: they name no item."""
Extent = int | Literal["n/a"]
"""0 to 4 (`tui.model.bands.EXTENTS`), or not applicable."""
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
