"""The seeds' "Complete" example, from the clone to the diff, against a repository served on loopback."""

import tempfile
from pathlib import Path

import pytest

from tests.support.git_server import serve_git
from tests.support.repositories import git, make_repository
from tui.model.results import LeftOutFile, TrialKey
from tui.model.suite import Case, CodeContext, LineRange, RepoClone, RepositoryContext
from tui.workspace.answer.apply import apply_answer
from tui.workspace.context.describe import RepositoryTexts, describe_repository
from tui.workspace.context.read import read_code_context, read_repository
from tui.workspace.git.clone import cloned

FILES = {
    "src/types/User.ts": "".join(f"// line {number}\n" for number in range(1, 41)),
    "src/index.ts": "export {};\n",
    "src/index.test.ts": "test\n",
    "src/App.tsx": "export const App = 1;\n",
    "src/notes.md": "notes\n",
    "README.md": "readme\n",
}
CASE = Case(
    "test-001",
    "Generate authentication utility",
    "Code Generation",
    (),
    apply_changes=True,
    target_file="src/utils/password.ts",
    code_context=(CodeContext("src/types/User.ts", language="typescript", line_range=LineRange(1, 20)),),
)
ANSWER = "Install it:\n\n```bash\nnpm i bcrypt\n```\n\n```typescript\nexport async function hash() {}\n```\n"


async def test_the_complete_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    make_repository(tmp_path / "served" / "test-repo", FILES)
    context = RepositoryContext("./src", ("**/*.ts", "**/*.tsx"), ("**/*.test.ts",), 50, 100_000, ("typescript",))
    with serve_git(tmp_path / "served") as server:
        async with cloned(RepoClone(f"{server.url}/test-repo", "main", 1), allow_local=True) as clone:
            repository = read_repository(context, clone.base.source())
            assert [file.path for file in repository.files] == ["src/App.tsx", "src/index.ts", "src/types/User.ts"]
            code = read_code_context(CASE.code_context, [clone.base.source()])
            text, included, left_out = RepositoryTexts(repository).compose(code)
            assert text.index("### src/App.tsx") < text.index("### src/index.ts") < text.index("### src/types/User.ts")
            assert text.rstrip().endswith("// line 40\n```")
            assert [file.path for file in included] == [file.path for file in repository.files]
            reason = "lines 1–20 are in the file, which is included whole"
            assert left_out == (*repository.left_out, LeftOutFile("src/types/User.ts", reason))
            assert "3 files" in describe_repository(repository.files)
            applied = apply_answer(clone.base, CASE, ANSWER, TrialKey("test-001", "gpt-5.2"))
            assert [(change.path, change.kind, change.added) for change in applied.changes] == [
                ("src/utils/password.ts", "added", 1)
            ]
            assert [(one.block, one.language, one.reason) for one in applied.not_applied] == [
                (0, "bash", "its language does not fit src/utils/password.ts")
            ]
            shown = git(clone.folder, "diff", "main", str(applied.branch)).decode()
            assert shown == applied.changes[0].diff
            folder = clone.folder
    assert not folder.exists()
