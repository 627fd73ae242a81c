"""How far the reviewers of a run agree."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

from tui.model.risk import Agreement, Interval, PairAgreement
from tui.model.scoring import Scoreboard
from tui.risk.queue import ReviewItem
from tui.statistics.agreement import ordinal_alpha, weighted_kappa


def agreement(items: Iterable[ReviewItem], board: Scoreboard) -> Agreement:
    """The agreement over these items by the scores that count now; decisions do not enter. n/a is a missing rating. It
    does not depend on the order of the items; criteria and reviewers are in the order of their names.
    """
    units: dict[str, list[list[int]]] = defaultdict(list)
    reviewers: set[str] = set()
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for item in items:
        scores = board.scores(item.key)
        reviewers.update(score.reviewer for score in scores)
        given = [(score.reviewer, score.extent) for score in scores if isinstance(score.extent, int)]
        units[item.criterion.name].append([extent for _, extent in given])
        for (a, ours), (b, theirs) in combinations(given, 2):
            pairs[a, b].append((ours, theirs))
    overall = ordinal_alpha(ratings for of_criterion in units.values() for ratings in of_criterion)
    return Agreement(
        overall=Interval(overall.value, overall.low, overall.high),
        by_criterion={name: Interval(*ordinal_alpha(units[name])[:3]) for name in sorted(units)},
        pairs=tuple(
            PairAgreement(a, b, len(pairs[a, b]), weighted_kappa(pairs[a, b]))
            for a, b in combinations(sorted(reviewers), 2)
        ),
        units=overall.units,
    )
