"""Texts about a review in dialogs: guidance, scoring rule, the history of an item, and its masked names."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from textual.screen import Screen

from tui.app.dialogs import TextScreen
from tui.app.presentation.pieces import Line
from tui.app.presentation.trail_lines import trail_lines
from tui.app.review.answers import mask_lines
from tui.app.review.lines import guidance_lines, rule_lines
from tui.app.review.queue import ReviewSession
from tui.app.review.view import ReviewView

TextName = Literal["guidance", "rule", "trail", "masks"]
_TITLES: dict[TextName, str] = {
    "guidance": "Guidance",
    "rule": "Severity × extent",
    "trail": "Trail",
    "masks": "Masked names",
}


class ReviewTexts:
    """Open the texts about the current item of a review above a screen."""

    def __init__(self, screen: Screen[Any], session: ReviewSession, view: ReviewView) -> None:
        self._screen, self._session, self._view = screen, session, view

    def open(self, name: TextName) -> None:
        """Open a text. The key of its action, `review.NAME`, closes it again; without an item some do not exist."""
        lines = self._lines(name)
        if lines is not None:
            self._screen.app.push_screen(TextScreen(_TITLES[name], lines, f"review.{name}"))

    def _lines(self, name: TextName) -> Callable[[int], Sequence[Line]] | None:
        """Return the function that makes the lines for a width. While names are hidden, it reveals none."""
        item, review, loaded = self._session.item, self._session.review, self._view.loaded
        if name == "guidance":
            return lambda width: guidance_lines(review.guidance, item, width)
        if name == "rule":
            severity = item.criterion.severity if item else None
            return lambda width: rule_lines(review.rule, width, severity)
        if name == "trail" and item is not None:
            acts = self._session.visible_trail(item)
            return lambda width: trail_lines(item, acts, review.rule, width)
        if name == "masks" and loaded is not None:
            return lambda width: mask_lines(loaded.content, width)
        return None
