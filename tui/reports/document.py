"""The sections of a run's report, from top to bottom, for the formats that people read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tui.model.results import TrialKey
from tui.reports import evidence, phrases, reviewers, risk_tables, tables
from tui.reports.blocks import Block, Code, Faint, Heading, Jump, Line, Paragraph, Points, Section, Status, Table
from tui.reports.findings import find, finding_blocks, headlines, other_answers, places
from tui.reports.limitations import not_measured
from tui.reports.phrases import MARKS, Detail, Reported, in_order, many

_MOST_ROWS = 1_000
_MARKS_MEAN = (
    "✓ passed, ◐ flaky (passed on a later attempt), ✗ failed, ○ unchecked (no check), ◌ incomplete, ! error, timed "
    "out or cancelled, · not run"
)
_MOST_SCORED = 500


def sections(run: Reported, detail: Detail, place: str) -> list[Section]:
    """Return the sections in order; long ones are computed while they are read.

    `place` is the prefix of every link target in the report.
    """
    found, open_ends = find(run, detail), not_measured(run, detail)
    targets = places(found, detail, place)
    listed = [
        Section("Summary", headlines(run, detail, len(found), len(open_ends))),
        Section("Models", tables.models(run)),
        *_if_any("Repeats", tables.repeats(run)),
        *_if_any("Required pass rates", tables.required(run)),
        *_if_any("Comparisons", tables.comparisons(run)),
        Section("Categories", [*tables.categories(run), *tables.category_rates(run)]),
        Section("Cases", _matrix(run, targets)),
    ]
    if detail.risk_analysis:
        listed.append(Section("Risk", _risk(run, detail), paged=True))
    listed.append(Section(f"Findings ({len(found):,})", finding_blocks(run, detail, found, targets), paged=True))
    if detail.responses:
        listed += _if_any("Other answers", other_answers(run, detail, targets))
    elif detail.risk_analysis:
        listed += _if_any("Other scores", _other_scores(run, targets))
    listed.append(Section("Limitations", [_open_ends(open_ends)], paged=True))
    listed.append(Section("Assumptions", tables.assumptions(run)))
    listed.append(Section("Run details", _conditions(run, detail)))
    return [replace(section, blocks=_capped(section.blocks)) for section in listed]


def _capped(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks with very long tables and lists truncated, with a note of how many rows are missing."""
    for block in blocks:
        if isinstance(block, Table) and len(block.rows) > _MOST_ROWS:
            left = len(block.rows) - _MOST_ROWS
            yield replace(block, rows=block.rows[:_MOST_ROWS], drawings=block.drawings[:_MOST_ROWS])
        elif isinstance(block, Points) and len(block.lines) > _MOST_ROWS:
            left = len(block.lines) - _MOST_ROWS
            yield Points(block.lines[:_MOST_ROWS])
        else:
            yield block
            continue
        yield Paragraph(f"{left:,} more rows not shown; the JSON report contains all of them.", "note")


def _open_ends(lines: Sequence[Line]) -> Block:
    return Points(tuple(lines)) if lines else Paragraph("None: every planned trial was run and checked.")


def _if_any(title: str, blocks: Iterator[Block]) -> list[Section]:
    """Return the section, or nothing if it would be empty."""
    first = next(blocks, None)
    return [] if first is None else [Section(title, _chain(first, blocks))]


def _chain(first: Block, rest: Iterator[Block]) -> Iterator[Block]:
    yield first
    yield from rest


def _risk(run: Reported, detail: Detail) -> Iterator[Block]:
    reviewed = run.scores.reviewed
    yield Paragraph("Manual risk scores of the answers. The verdicts of checks are not part of these figures.")
    if reviewed is not None and reviewed.figures.scored:
        figures = reviewed.figures
        yield Heading("By model")
        yield from risk_tables.bands(in_order(run, figures.by_model))
        names = [*in_order(run, figures.by_model)]
        if figures.comparisons:
            yield Heading("Risk comparisons")
            yield from risk_tables.comparisons(figures, names)
        yield Heading("Severity and extent")
        yield from risk_tables.heat(in_order(run, figures.heat), reviewed.rule)
        yield Heading("By category")
        yield risk_tables.grouped(in_order(run, figures.by_category), "Category")
        yield Heading("By criterion")
        yield risk_tables.grouped(in_order(run, figures.by_criterion), "Criterion")
        yield Heading("Reviewers")
        yield from reviewers.reviewers(reviewed, detail)
        yield from reviewers.masked_answers(reviewed, names)
        yield from risk_tables.reviewer_shares(figures, names)
        yield Heading("Agreement")
        yield from risk_tables.agreement(reviewed)
        yield Heading("Decisions")
        yield from reviewers.decisions(run, detail)
    else:
        yield Paragraph("Not scored: no answer of this run has a score.", "note")
    yield Heading("Scoring rule")
    yield from risk_tables.rule(run.scores.rule)
    if reviewed is not None:
        yield from risk_tables.other_rules(reviewed.figures)
        yield from risk_tables.guidance(reviewed.guidance)
    yield Heading("Criteria")
    yield from risk_tables.criteria(run)


def _matrix(run: Reported, targets: Mapping[TrialKey, str]) -> Iterator[Block]:
    """Yield the table of cases × models; cells of findings link to their details."""
    results = {result.trial: result for result in run.kept.results}
    models = list(run.summary.by_model)
    cells: dict[str, dict[str, list[Status | Jump]]] = {}
    for key in dict.fromkeys([*run.kept.plan.trials, *results]):
        word = phrases.outcome_word(results.get(key))
        mark = Status(word, MARKS[word])
        cell = Jump(targets[key], mark) if key in targets else mark
        cells.setdefault(key.case, {}).setdefault(key.model, []).append(cell)
    rows: list[tuple[Line, ...]] = []
    not_run = [Status("", MARKS[""])]  # also of a case that is not planned for each model
    for case, by_model in cells.items():
        known = run.cases.get(case)
        name: Line = (case, Faint(f" {known.name}")) if known and known.name != case else case
        rows.append((name, *(tuple(by_model.get(model, not_run)) for model in models)))
    yield Table(("Case", *models), tuple(rows))
    yield Paragraph(_MARKS_MEAN, "faint")


def _other_scores(run: Reported, targets: Mapping[TrialKey, str]) -> Iterator[Block]:
    """Yield the scores of answers that are not findings."""
    if run.scores.reviewed is None:
        return
    count = 0
    for result in run.kept.results:
        if result.trial in targets or not any(each.counted for each in run.scores.of_trial(result.trial)):
            continue
        count += 1
        if count <= _MOST_SCORED:
            yield Heading(evidence.heading(run, result), 4)
            yield from evidence.scores(run, result)
    if count > _MOST_SCORED:
        left = many(count - _MOST_SCORED, "scored answer")
        yield Paragraph(f"{left} more not shown; the JSON and CSV reports contain all of them.", "note")


def _conditions(run: Reported, detail: Detail) -> Iterator[Block]:
    pairs = phrases.conditions(run.kept, timestamps=detail.timestamps)
    yield Table(("What", "Value"), tuple((name, (Code(value),)) for name, value in pairs))
