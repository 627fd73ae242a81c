"""Files written whole or not at all, and what takes its text as it comes; real files, links, pipes and limits."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.full_disk import LIMIT_IN_SHELL
from tui.model.errors import ConfigError, StoreError
from tui.session.files import locked_for_change, read_json, write_new, write_out, write_safely

CODE = "import sys; from pathlib import Path; from tui.session.files import write_out; write_out(Path(sys.argv[1]), "


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of shell in which `$write FILE` writes 200,000 times `x`."""
    line = line.replace("$write", f"""'{sys.executable}' -c "{CODE}'x' * 200_000)" """)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(["/bin/sh", "-c", line], cwd=folder, env=environ, capture_output=True, text=True, check=False)


def test_no_file_of_assay_is_replaced_by_one_that_the_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path))
    (history := tmp_path / "runs.sqlite").write_text("before")
    for file in (history, tmp_path / "consents.json"):
        with pytest.raises(ConfigError, match="keeps its own data"):
            write_new(file, lambda: "after", replaces=True)
    write_new(mine := tmp_path / "mine.md", lambda: "after", replaces=True)
    assert (history.read_text(), mine.read_text()) == ("before", "after")


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("before")
    # 100 blocks of 512 bytes are less than what is written.
    ran = in_shell(f"{LIMIT_IN_SHELL} 100; trap '' XFSZ; $write {file}", tmp_path)
    assert ran.returncode != 0
    assert "File too large" in ran.stderr
    assert file.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]
    assert in_shell(f"$write {file}", tmp_path).returncode == 0
    assert file.read_text() == "x" * 200_000


def test_rights_stay_and_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "report.json", tmp_path / "link.json"
    link.symlink_to(file)
    write_out(link, "one")
    file.chmod(0o600)
    write_safely(link, "two")
    assert link.is_symlink()
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("two", 0o600)


def test_what_is_open_already_is_written_as_is(tmp_path: Path) -> None:
    """`/dev/stdout` may lead to a file, which must not be replaced under the shell's feet."""
    (tmp_path / "out").symlink_to("/dev/stdout")
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out"):
        ran = in_shell(f"{{ $write {name}; echo end; }} | tail -c 5", tmp_path)
        assert (ran.returncode, ran.stdout) == (0, "xend\n"), name
        ran = in_shell(f"{{ $write {name}; echo end; }} >> log", tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert [path.name for path in sorted(tmp_path.iterdir())] == ["log", "out"]
        assert (tmp_path / "log").read_text().endswith("xend\n")


def test_a_pipe_with_a_name_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ran = in_shell(f"$write {pipe} & wc -c < {pipe}; wait", tmp_path)
    assert ran.stdout.strip() == "200000"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(OSError, match="Not a file"):
            write_safely(place, "x")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_where_nothing_can_be_put_beside_it_is_written_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_text("before, and longer")
    inode = file.stat().st_ino

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "replace", refuse)  # root may write anywhere, so that rights cannot be tried for real
    write_out(file, "after")
    assert (file.read_text(), file.stat().st_ino) == ("after", inode)
    with pytest.raises(PermissionError):
        write_out(tmp_path / "new.json", "x")
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("content", ["", "{", "[" * 200_000, "\ud800x", "x" * 2_000], ids=str.__len__)
def test_a_damaged_json_file_counts_as_missing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "kept.json"
    assert read_json(file, 1_000_000) is None
    file.write_text(content, errors="surrogatepass")
    assert read_json(file, 1_000_000) is None
    file.write_text('{"a": [1]}')
    assert read_json(file, 1_000_000) == {"a": [1]}
    assert read_json(file, 9) is None


def test_a_change_that_cannot_be_saved_says_what_and_why(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with (
        pytest.raises(StoreError, match=r"folder/kept.json: Cannot save the list \(File exists\)"),
        locked_for_change(tmp_path / "folder" / "kept.json", "the list"),
    ):
        pass
    with locked_for_change(file := tmp_path / "new" / "kept.json", "the list"):
        assert read_json(file, 100) is None
        write_safely(file, "[1]", mode=0o600)
    assert (read_json(file, 100), stat.S_IMODE(file.parent.stat().st_mode)) == ([1], 0o700)
