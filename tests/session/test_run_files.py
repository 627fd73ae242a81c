"""Exported runs are read line by line, within limits of size, lines and memory."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import large_run
from tui.imports import result_file
from tui.imports.imported import ImportedRun
from tui.model.errors import SuiteError
from tui.model.secrets import Secrets
from tui.session import run_files
from tui.session.run_files import content_of, import_fault, pack_lines, read_run_file, run_lines

KEPT = large_run(10)


def exported(folder: Path, *, compressed: bool) -> Path:
    path = folder / "run.jsonl"
    path.write_bytes(
        pack_lines(run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32))), compressed=compressed)
    )
    return path


def read(path: Path) -> ImportedRun:
    return read_run_file(path, Secrets())


def refusal(path: Path) -> str:
    with pytest.raises(SuiteError) as raised:
        read(path)
    [problem] = raised.value.problems
    return f"{problem.line}: {problem.what}"


@pytest.mark.parametrize("compressed", [False, True])
def test_a_run_within_the_limits_is_read(tmp_path: Path, compressed: bool) -> None:
    run = read(exported(tmp_path, compressed=compressed))
    assert run.results == KEPT.results
    assert content_of(run.plan, run.results) == content_of(KEPT.plan, reversed(KEPT.results))
    assert content_of(run.plan, run.results) != content_of(KEPT.plan, KEPT.results[1:])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        ("MOST_BYTES", 1 << 20, "None: is larger than 1 MiB when decompressed"),
        ("MOST_LINE_BYTES", 1 << 20, "None: has a line of more than 1 MiB"),
        ("MOST_LINES", 15, "None: has more than 15 lines"),
    ],
)
def test_a_file_over_a_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, message: str, compressed: bool
) -> None:
    path = tmp_path / "run.jsonl"
    lines = [*run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32))), " " * (1 << 20)]
    path.write_bytes(pack_lines(lines, compressed=compressed))
    assert read(path).results
    monkeypatch.setattr(run_files, name, limit)
    assert refusal(path) == message


def test_the_memory_of_all_results_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported(tmp_path, compressed=True)
    monkeypatch.setattr(result_file, "MOST_MEMORY", 1 << 20)
    assert read(path).results
    # The last answer takes four bytes for each character.
    text = run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32)))
    *lines, last = text
    long = last.replace('"response":"', '"response":"\U0001f600' + "x" * 300_000, 1)
    assert len(long) > 300_000
    path.write_bytes(pack_lines([*lines, long], compressed=True))
    assert refusal(path) == "21: takes more than 1 MiB of memory; import it as several files"


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_is_too_large_to_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    path = exported(tmp_path, compressed=compressed)
    data = path.read_bytes()
    assert import_fault(data) is None
    monkeypatch.setattr(result_file, "MOST_BYTES", 100)
    monkeypatch.setattr(run_files, "MOST_FILE_BYTES", 100)
    monkeypatch.setattr(run_files, "MOST_BYTES", 8_000)
    fault = import_fault(data)
    assert fault is not None
    assert fault.startswith("is larger than 0 MiB")
    assert ("when decompressed" in fault) == compressed
    assert refusal(path).startswith("None: is larger than 0 MiB")
