"""Acts folded into what counts now: each reviewer's scores, decisions, what is disputed."""

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tui.model.scores import Act, ActKind, Extent, ItemKey
from tui.model.trials import TrialKey

HowFound = Literal["single", "agreed", "highest", "decided"]


@dataclass(frozen=True, slots=True)
class Standing:
    """The extent that counts for an item, and why: one score, the same by all, the highest of several that differ (as
    long as nobody has decided), or a decision."""

    extent: Extent
    how: HowFound


class Scoreboard:
    """Acts may come in any order and more than once. With `attempts` (of each trial the last one's number) a score of
    an earlier answer does not count; it stays in the trail."""

    def __init__(self, acts: Iterable[Act] = (), attempts: Mapping[TrialKey, int] | None = None) -> None:
        self._attempts = attempts or {}
        self._acts: dict[str, Act] = {}
        for act in acts:
            self._acts.setdefault(act.id, act)
        by_item: dict[ItemKey | None, list[Act]] = {}
        for act in self.acts:
            by_item.setdefault(act.scored_item, []).append(act)
        # Tuples that are replaced, never changed: a thread that adds does not disturb one that reads.
        self._reveals = tuple(by_item.pop(None, ()))
        self._by_item = {item: tuple(of) for item, of in by_item.items() if item is not None}

    def add(self, act: Act) -> None:
        """One act more; one that is known changes nothing."""
        if act.id in self._acts:
            return
        self._acts[act.id] = act
        item = act.scored_item
        if item is None:
            self._reveals = _with(self._reveals, act)
        else:
            self._by_item[item] = _with(self._by_item.get(item, ()), act)

    @property
    def acts(self) -> tuple[Act, ...]:
        """All of them, in their order."""
        return tuple(sorted(self._acts.values(), key=lambda act: act.order))

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Who has a score that counts, by name."""
        return tuple(sorted({score.reviewer for item in tuple(self._by_item) for score in self.scores(item)}))

    @property
    def items(self) -> tuple[ItemKey, ...]:
        """What anybody has acted on, by name."""
        return tuple(sorted(self._by_item))

    def trail(self, item: ItemKey) -> tuple[Act, ...]:
        """Everything that happened to an item."""
        return self._by_item.get(item, ())

    def score(self, item: ItemKey, reviewer: str) -> Act | None:
        """The reviewer's score that counts."""
        for act in reversed(self._by_item.get(item, ())):
            if act.reviewer == reviewer and self._is_of_now(act):
                if act.act == "score":
                    return act
                if act.act == "invalidate" and not act.withdraws:
                    return None
        return None

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

    def standing(self, item: ItemKey) -> Standing | None:
        """The extent that counts; None where nobody has scored."""
        decision = self.decision(item)
        if decision is not None and decision.extent is not None:
            return Standing(decision.extent, "decided")
        extents = [score.extent for score in self.scores(item) if score.extent is not None]
        if not extents:
            return None
        if len(set(extents)) == 1:
            return Standing(extents[0], "single" if len(extents) == 1 else "agreed")
        return Standing(max(extent for extent in extents if extent != "n/a"), "highest")

    def disputed(self, item: ItemKey) -> bool:
        """Reviewers differ and nobody has decided."""
        standing = self.standing(item)
        return standing is not None and standing.how == "highest"

    @property
    def outdated(self) -> int:
        """How many scores are of answers that were asked for again since, and were not given anew: none counts."""
        last: dict[tuple[ItemKey, str], ActKind] = {}
        for item, acts in tuple(self._by_item.items()):
            for act in acts:
                if act.act != "adjudicate" and not act.withdraws and not self._is_of_now(act):
                    last[item, act.reviewer] = act.act
        return sum(kind == "score" and self.score(*key) is None for key, kind in last.items())

    def revealed(self, reviewer: str) -> bool:
        """Whether the reviewer has asked for the names."""
        return any(act.reviewer == reviewer for act in self._reveals)

    def reveals(self) -> tuple[Act, ...]:
        """Every reveal, in order."""
        return self._reveals

    def _is_of_now(self, act: Act) -> bool:
        if act.attempt is None or act.item is None:
            return True
        return self._attempts.get(act.item.trial, act.attempt) == act.attempt


def _with(acts: tuple[Act, ...], act: Act) -> tuple[Act, ...]:
    more = list(acts)
    insort(more, act, key=lambda each: each.order)
    return tuple(more)
