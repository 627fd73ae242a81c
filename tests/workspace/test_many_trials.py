"""Many trials on one clone: at once, each on its own branch, and nothing left behind."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from tests.support.repositories import git, make_repository
from tui.model.results import TrialKey
from tui.model.suite import Case, RepoClone
from tui.workspace.answer.apply import Applied, apply_answer
from tui.workspace.git.clone import cloned

MODELS, CASES = 4, 50


async def test_four_models_and_fifty_cases_share_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    origin = make_repository(tmp_path / "origin", {f"d{n % 9}/f{n}.txt": f"{n}\n" for n in range(CASES)})
    branches, status = git(origin, "branch", "-a"), git(origin, "status", "--porcelain")
    async with cloned(RepoClone(str(origin)), allow_local=True) as clone:

        def run(model: int) -> list[Applied]:
            return [
                apply_answer(
                    clone.base,
                    Case(f"c{n}", "n", "c", (), apply_changes=True, target_file=f"d{n % 9}/f{n}.txt"),
                    f"```\n{n} by {model}\n```\n",
                    TrialKey(f"c{n}", f"m{model}"),
                )
                for n in range(CASES)
            ]

        done = await asyncio.gather(*(asyncio.to_thread(run, model) for model in range(MODELS)))
        made = git(clone.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads").decode().split()
        assert sorted(made) == sorted(["main", *(str(one.branch) for model in done for one in model)])
        for model, applied in enumerate(done):
            for number, one in enumerate(applied):
                assert one.changes[0].diff.endswith(f"-{number}\n+{number} by {model}\n")
                text = (
                    git(clone.folder, "diff", str(clone.base.commit.id), str(one.commit)) if number % 10 == 0 else None
                )
                assert text is None or text.decode() == one.changes[0].diff
        git(clone.folder, "fsck", "--strict")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert (git(origin, "branch", "-a"), git(origin, "status", "--porcelain")) == (branches, status)
