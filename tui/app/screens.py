"""The base classes of all screens and dialogs: a screen closes once, and never closes another one.

Textual's `dismiss` closes the screen on top of the stack, whichever it is: two quick keys, a double click, or a worker
that finishes late would close the screen below, too, or raise an error.
"""

from collections.abc import Callable
from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

Result = TypeVar("Result")


class AppScreen(Screen[Result]):
    """A screen that the first `dismiss` closes; any other one is ignored."""

    _dismiss_on_top: Callable[[], object] | None = None

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the screen with a result: now, or as soon as it is on top of the stack."""
        if self.is_active:
            return super().dismiss(result)
        if self._dismiss_on_top is None and self in self.app.screen_stack:
            self._dismiss_on_top = lambda: self.dismiss(result)
        return AwaitComplete()

    def on_screen_resume(self) -> None:
        """Close the screen if it was dismissed while another one was on top."""
        if self._dismiss_on_top is not None:
            self._dismiss_on_top()


class Dialog(ModalScreen[Result], AppScreen[Result]):
    """A dialog above another screen: a frame in the middle, which a subclass gives its width and height."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > Vertical {
        max-width: 96%; height: auto; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    """

    def action_leave(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)
