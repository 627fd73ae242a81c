"""Settings for the tests of the app."""

import pytest

from tui.app.dialogs import ConfirmScreen


@pytest.fixture(autouse=True)
def answer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question for permission accept the keys from the beginning."""
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.0)
