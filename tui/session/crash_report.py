"""The report of an unexpected error: a file with the details, and sentences for the user, without keys."""

import contextlib
import os
import platform
import shlex
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import tui
from tui.config.folders import find_folders
from tui.config.load import known_secrets
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.secrets import Secrets, hide_service_keys

CRASH_EXIT_CODE = 3
"""The exit code after an unexpected error, of the app and of every command: it could not finish."""
_FOLDER = "crashes"
_MOST_FILES = 10
_MOST_CHARACTERS = 200_000


def report_crash(error: BaseException, environ: Mapping[str, str]) -> str:
    """Write the details of an unexpected error to a file in the data folder, and return the message for the user.

    Without that file the message contains the details. Both are sanitized and contain no known key. Raises nothing.
    """
    try:
        secrets = known_secrets(environ, sys.argv)
        what = traceback.format_exception_only(error)[-1].strip()
        sentence = f"Internal error in Assay: {sanitize_line(secrets.hide(what), 600)}"
        details = _details(error, secrets)
    except Exception as second:  # noqa: BLE001 nothing may hide that Assay has failed
        return f"Internal error in Assay: {type(error).__name__} (no details: {type(second).__name__})"
    try:
        file = _write(find_folders(environ).data, details)
    except Exception:  # noqa: BLE001 a full disk, no home folder, or the error itself
        return f"{sentence}\nPlease report this error with these details:\n{details}"
    return f"{sentence}\nPlease report this error with the details in this file: {sanitize_text(str(file))}"


def _details(error: BaseException, secrets: Secrets) -> str:
    command = hide_service_keys(shlex.join(["assay", *sys.argv[1:]]))
    trace = "".join(traceback.format_exception(error))
    if len(trace) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        # `…` beside each cut, so that the part of a key before or after it is recognized.
        trace = f"{trace[:half]}…\n…{trace[-half:]}"
    python = f"Python {platform.python_version()} on {platform.platform()}"
    head = f"Assay {tui.__version__}, {python}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n{command}\n\n"
    return sanitize_text(secrets.hide(head + trace))


def _write(data: Path, text: str) -> Path:
    """Write a file that only the user can read, and remove the oldest of many. Raises OSError."""
    folder = data / _FOLDER
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{os.getpid()}.txt"
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
    with contextlib.suppress(OSError):
        for old in sorted(folder.glob("*.txt"))[:-_MOST_FILES]:
            old.unlink()
    return file
