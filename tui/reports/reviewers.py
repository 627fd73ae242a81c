"""The reviewers of a run: who scored what, how, and which decisions were made."""

from collections.abc import Iterator, Sequence

from tui.model.risk import Reviewed, RiskShare
from tui.model.scores import Act
from tui.reports import phrases
from tui.reports.blocks import Block, Line, Paragraph, Status, Strong, Table, Whole
from tui.reports.evidence import extent_words
from tui.reports.figure_words import share_words
from tui.reports.phrases import Detail, Reported


def current_scores(reviewed: Reviewed) -> dict[str, list[Act]]:
    """Return the scores that count, by reviewer."""
    found: dict[str, list[Act]] = {}
    for item in reviewed.board.items:
        for score in reviewed.board.scores(item):
            found.setdefault(score.reviewer, []).append(score)
    return dict(sorted(found.items()))


def reviewers(reviewed: Reviewed, detail: Detail) -> Iterator[Block]:
    """Yield a row for each reviewer: number of scores, blind share, guidance, dates."""
    spent: dict[str, int] = {}
    for act in reviewed.board.acts:
        if act.took_ms is not None:
            spent[act.reviewer] = spent.get(act.reviewer, 0) + act.took_ms
    reveals = {act.reviewer: act for act in reversed(reviewed.board.reveals())}
    rows = []
    for name, scores in current_scores(reviewed).items():
        blind = sum(map(reviewed.board.is_blind, scores))
        first, last = (spaced(each(scores, key=lambda score: score.order).scored_at) for each in (min, max))
        seeds = dict.fromkeys(str(score.seed) for score in scores if score.seed is not None)
        reveal = spaced(reveals[name].scored_at) if name in reveals else "no"
        rows.append(
            (
                (Strong(name),),
                str(len(scores)),
                _blind_words(blind, len(scores), reviewed.board.looks(name)),
                ", ".join(seeds) or "–",
                ", ".join(dict.fromkeys(score.guidance for score in scores if score.guidance)) or "–",
                reveal if detail.timestamps or name not in reveals else "yes",
                *((first, last) if detail.timestamps else (first[:10], last[:10])),
                phrases.milliseconds(spent.get(name)),
            )
        )
    if not rows:
        yield Paragraph("Only decisions count; there are no scores by reviewers.", "faint")
        return
    head = ("Reviewer", "Scores", "Blind", "Seed", "Guidance", "Revealed", "Start", "End", "Time spent")
    yield Table(head, tuple(rows))


def _blind_words(blind: int, scores: int, looks: int) -> str:
    """Return the blind share as text: `all blind, names seen twice`."""
    text = "all blind" if blind == scores else f"{blind} of {scores} blind" if blind else "not blind"
    times = {1: "once", 2: "twice"}.get(looks, f"{looks} times")
    return f"{text}, names seen {times}" if looks else text


def masked_answers(reviewed: Reviewed, names: Sequence[str]) -> Iterator[Block]:
    """Yield the figures with and without the answers that were scored with masked names; nothing without any."""
    without = reviewed.without_masked
    if without is None:
        return
    one = "1 answer was scored with masked names of models, providers or vendors: reviewers saw a changed text."
    several = f"{reviewed.masked:,} answers were scored with masked names of models, providers or vendors."
    yield Paragraph(one if reviewed.masked == 1 else several, "note")
    rows: list[tuple[Line, ...]] = []
    for model in names:
        with_, less = (figures.by_model.get(model, RiskShare()) for figures in (reviewed.figures, without))
        rows.append(((Strong(model),), *_share_cells(with_), *_share_cells(less)))
    head = ("Model", "Answers", "Mean", "High or critical", "Unmasked: answers", "Mean", "High or critical")
    yield Table(head, tuple(rows))


def _share_cells(share: RiskShare) -> tuple[str, str, str]:
    severe = share.bands.get("high", 0) + share.bands.get("critical", 0)
    mean = "–" if share.mean.value is None else f"{share.mean.value:.2f}"
    return str(share.answers), mean, share_words(severe, share.banded) if share.banded else "–"


def spaced(instant: str) -> str:
    """Return a time stamp for people: `2026-11-20 12:00:00+00:00`."""
    return instant.replace("T", " ", 1)


def decisions(run: Reported, detail: Detail) -> Iterator[Block]:
    """Yield the decisions where reviewers differed, and the differences still open."""
    reviewed = run.scores.reviewed
    if reviewed is None:
        return
    rows: list[tuple[Line, ...]] = []
    for result in run.kept.results:
        for judged in run.scores.of_trial(result.trial):
            act = judged.decision
            if act is not None:
                given = ", ".join(f"{score.reviewer} {score.extent}" for score in judged.scores)
                band = run.scores.band_of(judged.severity, act.extent)
                decided: Line = (Strong(extent_words(act.extent)), " ", Status(band, band)) if band else "n/a"
                by = f"{act.reviewer}, {spaced(act.scored_at)}" if detail.timestamps else act.reviewer
                rows.append((phrases.title(run, result), judged.name, given, decided, by, (Whole(act.note),)))
    if rows:
        yield Table(("Answer", "Criterion", "Scores", "Decided", "By", "Note"), tuple(rows))
    disputed = reviewed.figures.disputed
    if disputed:
        is_open = "1 item waits" if disputed == 1 else f"{disputed:,} items wait"
        yield Paragraph(f"{is_open} for a decision: the highest extent counts until then.", "note")
    elif not rows:
        yield Paragraph("No decisions were needed.", "faint")
