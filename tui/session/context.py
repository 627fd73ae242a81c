"""File context of a run's cases: the repository is read once, each case's own files when the case starts."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.context import ContextFile, RepositoryFiles
from tui.model.errors import WorkspaceError
from tui.model.events import RepositoryCloned, RepositoryCloning
from tui.model.paths import parse_url, path_fault, url_secrets
from tui.model.results import CheckResult, IncludedFile, TrialKey
from tui.model.run import Plan
from tui.model.secrets import Secrets
from tui.model.suite import Case, Check, CommandCheck, RepositoryContext, Suite
from tui.runner.control import Control
from tui.runner.trial_context import CaseContext
from tui.workspace.git.clone import Clone, CloneProgress, cloned

if TYPE_CHECKING:
    from tui.workspace.answer.apply import Applied
    from tui.workspace.git.base import Base
    from tui.workspace.git.clone import Clone
    from tui.workspace.sources import Source

_NOTHING = CaseContext()


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """Supply the files that are sent with each case; implements `tui.runner.trial_context.ContextSource`.

    `roots` are the folders in which a case's own files are looked up, in order. `shared` is sent with every case that
    names no files. `fault` says why the repository could not be cloned or read: it is the error of every case.
    """

    roots: "tuple[Source, ...]" = ()
    repository: RepositoryFiles | None = None
    shared: CaseContext = _NOTHING
    fault: WorkspaceError | None = None

    def context_of(self, case: Case) -> CaseContext:
        """Return the context of a case. Raises WorkspaceError."""
        if self.fault is not None:
            raise self.fault
        if not case.code_context:
            return self.shared
        from tui.workspace.context.read import read_code_context

        return _compose(self.repository, read_code_context(case.code_context, self.roots))


async def read_context(
    suite: Suite, clone: "Clone | None", fault: WorkspaceError | None, control: Control
) -> SuiteContext:
    """Read the repository of a suite in a thread and return the suite's context; stopping the run stops it soon.

    `fault` is why there is no clone although the suite names one.
    """
    cancelled = threading.Event()

    def is_stopped() -> bool:
        return cancelled.is_set() or control.outcome != "finished"

    try:
        return await asyncio.to_thread(_read_context, suite, clone, fault, is_stopped)
    finally:
        cancelled.set()


def _read_context(
    suite: Suite, clone: "Clone | None", fault: WorkspaceError | None, is_stopped: Callable[[], bool]
) -> SuiteContext:
    if fault is not None:
        return SuiteContext(fault=fault)
    if suite.repository_context is None and clone is None and not any(case.code_context for case in suite.cases):
        return SuiteContext()
    from tui.workspace.context.read import read_repository

    folder = suite.home
    context = suite.repository_context
    try:
        root = clone.base.source() if clone else folder
        files = read_repository(context, root, is_stopped=is_stopped) if context else None
        roots = _roots(context, clone, folder)
    except WorkspaceError as unread:
        return SuiteContext(fault=unread)
    return SuiteContext(roots, files, _compose(files, ()) if files else _NOTHING)


def _roots(context: RepositoryContext | None, clone: "Clone | None", folder: Path) -> "tuple[Source, ...]":
    """Return where a case's own files are looked up: the clone, `repositoryContext.path`, then the suite's folder."""
    from tui.workspace.context.read import context_root
    from tui.workspace.sources import FolderSource

    own = FolderSource(folder)
    if clone is None:
        return (context_root(context, folder), own) if context else (own,)
    source = clone.base.source()
    return (source, context_root(context, source), own) if context else (source, own)


def _compose(repository: RepositoryFiles | None, code: tuple[ContextFile, ...]) -> CaseContext:
    from tui.workspace.context.describe import compose_context, describe_repository

    files = repository.files if repository else ()
    whole = {file.path for file in code if file.lines is None}
    sent = (*(file for file in files if file.path not in whole), *code)
    return CaseContext(
        system=describe_repository(files) if files else None,
        text=compose_context(files, code),
        included=tuple(IncludedFile(file.path, file.size) for file in sent),
        left_out=repository.left_out if repository else (),
    )


def hide_secrets(event: RepositoryCloning | RepositoryCloned, secrets: Secrets) -> RepositoryCloning | RepositoryCloned:
    """Return the event without secrets: a server chooses the names of its branches and files."""
    if isinstance(event, RepositoryCloning):
        return event
    notes = tuple(map(secrets.hide, event.notes))
    return replace(event, url=secrets.hide(event.url), branch=secrets.hide(event.branch), notes=notes)


class RunRepository:
    """The cloned repository of a run, if the suite names one.

    `clone` is set when `open` has ended; `fault` says why cloning failed.
    """

    def __init__(self, suite: Suite, environ: Mapping[str, str], secrets: Collection[str]) -> None:
        self._suite, self._environ, self._secrets = suite, environ, secrets
        self._folder = suite.home
        self._stack = AsyncExitStack()
        self._thread: ThreadPoolExecutor | None = None  # one: only one thread at a time may use the repository
        self.clone: Clone | None = None
        self.fault: WorkspaceError | None = None

    async def open(self, control: Control) -> AsyncGenerator[RepositoryCloning | RepositoryCloned, None]:
        """Clone the repository and yield progress; stopping the run stops it at once.

        A failed clone is stored as `fault` and not raised: it becomes the error of each case.
        """
        if self._suite.repo_clone is None:
            return
        updates: asyncio.Queue[RepositoryCloning | None] = asyncio.Queue()
        cloning = asyncio.create_task(self._clone(updates))
        stopping = asyncio.create_task(control.wait_until_stopped())
        stopping.add_done_callback(lambda _: cloning.cancel())
        cloning.add_done_callback(lambda _: updates.put_nowait(None))
        try:
            while (progress := await updates.get()) is not None:
                yield progress
        finally:
            stopping.cancel()
            cloning.cancel()
            await asyncio.gather(stopping, cloning, return_exceptions=True)
        if self.clone is not None:
            clone = self.clone
            yield RepositoryCloned(clone.url, clone.branch, clone.notes, str(clone.folder) if clone.kept else None)

    async def close(self) -> None:
        """Wait until no answer is applied any more, then remove the clone, unless the suite says to keep it."""
        await self._stack.aclose()

    async def apply(self, case: Case, answer: str, trial: TrialKey) -> "Applied":
        """Apply an answer's changes on the trial's own branch. Raises WorkspaceError."""
        assert self.clone is not None
        assert self._thread is not None
        # Never in the event loop: the cost also depends on the files of the repository that the answer names.
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, _apply_answer, self.clone.base, case, answer, trial
        )

    async def run_command(self, applied: "Applied", command: CommandCheck) -> CheckResult:
        """Run the case's command in the changed files. Raises WorkspaceError."""
        from tui.workspace.commands import run_command

        assert self.clone is not None
        return await run_command(self.clone.base, applied.commit, command, environ=self._environ, secrets=self._secrets)

    async def check_answer(self, check: Check, answer: str) -> CheckResult:
        """Run the command of an assertion in the suite's folder, on an answer. Raises WorkspaceError."""
        from tui.workspace.commands import check_answer

        return await check_answer(check, answer, self._folder, environ=self._environ, secrets=self._secrets)

    async def _clone(self, updates: asyncio.Queue[RepositoryCloning | None]) -> None:
        assert self._suite.repo_clone is not None

        def report_progress(progress: CloneProgress) -> None:
            updates.put_nowait(
                RepositoryCloning(progress.received_objects, progress.total_objects, progress.received_bytes)
            )

        try:
            # The front end has checked consent before the run began.
            self.clone = await self._stack.enter_async_context(
                cloned(
                    self._suite.repo_clone,
                    relative_to=self._folder,
                    allow_local=True,
                    environ=self._environ,
                    progress=report_progress,
                )
            )
        except WorkspaceError as fault:
            self.fault = fault
        else:
            self._thread = ThreadPoolExecutor(1, "apply-answer")
            self._stack.push_async_callback(asyncio.to_thread, self._thread.shutdown, cancel_futures=True)


def _apply_answer(base: "Base", case: Case, answer: str, trial: TrialKey) -> "Applied":
    """Apply an answer in the thread, so that the git library is loaded there."""
    from tui.workspace.answer.apply import apply_answer

    return apply_answer(base, case, answer, trial)


def secrets_of(suite: Suite) -> tuple[str, ...]:
    """Return the passwords and tokens in the suite's repository URL, if any."""
    return url_secrets(suite.repo_clone.url) if suite.repo_clone else ()


def without_secrets(plan: Plan, secrets: Secrets) -> Plan:
    """Return the plan as it may be stored: without the password in its repository URL.

    A resumed run takes the password from the environment.
    """
    suite = plan.suite
    if suite.repo_clone is not None and secrets_of(suite):
        suite = replace(suite, repo_clone=replace(suite.repo_clone, url=parse_url(suite.repo_clone.url).url))
    return replace(plan, suite=suite, command=secrets.hide(plan.command))


def write_changed_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below an empty folder that nobody else uses. Raises WorkspaceError."""
    for path, data in files.items():
        fault = path_fault(path)
        if fault is not None:
            raise WorkspaceError(f"cannot write {path}: the path {fault}")
        place = folder / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be written ({error.strerror})", where=str(folder)) from error


def check_out_trial(repository: Path, trial: TrialKey, folder: Path) -> bool:
    """Write the files of the trial's branch in a saved repository to an empty folder.

    Return False if the branch no longer exists. Loads the git library on first use and blocks: call it in a thread.
    Raises WorkspaceError.
    """
    from tui.workspace.answer.apply import branch_name
    from tui.workspace.git.base import open_base
    from tui.workspace.git.checkout import check_out

    try:
        base = open_base(repository)
        branch = base.repository.branches.local.get(branch_name(trial))
    except WorkspaceError:
        return False
    if branch is None:
        return False
    check_out(base.repository, str(branch.target), folder)
    return True
