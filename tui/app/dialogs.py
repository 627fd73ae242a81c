"""Dialogs that several screens use: a choice from a list, a confirmation, the help, and scrollable text."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Static

from tui.app.keymap import bindings_in_order, key_of, keys_of
from tui.app.presentation.help_lines import key_lines, legend_lines
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import TextPanel
from tui.app.workers import start_worker
from tui.model.sanitize import sanitize_measurable, sanitize_text


class ChoiceScreen(Dialog[int | None]):
    """A dialog with a list of lines. The result is the index of the chosen line, or None.

    `verb` is the word for Enter in the frame.
    """

    DEFAULT_CSS = """
    ChoiceScreen > Vertical { width: 86; max-width: 94%; max-height: 80%; padding: 1 1; }
    ChoiceScreen LineListView { height: auto; max-height: 20; background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="choice.leave", tooltip="Close without changes"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], current: int, *, verb: str = "select") -> None:
        super().__init__()
        self._title, self._lines, self._current, self._verb = title, lines, current, verb
        self._list = LineListView(on_chosen=self.dismiss)

    def compose(self) -> ComposeResult:
        """Compose the frame and the list."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(f"Enter {self._verb} · Esc close")
            yield self._list

    def on_mount(self) -> None:
        """Fill the list, with the cursor on the current choice."""
        self._list.show_lines(self._lines)
        self._list.go_to(self._current)
        self._list.focus()


class PaintedText(Static):
    """A text that knows which of its rows have been on the screen, in their full width, since it has its place."""

    def __init__(self, text: str, *, is_measurable: bool) -> None:
        super().__init__(Content((sanitize_measurable if is_measurable else sanitize_text)(text)), markup=False)
        self._painted: set[int] = set()
        self._painted_width = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        """Note and return the rows that are painted now: `crop` is what no frame, scrolled area or screen cuts off."""
        if self._painted_width != self.size.width:
            self._painted.clear()
            self._painted_width = self.size.width
        if self.screen.is_active and crop.x == 0 and crop.width == self.size.width:
            self._painted.update(range(crop.y, crop.bottom))
        return super().render_lines(crop)

    def forget(self) -> None:
        """Paint the text again, and note the rows from the beginning."""
        self._painted.clear()
        self.refresh()

    @property
    def is_displayed(self) -> bool:
        """Whether any row has been on the screen."""
        return bool(self._painted)

    @property
    def next_row(self) -> int | None:
        """The first row that has not been on the screen, or None."""
        if not self._painted or self._painted_width != self.size.width:
            return 0
        return next((row for row in range(self.size.height) if row not in self._painted), None)


class _QuestionScroll(VerticalScroll):
    """A scrolled area that jumps: rows that only pass by in an animation would count as displayed."""

    def animate(self, attribute: str, value: Any, **options: Any) -> None:
        """Set the attribute at once."""
        setattr(self, attribute, value)
        if (completed := options.get("on_complete")) is not None:
            self.call_next(completed)


class ConfirmScreen(Dialog[bool]):
    """A dialog with a yes-or-no question. `y` answers yes; every other way to close the dialog answers no.

    A question that does not fit is scrolled: `y` shows its next rows, and answers only after all have been displayed.
    Nothing covers the dialog: notifications and tooltips are painted below it.

    `later` returns more of the question, from a thread: the dialog opens without it.

    A dialog that `asks_permission` has the screen for itself: a row of it may lose its end in a terminal where what is
    painted before it is wider than measured.

    Keys of a text that is being typed are no answer: after a key that has no meaning here, and if the dialog
    `asks_permission` from its first display on, keys are ignored until none was pressed for `quiet_seconds`.
    """

    quiet_seconds: ClassVar[float] = 1.0
    """Not above 0: no key is ignored, for tests that press keys at once."""

    DEFAULT_CSS = """
    ConfirmScreen > Vertical { width: 72; max-width: 92%; max-height: 90%; }
    ConfirmScreen.-alone { background: $background; }
    ConfirmScreen.-low > Vertical { max-height: 100%; padding: 0 2; }
    ConfirmScreen Static { height: auto; }
    ConfirmScreen VerticalScroll { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-high")]  # noqa: RUF012 as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes", tooltip="Confirm"),
        Binding("n,escape,q", "answer(False)", "No", id="confirm.no", tooltip="Cancel"),
    ]

    def __init__(
        self,
        title: str,
        question: str,
        *,
        yes: str,
        no: str,
        asks_permission: bool = False,
        later: Callable[[], str] | None = None,
    ) -> None:
        super().__init__()
        self._later = later
        self._title, self._question, self._asks_permission = title, question, asks_permission
        self._typing: Timer | None = None
        self._accepts_from = 0.0  # a key that was pressed before may be handled later, when the app is busy
        self._frame, self._text = Vertical(), _QuestionScroll()
        self._yes, self._no = yes, no
        self.set_class(asks_permission, "-alone")
        self._keys = Static(markup=False)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of the screen, with that of the dialog above those of notifications and tooltips."""
        return tuple(sorted(super().layers, key="default".__eq__))

    def compose(self) -> ComposeResult:
        """Compose the question and the two keys."""
        yes, no = keys_of(self, "confirm.yes", "confirm.no")
        self._keys.update(
            Content.assemble(
                "\n", (yes, "bold $accent"), (f" {self._yes}    ", "$foreground"), (no, "bold $accent"),
                (f" {self._no}", "$foreground"),
            )
        )  # fmt: skip
        with self._frame:
            self._frame.border_title = Content(f"{self._title}")
            with self._text:
                yield PaintedText(self._question, is_measurable=self._asks_permission)
            yield self._keys

    def on_mount(self) -> None:
        """Ignore the keys at first if the dialog asks for permission, and read the rest of the question."""
        if self._asks_permission:
            self._ignore_keys()
            self.call_after_refresh(self._ignore_keys)  # the time counts from the first display
        if self._later is not None:
            start_worker(self, self._read_later, group="later")

    async def _read_later(self) -> None:
        assert self._later is not None
        if more := await asyncio.to_thread(self._later):
            await self._text.mount(PaintedText(f"\n{more}", is_measurable=self._asks_permission))
            self.call_after_refresh(self._show_hint)

    def on_resize(self) -> None:
        """Fit the question between the border and the keys, and say so if it has to be scrolled."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        room = self.size.height if self.has_class("-low") else self.size.height * 90 // 100
        room -= self._frame.gutter.height + self._keys.outer_size.height
        most = self.size.height * 60 // 100
        self._text.styles.max_height = max(1, min(most, room))
        for text in self._text.query(PaintedText) if room < most else ():
            text.forget()  # rows that were displayed only until now
        self.call_after_refresh(self._show_hint)

    def on_key(self, event: Key) -> None:
        """Ignore the keys after one of a text."""
        is_early = self._typing is not None or event.time < self._accepts_from
        if is_early or (event.is_printable and event.key not in self.active_bindings):
            self._ignore_keys()

    def on_paste(self) -> None:
        """Ignore the keys after a pasted text: those that follow may belong to it."""
        self._ignore_keys()

    def _ignore_keys(self) -> None:
        if self.quiet_seconds <= 0:
            return
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(self.quiet_seconds, self._accept_keys)
        self._show_hint()

    def _accept_keys(self) -> None:
        self._typing, self._accepts_from = None, Message().time
        if self._asks_permission and not any(text.is_displayed for text in self._text.query(PaintedText)):
            self._ignore_keys()
        self._show_hint()

    def _show_hint(self) -> None:
        yes = key_of(self, "confirm.yes")
        hint = f"↓ more text; {yes} answers at its end" if self._text.max_scroll_y > 0 else ""
        self._frame.border_subtitle = Content("keys are ignored while you type" if self._typing is not None else hint)

    def action_answer(self, yes: bool) -> None:
        """Close the dialog with the answer; yes only if the whole question has been displayed."""
        if self._typing is not None:
            return
        if not yes or self._next_row is None:
            self.dismiss(yes)
        else:
            self.call_after_refresh(self._show_next)

    @property
    def _next_row(self) -> int | None:
        """The first row of the scrolled area that has not been displayed, or None."""
        rows = ((text, text.next_row) for text in self._text.query(PaintedText))
        return next((text.virtual_region.y + row for text, row in rows if row is not None), None)

    def _show_next(self) -> None:
        """Scroll to the first row that has not been displayed; answer yes if the last ones have been by now."""
        if (row := self._next_row) is not None:
            self._text.scroll_to(y=row, animate=False)
            self.refresh()  # also if it was painted below another screen
        elif self._typing is None:
            self.dismiss(True)


def without_ambiguous_answers(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the config, without those of a question if one key would answer both yes and no."""
    keys = [
        {key.strip() for key in keymap.get(binding.id or "", binding.key).split(",")}
        for binding in ConfirmScreen.BINDINGS
        if isinstance(binding, Binding)
    ]
    is_ambiguous = bool(set.intersection(*keys))
    return {id: key for id, key in keymap.items() if not (is_ambiguous and id.startswith("confirm."))}


class HelpScreen(Dialog[None]):
    """A dialog that lists the active bindings of the screen below it, then the meaning of the marks.

    The bindings of the focused place are first, then those of the screen, then those of the app.
    """

    DEFAULT_CSS = """
    HelpScreen > Vertical { width: 78; height: 90%; max-height: 46; }
    HelpScreen TextPanel { background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "leave", "Close", id="help.close", tooltip="Close help"),
    ]

    def __init__(self, below: Screen[object]) -> None:
        super().__init__()
        self._keys = _keys_of(below)

    def compose(self) -> ComposeResult:
        """Compose the frame and the text panel."""
        with Vertical() as box:
            box.border_title = Content("Keys")
            box.border_subtitle = Content("↑ ↓ scroll · Esc close")
            yield TextPanel()

    def on_mount(self) -> None:
        """Focus the panel, so that the keys scroll it."""
        self.query_one(TextPanel).focus()

    def on_resize(self) -> None:
        """Wrap the lines to the new size."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        panel = self.query_one(TextPanel)
        width = panel.scrollable_content_region.width - 1
        panel.show_lines([*key_lines(self._keys, width), (), *legend_lines(width)])


_HEADINGS = {
    "run": "Running",
    "look": "View",
    "pane": "Answers",
    "answer": "Answers",
    "tabs": "Tabs",
}
"""The headings of the keys of a screen without a title, by the first part of the ids."""


def _keys_of(screen: Screen[Any]) -> list[tuple[str, str, str]]:
    """Return the heading, the displayed keys and the description of each enabled binding, the focused place first."""
    keys: dict[tuple[str, str], list[str]] = {}
    found = [each for each in bindings_in_order(screen) if each.enabled and not each.binding.system]
    found.sort(key=lambda each: 2 if isinstance(each.node, App) else isinstance(each.node, Screen))
    for node, binding, _, tooltip in found:
        if isinstance(node, App):
            heading = "Everywhere"
        elif isinstance(node, Screen):
            heading = node.TITLE or _HEADINGS.get((binding.id or "").partition(".")[0], "More")
        else:
            heading = "Focused place"
        does = tooltip or (binding.description if binding.id else binding.description.capitalize())
        keys.setdefault((heading, does), []).append(screen.app.get_key_display(binding))
    return [(heading, " ".join(dict.fromkeys(shown)), does) for (heading, does), shown in keys.items()]


LinesFor = Callable[[int], Sequence[Line]]
"""Returns the lines of a text for a width in cells."""


class TextScreen(Dialog[None]):
    """A dialog with scrollable text; Esc and the key that opened it, given by the id of its binding, close it."""

    DEFAULT_CSS = """
    TextScreen > Vertical { width: 100; max-height: 92%; }
    TextScreen TextPanel { background: $raised; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Close", id="text.leave", tooltip="Close it"),
    ]

    def __init__(self, title: str, lines: LinesFor, opened_by: str = "") -> None:
        super().__init__()
        self._title, self._lines, self._opened_by = title, lines, opened_by
        self._panel = TextPanel()

    def compose(self) -> ComposeResult:
        """Compose the frame and the text panel."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("↑ ↓ scroll · Esc close")
            yield self._panel

    def on_mount(self) -> None:
        """Bind the key that opened the dialog so that it closes the dialog, too."""
        for key, (_, binding, _, _) in self.app.screen_stack[-2].active_bindings.items():
            if self._opened_by and binding.id == self._opened_by:
                self._bindings.bind(key, "leave", show=False)
        self._panel.focus()

    def on_resize(self) -> None:
        """Wrap the lines to the new size, and fit the height of the dialog to their number."""
        lines = self._lines(max(20, min(100, self.size.width * 96 // 100) - 7))
        self._panel.show_lines(lines)
        self._panel.styles.height = max(1, min(len(lines), self.size.height * 92 // 100 - 4))
