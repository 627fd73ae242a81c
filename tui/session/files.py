"""Atomic writes of text files and of files that a user has named, and small JSON files of the data folder."""

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from tui.config.folders import find_folders
from tui.documents.files import read_whole
from tui.model.current_folder import absolute_path, normal_path, real_path
from tui.model.errors import ConfigError, StoreError
from tui.processes.file_lock import locked

# A file that is already open by its descriptor: readers of the descriptor would not see a replacement.
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
_LONGEST_WAY = 40  # symbolic links followed at most
# A folder without write permission, or a single file mounted into a container.
_NO_PLACE_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def write_safely(file: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write a file atomically: write a temporary file beside it, then replace it.

    Readers never see a partial file, and a full disk leaves the old content. Symbolic links are followed and
    permissions stay as they are, or become `mode`. Raises OSError, also if the path is not a regular file: a device
    would be replaced.
    """
    file = Path(real_path(file))
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "Not a file", str(file))
    beside = file.with_name(f".{file.name[:80]}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if mode else 0o666)
        with open(descriptor, "wb") as out:
            with contextlib.suppress(OSError):
                os.chmod(beside, mode or stat.S_IMODE(file.stat().st_mode))
            out.write(_encoded(content))
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def read_json(file: Path, most_bytes: int) -> object:
    """Return the content of a small JSON file; None if it is missing, too large or damaged."""
    try:
        return json.loads(read_whole(file, most_bytes))
    except (OSError, ValueError, RecursionError):
        return None


@contextlib.contextmanager
def locked_for_change(file: Path, what: str) -> Iterator[None]:
    """Hold the lock of a file inside the `with` block, which reads and replaces it: other programs may change it too.

    Its folder is created. Raises StoreError, which names `what` cannot be saved, for each OSError and ValueError.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(file.with_suffix(".lock")):
            yield
    except (OSError, ValueError) as error:  # a TimeoutError of the lock has no strerror
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or "unknown error"
        raise StoreError(f"Cannot save {what} ({reason})", where=str(file)) from error


def write_new(file: Path, render: Callable[[], str], *, replaces: bool) -> None:
    """Write a rendered text atomically to a file that a user has named.

    Raises ConfigError if it cannot be written, and FileExistsError if it exists and `replaces` is false; then nothing
    is rendered.
    """
    try:
        _check_place(file)
        if file.exists() and not replaces:
            raise FileExistsError(str(file))
        write_safely(file, render())
    except FileExistsError:
        raise
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"Cannot write the file ({why})", where=str(file), fix="Choose another file.") from error


def _check_place(file: Path) -> None:
    if file.is_dir():
        raise ConfigError("Is a folder, not a file", where=str(file), fix="Enter a file name.")
    if not absolute_path(file).parent.is_dir():
        raise ConfigError(
            "The folder does not exist", where=str(file.parent), fix="Create it, or choose another folder."
        )
    find_folders(os.environ).refuse_own(file, "Choose another file.")


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def write_out(file: Path, content: str | bytes) -> None:
    """Write atomically where the file can be replaced, otherwise write directly.

    Directly means a pipe, a device, an open descriptor (`/dev/stdout`) or a file in a read-only folder. Raises
    OSError.
    """
    if _is_open_already(file) or (file.exists() and not file.is_file()):
        file.write_bytes(_encoded(content))
        return
    try:
        write_safely(file, content)
    except OSError as error:
        if error.errno not in _NO_PLACE_BESIDE or not file.is_file():
            raise
        file.write_bytes(_encoded(content))


def _is_open_already(file: Path) -> bool:
    way = normal_path(file)
    for _ in range(_LONGEST_WAY):
        if way.startswith(_OPEN_ALREADY):
            return True
        if not os.path.islink(way):
            return False
        way = os.path.join(os.path.dirname(way), os.readlink(way))
    return False
