"""Mutated files of every kind that Assay reads: a result or problems with a place, never another exception."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.config.test_load import WHOLE
from tests.hostile.mutations import mutations
from tests.suites.loaded import lines_of
from tests.support.tables import read_table
from tui.app.theme.theme_files import ThemeFiles
from tui.config.load import load_config
from tui.imports.promptfoo import read_promptfoo
from tui.model.errors import AssayError, ConfigError
from tui.model.sanitize import sanitize_text
from tui.risk.score_files import ScoreFiles

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent
SUITES = [path.read_bytes() for path in sorted((TESTS / "suites/seeds").glob("*.*"))]
SUITES += [path.read_bytes() for path in sorted((PROJECT / "test-suites").rglob("*.[jy]*"))]
SUITES += [
    row.content.encode() for table in sorted((TESTS / "suites/tables").glob("*.txt")) for row in read_table(table)
]
THEMES = [path.read_bytes() for path in sorted((PROJECT / "themes").glob("*.yaml"))]
RESULTS = [path.read_bytes() for path in sorted((TESTS / "imports/files").glob("*.json"))]
CONFIG = (
    WHOLE
    + """\
reviewer: Ada
keys: {run.case: f5, look.matrix: "f6,ctrl+g"}
prices: {vendor/model-1: {input: 1.75, output: 14, cached: 0.175}}
risk: {limits: {critical: 3, high: 5}, guidance: [none, some, half, most, all]}
review: {repeats: 10}
"""
)
PROJECT_CONFIG = b"""\
theme: assay-light
keys: {look.matrix: f6}
risk: {limits: {high: 6}, weights: {low: 1}, guidance: [none, some, half, most, all]}
review: {repeats: 10, mask: [acme]}
"""
RUN = "0193f2a4c6d87000a1b2c3d4e5f60718"
SCORE = (
    b'{"version": 1, "act": "score", "id": "%032x", "run": "' + RUN.encode() + b'", "case": "sec-001", '
    b'"model": "openai/mock-a", "repeat": 1, "criterion": "Tone", "extent": 2, "note": "fine", "reviewer": "Ada", '
    b'"scored_at": "2026-11-20T11:00:0%d+00:00", "blind": false, "guidance": ""}\n'
)
SCORES = [b"".join(SCORE % (number, number) for number in range(4))]

Read = Callable[[Path, bytes], list[str]]


def read_suite_as_json(folder: Path, data: bytes) -> list[str]:
    return lines_of(folder, "s.json", data)


def read_suite_as_yaml(folder: Path, data: bytes) -> list[str]:
    return lines_of(folder, "s.yaml", data)


def read_config(folder: Path, data: bytes) -> list[str]:
    (folder / "config.yaml").write_bytes(data)
    try:
        load_config(folder, {"MY_KEY": "sk-test-4711-secret", "MY_TOKEN": "token-4711-secret"})
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def read_project_config(folder: Path, data: bytes) -> list[str]:
    (folder / ".assay.yaml").write_bytes(data)
    environ = {"MY_KEY": "sk-test-4711-secret", "MY_TOKEN": "token-4711-secret"}
    config = load_config(folder, environ, folder / ".assay.yaml")
    assert (config.providers, config.variants, config.rules, config.prices, config.reviewer) == ({}, {}, (), {}, None)
    return [str(problem) for problem in config.warnings]


def read_theme(folder: Path, data: bytes) -> list[str]:
    (folder / "theme.yaml").write_bytes(data)
    return [str(problem) for problem in ThemeFiles([folder]).read_changed().problems]


def read_results(folder: Path, data: bytes) -> list[str]:
    (folder / "results.json").write_bytes(data)
    try:
        read_promptfoo(folder / "results.json")
    except AssayError as error:
        return [str(error)]
    return []


def read_scores(folder: Path, data: bytes) -> list[str]:
    files = ScoreFiles(folder / "scores")
    (folder / "scores" / RUN).mkdir(parents=True, exist_ok=True)
    files.file_of(RUN, "Ada").write_bytes(data)
    kept = files.read(RUN)
    again = files.read(RUN)
    assert again == kept
    return [str(bad) for bad in kept.bad]


KINDS: dict[str, tuple[Read, list[bytes]]] = {
    "suite.json": (read_suite_as_json, SUITES),
    "suite.yaml": (read_suite_as_yaml, SUITES),
    "config": (read_config, [CONFIG.encode()]),
    "project": (read_project_config, [CONFIG.encode(), PROJECT_CONFIG]),
    "theme": (read_theme, THEMES),
    "promptfoo": (read_results, RESULTS),
    "scores": (read_scores, SCORES),
}


def check(kind: str, folder: Path, count: int, seed: int) -> None:
    read, originals = KINDS[kind]
    with_problems = 0
    for number, data in enumerate(mutations(originals, count, seed)):
        try:
            problems = read(folder, data)
        except Exception as error:
            error.add_note(f"mutation {number} of {kind}, seed {seed}: {data[:300]!r}")
            raise
        with_problems += bool(problems)
        for problem in problems:
            assert problem == sanitize_text(problem), f"mutation {number} of {kind}, seed {seed}"
            assert "4711-secret" not in problem, f"mutation {number} of {kind}, seed {seed}"
            assert len(problem) < 2_000, f"mutation {number} of {kind}, seed {seed}"
    assert with_problems > count // 4, "the mutations are faults"


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_mutated_files_of_each_kind_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    check(kind, tmp_path, 100, seed=11)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_ten_thousand_mutated_files_of_each_kind_are_read_or_refused(kind: str, seed: int, tmp_path: Path) -> None:
    check(kind, tmp_path, 2_000, seed)
