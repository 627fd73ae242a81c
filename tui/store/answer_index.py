"""The index of the words of all saved answers, in a file beside the history.

The index is a cache: it is filled in small steps when answers are searched, and a damaged, foreign or outdated file is
replaced by an empty one. The history itself has no part in it, so that older versions of Assay can read it. Texts of
deleted runs are removed at once, and overwritten.
"""

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tui.model.answer_search import (
    MATCH_END,
    MATCH_START,
    AnswerHit,
    AnswerHits,
    AnswerQuery,
    IndexProgress,
)
from tui.model.errors import StoreError
from tui.store import codec, reader
from tui.store.database import HistoryFile, code_of

T = TypeVar("T")

_FORMAT = 1
_APPLICATION_ID = 0x61737378  # `assx`
_BUSY_SECONDS = 5.0
_NUMBERS_AT_ONCE = 20_000
_RESULTS_PER_STEP, _BYTES_PER_STEP = 32, 2 * 2**20
_MOST_CHARACTERS = 256 * 1024
_MOST_NUMBER = 2**53
"""The characters of an answer that are indexed."""
_ATTEMPTS = 64
"""The attempts of a result that are indexed: the row of an attempt is its result × 64 + its place."""
_MOST_SCANNED = 5_000
_CONTEXT_WORDS, _CONTEXT_CHARACTERS = 32, 160
_SCAN_SECONDS = 1.0
_CLEAN = str.maketrans({"\0": " ", MATCH_START: " ", MATCH_END: " "})
_WORDS = "CREATE VIRTUAL TABLE answer USING fts5(text, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
_PLAIN = "CREATE TABLE answer (text TEXT NOT NULL)"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _Outdated(Exception):
    """The file is not an index of this format."""


class AnswerIndex:
    """The index of one history. Methods may be called from any thread; they raise StoreError.

    If the file cannot be written, the index is in memory and is built again for each process.
    """

    def __init__(self, history: HistoryFile) -> None:
        self._history = history
        self.path = history.path.with_name(f"{history.path.stem}.search{history.path.suffix}")
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: os.stat_result | None = None
        self._has_words = True
        self._pending: list[int] | None = None
        self._saved = 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def begin_update(self) -> IndexProgress:
        """Compare the index with the history, and remove results that were deleted or replaced."""
        with self._lock:
            return self._using(self._compare)

    def update(self) -> IndexProgress:
        """Index the next few results, the newest first. The step takes some milliseconds."""
        with self._lock:
            return self._using(self._step)

    def search(self, query: AnswerQuery, limit: int, run_id: str = "") -> AnswerHits:
        """Return the newest indexed answers, of all runs or of one, with all words and phrases of a query."""
        if not query.terms:
            return AnswerHits()
        with self._lock:
            return self._using(lambda connection: self._search(connection, query, limit, run_id))

    def forget(self, results: Sequence[int]) -> None:
        """Remove the texts of results from the file, if there is one. A file that cannot be cleaned is deleted."""
        if not results or not (self._connection or self.path.exists()):
            return
        with self._lock:
            try:
                self._using(lambda connection: _remove(connection, results, has_words=self._has_words))
            except StoreError:
                self._delete_file()

    # The file

    def _using(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Call a function with the open index; replace a damaged index by an empty one and call it again."""
        for is_last in (False, True):
            try:
                return act(self._open())
            except (sqlite3.Error, UnicodeDecodeError, _Outdated) as error:
                is_damage = isinstance(error, _Outdated) or code_of(error) in _DAMAGE
                if is_last or not is_damage:
                    raise StoreError(f"cannot use the search index: {error}", where=str(self.path)) from error
                self._delete_file()
        raise AssertionError("the second try returns or raises")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and not self._was_replaced():
            return self._connection
        self._close()
        try:
            if self._history.is_readonly:
                raise PermissionError
            with contextlib.suppress(FileExistsError):  # SQLite would create it readable for all
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            self._connection = _connect(str(self.path))
            self._identity = self.path.stat()
        except OSError:
            self._connection, self._identity = _connect(":memory:"), None
        try:
            self._has_words = _prepare(self._connection)
        except BaseException:
            self._close()
            raise
        self._pending = None
        return self._connection

    def _was_replaced(self) -> bool:
        if self._identity is None:
            return False
        try:
            return not os.path.samestat(self.path.stat(), self._identity)
        except OSError:
            return True

    def _close(self) -> None:
        connection, self._connection, self._pending = self._connection, None, None
        if connection is not None:
            connection.close()

    def _delete_file(self) -> None:
        self._close()
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{self.path}{ending}").unlink()

    # Filling

    def _compare(self, connection: sqlite3.Connection) -> IndexProgress:
        saved = dict(self._saved_results())
        indexed = dict(connection.execute("SELECT result, answer FROM entry"))
        obsolete = [number for number, answer in indexed.items() if saved.get(number) != answer]
        if obsolete:
            _remove(connection, obsolete, has_words=self._has_words)
        kept = indexed.keys() - obsolete
        self._pending = sorted(saved.keys() - kept)  # the newest is taken first
        self._saved = len(saved)
        return self._progress(self._pending)

    def _saved_results(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each saved result with the hash of its answer, a part at a time."""
        select = reader.select_result_numbers
        rows = self._history.read(partial(select, after=0, limit=_NUMBERS_AT_ONCE))
        while rows:
            yield from rows
            rows = self._history.read(partial(select, after=rows[-1][0], limit=_NUMBERS_AT_ONCE))

    def _progress(self, pending: Sequence[int]) -> IndexProgress:
        return IndexProgress(self._saved - len(pending), self._saved)

    def _step(self, connection: sqlite3.Connection) -> IndexProgress:
        if self._pending is None:
            self._compare(connection)
        pending = self._pending or []
        found: list[tuple[int, str, list[tuple[int, str]]]] = []
        size = 0
        while pending and len(found) < _RESULTS_PER_STEP and size < _BYTES_PER_STEP:
            number = pending.pop()
            row = self._history.read(partial(reader.select_content, number=number))
            if row is not None:
                answer, content = row
                found.append((number, answer, texts_of(content)))
                size += len(content)
        if found:
            _insert(connection, found)
            numbers = [number for number, _, _ in found]
            still = {row[0] for row in self._history.read(lambda history: reader.select_places(history, numbers))}
            # Another process may have deleted a run since its results were read.
            _remove(connection, [number for number in numbers if number not in still], has_words=self._has_words)
        return self._progress(pending)

    # Searching

    def _search(self, connection: sqlite3.Connection, query: AnswerQuery, limit: int, run_id: str) -> AnswerHits:
        first, last = 0, 2**56
        if run_id:
            first, last = self._history.read(lambda history: reader.select_result_range(history, run_id))
        rows = first * _ATTEMPTS, last * _ATTEMPTS + _ATTEMPTS - 1
        by_words = self._has_words and not query.needs_scan
        find = _find_words if by_words else _scan
        hits: list[AnswerHit] = []
        batch: list[tuple[int, str]] = []
        deadline = time.monotonic() + _SCAN_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 20_000)
        complete = True
        try:
            for seen, row in enumerate(find(connection, query, rows)):
                batch.append(row)
                if len(batch) > limit or seen >= _MOST_SCANNED:
                    hits += self._hits(connection, batch, run_id)
                    batch = []
                    if len(hits) > limit or seen >= _MOST_SCANNED:
                        complete = False
                        break
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_INTERRUPT:
                raise
            complete = False
        finally:
            connection.set_progress_handler(None, 0)
        hits += self._hits(connection, batch, run_id)
        return AnswerHits(tuple(hits[:limit]), complete and len(hits) <= limit)

    def _hits(
        self, connection: sqlite3.Connection, rows: Sequence[tuple[int, str]], run_id: str
    ) -> Iterator[AnswerHit]:
        """Yield the hits of rows of the index; results that are no longer saved have none."""
        results = [number // _ATTEMPTS for number, _ in rows]
        places = {row[0]: row[1:] for row in self._history.read(lambda h: reader.select_places(h, results))}
        contents = self._history.read(lambda h: reader.select_contents(h, results))
        verdicts = {result: _verdicts_of(content) for result, content in contents.items()}
        for (number, context), result in zip(rows, results, strict=True):
            place = places.get(result)
            if place is not None and run_id in ("", place[0]):
                attempt = connection.execute("SELECT attempt FROM place WHERE number = ?", (number,)).fetchone()
                run, suite, started_at, case, model, repeat, verdict = place
                own = verdicts.get(result, {}).get(attempt[0], verdict)
                yield AnswerHit(run, suite, started_at, case, model, repeat, attempt[0], own or "", context)


def _verdicts_of(content: bytes) -> dict[int, str]:
    """Return the verdict of each attempt of a result by its number. Unreadable results have none."""
    with contextlib.suppress(ValueError):
        return {attempt.number: attempt.verdict for attempt in codec.decode_result(content).attempts}
    return {}


def texts_of(content: str | bytes) -> list[tuple[int, str]]:
    """Return the number and the text of each attempt of a result that has a text. Unreadable results have none."""
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        attempts = json.loads(content)["attempts"][-_ATTEMPTS:]
        texts = ((attempt["number"], [step["response"] for step in attempt["steps"]]) for attempt in attempts)
        joined = ((int(number), "\n\n".join(filter(None, responses))) for number, responses in texts)
        return [(number, _storable(text)) for number, text in joined if text.strip() and abs(number) <= _MOST_NUMBER]
    return []


def _storable(text: str) -> str:
    return text[:_MOST_CHARACTERS].translate(_CLEAN).encode(errors="replace").decode()


def _connect(name: str) -> sqlite3.Connection:
    return sqlite3.connect(name, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection) -> bool:
    """Create the tables of an empty index, and return whether it has an index of words. Raises _Outdated."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables and (version, connection.execute("PRAGMA application_id").fetchone()[0]) != (_FORMAT, _APPLICATION_ID):
        raise _Outdated
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    if not tables:
        with _writing(connection):
            if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                connection.execute("CREATE TABLE entry (result INTEGER PRIMARY KEY, answer TEXT NOT NULL)")
                connection.execute("CREATE TABLE place (number INTEGER PRIMARY KEY, attempt INTEGER NOT NULL)")
                connection.execute(_WORDS if has_word_index(connection) else _PLAIN)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
    created = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'answer'").fetchone()
    has_words = has_word_index(connection)
    if created is None or (created[0] == _WORDS) != has_words:
        raise _Outdated
    return has_words


def has_word_index(connection: sqlite3.Connection) -> bool:
    """Return whether this SQLite has FTS5, its index of words."""
    return bool(connection.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'").fetchone()[0])


@contextlib.contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _insert(connection: sqlite3.Connection, found: Iterable[tuple[int, str, list[tuple[int, str]]]]) -> None:
    """Add results. In the order of their numbers: FTS5 writes to the disk whenever a number is smaller."""
    with _writing(connection):
        for result, answer, texts in sorted(found):
            known = connection.execute("INSERT OR IGNORE INTO entry VALUES (?, ?)", (result, answer)).rowcount == 0
            for place, (attempt, text) in enumerate(() if known else texts):
                number = result * _ATTEMPTS + place
                connection.execute("INSERT INTO place VALUES (?, ?)", (number, attempt))
                connection.execute("INSERT INTO answer (rowid, text) VALUES (?, ?)", (number, text))


def _remove(connection: sqlite3.Connection, results: Sequence[int], *, has_words: bool) -> None:
    """Remove results, overwrite their texts, and shorten the file."""
    with _writing(connection):
        removed = 0
        for result in results:
            removed += connection.execute("DELETE FROM entry WHERE result = ?", (result,)).rowcount
            rows = result * _ATTEMPTS, result * _ATTEMPTS + _ATTEMPTS - 1
            numbers = connection.execute("SELECT number FROM place WHERE number BETWEEN ? AND ?", rows).fetchall()
            connection.executemany("DELETE FROM answer WHERE rowid = ?", numbers)
            connection.executemany("DELETE FROM place WHERE number = ?", numbers)
        if removed and has_words:  # a deleted word stays in the index until its parts are merged
            connection.execute("INSERT INTO answer (answer) VALUES ('optimize')")
    if removed:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _find_words(connection: sqlite3.Connection, query: AnswerQuery, rows: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """Yield the rows with all words and phrases, the newest first, with their context."""
    quoted = [f'"{_escaped(word)}"*' for word in query.words] + [f'"{_escaped(each)}"' for each in query.phrases]
    yield from connection.execute(
        f"SELECT rowid, snippet(answer, 0, ?, ?, '…', {_CONTEXT_WORDS}) FROM answer"
        " WHERE answer MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
        (MATCH_START, MATCH_END, " AND ".join(quoted), *rows),
    )


def _escaped(term: str) -> str:
    return term.encode(errors="replace").decode().replace('"', '""')


def _scan(connection: sqlite3.Connection, query: AnswerQuery, rows: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """Yield the same without an index of words: terms are also found inside of words."""
    terms = [term.encode(errors="replace").decode() for term in query.terms]
    patterns = ["%" + term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%" for term in terms]
    condition = " AND ".join(["text LIKE ? ESCAPE '\\'"] * len(patterns))
    sql = f"SELECT rowid, text FROM answer WHERE rowid BETWEEN ? AND ? AND {condition} ORDER BY rowid DESC"
    found: Iterable[Any] = connection.execute(sql, (*rows, *patterns))
    for number, text in found:
        yield number, _context_of(text, terms)


def _context_of(text: str, terms: Sequence[str]) -> str:
    """Return a piece of a text around the first match of the first term, with signs around it."""
    at = max(0, text.lower().find(terms[0].lower()))
    start, end = max(0, at - _CONTEXT_CHARACTERS // 3), at + len(terms[0]) + _CONTEXT_CHARACTERS
    head = f"{'…' if start else ''}{text[start:at]}"
    match, tail = text[at : at + len(terms[0])], text[at + len(terms[0]) : end]
    return f"{head}{MATCH_START}{match}{MATCH_END}{tail}{'…' if end < len(text) else ''}"
