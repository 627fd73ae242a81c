"""How the models stand by what people preferred: Bradley–Terry, in words. Without textual."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.app.presentation.names import fitted_names
from tui.app.presentation.pieces import Line, fill, width_of
from tui.app.presentation.text_rows import text_rows
from tui.model.sanitize import sanitize_line
from tui.session.preferences import Preferred, latest

if TYPE_CHECKING:
    from tui.statistics.preferences import Estimate, Ranking

_HEADS = "  preferred", "  not", "  tie", "  both bad"
_COUNTS, _SHARE = sum(map(len, _HEADS)), 15
_MOST_PAIRS = 30
_HOW = (
    "a, b, t and x in Compare give preferences; of two answers that one person compared twice, the last choice counts. "
    "Shares are by the Bradley–Terry model with ties (Davidson 1970); against all is against a model as strong as the "
    "mean of these. The 95% intervals are bootstraps over cases"
)
_ALONE = ": what the same people would prefer in other such cases."
_PEOPLE = (
    " and people: what other such people would prefer in other such cases. Behind “these people” stands the interval "
    "for the same people and other cases."
)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The models from the one preferred most, by so many choices, `blind` of them without names."""

    choices: int
    blind: int
    ranking: "Ranking"

    def lines(self, width: int) -> list[Line]:
        """All of it in so many cells."""
        if not self.choices:
            return [
                *text_rows("No preference between two models was given in this suite yet.", width, "strong"),
                *self._how(width),
            ]
        choices = "1 choice" if self.choices == 1 else f"{self.choices} choices"
        people = f", by {self.ranking.people} people" if self.ranking.people > 1 else ""
        told = f"{choices} in this suite{people}, about {_cases(self.ranking.cases)}; {self.blind} of them blind."
        names = self._names(width)
        return [
            *text_rows(told, width, "dim"),
            (),
            *self._table(names),
            (),
            *self._follows(names, width),
            *self._how(width),
        ]

    def _names(self, width: int) -> dict[str, str]:
        models = [each.model for each in self.ranking.strengths]
        room = max(12, min(40, width - _COUNTS - _SHARE))
        return dict(zip(models, fitted_names(models, room), strict=True))

    def _table(self, names: Mapping[str, str]) -> list[Line]:
        room = max(map(width_of, names.values()))
        lines: list[Line] = [((f"{'':{room}}{''.join(_HEADS)}{'against all':>{_SHARE}}", "dim"),)]
        for each in self.ranking.strengths:
            figures = each.wins, each.losses, each.ties, each.both_bad
            counts = "".join(f"{figure:>{len(head)}}" for head, figure in zip(_HEADS, figures, strict=True))
            share = _share(each.estimate) if each.estimate else "–"
            name = fill(names[each.model], room)
            lines.append(((name, "strong"), (counts, "plain"), (f"{share:>{_SHARE}}", "accent")))
        return lines

    def _follows(self, names: Mapping[str, str], width: int) -> list[Line]:
        """What may be said of each pair, or why nothing may be."""
        if self.ranking.lacking:
            return text_rows(f"Not enough data: {sanitize_line(self.ranking.lacking, 400)}.", width, "accent")
        models = [*names]
        pairs = [(a, b) for at, a in enumerate(models) for b in models[at + 1 :]]
        lines = [line for a, b in pairs[:_MOST_PAIRS] for line in self._pair(a, b, names, width)]
        if len(pairs) > _MOST_PAIRS:
            lines.append(((f"… {len(pairs) - _MOST_PAIRS} more pairs", "dim"),))
        return lines

    def _pair(self, a: str, b: str, names: Mapping[str, str], width: int) -> list[Line]:
        apart = self.ranking.difference(a, b)
        if apart is None:
            return []
        sure, here = apart.low > 0, apart.same_people[0] > 0
        finding = f"{names[a]} is preferred." if sure else "no preference shown."
        if here and not sure:
            finding = f"{names[a]} is preferred by these people; that others would is not shown."
        near = f", these people {_span(apart.same_people)}" if self.ranking.people > 1 else ""
        shares = f"preferred in {_share(apart)} of the choices for one of them{near}"
        return text_rows(f"{names[a]} against {names[b]}: {shares}: {finding}", width, "passed" if sure else "accent")

    def _how(self, width: int) -> list[Line]:
        return [(), *text_rows(_HOW + (_PEOPLE if self.ranking.people > 1 else _ALONE), width, "dim")]


def standing_of(preferred: Iterable[Preferred], suite_path: str) -> Leaderboard:
    """Return the ranking from all choices of a suite between two models. Loads numpy: call it in a thread."""
    from tui.statistics.preferences import Preference, rank_preferences

    counted = [each for each in latest(preferred) if each.suite == suite_path and each.a.model != each.b.model]
    ranking = rank_preferences(
        Preference(each.a.model, each.b.model, each.choice, each.case, each.reviewer) for each in counted
    )
    return Leaderboard(len(counted), sum(each.blind for each in counted), ranking)


def _share(estimate: "Estimate") -> str:
    """Log odds as shares: `62% (41–79)`."""
    return f"{_percent(estimate.value):.0f}% {_span((estimate.low, estimate.high))}"


def _span(ends: tuple[float, float]) -> str:
    return f"({_percent(ends[0]):.0f}–{_percent(ends[1]):.0f})"


def _percent(odds: float) -> float:
    return 100 / (1 + math.exp(-max(-700.0, min(700.0, odds))))


def _cases(count: int) -> str:
    """Return `1 case` or `12 cases`."""
    return "1 case" if count == 1 else f"{count} cases"
