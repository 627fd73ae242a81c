"""The lines around two answers: the cases, whose answers they are, the choice."""

from collections.abc import Sequence

from tui.app.compare.pairs import CaseEntry, ComparisonSession
from tui.app.presentation.figures import seconds
from tui.app.presentation.marks import RERUN, mark_of, word_of
from tui.app.presentation.names import fitted_names, model_names
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, fill, spread, width_of
from tui.app.runs.lines import day_and_time
from tui.model.filter import StatusWord
from tui.model.outcomes import Outcome
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.answers import Answer, Source
from tui.session.preferences import Choice

Names = tuple[str, ...]
"""What somebody is called, in full and ever shorter."""
_SHORT_NAME = 20
_WIDE_HALF = 50
_STOP_AROUND = " ✓✓↻   ● "
_CHOICES: dict[Choice, Piece] = {
    "a": ("A", "accent"),
    "b": ("B", "accent"),
    "tie": ("=", "dim"),
    "both_bad": ("x", "failed"),
}
_KEYS: tuple[tuple[str, Choice, str], ...] = (
    ("a", "a", "A is better"),
    ("b", "b", "B is better"),
    ("t", "tie", "tie"),
    ("x", "both_bad", "both bad"),
)
_SHORT = {"A is better": "A", "B is better": "B"}


def stop_line(stop: CaseEntry, blind: bool, width: int) -> Line:
    """A case on the way: how both did, unless that is hidden, its name, what was preferred."""
    marks: list[Piece] = [("··" if blind else "", "dim")]
    if not blind:
        marks = [mark_of(_status(outcome)) for outcome in stop.marks]
        if any(outcome and outcome.verdict != outcome.first_verdict for outcome in stop.marks):
            marks.append(RERUN)
    choice: Piece = ("", "dim")
    if stop.choice is not None:
        choice = ("●", "accent") if blind else _CHOICES[stop.choice]
    name = cut_middle(stop.name, width - len(_STOP_AROUND))
    return spread([(" ", "plain"), *marks, (f" {name}", "plain")], [choice, (" ", "plain")], width)


def _status(outcome: Outcome | Answer | None) -> StatusWord:
    if outcome is None:
        return "unasked"
    return "flaky" if outcome.flaky and outcome.verdict == "passed" else outcome.verdict


def title_line(walk: ComparisonSession | None, said: str, width: int) -> Line:
    """Suite, how far one is, how many preferences there are."""
    left: list[Piece] = [(" Assay", "accent"), ("  Compare  ", "strong")]
    if walk is None:
        return spread([*left, (said, "dim")], [], width)
    left.append((sanitize_line(walk.suite.name, 40), "plain"))
    if walk.stops:
        left.append((f"  case {walk.at + 1}/{len(walk.stops)}", "dim"))
        left.append((f" · {walk.chosen} preferred", "dim"))
    left.append((f"  {said}" if said else "", "accent"))
    right: list[Piece] = [(f"blind · seed {walk.seed} ", "accent")] if walk.blind else []
    return spread(left, right, width)


def source_names(source: Source, among: Sequence[Source], run: RunRecord | None) -> Names:
    """Whose answers they are, told apart from the others: in full, without the run that all are of, and short."""
    models = list(dict.fromkeys((source.model, *(each.model for each in among))))
    place = models.index(source.model)
    where = "newest"
    if source.run:
        where = f"run {day_and_time(run.started_at).strip()}" if run else f"run {sanitize_line(source.run[:12])}"
    which = [f"repeat {source.repeat}"] if any(each.repeat > 1 for each in (source, *among)) else []
    which += [f"attempt {source.attempt}"] if source.attempt else []
    name, short = model_names(models)[place], fitted_names(models, _SHORT_NAME)[place]
    of_one_run = len(models) > 1 and len({each.run for each in among}) == 1
    telling = which if of_one_run else [where, *which]
    return tuple(" · ".join(parts) for parts in ([name, where, *which], [name, *telling], [short, *telling]))


def heads_line(
    names: tuple[Names, Names], answers: tuple[Answer | None, Answer | None], blind: bool, width: int
) -> Line:
    """Whose answer stands on which side, and how it did; of hidden ones the letter alone. Both are called as fully as
    there is room for both."""
    half = max(4, width // 2)
    halves = (half, max(4, width - half))
    ends = [_end(answer, each) for answer, each in zip(answers, halves, strict=True)]
    rooms = [max(1, each - 6 - sum(width_of(text) for text, _ in end)) for each, end in zip(halves, ends, strict=True)]
    pairs: list[tuple[str, ...]] = [*zip(*names, strict=False)] or [("", "")]
    fits = (pair for pair in pairs if all(width_of(name) <= room for name, room in zip(pair, rooms, strict=True)))
    shown = next(fits, tuple(cut_middle(name, room) for name, room in zip(pairs[-1], rooms, strict=True)))
    line: list[Piece] = []
    for letter, name, end, each in zip("AB", shown, ends, halves, strict=True):
        sign: Piece = ("-", "failed") if letter == "A" else ("+", "passed")
        left: list[Piece] = [(" ", "plain"), sign, (f" {letter} ", "accent"), ("" if blind else name, "strong")]
        line += spread(left, () if blind else end, each)
    return tuple(line)


def _end(answer: Answer | None, width: int) -> Line:
    """How an answer did and how long it took; what its trial counts as, where that is not what a rerun came to."""
    if answer is None:
        return ()
    mark, duration = mark_of(_status(answer)), f" {seconds(answer.duration_ms)} s "
    if answer.counts_as is None:
        return (mark, (duration, "dim"))
    counts = f"rerun, counts as {word_of(answer.counts_as)}" if width >= _WIDE_HALF else mark_of(answer.counts_as)[0]
    return (mark, (" ", "plain"), (f"{RERUN[0]} {counts}", RERUN[1]), (duration, "dim"))


def choice_line(choice: Choice | None, swapped: bool, note: str, width: int) -> Line:
    """The four keys, with what was chosen before, as it is shown now; `note` is said at the end."""
    shown = {"a": "b", "b": "a"}.get(choice or "", choice) if swapped else choice
    pieces: list[Piece] = []
    for key, means, says in _KEYS:
        is_it = means == shown
        says = says if width - (width_of(note) + 3 if note else 0) >= 54 else _SHORT.get(says, says)
        pieces += [(" ▸" if is_it else "  ", "accent"), (key, "accent"), (f" {says} ", "strong" if is_it else "dim")]
    return spread(pieces, [(cut(note, max(0, width // 2)), "dim"), (" ", "plain")] if note else [], width)


def source_line(source: Source, run: RunRecord | None, width: int) -> Line:
    """A source to choose: its model, the run, how that did."""
    name = fill(model_names([source.model])[0], max(12, width // 2 - 2))
    if run is None:
        return ((f" {name}", "strong"), ("  newest answers of all runs", "dim"))
    passed = f"{run.passed}/{run.checked}"
    when = day_and_time(run.started_at)
    return ((f" {name}", "plain"), (f"  {when}  {passed:>9} passed  {sanitize_line(run.id[:12])}", "dim"))


def nothing_lines(pair: Sequence[Names]) -> list[Line]:
    """Why there is nothing to compare, and what to do."""
    return [
        (("There is no case that both have answered.", "strong"),),
        ((f"A  {pair[0][0]}", "dim"),),
        ((f"B  {pair[1][0]}", "dim"),),
        (("1 and 2 choose other answers; Esc goes back.", "plain"),),
    ]
