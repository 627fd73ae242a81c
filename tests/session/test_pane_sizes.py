"""The sizes of panes that are kept in the data folder."""

import json
import stat
from pathlib import Path

import pytest

from tui.model.errors import StoreError
from tui.session.pane_sizes import PaneSizes


def loaded(file: Path) -> PaneSizes:
    sizes = PaneSizes(file)
    sizes.load()
    return sizes


def test_chosen_sizes_are_read_again(tmp_path: Path) -> None:
    file = tmp_path / "data" / "pane-sizes.json"
    sizes = loaded(file)
    assert sizes.share("explore.suites") is None
    sizes.choose("explore.suites", 0.25)
    sizes.choose("review.queue", 0.5)
    sizes.save()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = loaded(file)
    assert (again.share("explore.suites"), again.share("review.queue")) == (0.25, 0.5)
    again.choose("review.queue", None)
    again.save()
    assert json.loads(file.read_text()) == {"explore.suites": 0.25}


def test_two_programs_keep_the_sizes_of_each_other(tmp_path: Path) -> None:
    file = tmp_path / "pane-sizes.json"
    one, other = loaded(file), loaded(file)
    one.choose("a", 0.25)
    other.choose("b", 0.5)
    one.save()
    other.save()
    assert json.loads(file.read_text()) == {"a": 0.25, "b": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[0.5]",
        '"a"',
        '{"a": ' * 2000,
        "[" * 100_000,
        '{"a": NaN}',
        '{"a": Infinity, "a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 0}',
        '{"a": 1}',
        '{"a": true}',
        '{"a": -0.5}',
        '{"a": 1.5}',
        '{"a": "0.5"}',
        '{"a": [0.5]}',
        '{"a": {"a": 0.5}}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        " " * 100_000 + '{"a": 0.5}',
    ],
)
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "pane-sizes.json"
    file.write_text(text, encoding="latin-1")
    sizes = loaded(file)
    assert sizes.share("a") is None
    sizes.choose("b", 0.5)
    sizes.save()
    assert json.loads(file.read_text()) == {"b": 0.5}


def test_other_entries_of_a_damaged_file_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "pane-sizes.json"
    file.write_text(json.dumps({"a": "?", "b" * 100: 0.5, "c": 0.25, **{f"x{n}": 0.5 for n in range(400)}, "d": 0.75}))
    sizes = loaded(file)
    assert (sizes.share("a"), sizes.share("b" * 100), sizes.share("d")) == (None, None, 0.75)


def test_a_file_that_cannot_be_written_is_reported_and_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.write_text("not a folder")
    sizes = loaded(folder / "pane-sizes.json")
    sizes.choose("a", 0.25)
    with pytest.raises(StoreError, match="Cannot save the sizes of the panes"):
        sizes.save()
    folder.unlink()
    sizes.save()
    assert loaded(folder / "pane-sizes.json").share("a") == 0.25
