"""The score files of a run, one for each reviewer: append-only, with merge and consistent reads."""

import codecs
import contextlib
import errno
import hashlib
import io
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from tui.documents.files import read_whole
from tui.model.collector import paused_collector
from tui.model.errors import StoreError
from tui.model.scores import Act, is_copy, is_overridden, joined
from tui.model.secrets import Secrets
from tui.processes.file_lock import PATIENCE_S, locked
from tui.risk.score_lines import LARGEST_LINE, LineFault, read_line, write_line

# Bytes of a file, and of all files of a run after a merge. Short lines, and notes of which one character needs four
# bytes, take four times as much memory, and a merge needs the stored lines beside the new ones.
LARGEST_FILE = 64 * 2**20
LARGEST_RUN = 128 * 2**20
MOST_REVIEWERS = 200
"""Reviewers of a run after a merge: the agreement of each pair of them is computed."""
_FIRST_LOOK = 4096  # bytes; a line is rarely longer
_TICK = timedelta(milliseconds=1)
# No clock is that wrong, and nothing can be dated after an act at the end of the calendar: its reviewer is locked out.
_END_YEAR = 2200
_BEGINNING = b'{"version": 1, "act": "'
# The beginning of a line as Assay writes it: pairs of a key and a text, number or word. The last one is incomplete.
_OPEN = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_TEXT = rf'{_OPEN}"'
_VALUE = rf"(?:{_TEXT}|[-+.\w]+)"
_ID = re.compile(rb'"id": ?"([0-9a-zA-Z._-]+)"')
_CUT_LINE = re.compile(
    rf"\{{(?:{_TEXT}: {_VALUE}, )*+(?:{_OPEN}\\?|{_TEXT}:? ?|{_TEXT}: (?:{_OPEN}\\?|{_VALUE},?))?".encode(), re.DOTALL
)
_ASIDE = ".deleted-"
_RUN = re.compile("[0-9a-f-]{1,64}")
_NEW, _DECIDED = ".import-new", ".import"  # folders beside those of the runs


def append_act(file: Path, act: Act, not_before: datetime | None = None) -> Act:
    """Append an act; it is on disk when this returns, and the file is unchanged if that fails.

    It is dated after `not_before`, whatever the clock says: the latest act is the one that counts. The caller holds the
    lock. Raises OSError.
    """
    is_new = not file.exists()
    with open(file, "ab+", buffering=0, opener=_open_private) as out:
        size = out.seek(0, os.SEEK_END)
        end, whole = _read_end(out.fileno(), size)
        if end < size:
            out.truncate(end)
        act = _dated(act, not_before)
        data = (b"" if whole else b"\n") + write_line(act).encode()
        _check_size(file, end + len(data))
        try:
            _write_all(out.fileno(), data)
            os.fsync(out.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                out.truncate(end)
            raise
    if is_new:
        sync_folder(file.parent)
    return act


def replace_file(file: Path, data: bytes) -> None:
    """Replace a file with these bytes, or leave it as it is. Raises OSError."""
    beside = file.with_name(f".{secrets.token_hex(8)}.part")
    try:
        _write_new(beside, data)
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def replace_files(root: Path, contents: Mapping[Path, bytes]) -> None:
    """Replace files `<root>/<folder>/<file>`: all or none, even if the process is killed.

    The caller holds the lock of the root and has created the folders. All new files are written to a folder of their
    own; its rename decides that they replace the old ones, and `complete_replacement` moves them. Raises OSError.
    """
    if not contents:
        return
    new = root / _NEW
    try:
        for file, data in contents.items():
            _refuse_unwritable(file.parent, root)
            place = new / file.relative_to(root)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_new(place, data)
        for folder in (*{new / file.parent.relative_to(root) for file in contents}, new):
            sync_folder(folder)
        os.rename(new, root / _DECIDED)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    sync_folder(root)
    complete_replacement(root)


def is_replacing(root: Path) -> bool:
    """Return whether new files wait for `complete_replacement`."""
    return (root / _DECIDED).exists()


def complete_replacement(root: Path) -> None:
    """Move the new files that wait to their places, and remove undecided ones. The caller holds the lock of the root.

    Raises OSError.
    """
    if (root / _NEW).exists():
        shutil.rmtree(root / _NEW)
    if not is_replacing(root):
        return
    for sources in sorted((root / _DECIDED).iterdir()):
        if not _RUN.fullmatch(sources.name) or sources.is_symlink():
            continue
        folder = root / sources.name
        make_folder(folder)
        for source in sorted(sources.glob("*.jsonl")):
            os.replace(source, folder / source.name)
        sync_folder(folder)
    shutil.rmtree(root / _DECIDED)


def _refuse_unwritable(folder: Path, root: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    if folder.stat().st_dev != root.stat().st_dev:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(folder))


def _check_size(file: Path, size: int) -> None:
    """Raise OSError for a size at which the file could not be read again."""
    if size > LARGEST_FILE:
        raise OSError(errno.EFBIG, f"larger than {LARGEST_FILE:,} bytes", str(file))


def _check_sizes(texts: Mapping[Path, bytes]) -> None:
    """Raise OSError for new contents of files with which their runs could not be read or merged again."""
    runs = dict.fromkeys((file.parent for file in texts), 0)
    for file, data in texts.items():
        _check_size(file, len(data))
        runs[file.parent] += len(data)
    for folder, new in runs.items():
        if new + sum(file.stat().st_size for file in _files_in(folder) if file not in texts) > LARGEST_RUN:
            raise OSError(errno.EFBIG, f"together larger than {LARGEST_RUN:,} bytes", str(folder))


def _files_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and not path.name.startswith("."))


def _write_new(file: Path, data: bytes) -> None:
    with open(file, "xb", buffering=0, opener=_open_private) as out:
        _write_all(out.fileno(), data)
        os.fsync(out.fileno())


def make_folder(folder: Path) -> None:
    """Create a folder and its parents durably; only the owner may read them. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Flush the folder's entries to disk, if the system supports it. Raises OSError."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_truncated(line: bytes) -> bool:
    """Return whether a last line without its LF is an incomplete line of ours after a crash.

    Such a line was never reported as saved. A line to its closing brace, or with anything that Assay does not write, is
    what somebody else wrote.
    """
    return bool(line) and line.startswith(_BEGINNING[: len(line)]) and _CUT_LINE.fullmatch(line) is not None


def _read_end(descriptor: int, size: int) -> tuple[int, bool]:
    """Return where the next line can begin, and whether the line before has its LF."""
    length = _FIRST_LOOK
    while True:
        start = max(0, size - length)
        *lines, rest = _read(descriptor, start, size).split(b"\n")
        if lines or start == 0:
            break
        length *= 8
    end = size - len(rest) if is_truncated(rest) else size
    return end, end < size or not rest


def _dated(act: Act, not_before: datetime | None) -> Act:
    if not_before is None or act.order[0] > not_before:
        return act
    return replace(act, scored_at=(not_before + _TICK).isoformat(timespec="milliseconds"))


def _act_of(line: bytes) -> Act | None:
    try:
        act = read_line(line)
    except LineFault:
        return None
    return act if act.order[0].year < _END_YEAR else None


def _has_known_id(line: bytes, is_known: Callable[[str], bool]) -> bool:
    ids = _ID.findall(line)
    return bool(ids) and all(is_known(id.decode()) for id in ids)


def _read(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    pieces = []
    while start < end and (piece := os.read(descriptor, end - start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


_LONGEST_NAME = 40
_ROOM_FOR_DATE = 100  # bytes


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a valid act, with the reason."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: error: {self.what}"


@dataclass(frozen=True, slots=True)
class KeptActs:
    """The acts of a run, in order and without duplicates; `bad` are the unreadable lines of its files."""

    acts: tuple[Act, ...] = ()
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreCount:
    """The number of scores and decisions of a run, including those changed later, and of their reviewers."""

    scores: int = 0
    reviewers: int = 0


class ActConflict(Exception):
    """Stored ids with different content; nothing was changed."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = frozenset(ids)
        super().__init__(", ".join(sorted(self.ids)))


class ActsTooLong(Exception):
    """New acts whose lines would be longer than a line can be; nothing was changed."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = frozenset(ids)
        super().__init__(", ".join(sorted(self.ids)))


class ActsMissed(Exception):
    """Stored acts that the writer of an act does not know, and that the act would override; nothing was changed."""

    def __init__(self, acts: Iterable[Act]) -> None:
        self.acts = tuple(acts)
        super().__init__(", ".join(act.id for act in self.acts))


class ScoreFiles:
    """The files `<folder>/<run id>/<reviewer>.jsonl`.

    Any number of processes and threads may use them concurrently. Writes are on disk when a method returns; a method
    waits for other writers for at most `patience` seconds. `secrets` are removed from notes and from versions of
    guidance, when they are stored and when they are read: one may have become known since. Methods raise StoreError.
    """

    def __init__(self, folder: Path, patience: float = PATIENCE_S, secrets: Secrets | None = None) -> None:
        self._folder, self._patience, self._secrets = folder, patience, secrets or Secrets()

    def has(self, run_id: str) -> bool:
        """Return whether the run ever had scores."""
        with self._store_errors("cannot be read", self.folder_of(run_id)):
            self._complete()
        return self.folder_of(run_id).is_dir()

    def stamp(self, run_id: str) -> tuple[tuple[str, int, int], ...]:
        """Return name, size and time of change of each file of a run: others after any act."""
        with self._store_errors("cannot be read", self.folder_of(run_id)):
            found = [(file.name, file.stat()) for file in self._files(run_id)]
        return tuple((name, status.st_size, status.st_mtime_ns) for name, status in found)

    def read(self, run_id: str) -> KeptActs:
        """Return all acts of a run. A last line that was truncated by a crash was never reported as saved."""
        found: dict[str, Act] = {}
        bad: list[BadLine] = []
        with self._store_errors("cannot be read", self.folder_of(run_id)), paused_collector():
            self._complete()
            for file in self._files(run_id):
                for number, _, act in _read_lines(read_whole(file, LARGEST_FILE), run_id, found):
                    if isinstance(act, str):
                        bad.append(BadLine(str(file), number, self._secrets.hide(act)))
        return KeptActs(in_order(map(self._hidden, found.values())), tuple(bad))

    def count(self, run_id: str) -> ScoreCount:
        """Return how many scores would be deleted with the run."""
        acts = [act for act in self.read(run_id).acts if act.act in ("score", "adjudicate")]
        return ScoreCount(len(acts), len({act.reviewer for act in acts}))

    def append(
        self,
        act: Act,
        not_before: datetime | None = None,
        is_known: Callable[[str], bool] | None = None,
        stored: Collection[str] = (),
    ) -> Act:
        """Append an act to its reviewer's file.

        If the clock is behind `not_before`, the act is dated a millisecond after it: the latest act is the one that
        counts. With `is_known`, which says of an id whether its act is known to the writer,
        raises ActsMissed for stored acts that are not known and that the act would override (`is_overridden`).
        `stored` are the ids of acts of the run that the writer has seen in its files: they must still be there.
        """
        act, file = self._hidden(act), self.file_of(act.run, act.reviewer)
        if len(write_line(act).encode()) > LARGEST_LINE - _ROOM_FOR_DATE:
            raise StoreError("The note is too long", where=str(file), fix="Shorten the note.")
        with self._store_errors("cannot be saved", file), self._locked():
            self._check_stored(act, stored)
            make_folder(file.parent)
            if is_known is not None and (missed := self.missed(act, is_known)):
                raise ActsMissed(missed)
            return append_act(file, act, not_before)

    def _check_stored(self, act: Act, ids: Collection[str]) -> None:
        """Raise StoreError if acts of these ids are no longer in the files of the act's run."""
        gone, own = set(ids), self.file_of(act.run, act.reviewer)
        if gone and own.is_file():
            lines = read_whole(own, LARGEST_FILE).rpartition(b"\n")[0]  # without a line that was cut
            gone.difference_update(map(bytes.decode, _ID.findall(lines)))
        if gone:  # in the file of another name, or with an id that is written in another way
            gone.difference_update(stored.id for stored in self.read(act.run).acts)
        if gone:
            raise StoreError(
                "Scores that were saved before were removed while this review was open",
                where=str(self.folder_of(act.run)),
                fix="Restore the files, or reopen the review to continue without these scores.",
            )

    def missed(self, act: Act, is_known: Callable[[str], bool]) -> tuple[Act, ...]:
        """Return the stored acts that are not known, and that `act` would override (`is_overridden`)."""
        is_decision = act.act == "adjudicate" or act.withdraws is not None
        with self._store_errors("cannot be read", self.folder_of(act.run)):
            files = self._files(act.run) if is_decision else [self.file_of(act.run, act.reviewer)]
            texts = [read_whole(file, LARGEST_FILE) for file in files if file.is_file()]
        # Only lines of unknown acts are parsed; an id that is written in another way is none that is known.
        lines = (line for text in texts for line in text.split(b"\n") if not _has_known_id(line, is_known))
        unknown = (found for line in lines if (found := _act_of(line)) is not None and not is_known(found.id))
        return tuple(self._hidden(found) for found in unknown if is_overridden(found, act))

    def merge(self, acts: Iterable[Act]) -> tuple[Act, ...]:
        """Add acts of any runs and reviewers to their files, in order and without duplicates. Return the new ones.

        All or nothing; stored acts never change. Raises ActConflict and ActsTooLong.
        """
        return self._merge(acts, is_trial=False)

    def check_merge(self, acts: Iterable[Act]) -> tuple[Act, ...]:
        """Return the acts that `merge` would add, and raise what it would raise; nothing is stored."""
        return self._merge(acts, is_trial=True)

    def _merge(self, acts: Iterable[Act], *, is_trial: bool) -> tuple[Act, ...]:
        by_run: dict[str, list[Act]] = {}
        for act in acts:
            by_run.setdefault(act.run, []).append(self._hidden(act))
        with self._store_errors("cannot be saved", self._folder), self._locked(), paused_collector():
            texts: dict[Path, bytes] = {}
            new = [act for run_id, of_run in by_run.items() for act in self._merge_run(run_id, of_run, texts)]
            _check_sizes(texts)
            if not is_trial:
                for file in texts:
                    make_folder(file.parent)
                replace_files(self._folder, texts)
        return tuple(new)

    def set_aside(self, run_id: str, expected: ScoreCount | None = None) -> bool:
        """Take the scores of a run that is being deleted out of use until `settle`.

        Returns whether that was done: others than the expected ones stay.
        """
        folder = self.folder_of(run_id)
        with self._store_errors("cannot be removed", folder):
            self._complete()
            if not folder.is_dir():
                return expected in (None, ScoreCount())
            with self._locked():
                if expected not in (None, self.count(run_id)):
                    return False
                folder.rename(self._folder / f"{_ASIDE}{folder.name}")
                return True

    def settle(self, find_runs: Callable[[], Iterable[str]], *, deletes: bool = True) -> None:
        """Delete the scores that were set aside, if it `deletes`, or return them to use if their run is among these."""
        if not any(self._folder.glob(f"{_ASIDE}*")):
            return
        runs = {self.folder_of(run_id).name for run_id in find_runs()}
        with self._store_errors("cannot be removed", self._folder), self._locked():
            for aside in self._folder.glob(f"{_ASIDE}*"):
                if (name := aside.name.removeprefix(_ASIDE)) in runs:
                    self._return_to_use(aside, self._folder / name)
                elif not deletes:
                    continue
                shutil.rmtree(aside, ignore_errors=True)

    def _return_to_use(self, aside: Path, folder: Path) -> None:
        if not folder.exists():
            aside.rename(folder)
            return
        texts = dict[Path, bytes]()  # somebody has scored meanwhile
        for file in aside.glob("*.jsonl"):
            later = folder / file.name
            earlier = read_whole(file, LARGEST_FILE)
            end = b"\n" if earlier and not earlier.endswith(b"\n") else b""  # an act that a kill has cut
            texts[later] = earlier + end + (read_whole(later, LARGEST_FILE) if later.exists() else b"")
        replace_files(self._folder, texts)

    def folder_of(self, run_id: str) -> Path:
        """Return the folder of the run's files."""
        return self._folder / (run_id if _RUN.fullmatch(run_id) else _digest(run_id, 32))

    def file_of(self, run_id: str, reviewer: str) -> Path:
        """Return the path of a reviewer's file."""
        return self.folder_of(run_id) / file_name(reviewer)

    def _files(self, run_id: str) -> list[Path]:
        return _files_in(self.folder_of(run_id))

    def _merge_run(self, run_id: str, acts: list[Act], texts: dict[Path, bytes]) -> list[Act]:
        known: dict[str, Act] = {}
        held = {self.file_of(run_id, reviewer): _Held() for reviewer in {act.reviewer for act in acts}}
        for file in self._files(run_id):
            _hold(file, run_id, known, held.get(file))
        new: dict[str, Act] = {}
        conflicts = set()
        for act in acts:
            if stored := known.get(act.id):
                if not is_copy(act, stored) and not is_copy(act, self._hidden(stored)):
                    conflicts.add(act.id)
            elif whole := joined(new.get(act.id, act), act):
                new[act.id] = whole
            else:
                conflicts.add(act.id)
        if conflicts:
            raise ActConflict(conflicts)
        self._check_reviewers(run_id, known.values(), new.values())
        lines = {act.id: write_line(act).encode() for act in new.values()}
        # Invisible characters become longer escapes: a line within the limit may exceed it when it is written.
        if too_long := [id for id, line in lines.items() if len(line) > LARGEST_LINE]:
            raise ActsTooLong(too_long)
        touched = {}
        for act in new.values():
            file = self.file_of(run_id, act.reviewer)
            touched[file] = held[file]
            touched[file].lines[lines[act.id].removesuffix(b"\n")] = act.order
        texts |= {file: of_file.as_bytes() for file, of_file in touched.items()}
        return list(new.values())

    def _check_reviewers(self, run_id: str, known: Iterable[Act], new: Iterable[Act]) -> None:
        """Raise StoreError for more reviewers than a run can have, and for a new one whose name contains a key."""
        added = {act.reviewer for act in new}
        everybody = added | {act.reviewer for act in known}
        what = fix = ""
        if added and len(everybody) > MOST_REVIEWERS:
            what = f"the run would have {len(everybody):,} reviewers"
            fix = f"A run can have {MOST_REVIEWERS}: import the scores of fewer."
        elif any(self._secrets.occur_in(name) for name in added):
            what, fix = "the name of a reviewer contains an API key", "Import them under another name."
        if what:
            raise StoreError(f"Scores cannot be saved: {what}", where=str(self.folder_of(run_id)), fix=fix)

    def _hidden(self, act: Act) -> Act:
        note, guidance = self._secrets.hide(act.note), self._secrets.hide(act.guidance)
        return act if (note, guidance) == (act.note, act.guidance) else replace(act, note=note, guidance=guidance)

    def _complete(self) -> None:
        """Complete a merge that was killed, or wait for one that another process is completing."""
        if is_replacing(self._folder):
            with self._locked():
                pass

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        make_folder(self._folder)
        with locked(self._folder / ".lock", self._patience):
            complete_replacement(self._folder)
            yield

    @contextlib.contextmanager
    def _store_errors(self, what: str, where: Path) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            fix = "Close the other program, or try again."
            raise StoreError(f"Scores {what}: another program has them {error}", where=str(where), fix=fix) from error
        except OSError as error:
            fix = "Free disk space or fix the permissions of the folder, then try again."
            if is_too_large := error.errno == errno.EFBIG:
                file, run = LARGEST_FILE // 2**20, LARGEST_RUN // 2**20
                fix = f"A reviewer's file can have {file} MiB, all of a run {run} MiB: shorten notes or remove lines."
            place = str((is_too_large and error.filename) or where)
            raise StoreError(f"Scores {what} ({error.strerror or error})", where=place, fix=fix) from error


def in_order(acts: Iterable[Act]) -> tuple[Act, ...]:
    """Return the acts sorted by (time, id)."""
    return tuple(sorted(acts, key=lambda act: act.order))


def file_name(reviewer: str) -> str:
    """Return a file name that is valid on every file system and unique to the reviewer.

    It is the readable part of the name, then a digest of the whole name.
    """
    plain = unicodedata.normalize("NFKD", reviewer[: 4 * _LONGEST_NAME]).encode("ascii", "ignore").decode().lower()
    readable = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-")
    return f"{readable or 'reviewer'}-{_digest(reviewer, 12)}.jsonl"


def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _read_lines(data: bytes, run_id: str, found: dict[str, Act]) -> Iterator[tuple[int, bytes, Act | str]]:
    """Yield each non-empty line with its number, and its act or its fault.

    An act in `found` is a duplicate; others are added to it. A truncated last line is left out.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if is_truncated(data[(end := data.rfind(b"\n") + 1) :]):
        data = data[:end]
    for number, ended in enumerate(io.BytesIO(data), 1):  # no list of all lines beside the content
        line = ended.removesuffix(b"\n")
        if not line.strip():
            continue
        try:
            act = read_line(line)
        except LineFault as fault:
            yield number, line, str(fault)
            continue
        if act.order[0].year >= _END_YEAR:
            yield number, line, f"scored_at: {act.scored_at} is after the year {_END_YEAR - 1}; correct the date"
        elif act.run != run_id:
            yield number, line, "belongs to another run; move the line to the folder of that run"
        elif act.act == "score" and act.extent is None:
            yield number, line, "comes from a template and has no score; fill in the template, then import it"
        elif (whole := joined(found.get(act.id, act), act)) is None:
            yield number, line, f"duplicate id {act.id} with different content; give the line a new id"
        else:
            found[act.id] = whole
            yield number, line, whole


@dataclass(frozen=True, slots=True)
class _Held:
    """The lines of a file: valid ones with the order of their acts, and those that are invalid or duplicates of others.

    A stored line keeps its bytes: another program, or a later version, may have written keys that are unknown here.
    """

    lines: dict[bytes, tuple[datetime, str]] = field(default_factory=dict)
    strange: list[bytes] = field(default_factory=list)

    def as_bytes(self) -> bytes:
        """Return the file's new content, in order; invalid lines are at the end."""
        return b"".join(line + b"\n" for line in (*sorted(self.lines, key=self.lines.__getitem__), *self.strange))


def _hold(file: Path, run_id: str, known: dict[str, Act], held: _Held | None) -> None:
    """Add the acts of a file to `known`, and its lines to `held` if it is to be written again."""
    for _, line, act in _read_lines(read_whole(file, LARGEST_FILE), run_id, known):
        if held is None:
            continue
        if isinstance(act, str):
            held.strange.append(line)
        else:
            held.lines[line] = act.order
