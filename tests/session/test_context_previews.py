"""The files that prompts will contain, before a run: read when needed, and again when they changed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.session.test_planned_context import NO_SECRETS, suite_in
from tests.support.repositories import make_repository
from tui.model.context import PlannedContext
from tui.session import context_previews
from tui.session.context import read_folder_context
from tui.session.context_previews import ContextPreviews


def previews() -> ContextPreviews:
    return ContextPreviews(lambda _: True, lambda: NO_SECRETS)


def files_of(planned: PlannedContext | None) -> tuple[int, int]:
    assert planned is not None
    assert planned.sent is not None
    return planned.sent.files


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The suites whose repository was read."""
    done: list[str] = []
    read = read_folder_context

    def counted(suite: Any) -> Any:
        done.append(suite.name)
        return read(suite)

    monkeypatch.setattr(context_previews, "read_folder_context", counted)
    return done


def test_a_suite_without_files_has_no_preview(tmp_path: Path) -> None:
    suite = suite_in(tmp_path, {})
    assert previews().plan(suite, suite.cases) is None


def test_a_repository_is_read_again_only_when_it_changed(tmp_path: Path, reads: list[str]) -> None:
    work = tmp_path / "work"
    make_repository(work, {"a.py": "a\n", "src/b.py": "b\n", "src/.gitignore": "*.log\n"})
    suite = suite_in(tmp_path, {}, {"codeContext": [{"filePath": "a.py"}]}, repositoryContext={"path": "work"})
    kept = previews()
    assert files_of(kept.plan(suite, suite.cases)) == (3, 3)
    assert files_of(kept.plan(suite, suite.cases[1:])) == (3, 3)
    assert len(reads) == 1
    changes: list[Callable[[], object]] = [
        lambda: (work / "src" / "new.py").write_text("new"),
        lambda: (work / "a.py").write_text("longer\n"),
        lambda: (work / "src" / "b.py").unlink(),
        lambda: os.utime(work / "src" / ".gitignore", ns=(1, 1)),
    ]
    for count, change in enumerate(changes, 2):
        change()
        kept.plan(suite, suite.cases)
        kept.plan(suite, suite.cases)
        assert len(reads) == count


def test_rules_that_are_not_sent_themselves_count_too(tmp_path: Path, reads: list[str]) -> None:
    make_repository(tmp_path / "work", {"a.py": "a\n", ".gitignore": "", "src/.gitignore": ""})
    suite = suite_in(tmp_path, {}, repositoryContext={"path": "work", "includeFiles": ["*.py"]})
    kept = previews()
    for count, file in enumerate((".gitignore", "src/.gitignore"), 2):
        assert files_of(kept.plan(suite, suite.cases)) == (1, 1)
        (tmp_path / "work" / file).write_text("*.log\n")
        kept.plan(suite, suite.cases)
        assert len(reads) == count


def test_the_files_of_a_case_are_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a\n")
    suite = suite_in(tmp_path, {"codeContext": [{"filePath": "a.py"}]})
    kept = previews()
    first = kept.plan(suite, suite.cases)
    (tmp_path / "a.py").write_text("longer\n")
    second = kept.plan(suite, suite.cases)
    (tmp_path / "a.py").unlink()
    third = kept.plan(suite, suite.cases)
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.sent != second.sent
    assert third.faults


def test_nothing_is_read_before_a_clone_or_a_permission(tmp_path: Path, reads: list[str]) -> None:
    cloned = suite_in(
        tmp_path / "a", {}, repoClone={"repoUrl": "https://example.org/r"}, repositoryContext={"path": "."}
    )
    asked = suite_in(tmp_path / "b", {}, repositoryContext={"path": "."})
    refusing = ContextPreviews(lambda _: False, lambda: NO_SECRETS)
    for kept, suite, word in ((previews(), cloned, "cloned"), (refusing, asked, "allow")):
        planned = kept.plan(suite, suite.cases)
        assert planned is not None
        assert word in planned.lines[0]
        assert planned.sent is None
    assert reads == []


def test_a_few_suites_are_kept(tmp_path: Path, reads: list[str]) -> None:
    suites = [suite_in(tmp_path / str(number), {}, repositoryContext={"path": "."}) for number in range(10)]
    kept = previews()
    for suite in (*suites, suites[-1], suites[0]):
        kept.plan(suite, suite.cases)
    assert len(reads) == 11


def test_a_folder_that_is_gone_is_the_fault_of_each_case(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    suite = suite_in(tmp_path, {}, {}, repositoryContext={"path": "work"})
    (tmp_path / "work").rmdir()
    planned = previews().plan(suite, suite.cases)
    assert planned is not None
    assert [line.split(": ")[:2] for line in planned.lines] == [["Warning", "case-1"], ["Warning", "case-2"]]
