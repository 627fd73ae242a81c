"""How the models stand by what people preferred: Bradley–Terry, in words. Without textual."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.app.presentation.naming import fitted_names
from tui.app.presentation.pieces import Line, fill, width_of
from tui.app.review.rows import text_rows
from tui.model.shown import show_line
from tui.session.preferences import Preferred, latest

if TYPE_CHECKING:
    from tui.statistics.preferences import Estimate, Ranking

_HEADS = "  preferred", "  not", "  tie", "  both bad"
_COUNTS, _SHARE = sum(map(len, _HEADS)), 15
_MOST_PAIRS = 30
_HOW = (
    "a, b, t and x in Compare give preferences; of two answers that were compared twice, the last choice counts. "
    "Shares are by the Bradley–Terry model with ties (Davidson 1970), with their 95% intervals; against all is against "
    "a model as strong as the mean of these. Choices count as independent."
)


@dataclass(frozen=True, slots=True)
class Standing:
    """The models from the one preferred most, by so many choices, `blind` of them without names."""

    choices: int
    blind: int
    ranking: "Ranking"

    def lines(self, width: int) -> list[Line]:
        """All of it in so many cells."""
        if not self.choices:
            return [
                *text_rows("No preference between two models was given in this suite yet.", width, "strong"),
                *_how(width),
            ]
        choices = "1 choice" if self.choices == 1 else f"{self.choices} choices"
        told = f"{choices} in this suite, {self.blind} of them blind."
        names = self._names(width)
        return [*text_rows(told, width, "dim"), (), *self._table(names), (), *self._follows(names, width), *_how(width)]

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
            return text_rows(f"Not enough data: {show_line(self.ranking.lacking, 400)}.", width, "accent")
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
        sure = apart.low > 0
        finding = f"{names[a]} is preferred." if sure else "no preference shown."
        said = f"{names[a]} against {names[b]}: preferred in {_share(apart)} of the choices for one of them: {finding}"
        return text_rows(said, width, "passed" if sure else "accent")


def standing_of(preferred: Iterable[Preferred], suite_path: str) -> Standing:
    """From all choices that were written down, those of a suite between two models. Loads scipy: made for a thread."""
    from tui.statistics.preferences import Preference, rank_preferences

    counted = [each for each in latest(preferred) if each.suite == suite_path and each.a.model != each.b.model]
    ranking = rank_preferences(Preference(each.a.model, each.b.model, each.choice) for each in counted)
    return Standing(len(counted), sum(each.blind for each in counted), ranking)


def _how(width: int) -> list[Line]:
    return [(), *text_rows(_HOW, width, "dim")]


def _share(estimate: "Estimate") -> str:
    """Log odds as shares: `62% (41–79)`."""
    value, low, high = (100 / (1 + math.exp(-max(-700.0, min(700.0, odds)))) for odds in estimate)
    return f"{value:.0f}% ({low:.0f}–{high:.0f})"
