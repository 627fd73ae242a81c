"""Where Assay keeps things."""

import os
from pathlib import Path

import platformdirs

from tui.config.folders import find_folders


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


def test_an_empty_variable_names_nothing() -> None:
    assert find_folders({"ASSAY_CONFIG_DIR": " "}).config == find_folders({}).config
