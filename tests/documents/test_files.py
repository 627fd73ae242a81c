"""Reading files up to a limit."""

import os
from pathlib import Path

import pytest

from tui.documents.files import NotRead, read_beginning, read_bytes, read_whole


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    os.truncate(file, 2**40)
    assert read_beginning(file, 100) == bytes(101)
    with pytest.raises(OSError, match="larger than 100 bytes"):
        read_whole(file, 100)
    file.write_bytes(bytes(100))
    assert read_whole(file, 100) == read_beginning(file, 100) == bytes(100)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "link", "race"])
def test_only_regular_files_are_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    path = tmp_path / name
    if name == "race":  # a pipe that replaces the file between the two looks
        path.touch()
        status = path.stat()
        path.unlink()
        os.mkfifo(path)
        monkeypatch.setattr(Path, "stat", lambda _path, **_options: status)
    with pytest.raises(OSError, match="not a regular file"):
        read_beginning(path, 100)
    with pytest.raises(NotRead, match="is not a regular file; pass a suite"):
        read_bytes(path, 100, "a suite")


def test_a_folder_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_beginning(tmp_path, 100)
    with pytest.raises(NotRead, match="is a folder; pass a suite in it"):
        read_bytes(tmp_path, 100, "a suite")
