"""The command `assay`: imports only the command that is run."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from tui.cli.streams import fill_closed_streams, filter_stderr, say, settle_encoding, silence_stdout
from tui.model.exit_signals import raise_exit_signals
from tui.model.sanitize import sanitize_line

# Name → module of `tui.cli` and the command in it.
_COMMANDS = {
    "open": ("app", "open_app"),
    "run": ("run", "run"),
    "validate": ("suites", "validate"),
    "schema": ("suites", "schema"),
    "init": ("suites", "init"),
    "models": ("models", "models"),
    "paths": ("setup", "paths"),
    "config": ("setup", "config"),
    "doctor": ("doctor", "doctor"),
    "completion": ("setup", "completion"),
    "serve": ("app", "serve"),
    "runs": ("runs", "runs"),
    "report": ("runs", "report"),
    "compare": ("compare", "compare"),
    "trend": ("compare", "trend"),
    "plan": ("plan", "plan"),
    "review": ("review", "review"),
    "import": ("import_results", "import_results"),
}


class _LazyCommands(click.Group):
    """Commands that are imported on use; an argument that is not a command is a path for the app."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command = getattr(import_module(f"tui.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and (not args or not _names_command(args[0])):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _closed_pipes_ignored():  # `--help | head`
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        # While a command runs, it may have to clean up; before and after that, a signal ends the process at once.
        with _closed_pipes_ignored(), raise_exit_signals():
            return super().invoke(ctx)


_BAD_PATHS = (errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of a path that no system state can cure: bad input."""


@contextmanager
def _closed_pipes_ignored() -> Iterator[None]:
    """End the command with 0 when the reader of stdout is gone, as in `… | head`. Click would make it an error."""
    try:
        yield
    except BrokenPipeError:
        silence_stdout()
        raise click.exceptions.Exit(0) from None


def _names_command(word: str) -> bool:
    return word in _COMMANDS or word in ("--help", "-h", "--version")


@click.group(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="assay-tui", prog_name="assay", message="%(prog)s %(version)s")
def assay() -> None:
    """Judge language models in a terminal: explore suites, watch answers stream, compare, score risk.

    `assay [PATH…]` opens the app on folders or suites. Without a path it opens ./test-suites/, or the
    bundled suites if that folder does not exist.
    """


def _signal_behind(error: BaseException) -> int | None:
    """Return the exit code of a signal that arrived while a class was created: Python raises another error from it."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, KeyboardInterrupt):
        return 130
    return error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else None


def run_command_line() -> int:
    """Run the command line and return the exit code.

    Bad input prints one sentence on stderr. An unexpected error prints a sentence and the file with its details.
    """
    from tui.model.errors import AssayError, ConfigError, SuiteError

    fill_closed_streams()
    settle_encoding()
    filter_stderr()
    try:
        result = assay.main(prog_name="assay", standalone_mode=False)
    except click.ClickException as error:
        say(f"Error: {error.format_message()}")
        if isinstance(error, click.UsageError) and error.ctx:
            say(f"Try '{error.ctx.command_path} --help'.")
        return 2
    except (click.Abort, KeyboardInterrupt):
        return 130
    except AssayError as error:
        say(f"Error: {error}")
        return 2 if isinstance(error, ConfigError | SuiteError) else 3
    except MemoryError:
        say("Error: There is not enough memory.")
        return 3
    except OSError as error:
        # No file descriptors left, the current folder deleted, stdout on a full disk: nothing that can be handled
        # here.
        where = f"{sanitize_line(str(error.filename))}: " if error.filename else ""
        say(f"Error: {where}{error.strerror or error}")
        return 2 if error.errno in _BAD_PATHS else 3
    except Exception as error:  # noqa: BLE001 a traceback may contain keys and control sequences
        if (code := _signal_behind(error)) is not None:
            return code
        from tui.session.crash_report import CRASH_EXIT_CODE, report_crash

        say(f"Error: {report_crash(error, os.environ)}")
        return CRASH_EXIT_CODE
    return result if isinstance(result, int) else 0
