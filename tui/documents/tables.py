"""Data files: the rows of a CSV file or of JSON lines, as texts by column, with the line of each row."""

import codecs
import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import cast

from tui.documents.files import NotRead, decode, read_bytes
from tui.documents.json_fast import read_quickly
from tui.documents.json_reader import ExactJson
from tui.documents.problems import MOST_DIGITS, MOST_PROBLEMS, has_too_many_digits
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonValue

MOST_DATA_BYTES = 16 * 1024 * 1024
MOST_DATA_FILES = 1_000  # of a suite: they are read again to find out whether the suite has changed
MOST_ROWS = 50_000
MOST_COLUMNS = 250
MOST_CELL_CHARACTERS = 131_072
DATA_SUFFIXES = (".csv", ".jsonl")


@dataclass(frozen=True, slots=True)
class RowFault:
    """A problem of a data file at a line and a column, both counted from 1."""

    line: int
    column: int
    what: str


@dataclass(slots=True)
class Table:
    """The rows of a data file and the lines they begin at. If there are faults, some rows may be missing."""

    rows: list[Mapping[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    faults: list[RowFault] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another fault."""
        return len(self.faults) >= MOST_PROBLEMS

    def add_fault(self, line: int, what: str, column: int = 1) -> None:
        """Add a fault."""
        self.faults.append(RowFault(line, column, what))


def read_data_file(path: Path) -> bytes:
    """Return the content of a data file. Raises NotRead."""
    content = read_bytes(path, MOST_DATA_BYTES, "a .csv or .jsonl file")
    if len(content) > MOST_DATA_BYTES:
        raise NotRead("is larger than 16 MiB, the limit for data files; split it")
    return content


def combined_digest(suite_digest: str, data_digests: Iterable[str]) -> str:
    """Return the SHA-256 of a suite with data files: that of its file if it has none."""
    digests = [suite_digest, *data_digests]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest() if len(digests) > 1 else suite_digest


def digest_on_disk(content: bytes, folder: Path, data_files: Iterable[str]) -> str:
    """Return the SHA-256 of a suite with this content and of its data files as they are now. Raises NotRead."""
    found = (hashlib.sha256(read_data_file(folder / name)).hexdigest() for name in data_files)
    return combined_digest(hashlib.sha256(content).hexdigest(), found)


def read_table(content: bytes, suffix: str) -> Table:
    """Return the rows of CSV (in strict mode) or JSON lines. Raises NotRead if it is not UTF-8."""
    text = decode(content.removeprefix(codecs.BOM_UTF8))
    table = Table()
    if suffix == ".csv":
        _read_csv(text, table)
    else:
        _read_json_lines(text, table)
    if not table.rows and not table.faults:
        table.add_fault(1, "has no rows; add at least one" + (" below the header" if suffix == ".csv" else ""))
    return table


def text_of(value: JsonValue) -> str | None:
    """Return a value of a row as the text that is filled in, None for an object or a list."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | float) and not has_too_many_digits(value):
        return json.dumps(value)
    return None


def cell_fault(name: str, text: str | None) -> str | None:
    """Return why the text of a column cannot be used, or None."""
    if text is not None and len(text) <= MOST_CELL_CHARACTERS and "\0" not in text:
        return None
    shown = f"`{sanitize_line(name, 60)}`"
    if text is None:
        return f"{shown}: expected text, a number of at most {MOST_DIGITS:,} digits, true or false; write one of these"
    if len(text) > MOST_CELL_CHARACTERS:
        return f"{shown} is longer than {MOST_CELL_CHARACTERS:,} characters, the limit for a cell; shorten it"
    return f"{shown} contains a NUL character; remove it"


def row_of(value: Mapping[str, JsonValue]) -> tuple[Mapping[str, str], str | None]:
    """Return the texts of an object by column, and why it cannot be a row, or None."""
    if fault := _names_fault(tuple(value)):
        return {}, fault
    if {str}.issuperset(map(type, value.values())):
        texts = cast("Mapping[str, str]", value)
        together = "".join(texts.values())
        if len(together) <= MOST_CELL_CHARACTERS and "\0" not in together and _are_stripped(tuple(texts)):
            return texts, None
    row: dict[str, str] = {}
    for name, item in value.items():
        text = text_of(item)
        if fault := cell_fault(name, text):
            return {}, fault
        row[name.strip()] = text or ""
    return row, None if len(row) == len(value) else "has two columns with the same name; rename one"


@lru_cache(maxsize=64)
def _names_fault(names: tuple[str, ...]) -> str | None:
    if len(names) > MOST_COLUMNS:
        return f"has {len(names):,} columns; the limit is {MOST_COLUMNS}"
    return None if all(map(str.strip, names)) else "has a column without a name; name it"


@lru_cache(maxsize=64)
def _are_stripped(names: tuple[str, ...]) -> bool:
    return all(name == name.strip() for name in names)


def _read_csv(text: str, table: Table) -> None:
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        table.add_fault(line, "contains a NUL character; save the file as CSV in UTF-8")
        return
    header: tuple[str, ...] = ()
    for line, cells in _csv_records(text, table):
        if not header:
            header = tuple(cell.strip() for cell in cells)
            if fault := _header_fault(header):
                table.add_fault(line, fault)
                return
        elif len(cells) != len(header):
            table.add_fault(
                line, f"expected {_cells(len(header))}, as in the header, got {len(cells)}; correct the row"
            )
        elif len(table.rows) == MOST_ROWS:
            table.add_fault(line, _TOO_MANY)
            return
        else:
            table.rows.append(dict(zip(header, cells, strict=True)))
            table.lines.append(line)
        if table.is_full:
            return


def _csv_records(text: str, table: Table) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank with their first lines; add a fault where the syntax is invalid."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            table.add_fault(line, f"is not valid CSV: {_csv_reason(str(error))}")
            return
        if cells is None:
            return
        if cells:
            yield line, cells


def _csv_reason(message: str) -> str:
    if message.startswith("field larger"):
        return f"a cell is longer than {MOST_CELL_CHARACTERS:,} characters; shorten it, or close its quotes"
    if message.startswith("unexpected end"):
        return "the quotes of a cell are not closed; add a double quote"
    return f"{sanitize_line(message)}; put the cell in double quotes, and double the quotes in it"


def _header_fault(names: tuple[str, ...]) -> str | None:
    if len(names) > MOST_COLUMNS:
        return f"the header has {len(names):,} columns; the limit is {MOST_COLUMNS}"
    if "" in names:
        return f"column {names.index('') + 1} of the header has no name; name it, or remove the column"
    double = next((name for place, name in enumerate(names) if name in names[:place]), None)
    return f"duplicate column `{sanitize_line(double, 60)}` in the header; rename one" if double is not None else None


def _cells(number: int) -> str:
    return f"{number} cell" if number == 1 else f"{number} cells"


_TOO_MANY = f"more than {MOST_ROWS:,} rows, the limit of a suite; split the data file"


def _read_json_lines(text: str, table: Table) -> None:
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        if len(table.rows) == MOST_ROWS:
            table.add_fault(line, _TOO_MANY)
            return
        quick = read_quickly(written.encode())
        value: JsonValue
        if quick is not None and quick.is_sound():
            value = quick.value
        else:
            exact = ExactJson(written)
            exact.read()
            for finding in exact.findings[:1]:
                table.add_fault(line, finding.what, (finding.offset or 0) + 1)
            if exact.findings:
                if table.is_full:
                    return
                continue
            value = exact.value
        _add_row(value, line, table)
        if table.is_full:
            return


def _add_row(value: JsonValue, line: int, table: Table) -> None:
    if not isinstance(value, dict):
        table.add_fault(line, 'expected an object such as `{"name": "value"}`; write one for each line')
        return
    row, fault = row_of(value)
    if fault is not None:
        table.add_fault(line, fault)
        return
    table.rows.append(row)
    table.lines.append(line)
