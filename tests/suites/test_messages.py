"""Values of a suite's file in messages about it."""

import pytest

from tests.model.test_secrets import SERVICE_KEYS
from tui.model.secrets import REMOVED
from tui.suites.messages import quoted


def test_a_value_is_cut_and_sanitized() -> None:
    assert quoted("a\nb") == "`a␊b`"
    assert quoted("x" * 2_000_000, 20) == f"`{'x' * 19}…`"


@pytest.mark.parametrize("key", SERVICE_KEYS)
def test_a_key_at_the_cut_is_removed(key: str) -> None:
    assert quoted(f"{'x' * 51} {key}{' y' * 100}", 70) == f"`{'x' * 51} {REMOVED} y y…`"
