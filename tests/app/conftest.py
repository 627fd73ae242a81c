"""Settings for the tests of the app."""

from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import RenderableType
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.screen import Screen

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
    known: dict[str, str] = {}
    variables: frozenset[tuple[str, str]] = frozenset()

    def parse_once(
        sheet: Stylesheet,
        css: str,
        read_from: tuple[str, str],
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        nonlocal known, variables
        if known is not sheet._variables:  # a sheet replaces them as a whole, and has hundreds of sources
            known, variables = sheet._variables, frozenset(sheet._variables.items())
        source = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (*source, variables)
        if key not in parsed:
            parsed[key] = parse(sheet, *source)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def compose_no_frame_that_nobody_sees() -> Iterator[None]:
    """Render the widgets of each frame, but do not join their lines to a screen where there is no terminal to write to.

    A headless app discards its frames: joining them takes a fifth of the CPU time of a test. What a test reads of the
    screen is composed when it reads it.
    """
    render = Compositor.render_update

    def render_widgets(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        if full or compositor.root is None or not compositor.root.app.is_headless:
            return render(compositor, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        dirty = compositor._dirty_regions.copy()
        compositor._dirty_regions.clear()
        if not dirty:
            return None
        list(compositor._get_renders(Region.from_union(dirty).intersection(compositor.size.region)))
        if compositor.size.region in dirty:
            return LayoutUpdate([], compositor.size.region)
        return ChopsUpdate([], list(compositor._regions_to_spans(dirty)), [])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", render_widgets)
        yield
