"""Reading the files of a run's repository."""

from pathlib import Path

import pytest

from tests.support.repositories import write_files
from tui.model.errors import WorkspaceError
from tui.model.suite import Suite
from tui.runner.control import Control
from tui.session.context import read_context
from tui.session.session import open_suite


def suite_in(folder: Path) -> Suite:
    suite = """
name: n
description: d
models: [m]
repositoryContext: {path: files}
testCases: [{id: a, name: a, category: c, prompt: p, expectedPatterns: [x]}]
"""
    write_files(folder, {"s.yaml": suite, "files/a.txt": "a\n"})
    found = open_suite(folder / "s.yaml").suite
    assert found is not None
    return found


async def test_a_stopped_run_does_not_read_its_repository(tmp_path: Path) -> None:
    suite, control = suite_in(tmp_path), Control()
    context = await read_context(suite, None, None, control)
    assert context.context_of(suite.cases[0]) == context.shared
    assert [file.path for file in context.shared.included] == ["a.txt"]
    control.interrupt()
    context = await read_context(suite, None, None, control)
    with pytest.raises(WorkspaceError, match="the run was stopped"):
        context.context_of(suite.cases[0])
