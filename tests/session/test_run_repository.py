"""Answers of a run, applied to the cloned repository in a thread that ends before the clone is removed."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.diffs import block, case_for
from tests.support.plans import suite_of
from tests.support.repositories import make_repository
from tui.model.errors import WorkspaceError
from tui.model.results import TrialKey
from tui.model.suite import RepoClone
from tui.runner.control import Control
from tui.session import context
from tui.session.context import RunRepository
from tui.workspace.answer import apply
from tui.workspace.answer.apply import Applied

TRIAL = TrialKey("case", "local/smollm2")


async def opened(folder: Path) -> RunRepository:
    made = make_repository(folder / "work", {"a.py": "1\n"})
    repository = RunRepository(replace(suite_of(), repo_clone=RepoClone(str(made))), {}, ())
    async for _ in repository.open(Control()):
        pass
    return repository


async def test_an_unexpected_error_of_the_clone_is_the_error_of_each_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr(context, "cloned", broken)
    repository = await opened(tmp_path)
    await repository.close()
    assert repository.clone is None
    assert str(repository.fault) == "Internal error in Assay: RecursionError: too deep"
    assert "too deep" in caplog.text
    with pytest.raises(WorkspaceError, match="too deep"):
        await repository.apply(case_for("a.py"), block("2\n"), TRIAL)


async def test_short_answers_are_applied_outside_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    applied = apply.apply_answer

    def noted(*arguments: object) -> Applied:
        threads.append(threading.current_thread())
        return applied(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(apply, "apply_answer", noted)
    repository = await opened(tmp_path)
    made = await repository.apply(case_for("a.py"), block("2\n"), TRIAL)
    await repository.close()
    assert [change.path for change in made.changes] == ["a.py"]
    assert threads[0] is not threading.current_thread()


async def test_the_clone_is_not_removed_while_a_cancelled_answer_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    there: list[bool] = []

    def slow(*_: object) -> Applied:
        begun.set()
        may_end.wait()
        there.append(clone.folder.exists())
        return Applied()

    monkeypatch.setattr(apply, "apply_answer", slow)
    repository = await opened(tmp_path)
    assert repository.clone is not None
    clone = repository.clone
    applying = asyncio.create_task(repository.apply(case_for("a.py"), block("2\n"), TRIAL))
    await asyncio.to_thread(begun.wait)
    applying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await applying
    closing = asyncio.create_task(repository.close())
    await asyncio.wait({closing}, timeout=0)
    may_end.set()
    await closing
    assert there == [True]
    assert not clone.folder.exists()
