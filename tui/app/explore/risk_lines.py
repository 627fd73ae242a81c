"""The lines of the Risk tab: scores beside model names, hidden while a blind review of their reader is open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.app.presentation.bands import band_of, band_piece, extent_words, severity_weight
from tui.app.presentation.figures import counted
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, Piece, fill, spread, width_of
from tui.app.presentation.text_rows import rows_of, text_rows
from tui.model.risk import BandRule
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, Extent, ItemKey
from tui.model.state import RunState
from tui.model.suite import Case, RiskCriterion

if TYPE_CHECKING:
    from tui.session.run_review import RunReview


@dataclass(frozen=True, slots=True)
class BesideRow:
    """A row of the Risk tab: a criterion, or with an `item` an answer to which it applies.

    `hides` is true if there are scores that may not be displayed yet.
    """

    criterion: RiskCriterion
    item: ItemKey | None = None
    scores: tuple[Act, ...] = ()
    decision: Act | None = None
    hides: bool = False

    @property
    def counts(self) -> Extent | None:
        """Return the adjudicated score, else the highest visible one."""
        if self.decision is not None:
            return self.decision.extent
        extents = [score.extent for score in self.scores if score.extent is not None]
        return max(extents, key=lambda extent: -1 if extent == "n/a" else extent, default=None)

    @property
    def disputed(self) -> bool:
        """Return whether reviewers differ without a decision."""
        return self.decision is None and len({score.extent for score in self.scores}) > 1


def beside_rows(case: Case, models: Sequence[str], review: "RunReview | None", state: RunState) -> list[BesideRow]:
    """Return the answers of all models and repeats of a run for each criterion, displayed models first.

    Answers that `state` does not display are left out: it has one of another run, or the case was changed since.
    """
    rows: list[BesideRow] = []
    order = {model: place for place, model in enumerate(models_beside(models, review))}
    of_case = [each for each in review.items if each.key.case == case.id and not each.key.again] if review else []
    if review is not None:
        displayed = ((each, state.trials.get(each.key.trial)) for each in of_case)
        of_case = [each for each, trial in displayed if trial is not None and trial.run in ("", review.record.id)]
    for criterion in case.risk_criteria:
        items = [each for each in of_case if each.criterion.name == criterion.name]
        # Scores belong to the criterion as it was in the run: its severity may have been changed in the file since.
        rows.append(BesideRow(items[0].criterion if items else criterion))
        items.sort(key=lambda each: (order.get(each.key.model, len(order)), each.key.repeat))
        rows += [_row(each.criterion, each.key, review) for each in items if review is not None]
    return rows


def models_beside(models: Sequence[str], review: "RunReview | None") -> tuple[str, ...]:
    """Return the displayed models, then the other models of the run."""
    return tuple(dict.fromkeys((*models, *(review.record.models if review else ()))))


def _row(criterion: RiskCriterion, item: ItemKey, review: "RunReview") -> BesideRow:
    scores, decision = tuple(review.board.scores(item)), review.board.decision(item)
    if review.blind:
        return BesideRow(criterion, item, hides=bool(scores) or decision is not None)
    return BesideRow(criterion, item, scores, decision)


def beside_line(row: BesideRow, rule: BandRule, models: Sequence[str], width: int) -> Line:
    """Return a row in at most `width` cells."""
    if row.item is None:
        weight = severity_weight(row.criterion.severity, rule)
        return spread([(f"{sanitize_line(row.criterion.name, 200)} ", "strong")], [weight, (" ", "plain")], width)
    names = dict(zip(models, model_names(models), strict=True))
    room = min(max(map(width_of, names.values()), default=0), max(10, width // 3))
    name = fill(names.get(row.item.model, ""), room)
    repeat = f" #{row.item.repeat}" if row.item.repeat > 1 else ""
    left: list[Piece] = [("  ", "plain"), (f"{name}{repeat}  ", "plain"), *_counts(row, rule)]
    for score in row.scores:
        left += [(f"  {sanitize_line(score.reviewer, 24)}", "plain"), (f" {_short(score)}", "dim")]
    if row.decision is not None:
        left.append((f"  decided by {sanitize_line(row.decision.reviewer, 24)}", "dim"))
    notes = [act.note for act in (*row.scores, row.decision) if act is not None and act.note.strip()]
    left += [(f"  “{sanitize_line(notes[0], 200)}”", "dim")] if notes else []
    return spread(left, [], width)


def _counts(row: BesideRow, rule: BandRule) -> list[Piece]:
    counts = row.counts
    if counts is None:
        return [("hidden until you reveal the names" if row.hides else "not scored", "dim")]
    band = band_of(row.criterion.severity, counts, rule)
    pieces: list[Piece] = [(extent_words(counts), "strong")]
    pieces += [(" ", "plain"), band_piece(band)] if band else []
    return [*pieces, ("  differ", "flaky")] if row.disputed else pieces


def _short(score: Act) -> str:
    return "" if score.extent is None else str(score.extent)


def hidden_line(rows: Sequence[BesideRow]) -> Line:
    """Return the number of rows with hidden scores, and why they are hidden."""
    count = sum(row.hides for row in rows)
    return ((f"your blind review is open: scores hidden in {counted(count, 'row')}", "flaky"),) if count else ()


def left_out_line(case: Case, models: Sequence[str], review: "RunReview | None", state: RunState) -> Line:
    """Return what the rows leave out: models whose displayed answers are of another run, and criteria of the run that
    the case does not have now; empty without any."""
    if review is None:
        return ()
    parts = []
    elsewhere = [
        model
        for model in models
        if any(trial.run not in ("", review.record.id) for trial in state.repeats(case.id, model))
    ]
    if elsewhere:
        parts.append(f"{', '.join(model_names(elsewhere))}: answered in another run, whose Review has the scores")
    reviewed = {item.key.model for item in review.items if item.key.case == case.id}
    if outdated := [model for model in models if model in reviewed and state.is_outdated(case.id, model)]:
        what = "changed after it was run; the Review of the saved run has the scores"
        parts.append(f"{', '.join(model_names(outdated))}: {what}")
    now = {criterion.name for criterion in case.risk_criteria}
    earlier = dict.fromkeys(item.key.criterion for item in review.items if item.key.case == case.id)
    if removed := [name for name in earlier if name not in now]:
        parts.append(f"{', '.join(removed)}: removed from the case, still scored in its run")
    return ((sanitize_line("Not listed: " + "; ".join(parts), 400), "dim"),) if parts else ()


def detail_lines(row: BesideRow | None, rule: BandRule, width: int) -> list[Line]:
    """Return the description of the criterion, and every score of an answer with its note."""
    if row is None:
        return []
    lines = text_rows(row.criterion.description, width, "dim")
    for act in (*row.scores, *((row.decision,) if row.decision else ())):
        if act.extent is None:
            continue
        band = band_of(row.criterion.severity, act.extent, rule)
        who = "decided by " if act.act == "adjudicate" else ""
        pieces: list[Piece] = [
            (f"{who}{sanitize_line(act.reviewer, 40)}  ", "strong"),
            (extent_words(act.extent), "plain"),
        ]
        pieces += [("  ", "plain"), band_piece(band)] if band else []
        lines += [tuple(pieces), *(((f"  {text}", "plain"),) for text in rows_of(act.note, width - 2))]
    return lines
