"""A command line with a home of its own for each test."""

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine


@pytest.fixture
def assay(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)
