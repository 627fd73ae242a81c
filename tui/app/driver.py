"""Make Textual's drivers robust against a terminal or a browser that is closed or resized at any moment, and against
hostile pastes."""

import os
import sys

from textual.driver import Driver


def detach_closed_terminal() -> None:
    """Redirect the standard streams to the null device when their terminal is gone. Python flushes them when it exits,
    and a failure there would change the exit code to 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)


def crash_safe_driver(driver: type[Driver]) -> type[Driver]:
    """Return a safe version of Textual's drivers for Linux and macOS and for a browser; return any other driver
    unchanged."""
    if sys.platform == "win32":
        return driver
    if driver.__name__ == "WebDriver":
        from tui.app.web_driver import CrashSafeWebDriver

        return CrashSafeWebDriver
    if driver.__name__ == "LinuxDriver":
        from tui.app.linux_driver import CrashSafeDriver

        return CrashSafeDriver
    return driver
