"""The base class of apps with Assay's themes: it watches the theme files, and defines the CSS variables below.

Use these variables in CSS; every theme has all of them, as `#rrggbb`:

| variable | for |
|---|---|
| `$background` | the window, behind everything |
| `$raised` | header, footer, pop-ups (Textual's `$surface` and `$panel` are the same) |
| `$selected` | the selected row or tab |
| `$quiet-border`, `$focused-border` | borders: of all panels, and of the focused one |
| `$foreground`, `$dim` | text, and less important text |
| `$accent` | the accent: the name of the app, keys, progress |
| `$passed`, `$failed`, `$error-mark`, `$flaky`, `$running` | status marks and their words |
| `$match-expected`, `$match-expected-background` | a match of an expected pattern |
| `$match-forbidden`, `$match-forbidden-background` | a match of a forbidden pattern |
| `$match-current`, `$match-current-background` | the current match |
| `$code-keyword`, `$code-function`, `$code-type`, `$code-string`, `$code-number`, `$code-operator` | code |
| `$code-comment` | comments in code, and docstrings |
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from textual._compositor import Compositor, ReflowResult
from textual._styles_cache import StylesCache
from textual.app import App, ReturnType
from textual.binding import Keymap
from textual.color import Color
from textual.command import CommandPalette
from textual.dom import NoScreen
from textual.driver import Driver
from textual.events import Mount, Resize
from textual.geometry import Size
from textual.map_geometry import MapGeometry
from textual.message_pump import MessagePump
from textual.notifications import Notification, Notifications
from textual.screen import Screen, ScreenResultType
from textual.style import Style
from textual.theme import Theme
from textual.timer import Timer, TimerCallback
from textual.widget import Widget
from textual.widgets._toast import Toast
from textual.worker import NoActiveWorker, WorkerFailed, get_current_worker

from tui.app.driver import crash_safe_driver
from tui.app.screens import AppScreen
from tui.app.theme.palette import DEFAULT_PALETTE, Palette
from tui.app.workers import start_worker
from tui.model.sanitize import remove_unseen, sanitize_line

if TYPE_CHECKING:
    from tui.app.theme.theme_files import ThemeFiles, ThemesRead

_POLL_SECONDS = 1.0
_MOST_NOTIFICATIONS = 12
_MOST_THEME_NOTICES = 4
_SEVERITIES = ("information", "warning", "error")


@lru_cache(1024)
def _inner_and_outer(base_background: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles inside and outside of a border."""
    return Style(background=base_background + background), Style(background=base_background)


# Textual's own function is an lru_cache on a method: it keeps the painted lines of 1,024 widgets after their removal.
StylesCache.get_inner_outer = staticmethod(_inner_and_outer)  # type: ignore[assignment,method-assign]


_LEAST_TOAST_SECONDS = 0.05


def _expire_later(toast: Toast, _event: Mount) -> None:
    """Set the timer of a toast, also of one that has expired since its screen was opened."""
    toast.set_timer(max(toast._timeout, _LEAST_TOAST_SECONDS), toast._expire)


# Textual's own method sets a timer for the time that is left: with none, its loop never ends, and the app is frozen.
Toast._on_mount = _expire_later  # type: ignore[assignment,method-assign]


class _Notifications(Notifications):
    """The notifications on the screen: a new one replaces the oldest of the least severity if there are too many.

    Textual mounts a widget for each, and keys wait meanwhile: hundreds at once freeze the app.
    """

    def add(self, notification: Notification) -> "_Notifications":
        """Add a notification."""
        present = list(self)
        if len(present) >= _MOST_NOTIFICATIONS:
            del self[min(present, key=lambda each: _SEVERITIES.index(each.severity))]
        super().add(notification)
        return self


_SET_TIMER = MessagePump.set_timer


def _set_timer(
    pump: MessagePump,
    delay: float,
    callback: TimerCallback | None = None,
    *,
    name: str | None = None,
    pause: bool = False,
) -> Timer:
    """Call a function once after a delay, or later if the program was stopped or the machine is busy."""
    timer = _SET_TIMER(pump, delay, callback, name=name, pause=pause)
    timer._skip = False
    return timer


# Textual skips ticks that are late before they are waited for: a timer with one tick would never call its function,
# and the app would keep its size for ever if that happened to the timer of a new size.
MessagePump.set_timer = _set_timer  # type: ignore[assignment,method-assign]


_FULL_MAP = cast("Callable[[Compositor], dict[Widget, MapGeometry]]", Compositor.full_map.fget)  # type: ignore[attr-defined]
_REFLOW = Compositor.reflow
_laid_out: WeakKeyDictionary[Compositor, dict[Widget, MapGeometry]] = WeakKeyDictionary()


def _full_map(compositor: Compositor) -> dict[Widget, MapGeometry]:
    """Return where the widgets are, and keep for the next layout where the last one had put them."""
    if compositor.root is not None and compositor._full_map_invalidated:
        _laid_out.setdefault(compositor, compositor._full_map)
    return _FULL_MAP(compositor)


def _reflow(compositor: Compositor, parent: Widget, size: Size) -> ReflowResult:
    """Lay out the widgets, and paint again what has changed since the last layout."""
    compositor._full_map = _laid_out.pop(compositor, compositor._full_map)
    return _REFLOW(compositor, parent, size)


# Textual's own layout compares with the last time that anything looked up the place of a widget after a scroll: what
# was removed before that, such as a notification, stayed on the screen, and a widget with a new size was not told.
Compositor.full_map = property(_full_map)  # type: ignore[assignment,method-assign]
Compositor.reflow = _reflow  # type: ignore[assignment,method-assign]


class _Palette(CommandPalette, AppScreen[None]):
    """Textual's command palette, which closes once, also below a screen that opens above it, and fits any terminal."""

    def on_screen_suspend(self) -> None:
        """Close as soon as the screen above is closed: the command was to be chosen before it."""
        self.dismiss()

    def _action_command_list(self, action: str) -> None:
        """Move in the list, unless there is no room for any of its lines, without which Textual's list has no pages."""
        with contextlib.suppress(KeyError):
            super()._action_command_list(action)


def as_theme(palette: Palette) -> Theme:
    """Return a palette as a Textual theme: Assay's variables, and the ones that Textual's own widgets use."""
    colours = palette.colours
    return Theme(
        name=palette.name,
        dark=palette.dark,
        primary=colours["accent"],
        secondary=colours["accent"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["raised"],
        panel=colours["raised"],
        boost=colours["selected"],
        success=colours["passed"],
        warning=colours["flaky"],
        error=colours["failed"],
        variables={**colours, **_widget_variables(palette)},
    )


def _widget_variables(palette: Palette) -> dict[str, str]:
    colours = palette.colours
    return {
        "text": colours["foreground"],
        "text-muted": colours["dim"],
        "text-disabled": colours["dim"],
        "text-primary": colours["accent"],
        "text-accent": colours["accent"],
        "text-success": colours["passed"],
        "text-warning": colours["flaky"],
        "text-error": colours["failed"],
        "block-cursor-foreground": colours["foreground"],
        "block-cursor-background": colours["selected"],
        "block-cursor-blurred-foreground": colours["foreground"],
        "block-cursor-blurred-background": colours["raised"],
        "block-hover-background": colours["raised"],
        "border": colours["focused-border"],
        "border-blurred": colours["quiet-border"],
        "scrollbar": colours["quiet-border"],
        "scrollbar-hover": colours["dim"],
        "scrollbar-active": colours["accent"],
        "scrollbar-background": colours["background"],
        "input-selection-background": colours["selected"],
        "screen-selection-background": colours["selected"],
        "screen-selection-foreground": colours["foreground"],
        "link-color": colours["accent"],
        "link-color-hover": colours["background"],
        "link-background-hover": colours["accent"],
        "footer-background": colours["raised"],
        "footer-key-foreground": colours["accent"],
        "footer-description-foreground": colours["dim"],
        "button-color-foreground": colours["background"],
    }


class ThemedApp(App[ReturnType]):
    """An app with Assay's themes, from the first paint on, which reloads theme files when they are saved.

    A theme of a later folder replaces one with the same name of an earlier folder. The default theme needs no file; any
    other theme is read before the first paint. An unknown theme is notified, and the default is used.
    """

    keymap: Mapping[str, str] = MappingProxyType({})

    def __init__(self, *, theme: str = DEFAULT_PALETTE.name, theme_folders: Sequence[Path] = ()) -> None:
        super().__init__()
        self._notifications = _Notifications()
        for built_in in self.available_themes:
            self.unregister_theme(built_in)
        self.register_theme(as_theme(DEFAULT_PALETTE))
        self._theme_folders = tuple(theme_folders)
        self._theme_files: ThemeFiles | None = None
        self._theme_notices: list[str] = []
        self._follows_themes = False
        self._crash_message = ""
        if theme != DEFAULT_PALETTE.name:
            self._apply_changes(self._read_changed())
            if theme not in self.available_themes:
                self._theme_notices.append(
                    f"Unknown theme {sanitize_line(theme, 60)}. Choose another with the command palette."
                )
                theme = DEFAULT_PALETTE.name
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def set_keymap(self, keymap: Keymap) -> None:
        """Give bindings other keys, by their ids. `keymap` is kept: texts that name a key look it up."""
        self.keymap = keymap
        super().set_keymap(keymap)

    def action_command_palette(self) -> None:
        """Open the command palette, unless it is the current screen."""
        # Without Textual's fixed id: another palette may be below a screen that a worker has opened meanwhile.
        if self.use_command_palette and not isinstance(self.screen, CommandPalette):
            self.push_screen(_Palette())

    @property
    def has_crashed(self) -> bool:
        """Whether the app has ended after an unexpected error."""
        return bool(self._crash_message)

    def _handle_exception(self, error: Exception) -> None:
        """End the app after an unexpected error, with a report unless it is ending: a screen that opens just then lacks
        what Textual no longer mounts.

        A worker that draws on a screen which was closed meanwhile is no error.
        """
        if self._exit:
            self._close_messages_no_wait()
        elif not (isinstance(error, WorkerFailed) and isinstance(error.error, NoScreen)):
            super()._handle_exception(error)

    def push_screen(self, *given: Any, **options: Any) -> Any:
        """Open a screen, unless a worker of a screen that was closed meanwhile does: the worker ends instead.

        Its screen would be above one that is being removed, and the removal would end the app.
        """
        with contextlib.suppress(NoActiveWorker):
            worker = get_current_worker()
            # A screen that a worker has opened inherits the worker: its own keys may open others.
            is_own = worker._task is asyncio.current_task()
            if is_own and isinstance(worker.node, Screen) and worker.node not in self.screen_stack:
                raise asyncio.CancelledError
        return super().push_screen(*given, **options)

    async def push_screen_wait(  # type: ignore[override]  # no screen is opened by a name
        self, screen: Screen[ScreenResultType], *, mode: str | None = None
    ) -> ScreenResultType:
        """Open a screen from a worker, and return its result.

        Before that, Textual has the worker await what waits to be called, such as the removal of the worker's own
        screen. The removal cancels the worker, which would cancel the removal, and so the app, which awaits it too.
        """
        await asyncio.shield(self._flush_next_callbacks())
        result: asyncio.Future[ScreenResultType] = self.push_screen(screen, wait_for_dismiss=True, mode=mode)
        return await asyncio.shield(result)

    def _fatal_error(self) -> None:
        """End the app after an unexpected error, of which a report is written.

        Overridden because Textual prints the traceback with the local variables of each frame: keys and outside text.
        """
        from tui.session.crash_report import report_crash

        self.bell()
        if not self._crash_message:
            error = sys.exc_info()[1] or self._exception or RuntimeError("unknown")
            self._crash_message = report_crash(error, os.environ)
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:  # noqa: ARG002
        """End the app after an unexpected error that can be rendered; Textual would print its rendering."""
        self._fatal_error()

    def _print_error_renderables(self) -> None:
        """Print the message about the error, after the app has left the terminal."""
        if self._crash_message:
            print(f"Error: {self._crash_message}", file=sys.stderr, flush=True)  # noqa: T201

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text without control and invisible characters: a pasted text could run a command."""
        super().copy_to_clipboard("\r\n".join(map(remove_unseen, text.split("\r\n"))))

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver, made safe for a terminal that is closed or resized at any moment."""
        return crash_safe_driver(super().get_driver_class())

    def on_resize(self, event: Resize) -> None:
        """Repaint everything if the size is the same as before.

        The terminal may have been smaller in between and have lost its text, and Textual paints only what has changed.
        """
        if event.size == self.screen.outer_size:
            self.screen.refresh()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the variables of the default theme, for themes that do not define them."""
        return dict(DEFAULT_PALETTE.colours)

    def on_mount(self) -> None:
        """Start to watch the theme files after the first paint."""
        self.call_after_refresh(self._start_to_follow)
        # A screen that is pushed before the paint keeps the callback from being called.
        self.set_timer(_POLL_SECONDS, self._start_to_follow)

    @property
    def theme_faults(self) -> tuple[str, ...]:
        """Return the problems of the theme files as they are now, with their places."""
        return self._theme_files.faults if self._theme_files is not None else ()

    def _start_to_follow(self) -> None:
        if not self._follows_themes:
            self._follows_themes = True
            start_worker(self, self.follow_themes, group="themes")

    async def follow_themes(self) -> None:
        """Read the theme files, and again when they are saved, until cancelled; notify of problems in them."""
        while True:
            changed = await asyncio.to_thread(self._read_changed)
            self._apply_changes(changed)
            if any(palette.name == self.theme for palette in changed.palettes):
                self.mutate_reactive(App.theme)
            self._notify_of_themes()
            await asyncio.sleep(_POLL_SECONDS)

    def _notify_of_themes(self) -> None:
        """Notify of the first problems with themes, and of the number of the others."""
        notices, self._theme_notices = self._theme_notices, []
        if left := len(notices[_MOST_THEME_NOTICES:]):
            notices[_MOST_THEME_NOTICES:] = [f"{left:,} more problems: see Change theme in the command palette."]
        for notice in notices:
            self.notify(sanitize_line(notice), title="Theme", severity="warning", markup=False)

    def _read_changed(self) -> "ThemesRead":
        from tui.app.theme.theme_files import ThemeFiles

        if self._theme_files is None:
            self._theme_files = ThemeFiles(self._theme_folders)
        return self._theme_files.read_changed()

    def _apply_changes(self, changed: "ThemesRead") -> None:
        for palette in changed.palettes:
            self.register_theme(as_theme(palette))
        self._theme_notices += [str(problem) for problem in changed.problems]
