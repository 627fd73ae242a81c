"""Whatever the bytes: a suite or problems, never an exception; and both readers of JSON agree."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.suites.loaded import lines_of, pattern_error
from tests.support.tables import read_table
from tui.documents.json_fast import read_quickly
from tui.documents.json_reader import ExactJson
from tui.documents.yaml_reader import ExactYaml
from tui.suites.load import load_suite
from tui.suites.schema1.fast_check import keys_in
from tui.suites.schema1.shapes import CaseShape

FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TABLES = Path(__file__).parent / "tables"
SEEDS = [path.read_text() for path in sorted((Path(__file__).parent / "seeds").glob("*.*"))]
BAD = [row.content for table in sorted(TABLES.glob("*.txt")) for row in read_table(table)]
KEYS = st.sampled_from(
    re.findall(
        r"\S+",
        """name description models testCases options repoClone repositoryContext id category prompt tags testType
        expectedPatterns forbiddenPatterns applyChanges targetFile codeContext riskCriteria command steps input assert
        expected memory agent output tools_used output.includes output.matches memory.a filePath lineRange start end
        repoUrl path severity timeoutMs retries $schema run content branch""",
    )
)
NAMES = st.sampled_from(["s.json", "s.yaml"])
WORDS = st.one_of(st.text(max_size=8), st.sampled_from(["low", "bug-fix", "(", "../x", "git://x", "", " ", "a.py"]))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), WORDS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | WORDS, inner, max_size=6), max_leaves=30
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=8) | st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=3)


@FUZZ
@given(content=st.binary(max_size=200), name=st.sampled_from(["s.json", "s.yaml", "s"]))
def test_any_bytes(content: bytes, name: str, tmp_path: Path) -> None:
    lines_of(tmp_path, name, content)


@FUZZ
@given(
    text=st.text(alphabet="{}[]:,\"'\\-?&*!|>%@#~ \n\tab01.e\u2028é", max_size=60),
    name=st.sampled_from(["s.json", "s.yaml"]),
)
def test_any_signs(text: str, name: str, tmp_path: Path) -> None:
    lines_of(tmp_path, name, text)


@FUZZ
@given(value=DOCUMENTS)
def test_any_values_as_json_and_as_yaml(value: Any, tmp_path: Path) -> None:
    lines = lines_of(tmp_path, "s.json", json.dumps(value))
    assert len(lines_of(tmp_path, "s.json", json.dumps(value, indent=1))) == len(lines)
    lines_of(tmp_path, "s.yaml", yaml.safe_dump(value))


@FUZZ
@given(data=st.data())
def test_good_and_bad_files_with_a_piece_missing_or_put_in(data: st.DataObject, tmp_path: Path) -> None:
    text = data.draw(st.sampled_from(SEEDS + BAD))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    piece = data.draw(
        st.sampled_from(["", "{", "]", '"', "\n", ": ", "- ", "1e999", "\\ud800", "&a ", "*a", "null", ","])
    )
    name = data.draw(st.sampled_from(["s.json", "s.yaml"]))
    lines_of(tmp_path, name, text[:start] + piece + text[end:])


@FUZZ
@given(value=VALUES, indent=st.sampled_from([None, 1]))
def test_what_both_readers_of_json_can_read_is_the_same(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    quick, exact = read_quickly(text.encode()), ExactJson(text)
    assert exact.read()
    assert exact.value == value or exact.findings
    if quick is not None and quick.is_sound():
        assert quick.value == exact.value
        assert exact.findings == []


@FUZZ
@given(text=st.text(alphabet='{}[]:,"\\u8d0ce1.-\n \t', max_size=40))
def test_what_the_quick_reader_takes_the_exact_one_takes(text: str) -> None:
    quick, exact = read_quickly(text.encode()), ExactJson(text)
    if quick is not None and quick.is_sound():
        assert exact.read()
        assert exact.value == quick.value
        assert exact.findings == []


# Objects as they are written, so that a key can stand in one twice; with what could be taken for the end of a key.
WRITTEN_TEXTS = st.text(alphabet='ab": \n\\é', max_size=4).map(json.dumps)
SPACES = st.sampled_from(["", "", " ", "  ", "\n", "\t \r\n"])
WRITTEN: st.SearchStrategy[str] = st.recursive(
    WRITTEN_TEXTS | st.integers().map(str),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
        | st.lists(st.tuples(SPACES, WRITTEN_TEXTS, SPACES, SPACES, inner), max_size=3).map(
            lambda members: f"{{{','.join(f'{a}{key}{b}:{c}{value}' for a, key, b, c, value in members)}}}"
        )
    ),
    max_leaves=12,
)


def keys_of(value: Any) -> list[str]:
    if not isinstance(value, dict | list):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [*(value if isinstance(value, dict) else ()), *(key for item in inner for key in keys_of(item))]


@settings(FUZZ, max_examples=150)
@given(text=WRITTEN)
def test_counted_keys_show_duplicates(text: str) -> None:
    quick = read_quickly(text.encode())
    if quick is not None:
        keys = keys_of(quick.value)
        counted = None if any(key.endswith("\\") for key in keys) else len(keys)
        assert quick.is_sound(counted) == quick.is_sound()


@FUZZ
@given(value=DOCUMENTS)
def test_yaml_written_by_others_is_read_back(value: Any) -> None:
    text = yaml.safe_dump(value)
    # The writer follows YAML 1.1, where these are texts that need no quotes; in YAML 1.2 they are numbers.
    assume(not re.search(r"[0-9.][eE][0-9]|0o[0-7]", text))
    exact = ExactYaml(text)
    assert exact.read(), exact.findings
    if not exact.findings:
        assert exact.value == value


CASES = st.lists(
    st.fixed_dictionaries(
        dict.fromkeys(("id", "name", "category", "prompt"), WORDS),
        optional={
            "tags": st.lists(WORDS | SCALARS, max_size=3),
            "testType": st.sampled_from(["bug-fix", "bugfix", 1]),
            "applyChanges": st.booleans() | st.integers(0, 1),
            "codeContext": st.lists(
                st.fixed_dictionaries(
                    {"filePath": WORDS},
                    optional={"lineRange": st.fixed_dictionaries({"start": SCALARS, "end": st.integers(-1, 3)})},
                ),
                max_size=2,
            ),
            "riskCriteria": st.lists(VALUES, max_size=2),
            "command": VALUES,
            "other": VALUES,
        },
    ),
    max_size=4,
)


@FUZZ
@given(cases=CASES)
def test_what_is_accepted_fast_is_right(cases: list[Any]) -> None:
    from pydantic import TypeAdapter

    from tui.suites.messages import shape_findings

    if keys_in(CaseShape, cases) is not None:
        assert shape_findings(TypeAdapter(list[CaseShape]), cases) == []


def test_plain_cases_are_accepted_fast() -> None:
    case = {"id": "a", "name": "n", "category": "c", "prompt": "p"}
    risk = {"name": "r", "description": "d", "severity": "low"}
    lines = {"filePath": "a", "lineRange": {"start": 1, "end": 2}}
    assert keys_in(CaseShape, [case, {**case, "tags": ["x"], "riskCriteria": [risk], "codeContext": [lines]}]) == 18
    assert keys_in(CaseShape, [case, {**case, "codeContext": [{**lines, "lineRange": {"start": 0, "end": 2}}]}]) is None
    assert keys_in(CaseShape, [{**case, "command": "x"}, {**case, "command": {"run": "x", "timeoutMs": 1}}]) == 12
    assert keys_in(CaseShape, [{**case, "command": "x"}, {**case, "command": {"run": 1}}]) is None
    assert keys_in(CaseShape, [{**case, "command": ""}]) is None
    assert keys_in(CaseShape, [{**case, "tags": ("x",)}]) is None
    assert keys_in(CaseShape, [{**case, "other": 1}]) is None
    assert keys_in(CaseShape, [{"id": "a"}]) is None


@pytest.mark.parametrize("text", SEEDS)
def test_no_beginning_of_an_example_raises(text: str, tmp_path: Path) -> None:
    for end in range(0, len(text), 7):
        (tmp_path / "s.json").write_text(text[:end])
        (tmp_path / "s.yaml").write_text(text[:end])
        assert load_suite(tmp_path / "s.json", pattern_error).problems or end >= len(text) - 7 or "steps" in text
        load_suite(tmp_path / "s.yaml", pattern_error)
