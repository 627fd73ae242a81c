"""Lines added to a file so that a crash, a full disk or a clock that was set back harms none of them."""

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from tui.model.scores import Act
from tui.risk.score_lines import LineFault, read_line, write_line

_FIRST_LOOK = 4096  # bytes; a line is rarely longer
_TICK = timedelta(milliseconds=1)
_BEGINNING = b'{"version": 1, "act": "'


def append_act(file: Path, act: Act, not_before: datetime | None = None) -> Act:
    """Add the act, on the disk when this returns; nothing of it is left where that fails. It is dated after the file's
    last act and after `not_before`, whatever the clock says: the latest act is the one that counts. Nobody else may
    write meanwhile. Raises OSError."""
    is_new = not file.exists()
    with open(file, "ab+", buffering=0, opener=_open_private) as out:
        size = out.seek(0, os.SEEK_END)
        end, last, whole = _look_at_end(out.fileno(), size)
        if end < size:
            out.truncate(end)
        act = _dated(act, last, not_before)
        try:
            _write_all(out.fileno(), (b"" if whole else b"\n") + write_line(act).encode())
            os.fsync(out.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                out.truncate(end)
            raise
    if is_new:
        sync_folder(file.parent)
    return act


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Put these bytes in the files' places: all are on the disk before the first is put there. Raises OSError."""
    beside: dict[Path, Path] = {}
    try:
        for file, data in contents.items():
            beside[file] = file.with_name(f".{secrets.token_hex(8)}.part")
            with open(beside[file], "xb", buffering=0, opener=_open_private) as out:
                _write_all(out.fileno(), data)
                os.fsync(out.fileno())
        for file in contents:
            os.replace(beside[file], file)
    except BaseException:
        for path in beside.values():
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        raise
    for folder in {file.parent for file in contents}:
        sync_folder(folder)


def make_folder(folder: Path) -> None:
    """The folder and those above it, each known to the disk; only its owner may look in. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """The folder's names are on the disk, where the system can tell. Raises OSError."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_cut_off(line: bytes) -> bool:
    """Whether a last line without its LF is one of ours that a crash cut off: it was never told as given. What
    somebody else left there is not."""
    if not line or not line.startswith(_BEGINNING[: len(line)]):
        return False
    try:
        read_line(line)
    except LineFault:
        return True
    return False


def _look_at_end(descriptor: int, size: int) -> tuple[int, datetime | None, bool]:
    """Where the next line can begin, when the last act of the file was, and whether the line before has its LF."""
    length = _FIRST_LOOK
    while True:
        start = max(0, size - length)
        *lines, rest = _read(descriptor, start, size).split(b"\n")
        last = next((act for line in reversed((*lines, rest)) if (act := _act_of(line))), None)
        if last or start == 0:
            break
        length *= 8
    end = size - len(rest) if is_cut_off(rest) else size
    return end, last.order[0] if last else None, end < size or not rest


def _dated(act: Act, *earlier: datetime | None) -> Act:
    latest = max((instant for instant in earlier if instant is not None), default=None)
    if latest is None or act.order[0] > latest:
        return act
    try:
        return replace(act, scored_at=(latest + _TICK).isoformat(timespec="milliseconds"))
    except OverflowError as error:
        raise OSError(0, f"an act of {latest.isoformat()} is there, and nothing can come after it") from error


def _act_of(line: bytes) -> Act | None:
    try:
        return read_line(line)
    except LineFault:
        return None


def _read(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    pieces = []
    while start < end and (piece := os.read(descriptor, end - start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
