"""Our themes in Textual: an app's base class that has them, follows their files, and defines the CSS variables below.

Use these in CSS; every theme has all of them, as `#rrggbb`:

| variable | for |
|---|---|
| `$background` | the window, behind everything |
| `$raised` | header, footer, pop-ups (Textual's `$surface` and `$panel` are the same) |
| `$selected` | the row or tab that is selected |
| `$quiet-border`, `$focused-border` | borders: of everything, and of what has the focus |
| `$foreground`, `$dim` | text, and text that may be overlooked |
| `$accent` | the one accent: the product's name, keys, progress |
| `$passed`, `$failed`, `$error-mark`, `$flaky`, `$running` | status marks and their words |
| `$match-expected`, `$match-expected-background` | text that an expected pattern found |
| `$match-forbidden`, `$match-forbidden-background` | text that a forbidden pattern found |
| `$match-current`, `$match-current-background` | the match that was jumped to |
| `$code-keyword`, `$code-function`, `$code-type`, `$code-string`, `$code-number`, `$code-operator` | code |
| `$code-comment` | comments in code, and docstrings |
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, ReturnType
from textual.driver import Driver
from textual.events import Resize
from textual.theme import Theme

from tui.app.driver import crash_safe_driver
from tui.app.theme.palette import DEFAULT_PALETTE, Palette
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.app.theme.theme_files import ThemeFiles, ThemesRead

_POLL_SECONDS = 1.0


def as_theme(palette: Palette) -> Theme:
    """The palette as Textual's theme: our variables, and Textual's own set so that its widgets look like ours."""
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
        variables={**colours, **_textuals_own(palette)},
    )


def _textuals_own(palette: Palette) -> dict[str, str]:
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
    """An app that wears one of our themes from its first paint on, and follows the theme files as they are saved.

    `theme_folders` are read in their order, a later theme replacing an earlier one of the same name. The default theme
    costs no file; any other is read before the first paint. A theme that is not there is named in a notice.
    """

    def __init__(self, *, theme: str = DEFAULT_PALETTE.name, theme_folders: Sequence[Path] = ()) -> None:
        super().__init__()
        for built_in in self.available_themes:
            self.unregister_theme(built_in)
        self.register_theme(as_theme(DEFAULT_PALETTE))
        self._theme_folders = tuple(theme_folders)
        self._theme_files: ThemeFiles | None = None
        self._theme_notices: list[str] = []
        if theme != DEFAULT_PALETTE.name:
            self._apply_changes(self._read_changed())
            if theme not in self.available_themes:
                self._theme_notices.append(
                    f"Unknown theme {sanitize_line(theme, 60)}. Choose another with the command palette."
                )
                theme = DEFAULT_PALETTE.name
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver, made safe for a terminal that is closed or resized at any moment."""
        return crash_safe_driver(super().get_driver_class())

    def on_resize(self, event: Resize) -> None:
        """Repaint everything when the size is the same as before: the terminal may have been smaller in between and
        have lost its text, and Textual paints only what has moved."""
        if event.size == self.screen.outer_size:
            self.screen.refresh()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables, for a theme that somebody else registers."""
        return dict(DEFAULT_PALETTE.colours)

    def on_mount(self) -> None:
        """Begin to follow the theme files once the first screen stands."""
        self.call_after_refresh(self.run_worker, self.follow_themes, group="themes")

    async def follow_themes(self) -> None:
        """Read the theme files, and again those that are saved, until cancelled; say what is wrong with them."""
        while True:
            changed = await asyncio.to_thread(self._read_changed)
            self._apply_changes(changed)
            if any(palette.name == self.theme for palette in changed.palettes):
                self.mutate_reactive(App.theme)
            for notice in self._theme_notices:
                self.notify(sanitize_line(notice), title="Theme", severity="warning", markup=False)
            self._theme_notices.clear()
            await asyncio.sleep(_POLL_SECONDS)

    def _read_changed(self) -> "ThemesRead":
        from tui.app.theme.theme_files import ThemeFiles

        if self._theme_files is None:
            self._theme_files = ThemeFiles(self._theme_folders)
        return self._theme_files.read_changed()

    def _apply_changes(self, changed: "ThemesRead") -> None:
        for palette in changed.palettes:
            self.register_theme(as_theme(palette))
        self._theme_notices += [str(problem) for problem in changed.problems]
