"""Files written whole or not at all."""

import contextlib
import os
import secrets
from pathlib import Path


def write_safely(file: Path, text: str) -> None:
    """Write beside the file first, then put that in its place: nobody ever reads half of it, and a full disk leaves
    what was there. Raises OSError."""
    beside = file.with_name(f".{file.name[:80]}.{secrets.token_hex(4)}")
    try:
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8", newline=""
        ) as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
