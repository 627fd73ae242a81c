"""Git's name for the person, from their own config file; in a process of its own, since libgit2 looks for it once."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = "from tui.workspace.git.info import git_user_name; import sys; sys.stdout.write(repr(git_user_name()))"


def name_in(home: Path) -> str:
    environ = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", ASK], cwd=home, env=environ, capture_output=True, text=True, check=True)
    return ran.stdout


@pytest.mark.parametrize("place", [".gitconfig", "config/git/config"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[user]\n\tname = Ada  Lovelace \n", "'Ada Lovelace'"),
        ('[user]\n\tname = ""\n', "None"),
        ("[user]\n\temail = ada@example.org\n", "None"),
        ("[user\nname", "None"),
    ],
)
def test_the_persons_config_names_them(tmp_path: Path, place: str, text: str, name: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text(text)
    assert name_in(tmp_path) == name


def test_without_a_config_there_is_no_name(tmp_path: Path) -> None:
    assert name_in(tmp_path) == "None"
