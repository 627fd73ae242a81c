"""What the tab shows of a kept result: sides from the answer, other blocks, patches that git takes."""

from pathlib import Path

import pytest

from tests.app.diff.samples import MENDED, ODD_NEW, ODD_OLD, SERVICE, sample
from tests.support.diffs import block, case_for, shown_for
from tests.support.repositories import git
from tui.app.diff.answer_diff import ShownDiff, block_in_use, is_lossy, patch_name, patch_text, save_patch, with_block

PATH = "src/bank/accounts.py"


def applied_by_git(folder: Path, shown: ShownDiff) -> str:
    """The tree that git makes of the saved patch."""
    save_patch(folder / "a.patch", shown.changes)
    git(folder / "work", "apply", "--index", "--whitespace=nowarn", str(folder / "a.patch"))
    return git(folder / "work", "write-tree").decode().strip()


@pytest.mark.parametrize("kind", ["several", "odd", "one"])
def test_a_saved_patch_makes_the_tree_of_the_trial(tmp_path: Path, kind: str) -> None:
    shown = sample(kind, tmp_path)
    branch = git(tmp_path / "bare.git", "for-each-ref", "--format=%(refname)", "refs/heads/assay*").decode().split()[0]
    made = git(tmp_path / "bare.git", "rev-parse", f"{branch}^{{tree}}").decode().strip()
    assert applied_by_git(tmp_path, shown) == made
    assert not is_lossy(shown.changes)
    with pytest.raises(FileExistsError):
        save_patch(tmp_path / "a.patch", shown.changes)


def test_another_block_makes_another_diff_and_its_patch_applies(tmp_path: Path) -> None:
    kept = sample("one", tmp_path)
    assert block_in_use(kept) == 0
    tried = with_block(kept, 1)
    assert isinstance(tried, ShownDiff)
    assert block_in_use(tried) == 1
    assert "+    return hashlib.sha256" in patch_text(tried.changes)
    sides = tried.find_sides(tried.read_files()[0])
    assert sides is not None
    assert "\n".join(sides.new) == SERVICE.replace("md5", "sha256").removesuffix("\n")
    applied_by_git(tmp_path, tried)
    assert (tmp_path / "work" / PATH).read_text() == SERVICE.replace("md5", "sha256")
    assert [refused.block for refused in tried.refused] == [0]


def test_a_block_that_cannot_be_tried_says_why(tmp_path: Path) -> None:
    answer = block(MENDED) + block(SERVICE)
    kept = shown_for(tmp_path, {PATH: SERVICE}, answer, case_for(PATH))
    assert "does not change src/bank/accounts.py" in str(with_block(kept, 1))
    none = ShownDiff(kept.case, kept.trial, kept.answer)
    assert "The original of src/bank/accounts.py is not saved" in str(with_block(none, 1))
    assert block_in_use(none) is None


def test_both_sides_come_from_the_answer(tmp_path: Path) -> None:
    shown = sample("odd", tmp_path)
    for file in shown.read_files():
        sides = shown.find_sides(file)
        assert sides is not None
        old = "\n".join(sides.old)
        assert old == ODD_OLD[file.path].removesuffix("\n"), file.path
        new = "\n".join(line.removesuffix("\r") for line in sides.new)
        assert new == ODD_NEW[file.path].removesuffix("\n"), file.path


def test_an_answer_that_is_another_gives_no_sides(tmp_path: Path) -> None:
    shown = sample("one", tmp_path)
    other = ShownDiff(shown.case, shown.trial, "Nothing.", shown.changes)
    assert other.find_sides(shown.read_files()[0]) is None


def test_the_name_of_a_patch_is_harmless() -> None:
    assert patch_name("a/../b", "local/smollm2:1\x1b") == "a-..-b-local-smollm2-1.patch"
    assert patch_name("", "///") == "changes.patch"
