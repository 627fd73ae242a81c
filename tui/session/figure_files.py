"""Figures as tables, for a screen and for its own files; the cells are those of the reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tui.model.figure_table import FigureTable
from tui.reports.figure_tables import (
    answer_table,
    comparison_table,
    model_table,
    render_table,
    render_tables,
    risk_figure_tables,
)
from tui.session.files import write_new

__all__ = ["FigureFormat", "answer_table", "comparison_table", "model_table", "risk_figure_tables", "write_figures"]
FigureFormat = Literal["markdown", "csv"]


def write_figures(
    title: str, tables: Sequence[FigureTable], format: FigureFormat, file: Path, *, replaces: bool
) -> None:
    """Write all tables as a Markdown page, or the only one as CSV, atomically.

    Raises ConfigError if the file cannot be written, and FileExistsError if it exists and `replaces` is false.
    """
    if format == "csv":
        [table] = tables
        write_new(file, lambda: render_table(table), replaces=replaces)
    else:
        write_new(file, lambda: render_tables(title, tables), replaces=replaces)
