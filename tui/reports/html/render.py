"""The report as one HTML file: no script, no external resource, every value escaped."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tui.reports.blocks import Block, Card, Heading, HeatMaps, Line, Paragraph, Points, Quoted, Section, Table, Whisker
from tui.reports.document import sections
from tui.reports.html.charts import HEAT_LEGEND, axis, drawn, heat_map, legend, patterns
from tui.reports.html.escape import block as quoted
from tui.reports.html.escape import diff, line, marked, pieces
from tui.reports.phrases import Detail, Reported
from tui.statistics.run_figures import ModelTotals

_STYLE_SHEET = Path(__file__).with_name("report.css")
_FEW_ROWS = 16  # A table that fits on one page of paper.


def render_html(runs: Sequence[Reported], detail: Detail) -> str:
    """Return the HTML page with all runs."""
    bodies = ("\n".join(_run(run, detail, f"r{number}")) for number, run in enumerate(runs, 1))
    title = runs[0].kept.plan.suite.name if len(runs) == 1 else f"{len(runs)} runs"
    return _page(f"{title} · Assay", "\n".join([patterns(), "<main>", *_runs(runs), *bodies, "</main>"]))


def _page(title: str, body: str) -> str:
    """Return a complete document whose policy blocks loading, scripts and forms; its style is allowed by hash."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{line(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


@cache
def _style() -> str:
    """Return the content of the style element: the style sheet on lines of its own."""
    return "\n" + _STYLE_SHEET.read_text(encoding="utf-8")


def _runs(runs: Sequence[Reported]) -> Iterator[str]:
    """Yield links to the beginning of each run, if there are several."""
    if len(runs) > 1:
        items = "".join(
            f'<li><a href="#r{number}">{line(run.kept.plan.suite.name)}</a>, {line(run.kept.record.id, 13)}</li>'
            for number, run in enumerate(runs, 1)
        )
        yield f'<nav aria-label="Runs"><ol>{items}</ol></nav>'


def _run(run: Reported, detail: Detail, place: str) -> Iterator[str]:
    yield f'<div class="run" id="{place}">'
    yield from _head(run)
    listed = sections(run, detail, place)
    yield _contents(listed, place)
    for number, section in enumerate(listed, 1):
        kind = ' class="paged"' if section.paged else ""
        yield f'<section id="{place}-{number}"{kind}>\n<h2>{line(section.title)}</h2>'
        for block in section.blocks:
            yield from _block(block)
        yield "</section>"
    yield "</div>"


def _head(run: Reported) -> Iterator[str]:
    suite, record = run.kept.plan.suite, run.kept.record
    yield f'<header>\n<p class="brand">Assay</p>\n<h1>{line(suite.name)}</h1>'
    if suite.description:
        yield f"<p>{line(suite.description, 2_000)}</p>"
    when = line(record.started_at[:10])
    yield f'<p class="dim">Run <code>{line(record.id)}</code>, {record.state}, {when}</p>'
    yield f"{_figures(run.summary.total)}\n</header>"


def _figures(total: ModelTotals) -> str:
    figures = [
        ("trials", "", total.trials),
        ("passed", "passed", total.passed),
        ("failed", "failed", total.failed),
        ("errors", "error", total.errors),
        ("flaky", "flaky", total.flaky),
        ("unchecked", "unchecked", total.unchecked),
    ]
    items = "".join(f'<li><b class="{kind}">{value:,}</b>{name}</li>' for name, kind, value in figures)
    return f'<ul class="figures">{items}</ul>'


def _contents(listed: Sequence[Section], place: str) -> str:
    items = "".join(
        f'<li><a href="#{place}-{number}">{line(section.title)}</a></li>' for number, section in enumerate(listed, 1)
    )
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"<h{block.level}>{pieces(block.text, 300)}</h{block.level}>"
        case Paragraph():
            kind = {"": "", "note": ' class="note"', "faint": ' class="dim"'}[block.kind]
            yield f"<p{kind}>{pieces(block.text)}</p>"
        case Points():
            yield f"<ul>{''.join(f'<li>{pieces(each)}</li>' for each in block.lines)}</ul>"
        case Table():
            yield _table(block)
        case Quoted():
            yield f"<h4>{pieces(block.label)}</h4>{_quoted(block)}"
        case HeatMaps():
            maps = (
                f"<figure><figcaption>{line(each.name)}</figcaption>{heat_map(each)}</figure>" for each in block.maps
            )
            yield f'<div class="maps">{"".join(maps)}</div>\n<p class="dim">{line(HEAT_LEGEND)}</p>'
        case Card():
            place = f' id="{line(block.place)}"' if block.place else ""
            kind = "" if any(isinstance(inner, Quoted) for inner in block.blocks) else ' class="brief"'
            yield f"<article{place}{kind}>\n<h3>{pieces(block.heading, 300)}</h3>"
            for inner in block.blocks:
                yield from _block(inner)
            yield "</article>"


def _quoted(block: Quoted) -> str:
    if block.kind == "answer":
        return marked(block.text, block.checks)
    return diff(block.text) if block.kind == "diff" else quoted(block.text)


def _table(table: Table) -> str:
    """Return the HTML of a table; the last columns are right-aligned, drawings follow the name columns."""
    first = len(table.head) - table.numbers
    rows = [_cells("td", row, first) for row in table.rows]
    head = _cells('th scope="col"', table.head, first)
    before = ""
    if table.drawings:
        first_drawing = table.drawings[0]
        above = axis(first_drawing) if isinstance(first_drawing, Whisker) else ""
        before = "" if isinstance(first_drawing, Whisker) else legend(first_drawing)
        head.insert(table.names, f'<th scope="col" class="chart">{line(table.drawn)}{above}</th>')
        for row, drawing in zip(rows, table.drawings, strict=True):
            row.insert(table.names, f'<td class="chart">{drawn(drawing)}</td>')
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    top = f"<thead><tr>{''.join(head)}</tr></thead>"
    kind = "wide" + " short" * (len(rows) <= _FEW_ROWS) + " dense" * (table.names > 1)
    return f'<div class="{kind}">{before}<table>{top}\n<tbody>\n{body}\n</tbody></table></div>'


def _cells(tag: str, cells: Sequence[Line], first: int) -> list[str]:
    name, right = tag.partition(" ")[0], ' class="n"'
    return [f"<{tag}{right * (at >= first)}>{pieces(cell, 600)}</{name}>" for at, cell in enumerate(cells)]
