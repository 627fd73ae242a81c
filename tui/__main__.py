"""`assay` and `python -m tui`."""

import sys


def main() -> None:
    """Run the command line. The version is answered before anything is imported: scripts ask for it often."""
    if sys.argv[1:] == ["--version"]:
        from tui import __version__

        sys.stdout.write(f"assay {__version__}\n")
        return
    from tui.cli.main import run_command_line

    sys.exit(run_command_line())


if __name__ == "__main__":
    main()
