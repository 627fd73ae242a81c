"""Context for a kept diff, from the answer that made it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.repositories import git, make_repository
from tui.model.diffs import Hunk
from tui.model.suite import Case
from tui.workspace.answer.apply import apply_answer
from tui.workspace.answer.widen import new_lines, widen_hunks
from tui.workspace.git.base import open_base
from tui.workspace.git.diff import diff_texts
from tui.workspace.git.patch import read_diff

LINES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=25)


def facts(hunk: Hunk) -> tuple[object, ...]:
    """Everything but the heading, which git takes from wherever the hunk begins."""
    return hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.lines


@given(LINES, LINES, st.integers(0, 3), st.integers(0, 30))
def test_a_widened_diff_is_the_wider_diff(old: list[str], new: list[str], before: int, after: int) -> None:
    old_text, new_text = ("".join(f"{line}\n" for line in lines).encode() for lines in (old, new))
    narrow, wide = diff_texts(old_text, new_text, before).hunks, diff_texts(old_text, new_text, after).hunks
    assert [facts(hunk) for hunk in widen_hunks(narrow, new, after)] == [facts(hunk) for hunk in wide]


@pytest.mark.parametrize(
    "old", ["1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n", "1\n2\n3\n4\n5\n6\n7\n8\n9"]
)
def test_the_answer_gives_the_lines_of_a_kept_diff(tmp_path: Path, old: str) -> None:
    make_repository(tmp_path / "r", {"a.txt": old})
    git(tmp_path, "clone", "-q", "--bare", "r", "b.git")
    case = Case("c", "n", "c", (), apply_changes=True, target_file="a.txt")
    answer = "```\n1\n2\n3\n4\nfive\n6\n7\n8\n9\n```\n"
    (file,) = read_diff(apply_answer(open_base(tmp_path / "b.git"), case, answer).changes[0].diff)
    lines = new_lines(case, answer, file)
    assert lines is not None
    assert [line.rstrip("\r") for line in lines] == ["1", "2", "3", "4", "five", "6", "7", "8", "9"]
    (hunk,) = widen_hunks(file.hunks, lines, 100)
    assert len(hunk.lines) == 10
    assert new_lines(case, answer.replace("five", "FIVE"), file) is None
    assert new_lines(case, "nothing", file) is None
