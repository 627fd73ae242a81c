"""Where Assay keeps things."""

import os
from pathlib import Path

import platformdirs
import pytest

from tui.config.folders import find_folders, make_private
from tui.model.errors import ConfigError


def test_the_platforms_folders_are_used() -> None:
    folders = find_folders({})
    assert folders.config == platformdirs.user_config_path("assay", appauthor=False)
    assert folders.data == platformdirs.user_data_path("assay", appauthor=False)
    assert folders.cache == platformdirs.user_cache_path("assay", appauthor=False)
    assert folders.themes == folders.config / "themes"
    assert folders.config_file == folders.config / "config.yaml"


def test_the_environment_may_name_each(tmp_path: Path) -> None:
    environ = {"ASSAY_CONFIG_DIR": str(tmp_path / "c"), "ASSAY_DATA_DIR": "relative", "ASSAY_CACHE_DIR": "~/x"}
    folders = find_folders(environ)
    assert folders.config == tmp_path / "c"
    assert folders.data == Path(os.getcwd()) / "relative"
    assert folders.cache == Path("~/x").expanduser()
    assert not folders.config.exists()


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("~nosuchuser/x", r"ASSAY_DATA_DIR: ~nosuchuser has no home folder\. Set it to another path\."),
        ("/tmp/odd\udcff", r"The path /tmp/odd� is not UTF-8\. Set ASSAY_DATA_DIR to another path\."),
    ],
)
def test_a_folder_that_cannot_be_used_is_an_error(folder: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_folders({"ASSAY_DATA_DIR": folder})


def test_an_empty_variable_names_nothing() -> None:
    assert find_folders({"ASSAY_CONFIG_DIR": " "}).config == find_folders({}).config


@pytest.mark.parametrize(
    ("names", "before", "after"),
    [
        ((), 0o755, 0o700),
        (("runs.sqlite", "runs.sqlite-wal", "scores", ".consents.json.ab12", "reviewer"), 0o777, 0o700),
        (("runs.sqlite",), 0o2770, 0o700),
        (("runs.sqlite",), 0o500, 0o500),
        (("runs.sqlite", "notes.txt"), 0o755, 0o755),
        ((".git",), 0o755, 0o755),
    ],
)
def test_a_folder_with_nothing_but_the_data_is_private(
    tmp_path: Path, names: tuple[str, ...], before: int, after: int
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    tmp_path.chmod(0o755)
    for name in names:
        (folder / name).touch()
    folder.chmod(before)
    make_private(folder)
    assert folder.stat().st_mode & 0o7777 == after
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    make_private(folder / "none")
    assert not (folder / "none").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a folder of another user")
def test_the_folder_of_another_user_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    os.chown(tmp_path, 65534, -1)
    make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
