"""The theme that the config sets."""

from pathlib import Path

import pytest

from tui.config.folders import Folders
from tui.session.theme_setting import theme_of


@pytest.mark.parametrize(
    ("text", "theme"),
    [
        ("theme: harbour\n", "harbour"),
        ("models: {}\ntheme: 'assay-light'  # bright\n", "assay-light"),
        ("theme: harbour\r\nmodels: {}\r\n", "harbour"),
        ("# theme: no\n", None),
        ("  theme: nested\n", None),
        ("theme: [a]\n", None),
    ],
)
def test_the_theme_is_known_before_the_config_is_read(tmp_path: Path, text: str, theme: str | None) -> None:
    (tmp_path / "config.yaml").write_text(text, newline="")
    assert theme_of(Folders(tmp_path, tmp_path, tmp_path)) == theme
    assert theme_of(Folders(tmp_path / "none", tmp_path, tmp_path)) is None


def test_the_theme_of_the_project_file_is_used_first(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("theme: harbour\n")
    project = tmp_path / ".assay.yaml"
    project.write_text("theme: assay-light\n")
    folders = Folders(tmp_path, tmp_path, tmp_path)
    assert theme_of(folders, project) == "assay-light"
    project.unlink()
    assert theme_of(folders, project) == "harbour"
    project.symlink_to(tmp_path / "config.yaml")
    (tmp_path / "none").mkdir()
    assert theme_of(Folders(tmp_path / "none", tmp_path, tmp_path), project) is None


def test_a_config_that_is_not_a_file_sets_no_theme(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").symlink_to("/dev/zero")
    assert theme_of(Folders(tmp_path, tmp_path, tmp_path)) is None
