"""Every problem of a bad file is reported, with its place and its exact sentence (the tables hold them)."""

from pathlib import Path

import pytest

from tests.suites.loaded import lines_of
from tests.support.tables import Row, read_table

TABLES = Path(__file__).parent / "tables"
ROWS = [(table.stem, row) for table in sorted(TABLES.glob("*.txt")) for row in read_table(table)]


@pytest.mark.parametrize(("topic", "row"), ROWS, ids=[f"{topic}/{row.name}" for topic, row in ROWS])
def test_every_problem_is_reported(topic: str, row: Row, tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text("x\n")
    (tmp_path / "folder").mkdir()
    lines = lines_of(tmp_path, row.name, row.content)
    assert [line.replace(f"FOLDER/{row.name}", "FILE", 1) for line in lines] == list(row.expected)
    assert lines, topic


def test_the_tables_are_large() -> None:
    assert len(ROWS) >= 150


@pytest.mark.parametrize("row", read_table(TABLES / "schema.txt"), ids=lambda row: str(row.name))
def test_each_sentence_says_what_to_do(row: Row) -> None:
    for line in row.expected:
        what = line.split(": ", 3)[3]
        assert ";" in what or "did you mean" in what, what


@pytest.mark.parametrize("key", ["<4", "<text>", "<object>", "<"])
def test_a_key_that_looks_like_a_tag_is_an_unknown_key(key: str, tmp_path: Path) -> None:
    [line] = lines_of(tmp_path, "s.yaml", f"- input: i\n  description: d\n  '{key}': 1\n")
    assert line.startswith("FOLDER/s.yaml:3:3: warning:")
    assert "unknown key, ignored" in line
