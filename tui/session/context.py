"""What is sent along with the cases of one run: the repository is read once, each case's own files on their turn."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.context import ContextFile, RepositoryFiles
from tui.model.errors import WorkspaceError
from tui.model.results import IncludedFile
from tui.model.suite import Case, RepositoryContext, Suite
from tui.runner.trial_context import CaseContext

if TYPE_CHECKING:
    from tui.workspace.context.sources import Source
    from tui.workspace.git.clone import Clone

_NOTHING = CaseContext()


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """Supply the files that go with each case; implements `tui.runner.trial_context.ContextSource`.

    `roots` are the folders in which a case's own files are looked up, in order. `shared` goes with every case that
    names no files. `fault` says why the repository could not be cloned or read: it is the error of every case.
    """

    roots: "tuple[Source, ...]" = ()
    repository: RepositoryFiles | None = None
    shared: CaseContext = _NOTHING
    fault: WorkspaceError | None = None

    def context_of(self, case: Case) -> CaseContext:
        """The context of a case. Raises WorkspaceError."""
        if self.fault is not None:
            raise self.fault
        if not case.code_context:
            return self.shared
        from tui.workspace.context.read import read_code_context

        return _compose(self.repository, read_code_context(case.code_context, self.roots))


def read_context(suite: Suite, clone: "Clone | None", fault: WorkspaceError | None) -> SuiteContext:
    """The context of a suite, its repository read; `fault` is why there is no clone although there should be one.
    Blocks on the disk: run it in a thread."""
    if fault is not None:
        return SuiteContext(fault=fault)
    if suite.repository_context is None and clone is None and not any(case.code_context for case in suite.cases):
        return SuiteContext()
    from tui.workspace.context.read import read_repository

    folder = suite.home
    context = suite.repository_context
    try:
        files = read_repository(context, clone.base.source() if clone else folder) if context else None
        roots = _roots(context, clone, folder)
    except WorkspaceError as unread:
        return SuiteContext(fault=unread)
    return SuiteContext(roots, files, _compose(files, ()) if files else _NOTHING)


def _roots(context: RepositoryContext | None, clone: "Clone | None", folder: Path) -> "tuple[Source, ...]":
    """Where a case's own files are looked for: in the clone, below `repositoryContext.path`, beside the suite."""
    from tui.workspace.context.read import context_root
    from tui.workspace.context.sources import FolderSource

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
