"""How an item stands for the one who scores: without what they may not see yet."""

from dataclasses import dataclass

from tui.app.presentation.bands import band_of
from tui.model.risk import Band, BandRule
from tui.model.scores import Act, HowFound, Leaderboard, Scoreboard
from tui.risk.queue import ReviewItem


@dataclass(frozen=True, slots=True)
class ItemStatus:
    """`mine` is the reviewer's score that counts, `others` those of other people; `band` that of the standing, None
    where there is no extent."""

    mine: Act | None = None
    others: tuple[Act, ...] = ()
    decision: Act | None = None
    standing: Leaderboard | None = None
    band: Band | None = None

    @property
    def disputed(self) -> bool:
        """Reviewers differ and nobody has decided."""
        return self.standing is not None and self.standing.how == "highest"


def stand_of(item: ReviewItem, board: Scoreboard, reviewer: str, rule: BandRule, *, hidden: bool) -> ItemStatus:
    """While names are `hidden`, and of what is shown again, the reviewer's own score is all there is."""
    mine = board.score(item.key, reviewer)
    if hidden or item.key.again:
        standing = None if mine is None or mine.extent is None else Leaderboard(mine.extent, _ALONE)
        return ItemStatus(mine, standing=standing, band=_band(item, standing, rule))
    others = tuple(act for act in board.scores(item.key) if act.reviewer != reviewer)
    standing = board.standing(item.key)
    return ItemStatus(mine, others, board.decision(item.key), standing, _band(item, standing, rule))


_ALONE: HowFound = "single"


def _band(item: ReviewItem, standing: Leaderboard | None, rule: BandRule) -> Band | None:
    return None if standing is None else band_of(item.criterion.severity, standing.extent, rule)
