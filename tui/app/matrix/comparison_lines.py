"""The comparison of two models on their common cases: a sentence, a line of a list, the details, and the statistics."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from tui.app.matrix.statistics import Statistics
from tui.app.presentation.names import fitted_names
from tui.app.presentation.pieces import Line, Piece, Role, fill, width_of
from tui.app.presentation.table_lines import FigurePage, Figures, LinesFor
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Suite
from tui.session.figure_files import comparison_table, model_table
from tui.statistics import comparison_words as words
from tui.statistics.comparison import Comparison
from tui.statistics.run_figures import ModelFigures

_CASES_LISTED = 200
_SHORT_NAME = 24

_MOST_GROUPS = 12


def sentence(pair: Comparison, names: Mapping[str, str], progress: str = "") -> Line:
    """Return the comparison of two models as a sentence: counts, the test and its conclusion.

    While the run is not finished it has the counts and `progress` only.
    """
    a, b = names[pair.a], names[pair.b]
    if not pair.common:
        return ((f"{a} and {b} have no common checked case yet: nothing to compare.", "dim"),)
    does = "passes" if pair.method == "mcnemar-exact" else "does better in"
    than = f"that {b} does not" if pair.method == "mcnemar-exact" else f"than {b}"
    counts = f"{a} {does} {_cases(pair.wins)} {than}, and the reverse in {_cases(pair.losses)}; {_ties(pair.ties)}"
    if pair.interim:
        return ((f"{counts}. ", "dim"), (_interim(progress), "accent"))
    text, role = judgement(pair, names)
    return ((f"{counts}. {words.p_value_words(pair)}: ", "dim"), (f"{text}.", role))


def brief(pair: Comparison, names: Mapping[str, str], progress: str = "") -> Line:
    """Return the comparison of two models in as few words as possible."""
    names = short_names(names)
    a, b = names[pair.a], names[pair.b]
    won = f"{a} wins {pair.wins}, {b} wins {pair.losses}, {_ties(pair.ties)}"
    if pair.interim:
        return ((f"{won}; ", "dim"), (_interim(progress), "accent"))
    text, role = judgement(pair, names, short=True)
    return ((f"{won}; {words.p_value_words(pair, short=True)}: ", "dim"), (f"{text}.", role))


def _interim(progress: str) -> str:
    return f"So far {progress}; tests follow when the run is finished." if progress else "Run not finished."


def short_names(models: Mapping[str, str]) -> dict[str, str]:
    """Return the names of all models of a matrix, cut to a moderate width."""
    return dict(zip(models, fitted_names([*models], _SHORT_NAME), strict=True))


def judgement(pair: Comparison, names: Mapping[str, str], *, short: bool = False) -> Piece:
    """Return the conclusion of a comparison; with the detail that a reader needs to interpret it, unless `short`."""
    if short:
        text, detail = words.brief_conclusion(pair, names), ""
    else:
        text, detail = words.conclusion_words(pair, names), words.conclusion_detail(pair, names)
    role: Role = "passed" if pair.better else "dim" if not pair.common else "accent"
    return (f"{text}; {detail}" if detail else text), role


class PairsTable(NamedTuple):
    """One line for each pair, and the width of the widest line cut after each piece: narrow screens omit the last."""

    pairs: Sequence[Comparison]
    lines: list[Line]
    widths: list[int]

    def pieces_in(self, width: int) -> int:
        """Return how many pieces of every line fit, at least two."""
        return max(2, bisect_right(self.widths, width))


def pairs_table(pairs: Sequence[Comparison], names: Mapping[str, str]) -> PairsTable:
    """Return one line for each pair: the conclusion, then the figures, last the interval.

    With hundreds of models this takes seconds: it is work for a thread.
    """
    names = short_names(names)
    titles = [f"{names[pair.a]} : {names[pair.b]}" for pair in pairs]
    width = min(56, max(map(width_of, titles), default=0))
    judged = [judgement(pair, names, short=True) for pair in pairs]
    room = min(44, max((width_of(text) for text, _ in judged), default=0))
    lines = [
        _pair_line(pair, fill(title, width), each, room)
        for pair, title, each in zip(pairs, titles, judged, strict=True)
    ]
    ends = (accumulate(width_of(text) for text, _ in line) for line in lines)
    return PairsTable(pairs, lines, [max(column) for column in zip(*ends, strict=True)])


def _pair_line(pair: Comparison, title: str, judged: Piece, room: int) -> Line:
    text, role = judged
    difference, space, interval = words.difference_words(pair).partition(" (")
    return (
        (f" {title}", "strong"),
        (f"  {fill(text, room)}", role),
        (f"  {pair.wins:>4} won · {pair.losses} lost · {_ties(pair.ties)}", "plain"),
        (f"  {difference}", "dim"),
        (space + interval, "dim"),
    )


def pair_lines(
    pair: Comparison,
    names: Mapping[str, str],
    cases: Mapping[str, Case],
    figures: Mapping[str, ModelFigures] | None = None,
    progress: str = "",
) -> list[Line]:
    """Return the details of a pair: its difference, the categories, then the cases behind each number.

    Cases are in suite order.
    """
    a, b = names[pair.a], names[pair.b]
    lines: list[Line] = [sentence(pair, names, progress), *_apart(pair), *_unanswered(pair, names, figures or {})]
    lines += _where(pair, names, cases)
    places = {case: place for place, case in enumerate(cases)}
    listed: tuple[tuple[str, tuple[str, ...], Role], ...] = (
        (f"{a} does better than {b}", pair.win_cases, "passed"),
        (f"{b} does better than {a}", pair.loss_cases, "failed"),
    )
    for title, ids, role in listed:
        lines += [(), ((f"{title}: {_cases(len(ids))}", role),)]
        for case in sorted(ids, key=lambda case: places.get(case, len(places)))[:_CASES_LISTED]:
            lines.append(((f"  {sanitize_line(cases[case].name if case in cases else case)}", "plain"),))
        if len(ids) > _CASES_LISTED:
            lines.append(((f"  … {len(ids) - _CASES_LISTED} more", "dim"),))
    return lines


def statistics_figures(
    statistics: Statistics, pair: tuple[str, str] | None, names: Mapping[str, str], suite: Suite, progress: str
) -> Figures:
    """Return the comparison of every pair and the counts of each model as tabs, with the cursor on a pair.

    A row that is chosen is the index of a pair. With hundreds of models this takes seconds: it is work for a thread.
    """
    pairs, shown = statistics.pairs, statistics.pair(pair)
    cases = {case.id: case for case in suite.cases}
    listed = pairs_table(pairs, names)

    def line(row: int, width: int) -> Line:
        return listed.lines[row][: listed.pieces_in(width)]

    def details(row: int) -> LinesFor:
        made = pair_lines(pairs[row], names, cases, statistics.figures, progress)
        return lambda _: made

    pages = (
        FigurePage(comparison_table(pairs), line=line, details=details, selects=True),
        FigurePage(model_table(statistics.figures)),
    )
    return Figures("Statistics", suite.name, pages, selected=pairs.index(shown) if shown in pairs else 0)


def _apart(pair: Comparison) -> list[Line]:
    """Return the difference of the pass rates with its interval."""
    if pair.difference is None:
        return []
    interval = words.interval_words(pair)
    over = f", simultaneous over {pair.pairs} pairs" if pair.pairs > 1 else ""
    end = f" (95% interval{over}: {interval})" if interval else ""
    return [((f"Difference of pass rates: {words.points(pair.difference)} points{end}.", "dim"),)]


def _unanswered(pair: Comparison, names: Mapping[str, str], figures: Mapping[str, ModelFigures]) -> list[Line]:
    """Return a line for each model with errors: they count as not passed and affect the comparison."""
    tallies = [(model, figures[model].tally) for model in (pair.a, pair.b) if model in figures]
    counts = [(model, each.errors - each.unchecked_errors, each.trials) for model, each in tallies]
    return [
        (
            (
                f"{names[model]}: {errors} of {trials} trials ended in an error and count as not passed.",
                "error",
            ),
        )
        for model, errors, trials in counts
        if errors
    ]


def _where(pair: Comparison, names: Mapping[str, str], cases: Mapping[str, Case]) -> list[Line]:
    """Return the counts by category, the greatest difference first; empty if there is only one category."""

    def by_category(ids: Sequence[str]) -> Counter[str]:
        return Counter(cases[case].category if case in cases else "" for case in ids)

    wins, losses, ties = map(by_category, (pair.win_cases, pair.loss_cases, pair.tie_cases))
    found = sorted(wins | losses | ties, key=lambda name: (-abs(wins[name] - losses[name]), name))
    if len(found) < 2:
        return []
    titles = {name: sanitize_line(name, 40) or "no category" for name in found[:_MOST_GROUPS]}
    width = max(map(width_of, titles.values()))
    lines: list[Line] = [
        (),
        ((f"By category, {names[pair.a]} : {names[pair.b]}", "strong"), ("  (counted, not tested)", "dim")),
    ]
    for name, title in titles.items():
        better: Role = "plain" if wins[name] == losses[name] else "passed" if wins[name] > losses[name] else "failed"
        score = f"{wins[name]:>3} : {losses[name]}"
        lines.append(((f"  {fill(title, width)}", "plain"), (f"  {score:<9}", better), (_ties(ties[name]), "dim")))
    if len(found) > _MOST_GROUPS:
        lines.append(((f"  … {len(found) - _MOST_GROUPS} more categories", "dim"),))
    return lines


def _cases(number: int) -> str:
    return f"{number} case" if number == 1 else f"{number} cases"


def _ties(number: int) -> str:
    return f"{number} tie" if number == 1 else f"{number} ties"
