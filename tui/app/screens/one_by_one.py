"""Keys are done one after the other, however fast they come: each acts on what the one before it has left."""

from collections import deque
from typing import NamedTuple

from textual.events import Key
from textual.screen import Screen, ScreenResultType

from tui.app.widgets.writer import Writer


class _Held(NamedTuple):
    event: Key
    place: object


class OneByOneScreen(Screen[ScreenResultType]):
    """A subclass says while it is `busy`, and calls `release` when it no longer is.

    A key in `bound_keys` is about what stands on the screen, `seen`: where that is another when its turn comes, or
    None when it was typed, it does nothing. Keys that come while somebody types are the text's.
    """

    bound_keys: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[_Held] = deque()
        self._let_through: Key | None = None
        self._passing = False

    @property
    def busy(self) -> bool:
        """Whether something is under way that the next key has to wait for."""
        return False

    @property
    def seen(self) -> object:
        """What stands on the screen, None while that changes."""
        return None

    @property
    def writer(self) -> Writer | None:
        """Where somebody types, if anywhere."""
        return None

    def touched(self) -> None:
        """For a subclass: somebody has pressed a key."""

    def on_key(self, event: Key) -> None:
        """Every key that no widget has taken comes by here on its way to what it is bound to."""
        if event is self._let_through:
            self._let_through = None
            self._pass()
            return
        self.touched()
        if self.busy or self._passing or self._held:
            event.stop()
            self._held.append(_Held(event, self.seen))
        elif self.writer is not None:
            if self.writer.last_key is not event:
                event.stop()
                self._write(event)
        elif event.key in self.bound_keys and self.seen is None:
            event.stop()
        else:
            self._pass()

    def on_screen_resume(self) -> None:
        """What was on its way has gone to the screen that was above."""
        self._let_through = None
        self.release()

    def _pass(self) -> None:
        """The next one waits until this key has done what it does: once around, behind it."""
        self._passing = True
        self.call_later(self.app.call_later, self._passed)

    def _passed(self) -> None:
        self._passing = False
        self.release()

    def release(self) -> None:
        """Do what was typed meanwhile."""
        while self._held and not (self.busy or self._passing) and self._let_through is None:
            event, place = self._held.popleft()
            key = Key(event.key, event.character)
            if self.writer is not None:
                self._write(key)
            elif event.key in self.bound_keys and (place is None or place != self.seen):
                continue
            else:
                self._let_through = key if self.is_current else None
                self.app.post_message(key)

    def _write(self, event: Key) -> None:
        """To where somebody types, which has not had the focus yet when the key was pressed."""
        if self.writer is not None and not self.writer.has_focus:
            self.set_focus(self.writer)
        self.app.post_message(Key(event.key, event.character))
