"""Settings for the tests of the app."""

from collections.abc import Iterator

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tui.app.dialogs import ConfirmScreen


@pytest.fixture(autouse=True)
def answer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question for permission accept the keys from the beginning."""
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.0)


@pytest.fixture(autouse=True, scope="session")
def parse_styles_once() -> Iterator[None]:
    """Keep what was parsed of the style sheets for the next app: parsing takes a tenth of the CPU time of a start."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(
        sheet: Stylesheet,
        css: str,
        read_from: tuple[str, str],
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        source = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (*source, frozenset(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *source)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
