"""`assay [PATH…]` and `assay serve`: the app, in this terminal or in a browser."""

import sys
from pathlib import Path

import click

from tui.model.errors import ConfigError
from tui.model.shipped import shipped_folder


@click.command("open")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def open_app(paths: tuple[Path, ...]) -> int:
    """Open the app on folders or suites (same as `assay PATH…`)."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("The app needs a terminal", fix="Use 'assay run SUITE' to run without a terminal.")
    from tui.app.main import run_app

    return run_app(paths or (default_folder(),))


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
def serve(paths: tuple[Path, ...], host: str, port: int) -> None:
    """Serve the app to a browser. Anyone who can reach the port can use it; by default only this machine can."""
    try:
        from textual_serve.server import Server
    except ImportError as error:
        raise ConfigError(
            "`assay serve` needs textual-serve, which is not installed", fix="Run: pip install 'assay-tui[serve]'"
        ) from error
    import shlex

    command = [sys.executable, "-m", "tui", "open", *map(str, paths or (default_folder(),))]
    Server(shlex.join(command), host=host, port=port, title="Assay").serve()


def default_folder() -> Path:
    """Return the folder's own test-suites/, else the bundled suites."""
    own = Path("test-suites")
    return own if own.is_dir() else shipped_folder("test-suites")
