"""Files written whole or not at all."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

# What is open already, by its descriptor: another file put in its place would not reach whoever holds it.
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
_LONGEST_WAY = 40  # links
# A folder of somebody else's, a single file that is mounted into a container.
_NO_PLACE_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def write_safely(file: Path, text: str) -> None:
    """Write beside the file first, then put that in its place: nobody ever reads half of it, and a full disk leaves
    what was there. A link is followed and rights stay as they are. Raises OSError, also for what is no file: a device
    would be gone afterwards."""
    file = Path(os.path.realpath(file))
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "Not a file", str(file))
    beside = file.with_name(f".{file.name[:80]}.{secrets.token_hex(4)}")
    try:
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8", newline=""
        ) as out:
            with contextlib.suppress(OSError):
                os.chmod(beside, stat.S_IMODE(file.stat().st_mode))
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def write_out(file: Path, text: str) -> None:
    """Write safely where another file can be put in this one's place. A pipe, a device, what is open already
    (`/dev/stdout`), and a file in a folder where nothing can be made get the text as it comes. Raises OSError."""
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
