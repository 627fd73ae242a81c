"""Every problem of a bad file is reported, with its place and its exact sentence (the tables hold them)."""

from pathlib import Path

import pytest

from tests.suites.loaded import lines_of
from tests.support.tables import Row, read_table
from tui.documents.problems import MOST_PROBLEMS

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


SCHEMA = "name: n\ndescription: d\nmodels: [m]\ntestCases: ["
CASE = "{id: a%d, name: a, category: c, prompt: p, unknown: 1}, "


@pytest.mark.parametrize(
    ("begin", "item", "last", "error"),
    [
        (SCHEMA, CASE, "{id: 5, name: a, category: c, prompt: p}", "testCases[1500].id: expected text"),
        (SCHEMA, CASE, "{id: a0, name: a, category: c, prompt: p}", "testCases[1500].id: duplicate id `a0`"),
        (SCHEMA, CASE, CASE.replace("unknown: 1", "targetFile: ../x"), "testCases[1500].targetFile: the path"),
        ("steps: [", "{input: a%d, unknown: 1}, ", "{input: a, assert: 5}", "steps[1500].assert: expected an object"),
        ("[", "{input: a%d, unknown: 1}, ", "{input: a, agent: none.py}", "[1500].agent: the agent"),
    ],
)
def test_many_warnings_hide_no_error(begin: str, item: str, last: str, error: str, tmp_path: Path) -> None:
    text = begin + "".join(item % number for number in range(1_500)) + last.replace("%d", "") + "]\n"
    assert f": error: {error}" in lines_of(tmp_path, "s.yaml", text)[0]


@pytest.mark.parametrize(
    "item", ["x", "{input: a, assert: 5}", "{input: a, expected: 5}", "{input: a, assert: {output.includes: [a]}}"]
)
def test_steps_with_more_errors_than_are_reported(item: str, tmp_path: Path) -> None:
    lines = lines_of(tmp_path, "s.yaml", f"steps: [{f'{item}, ' * 2_000}]\n")
    assert len(lines) == MOST_PROBLEMS + 1
    assert ": error: steps[0]" in lines[0]
