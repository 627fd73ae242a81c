"""Handle keys one at a time, in the order in which they were typed, however fast."""

from collections import deque
from typing import NamedTuple

from textual.events import Key
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

_CLOSING_KEYS = ("enter", "escape")


class _HeldKey(NamedTuple):
    event: Key
    target: object


class KeyQueue:
    """Hold keys while a screen is busy, from `begin_work` to `end_work`, and deliver them afterwards.

    Bindings of the screen have priority, so that each one is done before the next key is read. A key that no binding
    handles reaches the screen's `on_key`, which passes it to `handle`.

    `target` identifies the displayed item; it is None while that changes. A key of `target_keys` acts on the item: a
    held key is dropped if another item is displayed by then, or if none was displayed when it was typed. A key of
    `input_keys` opens an input: the keys after it are text, up to Enter or Esc.
    """

    def __init__(self, screen: Screen[None]) -> None:
        self.target: object = None
        self.target_keys: frozenset[str] = frozenset()
        self.input_keys: frozenset[str] = frozenset()
        self._screen = screen
        self._captures: list[KeyCapture] = []
        self._held: deque[_HeldKey] = deque()
        self._busy, self._idle_since = False, 0.0
        self._busy_target: object = None

    def add_capture(self, capture: "KeyCapture") -> None:
        """Register an input that receives the keys while it is open."""
        self._captures.append(capture)

    @property
    def busy(self) -> bool:
        """Return whether keys are held."""
        return self._busy

    def begin_work(self) -> None:
        """Hold keys from now on."""
        self._busy, self._busy_target = True, self.target

    def end_work(self) -> None:
        """Deliver the held keys."""
        self._busy, self._idle_since = False, Message().time
        self.release()

    @property
    def capture(self) -> "KeyCapture | None":
        """Return the open input, or None."""
        return next((capture for capture in self._captures if capture.is_open), None)

    @property
    def accepts_commands(self) -> bool:
        """Return whether a key is a command now: the screen is not busy, and no input is open."""
        return not self.busy and self.capture is None

    def handle(self, event: Key) -> None:
        """Hold a key that no binding has handled, or pass it to the open input."""
        capture = self.capture
        if self.busy:
            event.stop()
            self._held.append(_HeldKey(event, self.target))
        elif event.time < self._idle_since:  # it was typed while the screen was busy
            event.stop()
            self._held.append(_HeldKey(event, self._busy_target))
            self.release()
        elif capture is not None and capture.last_key is not event:
            event.stop()
            self._type(capture, event)

    def postpone(self, event: Key) -> None:
        """Hold a key that reached an input after its text was complete."""
        self._held.append(_HeldKey(event, self.target))
        if self.capture is None:
            self.release()

    def release(self) -> None:
        """Deliver the held keys, unless the screen is busy."""
        opens_input = False
        while self._held and not self.busy:
            event, target = self._held.popleft()
            if (capture := self.capture) is not None:
                self._type(capture, event)
            elif opens_input or event.key not in self.target_keys or self._is_shown(target):
                self._screen.app.post_message(self._copy(event))
                opens_input = (opens_input or event.key in self.input_keys) and event.key not in _CLOSING_KEYS

    def _is_shown(self, target: object) -> bool:
        return target is not None and target == self.target

    def _copy(self, event: Key) -> Key:
        """Return a held key as if just typed: a message of the screen would end there, not at bindings of the app."""
        return Key(event.key, event.character).set_sender(self._screen.app)

    def _type(self, capture: "KeyCapture", event: Key) -> None:
        """Pass a key to an input, which may not have had the focus when the key was pressed."""
        if not capture.widget.has_focus:
            self._screen.set_focus(capture.widget)
        capture.widget.post_message(self._copy(event))


class KeyCapture:
    """The keys of one input on a screen with a KeyQueue.

    The input passes each key to `accepts` first, and calls `end` when its text is complete. The screen handles the
    complete text a little later; keys typed in between are commands again, not text. An input that is `focused_only` is
    open while it has the focus, any other one while it is displayed.
    """

    def __init__(self, keys: KeyQueue, widget: Widget, *, focused_only: bool = False) -> None:
        self.widget = widget
        self.last_key: Key | None = None
        self.ended = False
        self._keys, self._focused_only = keys, focused_only
        keys.add_capture(self)

    @property
    def is_open(self) -> bool:
        """Return whether keys are text for this input."""
        widget = self.widget
        if not self._focused_only:
            return bool(widget.display)
        # A key may come before the widget is mounted, or while its screen is being removed.
        return bool(widget.display) and widget.is_attached and widget.screen.focused is widget

    def begin(self) -> None:
        """Accept keys, starting with the next one."""
        self.ended = False

    def end(self) -> None:
        """Stop accepting keys."""
        self.ended = True

    def accepts(self, event: Key) -> bool:
        """Return whether a key belongs to the text; otherwise return the key to the queue."""
        self.last_key = event
        if self.ended:
            event.prevent_default()
            event.stop()
            self._keys.postpone(event)
        return not self.ended
