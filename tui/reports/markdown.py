"""The report as Markdown."""

from collections.abc import Iterator, Sequence

from tui.reports.blocks import Block, Card, Heading, HeatMaps, Paragraph, Points, Quoted, Section, Table
from tui.reports.document import sections
from tui.reports.markdown_text import cell, code, fence, inline, line, table
from tui.reports.phrases import Detail, Reported


def render_markdown(runs: Sequence[Reported], detail: Detail) -> str:
    """The runs one after the other, with a rule between them."""
    return "\n\n---\n\n".join("\n\n".join(_blocks(run, detail)) for run in runs) + "\n"


def _blocks(run: Reported, detail: Detail) -> Iterator[str]:
    suite, record = run.kept.plan.suite, run.kept.record
    yield f"# {inline(suite.name)}"
    if suite.description:
        yield inline(suite.description, 2_000)
    yield f"Run {code(record.id)}, {record.state}, {inline(record.started_at[:10])}"
    for section in sections(run, detail, ""):
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {line(block.text, 300)}"
        case Paragraph():
            yield line(block.text)
        case Points():
            yield "\n".join(f"- {line(each)}" for each in block.lines)
        case Table():
            head = [cell(each) for each in block.head]
            yield table(head, [[cell(each) for each in row] for row in block.rows], numbers=block.numbers)
        case Quoted():
            yield f"{line(block.label)}:"
            yield fence(block.text, block.kind if block.kind == "diff" else "")
        case HeatMaps():
            pass  # The table beside it says the same.
        case Card():
            yield f"### {line(block.heading, 300)}"
            for inner in block.blocks:
                yield from _block(inner)
