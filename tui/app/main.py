"""Entry points for the command line: run the app with the session of the current user."""

import asyncio
import gc
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.app.app import AssayApp
from tui.app.driver import detach_closed_terminal
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.model.exit_signals import handle_exit_signals
from tui.model.sanitize import sanitize_line
from tui.session.theme_setting import find_theme

if TYPE_CHECKING:
    from tui.app.session_protocol import Session
    from tui.app.theme.themed_app import ThemedApp


def run_app(paths: Sequence[Path]) -> int:
    """Run the app until it quits, and return the exit code.

    It is 0 after quitting, 128 + n after signal n (130 after SIGINT, 143 after SIGTERM), and 3 after an internal error.
    """
    theme, folders = find_theme(os.environ)
    app = AssayApp(open_session, paths, theme=theme or DEFAULT_PALETTE.name, theme_folders=folders)
    return asyncio.run(run_and_close(app))


async def pick_models(names: Sequence[str], selected: Collection[str]) -> list[str] | None:
    """Show a list of models below the prompt, and return the chosen ones, or None after a cancel.

    The list is drawn on stderr, so that stdout contains only the report. Raises SystemExit after a signal.
    """
    from tui.app.model_picker import ModelPicker

    theme, folders = find_theme(os.environ)
    picker = ModelPicker(names, selected, theme=theme or DEFAULT_PALETTE.name, theme_folders=folders)
    # Textual draws inline everywhere but on Windows.
    with handle_exit_signals(lambda code: picker.exit(return_code=code), SIGQUIT=131):
        chosen = await picker.run_async(inline=sys.platform != "win32")
    if code := _exit_code(picker):
        raise SystemExit(code)
    return chosen


async def run_and_close(app: AssayApp) -> int:
    """Run the app, then close the session even after an error. Returns the exit code."""
    with handle_exit_signals(app.end, SIGQUIT=131):
        try:
            await app.run_async()
        finally:
            await app.close_session()
            detach_closed_terminal()
    if app.lost:
        with suppress(OSError):
            sys.stderr.write(f"Error: {sanitize_line(app.lost, 1_000)}\n")
    return _exit_code(app)


def _exit_code(app: "ThemedApp[Any]") -> int:
    if app.has_crashed:
        from tui.session.crash_report import CRASH_EXIT_CODE

        return CRASH_EXIT_CODE
    return app.return_code or 0


def open_session() -> "Session":
    """Open the session of the current user. Raises ConfigError and StoreError."""
    from tui.session.session import Session

    session = Session(os.environ)
    gc.freeze()  # imported modules are never freed: keep the garbage collector from scanning them
    return session
