"""Reading files up to a limit; for a file that the user named, with a message for every failure."""

import codecs
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

_LINE = re.compile(rb"\S[^\n]*")
_BOMS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", codecs.BOM_UTF32_BE: "UTF-32"}


class NotRead(Exception):
    """A file that cannot be read; the message explains why and how to fix it."""


class NotRegularError(OSError):
    """The path names a pipe, a device or a socket."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "not a regular file")


def read_beginning(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file, truncated one byte after `most_bytes`.

    Raises OSError, and ValueError for a path with a null byte.
    """
    _check_regular(path.stat())
    # Something else may have replaced the file since: opening a pipe must not wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        _check_regular(status)
        # Read the size of the file only, because a larger buffer would be allocated and freed again.
        content = file.read(min(status.st_size, most_bytes) + 1)
        return content + file.read(max(0, most_bytes + 1 - len(content)))


def read_whole(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`.

    Raises OSError, also for a larger file, and ValueError for a path with a null byte.
    """
    content = read_beginning(path, most_bytes)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes:,} bytes", str(path))
    return content


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError


def read_bytes(path: Path, most_bytes: int, what: str = "a file") -> bytes:
    """Return the content of a regular file, truncated one byte after `most_bytes`. Raises NotRead.

    `what` is the file that the message asks for if the path is a folder.
    """
    try:
        return read_beginning(path, most_bytes)
    except IsADirectoryError as error:
        raise NotRead(f"is a folder; pass {what} in it") from error
    except NotRegularError as error:
        raise NotRead(f"is not a regular file; pass {what}") from error
    except FileNotFoundError as error:
        raise NotRead("does not exist; check the path") from error
    except PermissionError as error:
        raise NotRead("cannot be read: permission denied; check its permissions") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror or "unknown error").lower() if isinstance(error, OSError) else str(error)
        raise NotRead(f"cannot be read ({reason}); check the path") from error


def numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content of each line that is not blank, without the white space before it.

    A byte order mark is left out.
    """
    number, end = 1, 0
    # Not splitlines: a line separator may be part of an answer.
    for found in _LINE.finditer(content, len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0):
        number += content.count(b"\n", end, found.start())
        end = found.end()
        yield number, found[0]


def decode(content: bytes) -> str:
    """Return the text of UTF-8 content without a byte order mark. Raises NotRead."""
    for bom, name in _BOMS.items():
        if content.startswith(bom):
            raise NotRead(f"is {name}, not UTF-8; save it as UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise NotRead(f"is not UTF-8 (byte 0x{byte:02x} at offset {error.start}); save it as UTF-8") from error
