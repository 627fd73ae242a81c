"""The option that renews the pictures, and the fixtures of the snapshot tests."""

import pytest

from tests.app.snapshots.stage import fixed_world

__all__ = ["fixed_world"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--snapshot-update", action="store_true", help="store the screens as they are now")


@pytest.fixture
def snapshot_update(request: pytest.FixtureRequest) -> bool:
    """Return whether the pictures are renewed; a run of other folders does not know the option."""
    return bool(request.config.getoption("--snapshot-update", default=False))
