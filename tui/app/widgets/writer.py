"""Somewhere to type, that can tell which key it was asked about last."""

from textual.events import Key
from textual.widget import Widget


class Writer(Widget):
    """A base beside Input or TextArea: a key that it does not take comes by its screen, which must not hand it back."""

    last_key: Key | None = None

    def on_key(self, event: Key) -> None:
        """Remember it."""
        self.last_key = event
