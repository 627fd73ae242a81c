"""What the Compare screen shows as lines: cases, names of answers, the choice, and the leaderboard of preferences."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.app.compare.pairs import CaseEntry, ComparisonSession, swapped_choice
from tui.app.presentation.figures import seconds
from tui.app.presentation.marks import RERUN, kind_word, mark_of, unevaluated_words, word_of
from tui.app.presentation.names import fitted_names, model_names
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, fill, spread, width_of
from tui.app.presentation.table_lines import FigurePage, Figures
from tui.app.presentation.text_rows import text_rows
from tui.app.runs.lines import day_and_time
from tui.model.figure_table import FigureTable
from tui.model.filter import StatusWord
from tui.model.outcomes import Outcome
from tui.model.percentages import percent, percent_range
from tui.model.results import CheckResult
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.answers import Answer, Source
from tui.session.preferences import Choice, Preferred, latest

if TYPE_CHECKING:
    from tui.statistics.preferences import Estimate, Ranking

Names = tuple[str, ...]
"""The name of a source, in full and in ever shorter forms."""
_SHORT_NAME = 20
_WIDE_HALF = 50
_ENTRY_FRAME = " ✓✓↻   ● "
_CHOICES: dict[Choice, Piece] = {
    "a": ("A", "accent"),
    "b": ("B", "accent"),
    "tie": ("=", "dim"),
    "both_bad": ("x", "failed"),
}
_LABELS: tuple[tuple[Choice, str], ...] = (
    ("a", "A is better"),
    ("b", "B is better"),
    ("tie", "tie"),
    ("both_bad", "both bad"),
)
_SHORT = {"A is better": "A", "B is better": "B"}


def entry_line(entry: CaseEntry, blind: bool, width: int) -> Line:
    """Return a case: both verdicts, unless `blind`; its name; the preference."""
    marks: list[Piece] = [("··" if blind else "", "dim")]
    if not blind:
        marks = [mark_of(_status(outcome)) for outcome in entry.marks]
        if any(outcome and outcome.verdict != outcome.first_verdict for outcome in entry.marks):
            marks.append(RERUN)
    choice: Piece = ("", "dim")
    if entry.choice is not None:
        choice = ("●", "accent") if blind else _CHOICES[entry.choice]
    name = cut_middle(entry.name, width - len(_ENTRY_FRAME))
    return spread([(" ", "plain"), *marks, (f" {name}", "plain")], [choice, (" ", "plain")], width)


def _status(outcome: Outcome | Answer | None) -> StatusWord:
    if outcome is None:
        return "not_run"
    return "flaky" if outcome.flaky and outcome.verdict == "passed" else outcome.verdict


def title_line(comparison: ComparisonSession | None, message: str, width: int) -> Line:
    """Return the suite, the progress and the number of preferences; `message` is appended."""
    left: list[Piece] = [(" Assay", "accent"), ("  Compare  ", "strong")]
    if comparison is None:
        return spread([*left, (message, "dim")], [], width)
    left.append((sanitize_line(comparison.suite.name, 40), "plain"))
    if comparison.entries:
        left.append((f"  case {comparison.position + 1}/{len(comparison.entries)}", "dim"))
        left.append((f" · {comparison.chosen} preferred", "dim"))
    left.append((f"  {message}" if message else "", "accent"))
    right: list[Piece] = [(f"blind · seed {comparison.seed} ", "accent")] if comparison.blind else []
    return spread(left, right, width)


def source_names(source: Source, among: Sequence[Source], run: RunRecord | None) -> Names:
    """Return names that distinguish a source `among` others: in full, without a run that all share, and short."""
    models = list(dict.fromkeys((source.model, *(each.model for each in among))))
    place = models.index(source.model)
    where = "newest"
    if source.run:
        where = f"run {day_and_time(run.started_at).strip()}" if run else f"run {sanitize_line(source.run[:12])}"
    which = [f"repeat {source.repeat}"] if any(each.repeat > 1 for each in (source, *among)) else []
    which += [f"attempt {source.attempt}"] if source.attempt else []
    name, short = model_names(models)[place], fitted_names(models, _SHORT_NAME)[place]
    of_one_run = len(models) > 1 and len({each.run for each in among}) == 1
    parts = which if of_one_run else [where, *which]
    return tuple(" · ".join(form) for form in ([name, where, *which], [name, *parts], [short, *parts]))


def heads_line(
    names: tuple[Names, Names], answers: tuple[Answer | None, Answer | None], blind: bool, width: int
) -> Line:
    """Return the names and verdicts of the left and the right answer, the names as full as both fit; only
    their letters while `blind`."""
    half = max(4, width // 2)
    halves = (half, max(4, width - half))
    ends = [_end(answer, each) for answer, each in zip(answers, halves, strict=True)]
    rooms = [max(1, each - 6 - sum(width_of(text) for text, _ in end)) for each, end in zip(halves, ends, strict=True)]
    pairs: list[tuple[str, ...]] = [*zip(*names, strict=False)] or [("", "")]
    fits = (pair for pair in pairs if all(width_of(name) <= room for name, room in zip(pair, rooms, strict=True)))
    shown = next(fits, tuple(cut_middle(name, room) for name, room in zip(pairs[-1], rooms, strict=True)))
    line: list[Piece] = []
    for letter, name, end, each in zip("AB", shown, ends, halves, strict=True):
        line += _head(letter, "" if blind else name, () if blind else end, each)
    return tuple(line)


def head_line(side: int, names: Names, answer: Answer | None, blind: bool, width: int) -> Line:
    """Return the name and the verdict of the answer on one side, which is displayed alone."""
    end = () if blind else _end(answer, width)
    room = max(1, width - 6 - sum(width_of(text) for text, _ in end))
    name = next((each for each in names if width_of(each) <= room), cut_middle(names[-1], room) if names else "")
    return tuple(_head("AB"[side], "" if blind else name, end, width))


def _head(letter: str, name: str, end: Line, width: int) -> Sequence[Piece]:
    sign: Piece = ("-", "failed") if letter == "A" else ("+", "passed")
    return spread([(" ", "plain"), sign, (f" {letter} ", "accent"), (name, "strong")], end, width)


def _end(answer: Answer | None, width: int) -> Line:
    """Return verdict and duration of an answer; after a rerun also the verdict that counts for the trial."""
    if answer is None:
        return ()
    mark, duration = mark_of(_status(answer)), f" {seconds(answer.duration_ms)} s "
    if answer.counts_as is None:
        return (mark, (duration, "dim"))
    counts = f"rerun, counts as {word_of(answer.counts_as)}" if width >= _WIDE_HALF else mark_of(answer.counts_as)[0]
    return (mark, (" ", "plain"), (f"{RERUN[0]} {counts}", RERUN[1]), (duration, "dim"))


def check_lines(answers: tuple[Answer | None, Answer | None], width: int) -> list[Line]:
    """Return the checks of two answers with their results, and the text of each failure; nothing without checks."""
    results = [_checks_of(answer) for answer in answers]
    checks = {**results[0], **results[1]}
    if not checks:
        return []
    names = [(kind_word(check.kind), sanitize_line(check.target, 200)) for check in checks.values()]
    widest_kind = max(width_of(kind) for kind, _ in names)
    widest = min(max(width_of(target) for _, target in names), max(8, width // 2 - widest_kind - 4))
    lines: list[Line] = [((fill("", widest_kind + widest + 6), "plain"), (fill("A", 12), "accent"), ("B", "accent"))]
    for check, (kind, target) in zip(checks, names, strict=True):
        cells = [_check_cell(found.get(check)) for found in results]
        name: list[Piece] = [
            (f" {fill(kind, widest_kind)}  ", "dim"),
            (f"{fill(cut(target, widest), widest)}   ", "plain"),
        ]
        lines.append((*name, (fill(cells[0][0], 12), cells[0][1]), cells[1]))
    for letter, found in zip("AB", results, strict=True):
        details = [check.detail for check in found.values() if check.state != "passed" and check.detail]
        lines += [((f" {letter}  ", "accent"), (sanitize_line(detail, 300), "plain")) for detail in details]
    return lines


def _checks_of(answer: Answer | None) -> dict[tuple[str, str, int], CheckResult]:
    """Return the checks of an answer by what they look for, numbered among equal ones."""
    found: dict[tuple[str, str, int], CheckResult] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for check in answer.checks if answer is not None else ():
        same = check.kind, check.target
        found[*same, counts[same]] = check
        counts[same] += 1
    return found


def _check_cell(check: CheckResult | None) -> Piece:
    if check is None:
        return "·", "dim"
    if check.state == "timed_out":
        is_slow = unevaluated_words(check.kind, check.detail) == "pattern ran too long"
        return "! too long" if is_slow else "! no result", "error"
    return ("✓ passed", "passed") if check.state == "passed" else ("✗ failed", "failed")


def choice_line(choice: Choice | None, swapped: bool, note: str, keys: Sequence[str], width: int) -> Line:
    """Return the four keys, the current choice marked, and a `note` at the end."""
    room = width - sum(map(width_of, keys)) - (width_of(note) + 3 if note else 0)
    shown = swapped_choice(choice) if choice is not None and swapped else choice
    pieces: list[Piece] = []
    for key, (means, label) in zip(keys, _LABELS, strict=True):
        marked = means == shown
        label = label if room >= 50 else _SHORT.get(label, label)
        pieces += [(" ▸" if marked else "  ", "accent"), (key, "accent"), (f" {label} ", "strong" if marked else "dim")]
    return spread(pieces, [(cut(note, max(0, width // 2)), "dim"), (" ", "plain")] if note else [], width)


def source_line(source: Source, run: RunRecord | None, width: int) -> Line:
    """Return a source to choose: its model, and the run, with its passes if it has no other model."""
    name = fill(model_names([source.model])[0], max(12, width // 2 - 2))
    if run is None:
        return ((f" {name}", "strong"), ("  latest answers of all runs", "dim"))
    size = f"{run.passed}/{run.checked} passed" if len(run.models) == 1 else f"1 of {len(run.models):,} models"
    when = day_and_time(run.started_at)
    return ((f" {name}", "plain"), (f"  {when}  {size:>16}  {sanitize_line(run.id[:12])}", "dim"))


def nothing_lines(pair: Sequence[Names]) -> list[Line]:
    """Return why there is nothing to compare, and what to do."""
    return [
        (("Both sides have no answered case in common.", "strong"),),
        ((f"A  {pair[0][0]}", "dim"),),
        ((f"B  {pair[1][0]}", "dim"),),
        (("Press 1 or 2 to choose other answers, Esc to go back.", "plain"),),
    ]


_HEADS = "  preferred", "  not", "  tie", "  both bad"
_COUNTS, _SHARE = sum(map(len, _HEADS)), 15
_MOST_PAIRS = 30
_HOW = (
    "Record preferences with a, b, t and x in Compare; if a person compares the same answers twice, the last choice "
    "counts. Shares follow the Bradley–Terry model with ties (Davidson 1970); “against all” is against a model of "
    "mean strength. The 95% intervals are bootstraps over cases"
)
_ALONE = ": they estimate the preferences of the same people in similar cases."
_PEOPLE = (
    " and people: they estimate the preferences of other people in similar cases. “these people” marks the interval "
    "for the same people and similar cases."
)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Models ordered by how often they were preferred in a number of `choices`, `blind` of them made without names."""

    choices: int
    blind: int
    ranking: "Ranking"

    def lines(self, width: int) -> list[Line]:
        """Return the whole leaderboard in rows of at most `width` cells."""
        if not self.choices:
            return [
                *text_rows("No preference between two models recorded in this suite yet.", width, "strong"),
                *self._how(width),
            ]
        choices = "1 choice" if self.choices == 1 else f"{self.choices} choices"
        people = f", by {self.ranking.people} people" if self.ranking.people > 1 else ""
        summary = f"{choices} in this suite{people}, for {_cases(self.ranking.cases)}; {self.blind} blind."
        names = self._names(width)
        return [
            *text_rows(summary, width, "dim"),
            (),
            *self._table(names),
            (),
            *self._conclusions(names, width),
            *self._how(width),
        ]

    def figures(self, suite_name: str) -> Figures:
        """Return the leaderboard as tabs: the text, a table of the models, and one of the pairs."""
        ranking = self.ranking
        models = FigureTable(
            "Ranking",
            ("Model", "Preferred", "Not", "Tie", "Both bad", "Against all (95%)"),
            tuple(
                (
                    each.model,
                    *map(str, (each.wins, each.losses, each.ties, each.both_bad)),
                    _share(each.estimate) if each.estimate else "–",
                )
                for each in ranking.strengths
            ),
            5,
        )
        names = [each.model for each in ranking.strengths]
        apart = [(a, b, ranking.difference(a, b)) for at, a in enumerate(names) for b in names[at + 1 :]]
        pairs = FigureTable(
            "Pairs",
            ("A", "B", "Finding", "A preferred (95%)", "These people (95%)"),
            tuple(
                (a, b, self._finding(a, each), _share(each), _span(each.same_people)) for a, b, each in apart if each
            ),
            2,
        )
        pages = (FigurePage(models, "Overview", text=self.lines), FigurePage(models), FigurePage(pairs))
        return Figures("Preferences", suite_name, [each for each in pages if each.text or each.table.rows])

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

    def _conclusions(self, names: Mapping[str, str], width: int) -> list[Line]:
        """Return the conclusion on each pair, or why there is none."""
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
        sure, finding = apart.low > 0, f"{self._finding(names[a], apart)}."
        near = f", these people {_span(apart.same_people)}" if self.ranking.people > 1 else ""
        shares = f"preferred in {_share(apart)} of the decided choices{near}"
        return text_rows(f"{names[a]} against {names[b]}: {shares}: {finding}", width, "passed" if sure else "accent")

    @staticmethod
    def _finding(name: str, apart: "Estimate") -> str:
        """Return what is shown about a model and the weaker one of a pair."""
        if apart.low > 0:
            return f"{name} is preferred"
        if apart.same_people[0] > 0:
            return f"{name} is preferred by these people; not shown for people in general"
        return "no preference shown"

    def _how(self, width: int) -> list[Line]:
        return [(), *text_rows(_HOW + (_PEOPLE if self.ranking.people > 1 else _ALONE), width, "dim")]


def leaderboard_of(preferred: Iterable[Preferred]) -> Leaderboard:
    """Return the leaderboard from the choices between two models in a suite. Loads numpy: call it in a thread."""
    from tui.statistics.preferences import Preference, rank_preferences

    counted = [each for each in latest(preferred) if each.a.model != each.b.model]
    ranking = rank_preferences(
        Preference(each.a.model, each.b.model, each.choice, each.case, each.reviewer) for each in counted
    )
    return Leaderboard(len(counted), sum(each.blind for each in counted), ranking)


def _share(estimate: "Estimate") -> str:
    """Return log odds as percentages: `62% (41–79)`."""
    return f"{percent(_probability(estimate.value))} {_span((estimate.low, estimate.high))}"


def _span(ends: tuple[float, float]) -> str:
    return f"({percent_range(*map(_probability, ends)).removesuffix('%')})"


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, odds))))


def _cases(count: int) -> str:
    """Return `1 case` or `12 cases`."""
    return "1 case" if count == 1 else f"{count} cases"
