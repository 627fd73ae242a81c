"""Read the content of a file that a person named, with a sentence for everything that can be wrong with it."""

import codecs
import stat
from pathlib import Path

_BOMS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", codecs.BOM_UTF32_BE: "UTF-32"}


class NotRead(Exception):
    """The file cannot be read at all; the text says why and what to do."""


def read_bytes(path: Path, most_bytes: int, what: str = "a file") -> bytes:
    """Return the content of a regular file, cut off one byte behind `most_bytes`. Raises NotRead.

    `what` is what the messages ask for in place of a folder.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise NotRead(f"is a folder; pass {what} in it")
        if not stat.S_ISREG(status.st_mode):
            raise NotRead(f"is not a regular file; pass {what}")
        with path.open("rb") as file:
            # As much as there is, not as there may be: memory for the rest would be allocated and freed again.
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
    """Return the text of content in UTF-8 without a byte order mark. Raises NotRead."""
    for bom, name in _BOMS.items():
        if content.startswith(bom):
            raise NotRead(f"is {name}, not UTF-8; save it as UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise NotRead(f"is not UTF-8 (byte 0x{byte:02x} at offset {error.start}); save it as UTF-8") from error
