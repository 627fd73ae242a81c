"""Rows of a damaged SQLite file, read from its pages and those of its log without the pages that lead to them.

Source: https://www.sqlite.org/fileformat2.html
"""

import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_SIZE = 4_096  # of a page, in bytes
_MAGIC = b"SQLite format 3\0"
_LOG_HEADER, _FRAME_HEADER = 32, 24  # bytes
_AUTO_VACUUM_AT, _LEAF = 52, 0x0D
_TREE_PAGES = (1, 5)  # in the pointer map: the first page of a table or index, and any other one
_ENTRY = 5  # bytes of the pointer map for a page
_MAPPED = _SIZE // _ENTRY  # pages of which one page of the pointer map says what they are
_MOST_COLUMNS = 100
_INTEGERS: Mapping[int, int] = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""The bytes of an integer, by its serial type."""

Value = None | int | float | bytes


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row of some table: its number, and its columns in order, of which the texts are bytes."""

    number: int
    values: tuple[Value, ...]


def rows_in_pages(path: Path) -> Iterator[PageRow]:
    """Yield every complete row in the pages that the pointer map does not call free.

    Pages in the write-ahead log are newer than those of the file. A file without pointer map (a history has one) yields
    nothing, and damage of any kind raises nothing. Raises OSError.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb"))]
        with suppress(FileNotFoundError):
            files.append(stack.enter_context(path.with_name(f"{path.name}-wal").open("rb")))
        with suppress(ValueError):
            pages = _Pages(*files)
            for number in pages.leaves():
                yield from pages.rows(number)


def _logged(log: BinaryIO) -> tuple[dict[int, int], int]:
    """Return the place of the last committed version of each page in a log, and the number of pages of the file."""
    header = log.read(_LOG_HEADER)
    places: dict[int, int] = {}
    committed: dict[int, int] = {}
    count, at = 0, _LOG_HEADER
    while len(frame := log.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == header[16:24]:
        number, size = struct.unpack_from(">II", frame)
        places[number] = at + _FRAME_HEADER
        at = log.seek(_SIZE, os.SEEK_CUR)
        if size:  # the last frame of a transaction
            committed |= places
            places, count = {}, size
    return committed, count


class _Pages:
    """The pages of a file and its log; their numbers begin with 1."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None = None) -> None:
        self._file, self._log = file, log
        self._in_log, count = ({}, 0) if log is None else _logged(log)
        self._count = max(count, file.seek(0, os.SEEK_END) // _SIZE)

    def leaves(self) -> Iterator[int]:
        """Yield the pages that may hold rows of a table."""
        first = self._read(1)
        if first.startswith(_MAGIC) and not any(first[_AUTO_VACUUM_AT : _AUTO_VACUUM_AT + 4]):
            return
        for map_page in range(2, self._count + 1, _MAPPED + 1):
            with suppress(ValueError):
                entries = self._read(map_page)
                for place in range(min(_MAPPED, self._count - map_page)):
                    if entries[place * _ENTRY] in _TREE_PAGES:
                        yield map_page + 1 + place

    def rows(self, number: int) -> Iterator[PageRow]:
        """Yield the rows of a page, if it has rows of a table."""
        try:
            page = self._read(number)
        except ValueError:
            return
        if page[0] != _LEAF:
            return
        (cells,) = struct.unpack_from(">H", page, 3)
        for place in range(min(cells, (_SIZE - 8) // 2)):
            (start,) = struct.unpack_from(">H", page, 8 + 2 * place)
            try:
                size, at = _varint(page, start)
                row, at = _varint(page, at)
                yield PageRow(row, _values(self._payload(page, at, size)))
            except (IndexError, struct.error, ValueError):
                continue

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        """Return the content of a cell, with its overflow pages. Raises ValueError and struct.error."""
        most, least = _SIZE - 35, (_SIZE - 12) * 32 // 255 - 23
        if size <= most:
            return page[at : at + size]
        if size > self._count * _SIZE:
            raise ValueError("longer than the file")
        local = least + (size - least) % (_SIZE - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], size - local
        (following,) = struct.unpack_from(">I", page, at + local)
        while left > 0:
            overflow = self._read(following)
            parts.append(overflow[4 : 4 + left])
            left -= len(parts[-1])
            (following,) = struct.unpack_from(">I", overflow)
        return b"".join(parts)

    def _read(self, number: int) -> bytes:
        if not 1 <= number <= self._count:
            raise ValueError("not a page of the file")
        at = self._in_log.get(number)
        file, place = (self._file, (number - 1) * _SIZE) if at is None or self._log is None else (self._log, at)
        file.seek(place)
        page = file.read(_SIZE)
        if len(page) < _SIZE:
            raise ValueError("the file ends before this page")
        return page


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer of variable length at a place, and the place after it. Raises IndexError."""
    value = 0
    for place in range(at, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> tuple[Value, ...]:
    """Return the columns of a record. Raises IndexError, struct.error and ValueError."""
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end or len(kinds) > _MOST_COLUMNS:
        raise ValueError("not a record")
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("not a record")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    """Return a column of a serial type, and the place after it."""
    if kind == 0:
        return None, at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("not a serial type")
    end = at + (kind - 12) // 2
    return payload[at:end], end
