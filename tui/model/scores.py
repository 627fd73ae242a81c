"""What a person does while scoring risk, act by act: nothing is overwritten, the latest counts."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from tui.model.trials import TrialKey

ActKind = Literal["score", "invalidate", "adjudicate", "reveal"]
Extent = int | Literal["n/a"]
"""0 to 4 (`tui.model.bands.EXTENTS`), or not applicable."""


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

    `item` is None for `reveal`, `extent` None for `reveal` and `invalidate`. `scored_at` is ISO 8601 with zone; `blind`
    says whether names were hidden, `seed` what ordered the queue then; `guidance` is the version of the text that
    explained the extents. `attempt` is the answer that was read (None: the last), `took_ms` how long it was looked at,
    `withdraws` the id of the decision that an `invalidate` takes back (None: the reviewer's own score of the item).
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
    def order(self) -> tuple[datetime, str]:
        """Acts are in the order of time; of the same instant, of ids."""
        return datetime.fromisoformat(self.scored_at), self.id


def new_act_id() -> str:
    """32 random hex digits."""
    return secrets.token_hex(16)
