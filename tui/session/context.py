"""What is sent along with the cases of one run: the repository is read once, each case's own files on their turn."""

from dataclasses import dataclass
from pathlib import Path

from tui.model.context import ContextFile, RepositoryFiles
from tui.model.errors import WorkspaceError
from tui.model.suite import Case, Suite
from tui.model.trials import IncludedFile
from tui.runner.tools import CaseContext

_NOTHING = CaseContext()


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """Implements `tui.runner.tools.ContextSource`. `fault` is why the repository could not be read: every case that
    would have been sent with it has that as its error."""

    suite: Suite
    repository: RepositoryFiles | None = None
    fault: WorkspaceError | None = None

    def context_of(self, case: Case) -> CaseContext:
        """The context of a case. Raises WorkspaceError."""
        if self.fault is not None:
            raise self.fault
        if self.repository is None and not case.code_context:
            return _NOTHING
        from tui.workspace.describing import compose_context, describe_repository

        files = self.repository.files if self.repository else ()
        code = self._read_code(case)
        whole = {file.path for file in code if file.lines is None}
        sent = (*(file for file in files if file.path not in whole), *code)
        return CaseContext(
            system=describe_repository(files) if self.repository else None,
            text=compose_context(files, code),
            included=tuple(IncludedFile(file.path, file.size) for file in sent),
            left_out=self.repository.left_out if self.repository else (),
        )

    def _read_code(self, case: Case) -> tuple[ContextFile, ...]:
        from tui.workspace.reading import context_root, read_code_context
        from tui.workspace.sources import FolderSource

        folder = Path(self.suite.path).absolute().parent
        context = self.suite.repository_context
        root = context_root(context, folder) if context else FolderSource(folder)
        return read_code_context(case.code_context, (root,))


def read_context(suite: Suite) -> SuiteContext:
    """The context of a suite, its repository read. Blocks on the disk: run it in a thread."""
    if suite.repository_context is None:
        return SuiteContext(suite)
    from tui.workspace.reading import read_repository

    try:
        files = read_repository(suite.repository_context, Path(suite.path).absolute().parent)
    except WorkspaceError as fault:
        return SuiteContext(suite, fault=fault)
    return SuiteContext(suite, files)
