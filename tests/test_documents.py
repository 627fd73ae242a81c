"""The documents for contributors name files that exist."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
# `path/of/module.py`, `folder/`: relative to the top of the repository or to `tui/`.
PATHS = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?|\.ci/run)`")


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_every_path_in_it_exists(name: str) -> None:
    text = (TOP / name).read_text(encoding="utf-8")
    paths = PATHS.findall(text)
    assert len(paths) > 5
    assert [path for path in paths if not (TOP / path).exists() and not (TOP / "tui" / path).exists()] == []
