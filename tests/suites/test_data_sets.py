"""Data sets: each row of a case's `data` or `vars` becomes a case of its own, with `{{column}}` filled in."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.suites.loaded import pattern_error
from tui.checks.engine import Engine
from tui.documents.problems import MOST_PROBLEMS
from tui.documents.tables import MOST_CELL_CHARACTERS, MOST_COLUMNS, MOST_DATA_FILES, MOST_ROWS
from tui.model.suite import Check, Suite
from tui.suites.load import Loaded, load_suite

ROOT = {"name": "n", "description": "d", "models": ["m"]}
CASE = {"id": "a", "name": "n", "category": "c", "prompt": "{{x}}"}
EXTENSION = "is an extension of Assay; remove it if another tool for schema 1.0.0 rejects it"


def load(folder: Path, case: dict[str, Any], csv: str | bytes | None = None, *others: dict[str, Any]) -> Loaded:
    """Load a suite of a case (and others), and a data file `d.csv` beside it."""
    (folder / "s.json").write_text(json.dumps({**ROOT, "testCases": [{**CASE, **case}, *others]}))
    if csv is not None:
        (folder / "d.csv").write_bytes(csv if isinstance(csv, bytes) else csv.encode())
    return load_suite(folder / "s.json", pattern_error)


def suite_of(folder: Path, case: dict[str, Any], csv: str | bytes | None = None, *others: dict[str, Any]) -> Suite:
    """The suite of such files without errors."""
    loaded = load(folder, case, csv, *others)
    assert loaded.suite is not None, list(map(str, loaded.problems))
    return loaded.suite


def errors_of(folder: Path, case: dict[str, Any], csv: str | bytes | None = None, *others: dict[str, Any]) -> list[str]:
    """The errors of such files, without the folder."""
    problems = load(folder, case, csv, *others).problems
    return [str(each).replace(f"{folder}/", "") for each in problems if each.level == "error"]


def test_each_row_is_a_case_of_its_own(tmp_path: Path) -> None:
    case = {
        "prompt": "Say {{ x }} and {{y}}.",
        "systemMessage": "You like {{y}}.",
        "expectedBehavior": "Says {{x}}",
        "expectedPatterns": ["^{{x}}$", "a+"],
        "forbiddenPatterns": ["{{y}}"],
        "assertions": [
            {"type": "contains-all", "value": ["{{x}}", "z"]},
            {"type": "contains-json", "value": {"const": "{{y}}", "pattern": "{{y}}"}},
        ],
        "riskCriteria": [{"name": "About {{x}}", "description": "Is it {{y}}?", "severity": "low"}],
        "data": "d.csv",
    }
    suite = suite_of(tmp_path, case, '\ufeffid,x,y\nfirst,one,1+1\n,two,"a\nb"\n', {**CASE, "id": "plain"})
    assert [each.id for each in suite.cases] == ["a.first", "a.2", "plain"]
    first, second, plain = suite.cases
    assert (first.inputs, first.system_message, first.expected_behavior) == (
        "Say one and 1+1.", "You like 1+1.", "Says one",
    )  # fmt: skip
    assert first.steps[0].checks == (
        Check("expected_pattern", "^one$"),
        Check("expected_pattern", "a+"),
        Check("forbidden_pattern", r"1\+1"),
        Check("assert.contains-all", '["one", "z"]', ["one", "z"]),
        Check(
            "assert.contains-json",
            json.dumps({"const": "1+1", "pattern": r"1\+1"}),
            {"const": "1+1", "pattern": r"1\+1"},
        ),
    )
    assert (first.risk_criteria[0].name, first.risk_criteria[0].description) == ("About one", "Is it 1+1?")
    assert second.inputs == "Say two and a\nb."
    assert first.row is not None
    assert (first.row.template, first.row.id, first.row.values["x"], first.row.filled) == ("a", "first", "one", (0, 2))
    assert (plain.row, plain.inputs) == (None, "{{x}}")


def test_a_value_is_not_filled_in_again(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"prompt": "{{x}} {{y}}", "vars": [{"x": "{{y}}", "y": "{{x}}"}]})
    assert suite.cases[0].inputs == "{{y}} {{x}}"


def test_values_of_json_are_filled_in_as_text(tmp_path: Path) -> None:
    rows = [{"x": "t"}, {"x": 1}, {"x": 1.5}, {"x": True}, {"x": None}]
    (tmp_path / "d.jsonl").write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    for more in ({"vars": rows}, {"data": "d.jsonl"}):
        suite = suite_of(tmp_path, {"prompt": "<{{x}}>", **more})
        assert [each.inputs for each in suite.cases] == ["<t>", "<1>", "<1.5>", "<true>", "<>"]


def test_formulas_are_texts(tmp_path: Path) -> None:
    cells = ["=1+1", "@SUM(A1)", "-2", "+3", "\t=cmd|' /C calc'!A0"]
    csv = "x\n" + "\n".join(f'"{cell}"' for cell in cells) + "\n"
    assert [each.inputs for each in suite_of(tmp_path, {"data": "d.csv"}, csv).cases] == cells


def test_the_keys_of_objects_are_filled_in(tmp_path: Path) -> None:
    properties = {"{{x}}": {"const": "{{y}}"}, "other": {}}
    patterns = {"^{{x}}$": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "patternProperties": patterns}
    case = {
        "data": "d.csv",
        "assertions": [{"type": "is-json", "value": schema}, {"type": "equals", "value": {"a": {"{{x}}": 1}}}],
    }
    (found,) = suite_of(tmp_path, case, "x,y\na.b,1\n").cases
    of_schema, equal = found.steps[0].checks
    assert of_schema.expected == {
        "type": "object",
        "properties": {"a.b": {"const": "1"}, "other": {}},
        "patternProperties": {r"^a\.b$": {"type": "string"}},
    }
    assert equal.expected == {"a": {"a.b": 1}}


def test_one_file_may_serve_several_cases(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"data": "d.csv"}, "x\n1\n2\n", {**CASE, "id": "b", "data": "d.csv"})
    assert [each.id for each in suite.cases] == ["a.1", "a.2", "b.1", "b.2"]
    assert suite.data_files == ("d.csv",)


def test_the_digest_covers_the_data_file(tmp_path: Path) -> None:
    before = suite_of(tmp_path, {"data": "d.csv"}, "x\n1\n").sha256
    assert suite_of(tmp_path, {"data": "d.csv"}, "x\n2\n").sha256 != before
    assert suite_of(tmp_path, {"data": "d.csv"}, "x\n1\n").sha256 == before


def test_ten_thousand_rows(tmp_path: Path) -> None:
    csv = "x\n" + "".join(f"row {number}\n" for number in range(10_000))
    suite = suite_of(tmp_path, {"data": "d.csv", "expectedPatterns": ["{{x}}"]}, csv)
    assert len(suite.cases) == 10_000
    assert suite.cases[-1].steps[0].checks == (Check("expected_pattern", "row 9999"),)


@pytest.mark.parametrize(
    ("case", "csv", "expected"),
    [
        ({"prompt": "{{z}}"}, "x\n1\n", "error: testCases[0].prompt: the data has no column `z`"),
        ({}, "x,x\n1,2\n", "d.csv:1:1: error: duplicate column `x` in the header"),
        ({}, "x,\n1,2\n", "d.csv:1:1: error: column 2 of the header has no name"),
        ({}, "x\n1\n2,3\n", "d.csv:3:1: error: expected 1 cell, as in the header, got 2"),
        ({}, 'x\n"1\n', "d.csv:2:1: error: is not valid CSV: the quotes of a cell are not closed"),
        ({}, 'x\n"1"2\n', "d.csv:2:1: error: is not valid CSV: ',' expected after '\"'"),
        ({}, "x\n1\n\0\n", "d.csv:3:1: error: contains a NUL character"),
        ({}, "x\n", "d.csv:1:1: error: has no rows"),
        ({}, "", "d.csv:1:1: error: has no rows"),
        ({}, b"x\n\xff\n", "testCases[0].data: the data file `d.csv` is not UTF-8"),
        ({}, "x\n" + "y" * (MOST_CELL_CHARACTERS + 1), "d.csv:2:1: error: is not valid CSV: a cell is longer than"),
        ({}, ",".join(f"c{n}" for n in range(MOST_COLUMNS + 1)), "d.csv:1:1: error: the header has 251 columns"),
        ({}, "x\n" + "1\n" * (MOST_ROWS + 1), "d.csv:50002:1: error: more than 50,000 rows"),
        ({}, "id,x\na b,1\n", "d.csv:2:1: error: a.a b: the id `a b` has a character that is not allowed"),
        ({}, "id,x\nu,1\nu,2\n", "d.csv:3:1: error: a.u: duplicate id `a.u`"),
        ({}, 'x\n1\n" "\n', "d.csv:3:1: error: a.2.prompt: is empty"),
        ({"data": "e.csv"}, None, "testCases[0].data: the data file `e.csv` does not exist"),
        ({"data": "d.txt"}, None, "testCases[0].data: the data file `d.txt` is neither .csv nor .jsonl"),
        ({"data": "../d.csv"}, None, "is outside the suite's folder; copy it into the folder, or allow it with"),
        ({"data": "/dev/zero.csv"}, None, "is outside the suite's folder"),
        ({"data": "a\0.csv"}, None, "is not a path"),
        ({"vars": []}, "x\n1\n", "testCases[0].vars: cannot be combined with `data`"),
        ({"assertions": [{"type": "contains", "value": "{{x}}"}], "prompt": "p"}, 'x,y\n"",1\n', "d.csv:2:1: error:"),
        ({"assertions": [{"type": "command", "value": ["echo", "{{x}}"]}]}, "x\n1\n", "a command is not filled in"),
        (
            {"assertions": [{"type": "equals", "value": {"{{z}}": 1}}]},
            "x\n1\n",
            "testCases[0].assertions[0].value.{{z}}: the data has no column `z`",
        ),
        (
            {"assertions": [{"type": "equals", "value": {"a": {"{{x}}": 1, "{{y}}": 2}}}]},
            "x,y\n1,2\n3,3\n",
            "d.csv:3:1: error: a.2: an object in the case has the key `3` twice when it is filled in",
        ),
        (
            {"assertions": [{"type": "is-json", "value": {"properties": {"{{x}}": {}, "z": {}}}}]},
            "x\nz\n",
            "d.csv:2:1: error: a.1: an object in the case has the key `z` twice when it is filled in",
        ),
        ({"expectedPatterns": ["{{x}}+"]}, 'x,y\n1,2\n"",2\n', "d.csv:3:1: error: a.2.prompt: is empty"),
        ({"prompt": "p", "expectedPatterns": ["^{{x}}("]}, "x\n1\n", "d.csv:2:1: error: a.1.expectedPatterns[0]:"),
    ],
)  # fmt: skip
def test_errors_name_their_place(case: dict[str, Any], csv: str | bytes | None, expected: str, tmp_path: Path) -> None:
    found = errors_of(tmp_path, {"data": "d.csv", **case}, csv)
    assert any(expected in each for each in found), found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[1]", "d.jsonl:2:1: error: expected an object"),
        ('{"x": 1, "x": 2}', "d.jsonl:2:10: error: duplicate key"),
        ('{"x": NaN}', "d.jsonl:2:7: error:"),
        ('{"x": [1]}', "d.jsonl:2:1: error: `x`: expected text, a number"),
        ('{"x": "\\u0000"}', "d.jsonl:2:1: error: `x` contains a NUL character"),
        ('{"y": "1"}', "d.jsonl:2:1: error: a.2: has no `x`, which the case uses"),
        ('{"x": 1', "d.jsonl:2:"),
        ('{" ": 1}', "d.jsonl:2:1: error: has a column without a name"),
        ('{"x": 1, "x ": 2}', "d.jsonl:2:1: error: has two columns with the same name"),
    ],
)
def test_errors_in_json_lines_name_their_place(line: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(f'{{"x": "1"}}\n{line}\n')
    found = errors_of(tmp_path, {"data": "d.jsonl"})
    assert any(each.startswith(expected) for each in found), found


def test_errors_in_vars_are_at_their_row(tmp_path: Path) -> None:
    rows = [{"x": "1"}, {"x": []}, {"y": "2"}]
    assert [each.partition(" error: ")[2][:18] for each in errors_of(tmp_path, {"vars": rows})] == [
        "testCases[0].vars["
    ]
    assert "a.2: has no `x`" in errors_of(tmp_path, {"vars": [rows[0], rows[2]]})[0]
    assert "has no rows" in errors_of(tmp_path, {"vars": []})[0]


def test_a_row_must_not_have_the_id_of_another_case(tmp_path: Path) -> None:
    [error] = errors_of(tmp_path, {"data": "d.csv"}, "x\n1\n", {**CASE, "id": "a.1"})
    assert error.startswith("d.csv:2:1: error: a.1: duplicate id `a.1`")


def test_filled_texts_are_limited_in_all(tmp_path: Path) -> None:
    csv = "x\n" + "1\n" * 10_000
    [error] = errors_of(tmp_path, {"data": "d.csv", "prompt": "p" * 10_000 + "{{x}}"}, csv)
    assert "has more than 64 million characters" in error


def test_many_bad_rows_end_at_the_limit(tmp_path: Path) -> None:
    found = errors_of(tmp_path, {"data": "d.csv"}, "id,x\n" + "a b,1\n" * 5_000)
    assert len(found) == MOST_PROBLEMS


def test_a_link_does_not_lead_outside(tmp_path: Path) -> None:
    inner = tmp_path / "suites"
    inner.mkdir()
    (tmp_path / "secret.csv").write_text("x\n1\n")
    (inner / "d.csv").symlink_to(tmp_path / "secret.csv")
    assert "is outside the suite's folder" in errors_of(inner, {"data": "d.csv"})[0]
    loaded = load_suite(inner / "s.json", pattern_error, may_read=lambda place: place.name == "secret.csv")
    assert loaded.suite is not None


def test_data_and_vars_are_extensions(tmp_path: Path) -> None:
    assert [each.what for each in load(tmp_path, {"vars": [{"x": 1}]}).problems] == [EXTENSION]


def test_placeholders_without_data_stay(tmp_path: Path) -> None:
    assert suite_of(tmp_path, {"prompt": "{{x}}", "expectedPatterns": ["{{x}}"]}).cases[0].inputs == "{{x}}"


def test_a_placeholder_behind_a_backslash_is_part_of_the_pattern(tmp_path: Path) -> None:
    case = {"vars": [{"x": "1"}], "expectedPatterns": [r"\{{x}}", r"\\{{x}}", r"\d{{{x}}}", r"(.)\1{{x}}"]}
    checks = suite_of(tmp_path, case).cases[0].steps[0].checks
    assert [check.target for check in checks] == [r"\{{x}}", r"\\1", r"\d{1}", r"(.)\1\x31"]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
    | st.text(alphabet=r".*+?^$()[]{}|\/-aA1dx,:=!<>" + "\n", min_size=1, max_size=12),
    around=st.sampled_from([("", ""), ("a", "b"), ("(", ")"), ("(?:", ")+"), (r"\\", ""), ("x|", ""), ("[ab]", "")]),
)
def test_a_value_in_a_pattern_matches_itself_only(value: str, around: tuple[str, str], tmp_path: Path) -> None:
    """A filled pattern means its literal text: it matches the value, and `.*` matches nothing else."""
    before, after = around
    loaded = load(
        tmp_path, {"prompt": "p", "vars": [{"x": value}], "expectedPatterns": [f"^(?:{before}{{{{x}}}}{after})$"]}
    )
    assert loaded.suite is not None, list(map(str, loaded.problems))
    pattern = loaded.suite.cases[0].steps[0].checks[0].target
    literal = {"": "", "a": "a", "(": "", "(?:": "", r"\\": "\\", "x|": "", "[ab]": "b"}[before]
    end = "b" if after == "b" else ""
    engine = Engine()
    assert engine.fault(pattern) == ""
    whole = literal + value + end
    found = [next(engine.search(text, [(pattern, 0)], lambda: 5.0))[0] for text in (whole, f"{whole}\0")]
    assert [each.total > 0 for each in found] == [True, False]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0{}"), max_size=8), max_size=4),
    value=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
def test_every_placeholder_is_replaced_once(texts: list[str], value: str, tmp_path: Path) -> None:
    prompt = "p" + "{{x}}".join(texts) + "{{x}}"
    suite = suite_of(tmp_path, {"prompt": prompt, "vars": [{"x": value}]})
    assert suite.cases[0].inputs == prompt.replace("{{x}}", value)


def test_too_many_data_files_are_an_error(tmp_path: Path) -> None:
    cases = [{**CASE, "id": f"c{number}", "data": f"{number}.csv"} for number in range(MOST_DATA_FILES + 1)]
    for case in cases:
        (tmp_path / case["data"]).write_text("x\n1\n")
    assert len(suite_of(tmp_path, cases[0], None, *cases[1:-1]).data_files) == MOST_DATA_FILES
    [error] = errors_of(tmp_path, cases[0], None, *cases[1:])
    assert error.endswith("`1000.csv` is one too many: a suite can have 1,000 data files; combine some")
