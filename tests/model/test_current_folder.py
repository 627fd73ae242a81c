"""Paths from the current folder, also after it was removed."""

import os
from pathlib import Path

import pytest

from tui.model import current_folder
from tui.model.current_folder import absolute_path, real_path


def test_a_path_from_a_folder_that_was_removed_is_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path / "link")
    assert (absolute_path("a/../b"), real_path("a/../b")) == (folder / "a/../b", str(folder / "b"))
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        os.getcwd()
    assert (absolute_path("a/../b"), real_path("a/../b")) == (folder / "a/../b", str(folder / "b"))
    assert (absolute_path(folder / "c"), real_path(tmp_path / "link")) == (folder / "c", str(folder))
    monkeypatch.chdir(tmp_path)
    assert absolute_path("a") == tmp_path / "a"


def test_a_folder_that_was_never_known_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_folder, "_last_known", {})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    assert absolute_path(tmp_path / "a") == tmp_path / "a"
    with pytest.raises(FileNotFoundError):
        absolute_path("a")
