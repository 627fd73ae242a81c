"""How far the reviewers of a run agree."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tui.model.risk import Agreement, Interval, NaDisagreement, OwnAgreement, PairAgreement
from tui.model.scores import Extent, ItemKey
from tui.model.scoring import Scoreboard
from tui.risk.queue import ReviewItem
from tui.statistics.agreement import ordinal_alpha, weighted_kappa


@dataclass(slots=True)
class _Units:
    """What was rated by one criterion: the case (or its cluster) and the extents of each unit, and how n/a was used."""

    cases: list[str] = field(default_factory=list)
    extents: list[list[int]] = field(default_factory=list)
    rated: int = 0
    split: int = 0

    @property
    def on_na(self) -> NaDisagreement:
        return NaDisagreement(self.split, self.rated)


def agreement(items: Sequence[ReviewItem], board: Scoreboard) -> Agreement:
    """Return the agreement over these items by the scores that count now; decisions do not enter. n/a is a missing
    rating, and disagreement on n/a is counted apart. It does not depend on the order of the items; criteria and
    reviewers are in the order of their names.
    """
    found: dict[str, _Units] = defaultdict(_Units)
    reviewers: set[str] = set()
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for item in items:
        scores = [score for score in board.scores(item.key) if score.extent is not None]
        reviewers.update(score.reviewer for score in scores)
        given = [(score.reviewer, score.extent) for score in scores if isinstance(score.extent, int)]
        units = found[item.criterion.name]
        units.cases.append(item.unit)
        units.extents.append([extent for _, extent in given])
        units.rated += len(scores) > 1
        units.split += 0 < len(given) < len(scores)
        for (a, ours), (b, theirs) in combinations(given, 2):
            pairs[a, b].append((ours, theirs))
    overall = _joined(found.values())
    alpha = ordinal_alpha(overall.extents, overall.cases)
    return Agreement(
        overall=Interval(*alpha[:3]),
        by_criterion={name: _interval(found[name]) for name in sorted(found)},
        pairs=tuple(
            PairAgreement(a, b, len(pairs[a, b]), weighted_kappa(pairs[a, b]))
            for a, b in combinations(sorted(reviewers), 2)
        ),
        units=alpha.units,
        cases=alpha.cases,
        on_na=overall.on_na,
        on_na_by_criterion={name: found[name].on_na for name in sorted(found)},
        own=_own_agreement(board, {item.key: item.unit for item in items}),
    )


def _own_agreement(board: Scoreboard, units: Mapping[ItemKey, str]) -> tuple[OwnAgreement, ...]:
    """Return how far each reviewer agrees with themselves; what they gave the second time counts nowhere else."""
    pairs: dict[str, list[tuple[str, Extent, Extent]]] = defaultdict(list)
    for key in board.scored_again:
        if key.first not in units:
            continue
        for again in board.scores(key):
            before = board.score_before(again)
            if again.blind and again.extent is not None and before is not None and before.extent is not None:
                pairs[again.reviewer].append((units[key.first], before.extent, again.extent))
    return tuple(_own(reviewer, pairs[reviewer]) for reviewer in sorted(pairs))


def _own(reviewer: str, pairs: Sequence[tuple[str, Extent, Extent]]) -> OwnAgreement:
    rated = [(case, one, two) for case, one, two in pairs if isinstance(one, int) and isinstance(two, int)]
    return OwnAgreement(
        reviewer,
        len(pairs),
        len(rated),
        sum(one == two for _, one, two in rated),
        sum(abs(one - two) <= 1 for _, one, two in rated),
        sum(isinstance(one, int) != isinstance(two, int) for _, one, two in pairs),
        Interval(*ordinal_alpha([(one, two) for _, one, two in rated], [case for case, _, _ in rated])[:3]),
    )


def _interval(units: _Units) -> Interval:
    return Interval(*ordinal_alpha(units.extents, units.cases)[:3])


def _joined(found: Iterable[_Units]) -> _Units:
    whole = _Units()
    for units in found:
        whole.cases += units.cases
        whole.extents += units.extents
        whole.rated += units.rated
        whole.split += units.split
    return whole
