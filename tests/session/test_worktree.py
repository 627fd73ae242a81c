"""Changed files, written out to be looked at."""

from pathlib import Path

import pytest

from tests.support.diffs import MODEL, applied, block, case_for
from tui.model.errors import WorkspaceError
from tui.model.results import TrialKey
from tui.session.context import check_out_trial, write_changed_files


async def test_a_kept_repository_gives_the_trials_whole_tree(tmp_path: Path) -> None:
    applied(tmp_path, {"a.py": "1\n", "b/c.py": "2\n"}, block("3\n"), case_for("a.py"))
    folder = tmp_path / "out"
    folder.mkdir()
    assert await check_out_trial(tmp_path / "bare.git", TrialKey("case", MODEL), folder)
    assert ((folder / "a.py").read_text(), (folder / "b/c.py").read_text()) == ("3\n", "2\n")
    assert not await check_out_trial(tmp_path / "bare.git", TrialKey("other", MODEL), folder)
    assert not await check_out_trial(tmp_path / "gone", TrialKey("case", MODEL), folder)


@pytest.mark.parametrize("path", ["../a", "/a", ".git/config", "a/../../b"])
def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(WorkspaceError, match="annot write"):
        write_changed_files(folder, {path: b""})
    assert list(tmp_path.iterdir()) == [folder]
    assert list(folder.iterdir()) == []
