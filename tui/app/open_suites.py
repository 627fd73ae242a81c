"""The suites that are open: what was read of each file, and what is known of its trials. Without textual."""

from collections.abc import Callable, Sequence
from os.path import commonpath
from pathlib import Path

from tui.app.presentation.outline import OpenSuite
from tui.app.session_protocol import Session
from tui.model.errors import AssayError, Problem
from tui.model.state import RunState

Stamp = tuple[int, int]
_MOST_KEPT = 4


class OpenSuites:
    """Suite files in their order. `read` and `look_again` block; call them in a thread."""

    def __init__(self, session: Session, paths: Sequence[Path]) -> None:
        self._desk, self._paths = session, tuple(paths)
        self._volumes: dict[Path, OpenSuite] = {}
        self._kept: dict[Path, OpenSuite] = {}
        self._states: dict[Path, RunState] = {}
        self._stamps: dict[Path, Stamp | None] = {}

    @property
    def suites(self) -> tuple[OpenSuite, ...]:
        """All of them, in order; kept runs last."""
        return (*self._volumes.values(), *self._kept.values())

    def open_suite(self, path: Path) -> OpenSuite | None:
        """One of them."""
        return self._volumes.get(path) or self._kept.get(path)

    def put_kept(self, open_suite: OpenSuite, state: RunState) -> None:
        """Put a kept run beside the files, where a few of them stay; the newest is the last."""
        self.drop_kept(open_suite.path)
        while len(self._kept) >= _MOST_KEPT:
            self.drop_kept(next(iter(self._kept)))
        self._kept[open_suite.path], self._states[open_suite.path] = open_suite, state

    def drop_kept(self, path: Path) -> None:
        """Take a kept run away, if it is there."""
        if self._kept.pop(path, None) is not None:
            self._states.pop(path, None)

    def state(self, path: Path) -> RunState:
        """What is known of the trials of a suite."""
        return self._states.setdefault(path, RunState())

    def find(self) -> bool:
        """Look which files there are. True when that has changed. Raises SuiteError for a path that is not there."""
        found = list(self._desk.find_suites(self._paths))
        if list(self._volumes) == found:
            return False
        folders = _folder_names(found)
        self._volumes = {
            path: self._volumes.get(path, OpenSuite(path, folder))._replace(folder=folder)
            for path, folder in zip(found, folders, strict=True)
        }
        return True

    def read(self, path: Path) -> OpenSuite:
        """Read a file anew, and, the first time, what is kept of its trials."""
        self._stamps[path] = _stamp(path)
        folder = self._volumes[path].folder
        loaded = self._desk.open_suite(path)
        problems = loaded.problems
        if loaded.suite is not None and path not in self._states:
            state = RunState()
            try:
                state.take_results(self._desk.latest_results(loaded.suite))
            except AssayError as error:
                problems = (*problems, Problem(str(path), None, None, "warning", "earlier results", str(error)))
            self._states.setdefault(path, state)
        open_suite = OpenSuite(path, folder, loaded.suite, problems, read=True)
        self._volumes[path] = open_suite
        return open_suite

    def look_again(self) -> tuple[Path, ...]:
        """Read what has changed on disk since; the paths of it."""
        changed = [path for path, stamp in self._stamps.items() if path in self._volumes and _stamp(path) != stamp]
        for path in changed:
            self.read(path)
        return tuple(changed)

    def first(self, fits: Callable[[OpenSuite], bool]) -> OpenSuite | None:
        """The first that fits."""
        return next((open_suite for open_suite in self._volumes.values() if fits(open_suite)), None)


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _folder_names(paths: Sequence[Path]) -> list[str]:
    """The folders of the files, as short as they can be told apart."""
    folders = [str(path.parent) for path in paths]
    if len(set(folders)) < 2:
        return [Path(folder).name for folder in folders]
    try:
        shared = commonpath(folders)
    except ValueError:  # different drives, or relative beside absolute
        return folders
    top = Path(shared).name or shared
    return [f"{top}/{Path(folder).relative_to(shared)}" if folder != shared else top for folder in folders]
