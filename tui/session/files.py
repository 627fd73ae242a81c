"""Atomic writes of text files."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

# A file that is already open by its descriptor: readers of the descriptor would not see a replacement.
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
_LONGEST_WAY = 40  # symbolic links followed at most
# A folder without write permission, or a single file mounted into a container.
_NO_PLACE_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def write_safely(file: Path, text: str, mode: int | None = None) -> None:
    """Write a file atomically: write a temporary file beside it, then replace it.

    Readers never see a partial file, and a full disk leaves the old content. Symbolic links are followed and
    permissions stay as they are, or become `mode`. Raises OSError, also if the path is not a regular file: a device
    would be replaced.
    """
    file = Path(os.path.realpath(file))
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "Not a file", str(file))
    beside = file.with_name(f".{file.name[:80]}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if mode else 0o666)
        with open(descriptor, "w", encoding="utf-8", newline="") as out:
            with contextlib.suppress(OSError):
                os.chmod(beside, mode or stat.S_IMODE(file.stat().st_mode))
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def write_out(file: Path, text: str) -> None:
    """Write atomically where the file can be replaced, otherwise write directly.

    Directly means a pipe, a device, an open descriptor (`/dev/stdout`) or a file in a read-only folder. Raises
    OSError.
    """
    if _is_open_already(file) or (file.exists() and not file.is_file()):
        file.write_text(text, encoding="utf-8", newline="")
        return
    try:
        write_safely(file, text)
    except OSError as error:
        if error.errno not in _NO_PLACE_BESIDE or not file.is_file():
            raise
        file.write_text(text, encoding="utf-8", newline="")


def _is_open_already(file: Path) -> bool:
    way = os.path.abspath(file)
    for _ in range(_LONGEST_WAY):
        if way.startswith(_OPEN_ALREADY):
            return True
        if not os.path.islink(way):
            return False
        way = os.path.join(os.path.dirname(way), os.readlink(way))
    return False
