"""Another block for the target, seen without the repository: the same diff as with it."""

from pathlib import Path

import pytest

from tests.support.repositories import git, make_repository
from tui.model.suite import Case
from tui.workspace.answer.apply import apply_answer
from tui.workspace.answer.preview import preview_block
from tui.workspace.git.base import Base, open_base

OLD = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def base(tmp_path: Path) -> Base:
    files = {"a.txt": OLD, "crlf.txt": OLD.replace("\n", "\r\n"), "open.txt": OLD.removesuffix("\n"), "b": "b\n"}
    make_repository(tmp_path / "r", files)
    git(tmp_path, "clone", "-q", "--bare", "r", "b.git")
    return open_base(tmp_path / "b.git")


@pytest.mark.parametrize("target", ["a.txt", "crlf.txt", "open.txt", "new/file.txt"])
def test_the_preview_is_what_applying_would_give(base: Base, target: str) -> None:
    case = Case("c", "n", "c", (), apply_changes=True, target_file=target)
    first, second = OLD.replace("line 3\n", "3\n") + "more\n", OLD.replace("line 20\n", "")
    answer = f"```\n{first}```\n```\n{second}```\n"
    kept = apply_answer(base, case, answer).changes
    assert preview_block(case, answer, kept, 1) == apply_answer(base, case, f"```\n{second}```\n").changes[0]
    assert preview_block(case, answer, kept, 0) == kept[0]


def test_what_cannot_be_known_is_not_guessed(base: Base) -> None:
    case = Case("c", "n", "c", (), apply_changes=True, target_file="a.txt")
    answer = f"```\n{OLD}more\n```\n```\n{OLD}```\n"
    kept = apply_answer(base, case, answer).changes
    assert preview_block(case, answer, kept, 1) is None
    assert preview_block(case, answer, (), 1) is None
    assert preview_block(case, "```\nother\n```\n", kept, 0) is None
    with pytest.raises(IndexError):
        preview_block(case, answer, kept, 2)
