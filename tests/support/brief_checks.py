"""Brief limits of patterns: the checks of a test stop a slow pattern after a fifth of the usual time."""

import pytest

from tui.checks import pool, protocol

_LIMITS = {"SECONDS_A_PATTERN": protocol.SECONDS_A_PATTERN / 5, "SECONDS_A_TEXT": protocol.SECONDS_A_TEXT / 5}


def set_brief_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the limits by five, here and in each worker that is started; messages still name the usual ones."""
    for name, seconds in _LIMITS.items():
        monkeypatch.setattr(protocol, name, seconds)
        monkeypatch.setattr(pool, name, seconds)
    change = f"import tui.checks.protocol as limits; vars(limits).update({_LIMITS}); from tui"
    monkeypatch.setattr(pool, "_BOOT", pool._BOOT.replace("from tui", change))
