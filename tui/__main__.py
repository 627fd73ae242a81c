"""`assay` and `python -m tui`."""

import _signal  # type: ignore[import-not-found] # `signal` takes four milliseconds, a fifth of `assay --version`
import os
import sys


def main() -> None:
    """Run the command line. The version is answered before anything is imported: scripts ask for it often."""
    _exit_on_interrupt()
    # Of a program that ignores it, children are reaped by the kernel, and each of them would seem to have failed.
    if hasattr(_signal, "SIGCHLD") and _signal.getsignal(_signal.SIGCHLD) is _signal.SIG_IGN:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    if sys.argv[1:] == ["--version"]:
        from tui import __version__

        # Not through sys.stdout, which reports once more when Python exits that nobody reads it.
        try:  # noqa: SIM105 - contextlib takes a millisecond
            os.write(1, f"assay {__version__}\n".encode())
        except OSError:
            pass
        return
    from tui.cli.main import run_command_line

    sys.exit(run_command_line())


def _exit_on_interrupt() -> None:
    """Make Ctrl-C end the process at once, without a traceback from the middle of an import or of the shutdown.

    A command that is running gets KeyboardInterrupt instead. An ignored SIGINT, as under nohup, remains ignored.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, lambda _number, _frame: os._exit(130))


def _leave_out_current_folder() -> None:
    """Remove the folder that `-m` puts before all others, whose modules would be imported in place of libraries.

    A checkout that is not installed needs it.
    """
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_folder()
    main()
