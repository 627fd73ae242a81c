"""Reading a file that the user named, with a message for every failure."""

import codecs
import stat
from pathlib import Path

_BOMS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", codecs.BOM_UTF32_BE: "UTF-32"}


class NotRead(Exception):
    """A file that cannot be read; the message explains why and how to fix it."""


def read_bytes(path: Path, most_bytes: int, what: str = "a file") -> bytes:
    """Return the content of a regular file, truncated one byte after `most_bytes`. Raises NotRead.

    `what` is the file that the message asks for if the path is a folder.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise NotRead(f"is a folder; pass {what} in it")
        if not stat.S_ISREG(status.st_mode):
            raise NotRead(f"is not a regular file; pass {what}")
        with path.open("rb") as file:
            # Read the size of the file only, because a larger buffer would be allocated and freed again.
            content = file.read(min(status.st_size, most_bytes) + 1)
            return content + file.read(max(0, most_bytes + 1 - len(content)))
    except FileNotFoundError as error:
        raise NotRead("does not exist; check the path") from error
    except PermissionError as error:
        raise NotRead("cannot be read: permission denied; check its permissions") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror or "unknown error").lower() if isinstance(error, OSError) else str(error)
        raise NotRead(f"cannot be read ({reason}); check the path") from error


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
