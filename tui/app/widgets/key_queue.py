"""Keys are done one after the other, however fast they come: each acts on what the one before it has left."""

from collections import deque
from typing import NamedTuple

from textual import on
from textual.events import Key
from textual.screen import Screen, ScreenResultType

from tui.app.widgets.writer import KeyCapture

_CLOSING = ("enter", "escape")


class _Held(NamedTuple):
    event: Key
    place: object


class KeyQueue(Screen[ScreenResultType]):
    """A subclass says while it is `busy`, and calls `release` when it no longer is. Its own keys have priority, so that
    each is done before the next one is read; what cannot be done now comes by `on_key`, and waits.

    A key in `bound_keys` is about what stands on the screen, `seen`: where that is another when its turn comes, or
    None when it was typed, it does nothing. Keys that come while somebody types, from one of `opening_keys` on, are the
    text's.
    """

    bound_keys: frozenset[str] = frozenset()
    opening_keys: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[_Held] = deque()

    @property
    def busy(self) -> bool:
        """Whether something is under way that the next key has to wait for."""
        return False

    @property
    def seen(self) -> object:
        """What stands on the screen, None while that changes."""
        return None

    @property
    def writer(self) -> KeyCapture | None:
        """Where somebody types, if anywhere."""
        return None

    def touched(self) -> None:
        """For a subclass: somebody has pressed a key."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is done while something else is under way, or somebody types."""
        del action, parameters
        return not self.busy and self.writer is None

    def on_key(self, event: Key) -> None:
        """What was not done at once."""
        self.touched()
        if self.busy:
            event.stop()
            self._held.append(_Held(event, self.seen))
        elif self.writer is not None and self.writer.last_key is not event:
            event.stop()
            self._write(self.writer, event)

    @on(KeyCapture.Late)
    def take_late(self, message: KeyCapture.Late) -> None:
        """What was typed after the end of a text, before that was known here."""
        message.stop()
        self._held.append(_Held(message.key, message.place))
        if self.writer is None:
            self.release()

    def release(self) -> None:
        """Do what was typed meanwhile."""
        types = False
        while self._held and not self.busy:
            event, place = self._held.popleft()
            if self.writer is not None:
                self._write(self.writer, event)
            elif types or event.key not in self.bound_keys or (place is not None and place == self.seen):
                self.app.post_message(Key(event.key, event.character))
                types = (types or event.key in self.opening_keys) and event.key not in _CLOSING

    def _write(self, writer: KeyCapture, event: Key) -> None:
        """To where somebody types, which had not had the focus yet when the key was pressed."""
        if not writer.has_focus:
            self.set_focus(writer)
        writer.post_message(Key(event.key, event.character))
