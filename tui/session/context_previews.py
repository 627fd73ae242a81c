"""What the prompts of suites will contain, read before a run and kept until the files change."""

import os
import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from pathlib import Path

from tui.model.context import PlannedContext, wants_context
from tui.model.secrets import Secrets
from tui.model.suite import Case, Suite
from tui.session.context import SuiteContext, read_folder_context

_MOST_KEPT = 8  # suites whose files are kept


class ContextPreviews:
    """Reads the files of suites before they are run.

    `may_read` returns whether the files of a suite may be read without asking the user. Thread-safe; methods block on
    the disk: call them in a thread.
    """

    def __init__(self, may_read: Callable[[Suite], bool], secrets: Callable[[], Secrets]) -> None:
        self._may_read, self._secrets = may_read, secrets
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[Hashable, SuiteContext]] = {}

    def plan(self, suite: Suite, cases: Iterable[Case]) -> PlannedContext | None:
        """Return what the prompts of some cases of a suite will contain, or None if the suite names no files.

        `unread` says why nothing is known yet.
        """
        if not wants_context(suite):
            return None
        if suite.repo_clone is not None:
            return PlannedContext(unread="known when the repository is cloned, at the start of the run")
        if not self._may_read(suite):
            return PlannedContext(unread="read after you allow it, at the start of the run")
        with self._lock:
            context = self._read(suite)
        # The files that a case names itself are read each time: they are few.
        return replace(context, _own={}).plan(cases, self._secrets())

    def _read(self, suite: Suite) -> SuiteContext:
        key = suite.sha256, suite.home
        root = suite.home / suite.repository_context.path if suite.repository_context else suite.home
        if (known := self._kept.get(key)) and known[0] == _stamp(root, known[1].repository.seen):
            return known[1]
        context = read_folder_context(suite)
        self._kept.pop(key, None)
        if context.unread is None:
            self._kept[key] = _stamp(root, context.repository.seen), context
        while len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return context


def _stamp(root: Path, paths: Iterable[str]) -> Hashable:
    """Return a value that changes when a file or a folder does."""
    base = os.fspath(root)
    return hash(tuple(_state_of(os.path.join(base, path)) for path in paths))


def _state_of(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
