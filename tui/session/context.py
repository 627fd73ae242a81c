"""File context of a run's cases: the repository and the cases' own files are read once, before the first request."""

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import threading
import traceback
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.context import (
    FILE_SEPARATOR,
    NOTHING_SENT,
    ContextFile,
    PlannedCase,
    PlannedContext,
    RepositoryFiles,
    SentContext,
    wants_context,
)
from tui.model.errors import WorkspaceError
from tui.model.events import RepositoryCloned, RepositoryCloning
from tui.model.paths import path_fault, url_secrets
from tui.model.results import CheckResult, LeftOutFile, TrialKey
from tui.model.run import Plan
from tui.model.sanitize import sanitize_text
from tui.model.secrets import Secrets
from tui.model.servers import clone_without_secrets, query_secrets
from tui.model.subjects import AGENT_URLS
from tui.model.suite import Case, Check, CommandCheck, RepositoryContext, Suite
from tui.processes.stoppable import run_stoppable
from tui.runner.control import Control
from tui.runner.prompt import BEFORE_QUESTION
from tui.runner.trial_context import CaseContext
from tui.session.recorded_context import RecordedContexts
from tui.store.protocol import Store
from tui.workspace.git.clone import Clone, CloneProgress, cloned

if TYPE_CHECKING:
    from tui.workspace.answer.apply import Applied
    from tui.workspace.context.describe import RepositoryTexts
    from tui.workspace.git.base import Base
    from tui.workspace.sources import Source

_NOTHING, _NO_FILES = CaseContext(), RepositoryFiles()
_MOST_KEPT = 64 * 1024 * 1024  # characters of the cases' own files that are kept for the run


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """Supply the files that are sent with each case; implements `tui.runner.trial_context.ContextSource`.

    `roots` are the folders in which a case's own files are looked up, in order. `shared` is sent with every case that
    names no files. `fault` says why the repository could not be cloned: it is the error of every case. `unread` says
    why its files could not be read: it is the error of every case whose files are not recorded. `plan` keeps the files
    of each case, or why they cannot be read, so that all its trials get the same.
    """

    roots: "tuple[Source, ...]" = ()
    repository: RepositoryFiles = _NO_FILES
    texts: "RepositoryTexts | None" = None
    shared: CaseContext = _NOTHING
    fault: WorkspaceError | None = None
    unread: WorkspaceError | None = None
    _own: dict[str, "_Own"] = field(default_factory=dict)  # of cases, by id

    def context_of(self, case: Case) -> CaseContext:
        """Return the context of a case. Raises WorkspaceError."""
        if self.fault is not None:
            raise self.fault
        if isinstance(kept := self._own.get(case.id), RecordedContexts):
            if (recorded := kept.context_of(case)) is None:
                raise WorkspaceError("the files that were sent before are no longer stored")
            return recorded
        own = self._own_files(case)
        return self.compose(own) if case.code_context else self.shared

    def compose(self, own: tuple[ContextFile, ...]) -> CaseContext:
        """Return the context of a case with these files of its own."""
        from tui.workspace.context.describe import describe_repository

        assert self.texts is not None, "the suite names files"
        system = describe_repository(self.repository.files) if self.repository.files else None
        return CaseContext(system, *self.texts.compose(own))

    def plan(
        self,
        cases: Iterable[Case],
        secrets: Secrets,
        check_stopped: Callable[[], None] = lambda: None,
        recorded: RecordedContexts | None = None,
    ) -> PlannedContext:
        """Return what the prompts of the cases will contain, and keep the cases' own files for the run.

        A case whose files are not those of `recorded` gets the recorded ones. The figures are those of the prompts,
        which are made only to be compared. Blocks on the disk: run it in a thread. `check_stopped` is called for each
        case and may raise.
        """
        planned: list[PlannedCase] = []
        measure = _Measure(self.texts, secrets)
        kept = 0
        for case in cases:
            check_stopped()
            try:
                if self.fault is not None:
                    raise self.fault
                if earlier := self._find_recorded(case, recorded):
                    sent = _sent(earlier)
                    planned.append(PlannedCase(case.id, sent, _characters(case, earlier.system, sent), recorded=True))
                    continue
                own = self._own_files(case)
            except WorkspaceError as error:
                self._own[case.id] = error
                planned.append(PlannedCase(case.id, NOTHING_SENT, fault=secrets.hide(str(error))))
                continue
            if case.code_context:
                self._own[case.id] = own if kept < _MOST_KEPT else _digest(own)
                kept += sum(len(file.content) for file in own)
            sent = measure.size_of(own)
            planned.append(PlannedCase(case.id, sent, _characters(case, self.shared.system, sent)))
        warnings = tuple(map(secrets.hide, self.repository.warnings))
        return PlannedContext(tuple(planned), warnings, from_repository=self.repository is not _NO_FILES)

    def _find_recorded(self, case: Case, recorded: RecordedContexts | None) -> CaseContext | None:
        """Return the recorded context of a case, if it differs from that of now. Raises WorkspaceError."""
        if recorded is None or (earlier := recorded.context_of(case)) is None:
            return None
        with contextlib.suppress(WorkspaceError):
            own = self._own_files(case)
            if recorded.is_same(self.compose(own) if case.code_context else self.shared, earlier):
                self._own[case.id] = own
                return None
        self._own[case.id] = recorded
        return earlier

    def _own_files(self, case: Case) -> tuple[ContextFile, ...]:
        """Return the case's own files, cut to their lines. Raises WorkspaceError."""
        from tui.workspace.context.read import read_code_context

        if self.unread is not None:
            raise self.unread
        kept = self._own.get(case.id)
        if isinstance(kept, WorkspaceError):
            raise kept
        if isinstance(kept, tuple):
            return kept
        own = read_code_context(case.code_context, self.roots) if case.code_context else ()
        if isinstance(kept, bytes) and kept != _digest(own):
            raise WorkspaceError("the files of this case have changed while the run was in progress")
        return own


_Own = tuple[ContextFile, ...] | bytes | RecordedContexts | WorkspaceError
"""The files of a case, their digest if they are too large to be kept, where they are recorded if those are sent, or
why they cannot be read."""


def _digest(own: Iterable[ContextFile]) -> bytes:
    digest = hashlib.sha256()
    for file in own:
        digest.update(json.dumps([file.path, file.content]).encode())
    return digest.digest()


class _Measure:
    """The figures of prompts, without making them: the repository's texts are counted once for all cases."""

    def __init__(self, texts: "RepositoryTexts | None", secrets: Secrets) -> None:
        self._texts, self._secrets = texts, secrets
        self._lengths = [len(secrets.hide(text)) for text in texts.texts] if texts else []
        self._total = sum(self._lengths)
        self._left_out: dict[LeftOutFile, LeftOutFile] = {}

    def size_of(self, own: tuple[ContextFile, ...]) -> SentContext:
        """Return the figures of the prompt of a case with these files of its own."""
        if self._texts is None:
            return NOTHING_SENT
        from tui.workspace.context.describe import compose_file, included_files

        selected = self._texts.select(own)
        lengths = [len(self._secrets.hide(compose_file(file))) for file in selected.own]
        files = len(self._lengths) - len(selected.dropped)
        characters = self._total - sum(self._lengths[number] for number in selected.dropped) + sum(lengths)
        if texts := files + len(lengths):
            characters += len(FILE_SEPARATOR) * (texts - 1) + len(BEFORE_QUESTION)
        files += len(included_files(selected.own))
        return SentContext((files, files), (characters, characters), tuple(map(self._hidden, selected.left_out)))

    def _hidden(self, out: LeftOutFile) -> LeftOutFile:
        if out not in self._left_out:
            self._left_out[out] = LeftOutFile(self._secrets.hide(out.path), self._secrets.hide(out.reason))
        return self._left_out[out]


def _sent(context: CaseContext) -> SentContext:
    files, characters = len(context.included), len(context.text) + len(BEFORE_QUESTION) if context.text else 0
    return SentContext((files, files), (characters, characters), context.left_out)


def _characters(case: Case, generated: str | None, sent: SentContext) -> int:
    """Return the characters of all requests of a trial, of which each step sends at least one.

    Each request contains the system message, the tools, and all steps so far.
    """
    system = case.system_message if case.system_message is not None else generated
    each = len(system or "") + sent.characters[0] + sum(tool.characters for tool in case.tools)
    steps = len(case.steps)
    return steps * each + sum(len(step.input) * (steps - number) for number, step in enumerate(case.steps))


async def plan_context(
    plan: Plan, context: SuiteContext, secrets: Secrets, control: Control, store: Store
) -> PlannedContext:
    """Return what the prompts of a run will contain, read in a thread; stopping the run stops it soon.

    The prompts of replayed answers are the recorded ones.
    """
    recorded = RecordedContexts(store, plan, secrets)
    replays = {subject.name for subject in plan.subjects if subject.is_replay}
    asked = {trial.case for trial in plan.trials if trial.model not in replays}
    cases = [case for case in plan.planned_cases if case.id in asked]

    def check_stopped() -> None:
        if control.outcome != "finished":
            raise WorkspaceError("the run was stopped while its files were read")

    try:
        return await asyncio.to_thread(context.plan, cases, secrets, check_stopped, recorded)
    except WorkspaceError:
        return PlannedContext()


def read_folder_context(suite: Suite) -> SuiteContext:
    """Return the context of a suite without a clone. Blocks on the disk: call it in a thread."""
    return _read_context(suite, None, None, lambda: False)


async def read_context(
    suite: Suite, clone: Clone | None, fault: WorkspaceError | None, control: Control
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
    suite: Suite, clone: Clone | None, fault: WorkspaceError | None, is_stopped: Callable[[], bool]
) -> SuiteContext:
    if fault is not None:
        return SuiteContext(fault=fault)
    if clone is None and not wants_context(suite):
        return SuiteContext()
    from tui.workspace.context.describe import RepositoryTexts
    from tui.workspace.context.read import read_repository

    folder = suite.home
    context = suite.repository_context
    try:
        root = clone.base.source() if clone else folder
        files = read_repository(context, root, is_stopped=is_stopped) if context else None
        roots = _roots(context, clone, folder)
    except WorkspaceError as unread:
        return SuiteContext(unread=unread)
    files = files or _NO_FILES
    found = SuiteContext(roots, files, RepositoryTexts(files))
    return replace(found, shared=found.compose(())) if context else found


def _roots(context: RepositoryContext | None, clone: Clone | None, folder: Path) -> "tuple[Source, ...]":
    """Return where a case's own files are looked up: the clone, `repositoryContext.path`, then the suite's folder."""
    from tui.workspace.context.read import context_root
    from tui.workspace.sources import FolderSource

    own = FolderSource(folder)
    if clone is None:
        return (context_root(context, folder), own) if context else (own,)
    source = clone.base.source()
    return (source, context_root(context, source), own) if context else (source, own)


def hide_secrets(event: RepositoryCloning | RepositoryCloned, secrets: Secrets) -> RepositoryCloning | RepositoryCloned:
    """Return the event without secrets: a server chooses the names of its branches and files."""
    if isinstance(event, RepositoryCloning):
        return event
    notes = tuple(map(secrets.hide, event.notes))
    return replace(event, url=secrets.hide(event.url), branch=secrets.hide(event.branch), notes=notes)


_log = logging.getLogger(__name__)


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
        if not cloning.cancelled() and (error := cloning.exception()) is not None:
            trace = "".join(traceback.format_exception(error))
            _log.error("clone\n%s", sanitize_text(Secrets(self._secrets).hide(trace)))
            self.fault = WorkspaceError(f"Internal error in Assay: {type(error).__name__}: {error}")
        if self.clone is not None:
            clone = self.clone
            folder, commit = str(clone.folder) if clone.kept else None, str(clone.base.commit.id)
            yield RepositoryCloned(clone.url, clone.branch, clone.notes, folder, commit)

    async def close(self) -> None:
        """Wait until no answer is applied any more, then remove the clone, unless the suite says to keep it."""
        await self._stack.aclose()

    async def apply(self, case: Case, answer: str, trial: TrialKey) -> "Applied":
        """Apply an answer's changes on the trial's own branch. Raises WorkspaceError, also if cloning failed."""
        if self.clone is None or self._thread is None:
            raise self.fault or WorkspaceError("The repository was not cloned")
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


def secrets_of(plan: Plan) -> tuple[str, ...]:
    """Return the passwords and tokens in the URLs of the plan's repository and agents."""
    clone = plan.suite.repo_clone
    agents = (plan.suite.agent or "", *(each.model_id for each in plan.subjects if each.provider == "agent"))
    keys = (key for agent in agents if agent.startswith(AGENT_URLS) for key in query_secrets(agent))
    return (*((*url_secrets(clone.url), *query_secrets(clone.url)) if clone else ()), *keys)


def without_secrets(plan: Plan, secrets: Secrets) -> Plan:
    """Return the plan as it may be stored: without the password and the keys in its repository URL and agents' URLs.

    A resumed run takes the password from the environment, and is refused if one of the URLs had a key.
    """
    suite, own = plan.suite, Secrets(secrets_of(plan))
    if (clone := suite.repo_clone) is not None:
        suite = replace(suite, repo_clone=clone_without_secrets(clone))
    if suite.agent:
        suite = replace(suite, agent=own.hide(suite.agent))
    subjects = tuple(replace(each, model_id=own.hide(each.model_id)) for each in plan.subjects)
    return replace(plan, suite=suite, subjects=subjects, command=secrets.hide(plan.command))


def write_changed_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below an empty folder that is not in use. Raises WorkspaceError."""
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


async def check_out_trial(repository: Path, trial: TrialKey, folder: Path) -> bool:
    """Write the files of the trial's branch in a saved repository to an empty folder.

    Return False if the branch no longer exists. Raises WorkspaceError.
    """
    return await run_stoppable(partial(_check_out_trial, repository, trial, folder))


def _check_out_trial(repository: Path, trial: TrialKey, folder: Path, is_stopped: Callable[[], bool]) -> bool:
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
    check_out(base.repository, str(branch.target), folder, is_stopped)
    return True
