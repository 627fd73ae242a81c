"""Somewhere to type, that can tell which key it was asked about last, and hands on what comes after its end."""

from textual.events import Key
from textual.message import Message
from textual.widget import Widget


class KeyCapture(Widget):
    """A base beside Input or TextArea: a key that it does not take comes by its screen, which must not hand it back.

    A subclass hands each key to `is_late` first, sets `ended` when the text is done, and unsets it where a new one
    begins: the screen hears of the end a little later, and keys that were typed meanwhile are not the text's.
    """

    last_key: Key | None = None
    ended = False

    class Late(Message):
        """A key that was typed after the end; `place` is what stood on the screen then."""

        def __init__(self, key: Key, place: object) -> None:
            super().__init__()
            self.key, self.place = key, place

    def is_late(self, event: Key) -> bool:
        """Remember the key; whether it is another's, who is told so."""
        self.last_key = event
        if self.ended:
            event.prevent_default()
            event.stop()
            self.post_message(self.Late(event, getattr(self.screen, "seen", None)))
        return self.ended
