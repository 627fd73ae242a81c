"""The tables of figures that screens share with reports: the same cells, as plain text, and their own small files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tui.model.figure_table import FigureTable
from tui.model.risk import Reviewed, ScoredAnswer
from tui.reports import risk_tables, tables
from tui.reports.blocks import Block, Jump, Line, Paragraph, Table
from tui.reports.csv_report import safe_cell
from tui.reports.markdown import cell, inline
from tui.reports.markdown import table as markdown_table
from tui.statistics.comparison import Comparison
from tui.statistics.run_figures import ModelFigures

Found = TypeVar("Found")


def comparison_table(comparisons: Sequence[Comparison]) -> FigureTable:
    """Return each pair of models as in the report, in the same order."""
    return plain_tables("Pairs", tables.comparison_blocks(comparisons))[0]


def model_table(figures: Mapping[str, ModelFigures]) -> FigureTable:
    """Return the counts and the pass rate of each model as in the report."""
    return plain_tables("Models", [tables.model_rates(figures)])[0]


def risk_figure_tables(reviewed: Reviewed, models: Sequence[str]) -> dict[str, FigureTable]:
    """Return the tables of the report's risk section by title, with the models in the order of `models`."""
    figures = reviewed.figures
    order = [*(name for name in models if name in figures.by_model)]
    order += [name for name in figures.by_model if name not in order]
    sections: dict[str, Iterable[Block]] = {
        "Bands": risk_tables.bands(_sorted(figures.by_model, order)),
        "Pairs": risk_tables.comparisons(figures, order),
        "Categories": [risk_tables.grouped(_sorted(figures.by_category, order), "Category")],
        "Criteria": [risk_tables.grouped(_sorted(figures.by_criterion, order), "Criterion")],
        "Severity and extent": risk_tables.heat(_sorted(figures.heat, order), reviewed.rule),
        "Agreement": risk_tables.agreement(reviewed),
        "Reviewers": risk_tables.reviewer_shares(figures, order),
        "Other rules": risk_tables.other_rules(figures),
    }
    names = {"Bands": ("Bands", "Models"), "Agreement": _agreement_titles(reviewed)}
    found: dict[str, FigureTable] = {}
    for title, blocks in sections.items():
        made = plain_tables(title, blocks)
        found |= dict(zip(names.get(title, (title,)), made, strict=False))
    return {title: replace(table, title=title) for title, table in found.items() if table.rows}


def _sorted(by_model: Mapping[str, Found], order: Sequence[str]) -> dict[str, Found]:
    return {name: by_model[name] for name in order if name in by_model}


def _agreement_titles(reviewed: Reviewed) -> tuple[str, ...]:
    own = ("Agreement with self",) if reviewed.agreement.own else ()
    return (*own, "Agreement", "Agreement of pairs")


def answer_table(answers: Sequence[ScoredAnswer]) -> FigureTable:
    """Return each scored answer with its model and band, numbered as in the reviewer's blind queue if they had one."""
    numbered = any(each.number for each in answers)
    repeated = any(each.trial.repeat > 1 for each in answers)
    head = (
        *(("No.",) * numbered),
        *("Case", "Model"),
        *(("Repeat",) * repeated),
        *("Band", "Mean", "Scored", "Reviewers"),
    )
    rows = tuple(
        (
            *((str(each.number or "–"),) * numbered),
            *(each.name, each.trial.model),
            *((str(each.trial.repeat),) * repeated),
            *(each.band or "–", "–" if each.mean is None else f"{each.mean:.2f}"),
            *(f"{each.scored} of {each.items}", str(each.reviewers)),
        )
        for each in answers
    )
    notes = (
        *(("No.: place of the answer in your blind queue.",) * numbered),
        "Mean: extent (0 to 4) weighted by severity. Scored: criteria of the answer that have a score.",
    )
    return FigureTable("Answers", head, rows, 3, notes)


def plain_tables(title: str, blocks: Iterable[Block]) -> list[FigureTable]:
    """Return the tables among these blocks as text; the paragraphs around a table are its notes.

    A first cell that is empty because it repeats the one above is filled in: rows can be sorted.
    """
    found: list[FigureTable] = []
    notes: list[str] = []
    for block in blocks:
        if isinstance(block, Table):
            found.append(FigureTable(title, block.head, _filled(block.rows), block.numbers, tuple(notes)))
            notes = []
        elif isinstance(block, Paragraph):
            notes.append(_plain(block.text))
    if found and notes:
        found[-1] = replace(found[-1], notes=(*found[-1].notes, *notes))
    return found


def _filled(rows: Iterable[Sequence[Line]]) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for row in rows:
        cells = [_plain(each) for each in row]
        if found and not cells[0]:
            cells[0] = found[-1][0]
        found.append(tuple(cells))
    return tuple(found)


def _plain(line: Line) -> str:
    if isinstance(line, str):
        return line
    pieces = (each.label if isinstance(each, Jump) else each for each in line)
    return "".join(each if isinstance(each, str) else each.text for each in pieces)


def render_tables(title: str, found: Sequence[FigureTable]) -> str:
    """Return a Markdown page with these tables."""
    parts = [f"# {inline(title)}"]
    for each in found:
        parts.append(f"## {inline(each.title)}")
        head, rows = [cell(name) for name in each.head], [[cell(text) for text in row] for row in each.rows]
        parts.append(markdown_table(head, rows, numbers=each.numbers))
        parts += [inline(note, 2_000) for note in each.notes]
    return "\n\n".join(parts) + "\n"


def render_table(table: FigureTable) -> str:
    """Return a table as CSV (RFC 4180)."""
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerows([safe_cell(text) for text in row] for row in (table.head, *table.rows))
    return target.getvalue()
