"""Rows of a damaged SQLite file, read from its pages and those of its log without the pages that lead to them.

Source: https://www.sqlite.org/fileformat2.html
"""

import os
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

_SIZE = 4_096  # of a page, in bytes
_MAGIC = b"SQLite format 3\0"
_LOG_HEADER, _FRAME_HEADER = 32, 24  # bytes
_LARGEST_CHECKED = 64 * 1024 * 1024  # bytes of a log
_READS, _BETWEEN_READS_SECONDS = 3, 0.05
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
    yield from _rows(path, only_logged=False)


def rows_in_log(path: Path) -> Iterator[PageRow]:
    """Yield the rows in the pages of the write-ahead log alone, as `rows_in_pages` does."""
    yield from _rows(path, only_logged=True)


def _rows(path: Path, *, only_logged: bool) -> Iterator[PageRow]:
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb"))]
        with suppress(FileNotFoundError):
            files.append(stack.enter_context(_log_of(path).open("rb")))
        with suppress(ValueError):
            pages = _Pages(*files)
            for number in pages.leaves():
                if pages.is_logged(number) or not only_logged:
                    yield from pages.rows(number)


def has_damaged_log(path: Path) -> bool:
    """Return whether the write-ahead log has committed frames behind a damaged one.

    SQLite takes the first frame with a wrong checksum for the end of the log, which is right for one that was cut off:
    it ignores all frames behind it, and removes the log. A log that cannot be read is not damaged.
    """
    log = _log_of(path)
    with suppress(OSError):
        if log.stat().st_size > _LARGEST_CHECKED:
            return False
        # Another program may write to it meanwhile: only what stays the same is a whole log.
        for _ in range(_READS):
            data = log.read_bytes()
            if not _is_cut_short(data):
                return False
            time.sleep(_BETWEEN_READS_SECONDS)
            if log.read_bytes() == data:
                return True
    return False


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _is_cut_short(log: bytes) -> bool:
    """Return whether the checksums of a log end before its last committed frame does."""
    frames, sums, form = _frames(BytesIO(log)), _header_sums(log), _form(log)
    if sums is None:
        return bool(frames)
    for frame in frames:
        head = log[frame.at : frame.at + _FRAME_HEADER]
        page = log[frame.at + _FRAME_HEADER : frame.at + _FRAME_HEADER + _SIZE]
        sums = _checksum(page, _checksum(head[:8], sums, form), form)
        if not frame.is_known or struct.pack(">II", *sums) != head[16:24]:
            return True
    return False


def _form(header: bytes) -> str:
    """Return the format of two words, from which checksums are made."""
    return ">II" if header[3:4] == b"\x83" else "<II"


def _header_sums(header: bytes) -> tuple[int, int] | None:
    """Return the checksums of the header of a log, with which those of its frames begin; None if it is damaged."""
    if len(header) < _LOG_HEADER:
        return None
    sums = _checksum(header[:24], (0, 0), _form(header))
    return sums if struct.pack(">II", *sums) == header[24:32] else None


def _checksum(data: bytes, sums: tuple[int, int], form: str) -> tuple[int, int]:
    one, two = sums
    for first, second in struct.iter_unpack(form, data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


class _Frame(NamedTuple):
    """A frame of a log: its place, the number of its page, the number of pages of the file after a commit, else 0.

    A frame of another generation of the log, or whose generation is damaged, is not `is_known`.
    """

    at: int
    page: int
    pages: int
    is_known: bool


def _frames(log: BinaryIO) -> list[_Frame]:
    """Return the frames of a log up to the last committed one of its generation."""
    header = log.read(_LOG_HEADER)
    generation = header[16:24] if _header_sums(header) is not None else b""
    frames: list[_Frame] = []
    at = _LOG_HEADER
    while len(head := log.read(_FRAME_HEADER)) == _FRAME_HEADER:
        generation = generation or head[8:16]
        number, size = struct.unpack_from(">II", head)
        frames.append(_Frame(at, number, size, head[8:16] == generation))
        at = log.seek(_SIZE, os.SEEK_CUR)
    end = log.seek(0, os.SEEK_END)
    committed = [
        place
        for place, frame in enumerate(frames)
        if frame.is_known and frame.pages and frame.at + _FRAME_HEADER + _SIZE <= end
    ]
    return frames[: committed[-1] + 1] if committed else []


def _logged(log: BinaryIO) -> tuple[dict[int, int], int]:
    """Return the place of the last committed version of each page in a log, and the number of pages of the file."""
    frames = [frame for frame in _frames(log) if frame.is_known]
    return {frame.page: frame.at + _FRAME_HEADER for frame in frames}, frames[-1].pages if frames else 0


class _Pages:
    """The pages of a file and its log; their numbers begin with 1."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None = None) -> None:
        self._file, self._log = file, log
        self._in_log, count = ({}, 0) if log is None else _logged(log)
        self._count = max(count, file.seek(0, os.SEEK_END) // _SIZE)

    def is_logged(self, number: int) -> bool:
        """Return whether the log has a version of a page."""
        return number in self._in_log

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
