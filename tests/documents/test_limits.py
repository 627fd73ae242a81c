"""Hostile files: each is an error with its line, soon, and never a traceback."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.suites.loaded import lines_of, pattern_error
from tui.documents.problems import MOST_JSON_BYTES, MOST_PROBLEMS, MOST_YAML_BYTES
from tui.suites.load import load_suite

MIB = 1024 * 1024
ROOT = '"name": "n", "description": "d", "models": ["m"]'


def laughs(levels: int) -> str:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, levels):
        text += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    return text


HOSTILE: dict[str, tuple[str, Callable[[], str | bytes], str]] = {
    "deep lists": ("s.json", lambda: "[" * 100_000, "1:65: error: JSON: is nested deeper than 64 levels"),
    "deep objects": ("s.json", lambda: '{"a":' * 100_000, "1:321: error: JSON: is nested deeper than 64 levels"),
    "deep closed lists": ("s.json", lambda: "[" * 70 + "]" * 70, "1:65: error: JSON: is nested deeper"),
    "deep memory": (
        "s.json",
        lambda: '{"input": "i", "memory": {"a": ' + "[" * 63 + "]" * 63 + "}}",
        "1:94: error: JSON: is nested deeper",
    ),
    "deep unknown key": ("s.json", lambda: f'{{{ROOT}, "x": {"[" * 65}{"]" * 65}}}', "error: JSON: is nested deeper"),
    "deep flow": ("s.yaml", lambda: "[" * 100_000, "error: YAML: is nested deeper than 64 levels"),
    "deep dashes": ("s.yaml", lambda: "- " * 100_000, "1:129: error: YAML: is nested deeper"),
    "deep questions": ("s.yaml", lambda: "? " * 100_000, "error: YAML: expected a plain text key"),
    "deep blocks": ("s.yaml", lambda: "".join(" " * n + "a:\n" for n in range(1_000)), "65:65: error: YAML: is nested"),
    "many values": ("s.json", lambda: "[" + "[]," * 600_000 + "1]", "error: JSON: contains more than 500,000 values"),
    "many numbers": ("s.json", lambda: "[" + "1," * 600_000 + "1]", "error: JSON: contains more than 500,000 values"),
    "many faults": ("s.json", lambda: f'{{"testCases": [{"1," * 100_000}1]}}', "more problems not listed"),
    "many unknown keys": (
        "s.json",
        lambda: json.dumps({"testCases": [], **{f"key{number}": 1 for number in range(50_000)}}),
        "more problems not listed",
    ),
    "many doubled keys": ("s.json", lambda: '{"input": "i"' + ',"a":1' * 50_000 + "}", "more problems not listed"),
    "many yaml values": (
        "s.yaml",
        lambda: "[" + "a," * 260_000 + "]",
        "error: YAML: contains more than 250,000 values",
    ),
    "many yaml lists": (
        "s.yaml",
        lambda: "[" + "[]," * 260_000 + "]",
        "error: YAML: contains more than 250,000 values",
    ),
    "many yaml keys": (
        "s.yaml",
        lambda: "".join(f"k{n}: 1\n" for n in range(30_000)),
        "neither of the two suite formats",
    ),
    "many documents": ("s.yaml", lambda: "---\n" * 250_000, "2:1: error: YAML: a second document begins here"),
    "laughs": ("s.yaml", lambda: laughs(9), "error: YAML: the aliases expand to too many values"),
    "laughs without a letter": (
        "s.yaml",
        lambda: laughs(9).replace("x", "[]"),
        "error: YAML: the aliases expand to too many values",
    ),
    "long aliased text": (
        "s.yaml",
        lambda: "a: &a " + "x" * 500_000 + "\nb: [" + "*a, " * 1_000 + "]\n",
        "2:137: error: YAML: the aliases expand to too many values",
    ),
    "aliases make it deep": (
        "s.yaml",
        lambda: "".join(f"k{n}: &b{n} [{f'*b{n - 1}' if n else 1}]\n" for n in range(100)),
        "64:12: error: YAML: is nested deeper",
    ),
    "long number": ("s.json", lambda: f'{{"input": "i", "memory": {{"a": {"9" * 5_000}}}}}', "a number of 5,000"),
    "long fraction": ("s.json", lambda: f'{{"input": "i", "memory": {{"a": 0.{"9" * 5_000}}}}}', "a number of 5,002"),
    "long exponent": ("s.json", lambda: f'{{"input": "i", "memory": {{"a": 1e{"9" * 5_000}}}}}', "a number of 5,002"),
    "long number for a field": (
        "s.json",
        lambda: f'{{{ROOT}, "options": {{"timeoutMs": {"9" * 5_000}}}, "testCases": []}}',
        "1:77: error: options.timeoutMs: a number of 5,000 characters is too long",
    ),
    "long yaml number": (
        "s.yaml",
        lambda: "input: i\nmemory: {a: " + "9" * 5_000 + "}",
        "2:13: error: memory.a: a number",
    ),
    "long hexadecimal": (
        "s.yaml",
        lambda: "input: i\nmemory: {a: 0x" + "f" * 5_000 + "}",
        "2:13: error: memory.a: a number",
    ),
    "many hexadecimal digits": (
        "s.yaml",
        lambda: "input: i\nmemory: {a: 0x" + "f" * 4_000 + "}",
        "2:13: error: memory.a: a number of 4,002 characters is too long",
    ),
    "many hexadecimal digits for a field": (
        "s.yaml",
        lambda: f"{{{ROOT}, options: {{retries: 0x{'f' * 4_000}}}, testCases: []}}",
        "error: options.retries: a number of 4,002 characters is too long",
    ),
    "underscores": (
        "s.yaml",
        lambda: "input: i\nmemory: {a: 1" + "_" * 500_000 + "x}\nb: 1",
        "3:1: warning: b: unknown key",
    ),
    "long id": (
        "s.json",
        lambda: f'{{{ROOT}, "testCases": [{{"id": "{"a " * 500_000}"}}]}}',
        "has a character that is not allowed",
    ),
    "long key": ("s.json", lambda: f'{{"input": "i", "{"k" * 1_000_000}": 1}}', "warning: kkk"),
    "many slashes": (
        "s.json",
        lambda: f'{{{ROOT}, "testCases": [{{"targetFile": "{"a/" * 500_000}"}}]}}',
        "has more than 32 parts",
    ),
    "control characters": ("s.yaml", lambda: "input: a\x1b[31m", "1:9: error: YAML: the character U+001B"),
    "nul": ("s.yaml", lambda: "input: a\0", "1:9: error: YAML: the character U+0000"),
    "escape sequences in a key": ("s.json", lambda: '{"input": "i", "\\u001b[31m": 1}', "warning: ␛[31m: unknown key"),
    "too large as yaml": ("s.yaml", lambda: "#" * (MOST_YAML_BYTES + 1), "s.yaml: error: file: is larger than 1 MiB"),
    "too large as json": ("s.json", lambda: " " * (MOST_JSON_BYTES + 1), "s.json: error: file: is larger than 16 MiB"),
    "too large in the middle of a character": ("s.json", lambda: "語" * (6 * MIB), "is larger than 16 MiB"),
    "very large yaml": (
        "s.yml",
        lambda: " " * (17 * MIB),
        "s.yml: error: file: is larger than 1 MiB, the limit for YAML",
    ),
    "empty": ("s.yaml", lambda: "", "s.yaml: error: file: is empty; run `assay init` to write an example suite"),
    "spaces": ("s.json", lambda: " \n\t ", "s.json: error: file: is empty"),
    "only a mark": ("s.json", lambda: b"\xef\xbb\xbf", "s.json: error: file: is empty"),
    "latin": (
        "s.yaml",
        lambda: "input: caf\xe9\n".encode("latin-1"),
        "s.yaml: error: file: is not UTF-8 (byte 0xe9 at offset 10)",
    ),
    "surrogates as utf-8": ("s.json", lambda: b'"\xed\xa0\x80"', "s.json: error: file: is not UTF-8 (byte 0xed"),
    "utf-16": ("s.json", lambda: '{"input": "i"}'.encode("utf-16"), "s.json: error: file: is UTF-16, not UTF-8"),
    "utf-32": ("s.json", lambda: b"\x00\x00\xfe\xff\x00\x00\x00{", "s.json: error: file: is UTF-32, not UTF-8"),
    "binary": ("s.yaml", lambda: bytes(range(256)), "s.yaml: error: file: is not UTF-8"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in ("many numbers", "many yaml values"))) for name in HOSTILE],
)
def test_a_hostile_file_is_an_error(name: str, tmp_path: Path) -> None:
    file, make, expected = HOSTILE[name]
    content = make()
    lines = lines_of(tmp_path, file, content)
    assert any(expected in line for line in lines), [line[:300] for line in lines[:5]]
    assert len(lines) <= MOST_PROBLEMS + 1
    assert all(len(line) < 1_000 + len(str(tmp_path)) for line in lines)


def test_what_is_at_the_limit_is_fine(tmp_path: Path) -> None:
    deep = '{"input": "i", "memory": {"a": ' + "[" * 62 + "]" * 62 + "}}"
    assert lines_of(tmp_path, "s.json", deep) == []
    assert lines_of(tmp_path, "s.yaml", deep) == []
    assert lines_of(tmp_path, "s.json", '{"input": "' + "x" * (MOST_JSON_BYTES - 13) + '"}') == []
    assert lines_of(tmp_path, "s.yaml", "input: " + "x" * (MOST_YAML_BYTES - 7)) == []
    digits = "9" * 4_300
    assert lines_of(tmp_path, "s.json", f'{{"input": "i", "memory": {{"a": {digits}, "b": 1e308}}}}') == []


def test_what_is_no_file(tmp_path: Path) -> None:
    def line(path: Path) -> str:
        loaded = load_suite(path, pattern_error)
        assert loaded.suite is None
        return " ".join(str(problem) for problem in loaded.problems).replace(str(tmp_path), "FOLDER")

    assert line(tmp_path / "s.yaml") == "FOLDER/s.yaml: error: file: does not exist; check the path"
    assert line(tmp_path) == "FOLDER: error: file: is a folder; pass a suite file in it"
    os.mkfifo(tmp_path / "pipe.json")
    assert line(tmp_path / "pipe.json") == "FOLDER/pipe.json: error: file: is not a regular file; pass a suite file"
    assert line(Path("/dev/zero")) == "/dev/zero: error: file: is not a regular file; pass a suite file"
    assert line(tmp_path / ("x" * 300)).endswith("cannot be read (file name too long); check the path")
    assert line(Path("a\0b")).endswith("cannot be read (embedded null byte); check the path")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    assert "cannot be read" in line(tmp_path / "loop.yaml")
