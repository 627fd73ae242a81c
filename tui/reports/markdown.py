"""The Markdown report."""

import re
from collections.abc import Iterator, Sequence

from tui.model.sanitize import sanitize_line, sanitize_text
from tui.reports.blocks import (
    LARGEST,
    Block,
    Card,
    Code,
    Heading,
    HeatMaps,
    Jump,
    Line,
    Paragraph,
    Piece,
    Points,
    Quoted,
    Section,
    Strong,
    Table,
    Whole,
)
from tui.reports.document import sections
from tui.reports.phrases import Detail, Reported

_MARKUP = re.compile(r"([\\`*_\[\]|~$])")
# Prevents automatic links to addresses and names.
_LINKED = re.compile(r"(:(?=//)|@|(?<=www)\.)", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:([-+=#])|(\d+)(?=[.)](?: |$)))")


def inline(text: str, limit: int = 300) -> str:
    """Return text on one line at the beginning of a paragraph, a heading or a list item, escaped."""
    return _BLOCK.sub(lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\", within(text, limit))


def within(text: str, limit: int = 300) -> str:
    """Return text on one line in a table cell or after other text, escaped."""
    line = sanitize_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINKED.sub(r"\\\1", _MARKUP.sub(r"\\\1", line))


def line(text: Line, limit: int = 2_000) -> str:
    """Return the Markdown of a line of pieces at the beginning of a paragraph or a list item."""
    return _pieces(text, limit, cell=False)


def cell(text: Line, limit: int = 600) -> str:
    """Return the Markdown of a line of pieces in a table cell."""
    return _pieces(text, limit, cell=True)


def _pieces(text: Line, limit: int, *, cell: bool) -> str:
    written = ""
    every = (text,) if isinstance(text, str) else text
    plain = [_plain(piece) for piece in every]
    for piece, own, following in zip(every, plain, [*plain, ""][1:], strict=True):
        if isinstance(piece, Code) and not cell:
            written += code(own, limit)
            continue
        most = LARGEST if isinstance(piece, Whole) else limit
        # Spaces at the ends are stripped from lines, but needed between pieces.
        before, after = " " * own[:1].isspace(), " " * own[1:][-1:].isspace()
        escaped = within(own, most) if cell or written.strip() else inline(own, most)
        strong = isinstance(piece, Strong) and not cell and _may_be_strong(escaped, following)
        written += f"{before}**{escaped}**{after}" if strong else f"{before}{escaped}{after}"
    return written.strip()


def _plain(piece: Piece) -> str:
    if isinstance(piece, str):
        return piece
    return piece.label.text if isinstance(piece, Jump) else piece.text


def _may_be_strong(escaped: str, following: str) -> bool:
    """Return whether asterisks work here: between punctuation and a letter they are text, not markup."""
    return escaped[:1].isalnum() and (escaped[-1].isalnum() or not following[:1].isalnum())


def code(text: str, limit: int = 300) -> str:
    """Return text in a code span on one line; not for cells, where a `|` would end it."""
    line = sanitize_line(text, limit)
    ticks = "`" * (_longest_run(line) + 1)
    edge = " " if not line or line[0] in "` " or line[-1] in "` " else ""
    return f"{ticks}{edge}{line}{edge}{ticks}"


def fence(text: str, language: str = "") -> str:
    """Return preformatted text in a code fence."""
    shown = sanitize_text(text)
    ticks = "`" * max(3, _longest_run(shown) + 1)
    return f"{ticks}{language}\n{shown.rstrip(chr(10))}\n{ticks}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> str:
    """Return a table of cells that are Markdown already; its last `numbers` columns are right-aligned."""
    ruler = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ruler, *rows))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def render_markdown(runs: Sequence[Reported], detail: Detail) -> str:
    """Return the runs in order, with a rule between them."""
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
            pass  # The table beside it has the same numbers.
        case Card():
            yield f"### {line(block.heading, 300)}"
            for inner in block.blocks:
                yield from _block(inner)
