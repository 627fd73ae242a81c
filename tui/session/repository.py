"""The repository of one run: cloned before the first trial, worked on by every trial, gone at the end."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from tui.model.errors import WorkspaceError
from tui.model.events import RepositoryCloned, RepositoryCloning
from tui.model.repository_urls import parse_url, url_secrets
from tui.model.results import CheckResult, TrialKey
from tui.model.run import Plan
from tui.model.secrets import Secrets
from tui.model.suite import Case, CommandCheck, Suite
from tui.runner.control import Control
from tui.workspace.git.clone import Clone, CloneProgress, cloned

if TYPE_CHECKING:
    from tui.workspace.answer.apply import Applied

# Below this an answer is applied at once: it takes a few milliseconds, less than a thread would cost.
_LARGE_ANSWER = 256 * 1024


class RunRepository:
    """Nothing, where the suite names no repository. `clone` is there once `open` has ended; `fault` says why not."""

    def __init__(self, suite: Suite, environ: Mapping[str, str], secrets: Collection[str]) -> None:
        self._suite, self._environ, self._secrets = suite, environ, secrets
        self._folder = suite.home
        self._stack = AsyncExitStack()
        self.clone: Clone | None = None
        self.fault: WorkspaceError | None = None

    async def open(self, control: Control) -> AsyncGenerator[RepositoryCloning | RepositoryCloned, None]:
        """Clone, and tell how it goes. A clone that fails is a `fault`, not raised: it is each case's error. A stop
        of the run ends it at once."""
        if self._suite.repo_clone is None:
            return
        told: asyncio.Queue[RepositoryCloning | None] = asyncio.Queue()
        cloning = asyncio.create_task(self._clone(told))
        stopping = asyncio.create_task(control.stopped())
        stopping.add_done_callback(lambda _: cloning.cancel())
        cloning.add_done_callback(lambda _: told.put_nowait(None))
        try:
            while (progress := await told.get()) is not None:
                yield progress
        finally:
            stopping.cancel()
            cloning.cancel()
            await asyncio.gather(stopping, cloning, return_exceptions=True)
        if self.clone is not None:
            clone = self.clone
            yield RepositoryCloned(clone.url, clone.branch, clone.notes, str(clone.folder) if clone.kept else None)

    async def close(self) -> None:
        """Remove what was cloned, unless it is to be kept."""
        await self._stack.aclose()

    async def apply(self, case: Case, answer: str, trial: TrialKey) -> "Applied":
        """What the answer changes, on a branch of the trial's own. Raises WorkspaceError."""
        from tui.workspace.answer.apply import apply_answer

        assert self.clone is not None
        if len(answer) < _LARGE_ANSWER:
            return apply_answer(self.clone.base, case, answer, trial)
        return await asyncio.to_thread(apply_answer, self.clone.base, case, answer, trial)

    async def run_command(self, applied: "Applied", command: CommandCheck) -> CheckResult:
        """Run the case's command over what was changed. Raises WorkspaceError."""
        from tui.workspace.commands import run_command

        assert self.clone is not None
        return await run_command(self.clone.base, applied.commit, command, environ=self._environ, secrets=self._secrets)

    async def _clone(self, told: asyncio.Queue[RepositoryCloning | None]) -> None:
        assert self._suite.repo_clone is not None

        def tell(progress: CloneProgress) -> None:
            told.put_nowait(
                RepositoryCloning(progress.received_objects, progress.total_objects, progress.received_bytes)
            )

        try:
            # Consent was asked for by the front end, before anything began.
            self.clone = await self._stack.enter_async_context(
                cloned(
                    self._suite.repo_clone,
                    relative_to=self._folder,
                    allow_local=True,
                    environ=self._environ,
                    progress=tell,
                )
            )
        except WorkspaceError as fault:
            self.fault = fault


def secrets_of(suite: Suite) -> tuple[str, ...]:
    """The password or token in the repository's URL, where there is one."""
    return url_secrets(suite.repo_clone.url) if suite.repo_clone else ()


def without_secrets(plan: Plan, secrets: Secrets) -> Plan:
    """The plan as it may be kept: without the password of its repository's URL, which a resumed run takes from the
    environment instead."""
    suite = plan.suite
    if suite.repo_clone is not None and secrets_of(suite):
        suite = replace(suite, repo_clone=replace(suite.repo_clone, url=parse_url(suite.repo_clone.url).url))
    return replace(plan, suite=suite, command=secrets.hide(plan.command))
