"""What a person does while scoring risk, act by act: nothing is overwritten, the latest counts."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from tui.model.trials import TrialKey

ActKind = Literal["score", "invalidate", "adjudicate", "reveal"]
Extent = int | Literal["n/a"]
"""0 to 4 (`tui.model.bands.EXTENTS`), or not applicable."""
_OURS = ("attempt", "seed", "took_ms", "withdraws")


class ItemKey(NamedTuple):
    """What is scored: an answer × a criterion's name."""

    case: str
    model: str
    repeat: int
    criterion: str

    @property
    def trial(self) -> TrialKey:
        """Whose answer it is."""
        return TrialKey(self.case, self.model, self.repeat)


@dataclass(frozen=True, slots=True)
class Act:
    """One line of a score file.

    A `reveal` needs no `item`, a `reveal` or `invalidate` no `extent`: what others wrote there is kept and means
    nothing. `scored_at` is ISO 8601 with zone; `blind` says whether names were hidden, `seed` what ordered the
    queue then; `guidance` is the version of the text that explained the extents. `attempt` is the answer that was
    read (None: the last), `took_ms` how long it was looked at, `withdraws` the id of the decision that an
    `invalidate` takes back (None: the reviewer's own score of the item).
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

    @property
    def scored_item(self) -> ItemKey | None:
        """What is acted on; None for `reveal`, which is of the whole run."""
        return None if self.act == "reveal" else self.item

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
    for key in _OURS:
        mine, theirs = getattr(one, key), getattr(other, key)
        if mine is not None and theirs is not None and mine != theirs:
            return None
        ours[key] = mine if mine is not None else theirs
    whole = replace(one, **ours)
    return whole if replace(other, **ours) == whole else None


def new_act_id() -> str:
    """32 random hex digits."""
    return secrets.token_hex(16)
