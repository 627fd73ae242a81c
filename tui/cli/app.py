"""`assay [PATH…]` and `assay serve`: the app, in this terminal or in a browser."""

import os
import sys
from pathlib import Path

import click

from tui.model.errors import ConfigError
from tui.model.shipped import shipped_folder

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""The value of TEXTUAL_DRIVER in the processes that `assay serve` starts: the app talks to the server by pipes."""


@click.command("open")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def open_app(paths: tuple[Path, ...]) -> int:
    """Open the app on folders or suites (same as `assay PATH…`)."""
    served = os.environ.get("TEXTUAL_DRIVER") == WEB_DRIVER
    if served:
        from tui.processes.guarded import protect_memory

        # The agents of other pages run beside this process, so it does not wait for its own first program.
        protect_memory()
    elif not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("The app needs a terminal", fix="Use 'assay run SUITE' to run without a terminal.")
    from tui.app.main import run_app

    return run_app(paths or (default_folder(),))


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 uses a free port.")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach.")
def serve(paths: tuple[Path, ...], host: str, port: int, allow_remote: bool) -> int:
    """Serve the app to a browser at a URL with a secret token.

    Whoever has the URL can use the app, its files and its keys. The connection is not encrypted.
    """
    try:
        from tui.cli.web_server import serve_app
    except ImportError as error:
        if not (error.name or "").startswith("textual_serve"):
            raise
        raise ConfigError(
            "`assay serve` needs textual-serve, which is not installed", fix="Run: pip install 'assay-tui[serve]'"
        ) from error
    # `-P`: without it, `-m` imports modules of the current folder in place of libraries, such as those of a clone.
    command = [sys.executable, "-P", "-m", "tui", "open", "--", *map(str, paths or (default_folder(),))]
    return serve_app(command, host, port, allow_remote=allow_remote)


def default_folder() -> Path:
    """Return the folder's own test-suites/, else the bundled suites."""
    own = Path("test-suites")
    return own if own.is_dir() else shipped_folder("test-suites")
