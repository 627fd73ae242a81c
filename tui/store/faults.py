"""SQLite's errors as sentences."""

import sqlite3
from pathlib import Path

from tui.model.errors import StoreError

_READING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        "the disk is full, the result could not be written",
        "Make room on the disk; what was kept before is safe, and the writing can be tried again.",
    ),
    sqlite3.SQLITE_BUSY: (
        "another program has kept the history locked for 10 seconds",
        "Close the other program, or try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the history is damaged",
        "Start Assay again: the damaged file is then moved aside (not deleted) and what can be read of it is kept.",
    ),
    sqlite3.SQLITE_READONLY: (
        "the history can only be read",
        "Give yourself the right to write to the file and its folder, then start Assay again.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the history cannot be opened",
        "Check that the folder exists and that you may read and write it.",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "Check the disk (is it full, or gone?); what was kept before is safe, and the writing can be tried again.",
    ),
}
_SENTENCES[sqlite3.SQLITE_LOCKED] = _SENTENCES[sqlite3.SQLITE_BUSY]
_SENTENCES[sqlite3.SQLITE_NOTADB] = _SENTENCES[sqlite3.SQLITE_CORRUPT]


def code_of(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 for errors of the Python module itself."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken."""
    return code_of(error) in _DAMAGE


def is_refusal(error: sqlite3.Error) -> bool:
    """Whether the system does not let us write, or create files beside it."""
    return code_of(error) in _READING


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The sentence for what SQLite said."""
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    what, fix = _SENTENCES.get(code_of(error), (f"the history cannot be used: {error}", ""))
    return StoreError(f"{what} ({name})", where=str(path), fix=fix)
