"""Paths of Python interpreters that run agents: a program, or the folder of a virtual environment."""

import os
from pathlib import Path

OLDEST_PYTHON = (3, 9)
"""The first version of Python that can run an agent file."""
_IN_ENVIRONMENT = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")


def find_interpreter(written: str, folder: Path) -> str:
    """Return the absolute path of an interpreter that is written relative to a folder.

    The folder of a virtual environment stands for the Python in it. Links are not resolved: the Python of a virtual
    environment is a link, and finds the installed packages by its place.
    """
    path = os.path.abspath(folder / os.path.expanduser(written))
    return os.path.join(path, *_IN_ENVIRONMENT) if os.path.isdir(path) else path


def interpreter_fault(path: str) -> str | None:
    """Return why a file cannot be an interpreter, as a clause that follows its path, or None. Starts nothing."""
    if not os.path.isfile(path):
        return "does not exist"
    return None if os.access(path, os.X_OK) else "is not a program"


def files_run_at_start(interpreter: str) -> list[Path]:
    """Return the files of an interpreter that it reads before its program, as far as they exist.

    These are the program itself and, for a virtual environment, its settings and the files in its packages' folder.
    """
    program = Path(interpreter)
    environment = program.parent.parent
    settings = environment / "pyvenv.cfg"
    if not settings.is_file():
        return [program]
    installed = [*environment.glob("lib*/python*/site-packages/*"), *environment.glob("Lib/site-packages/*")]
    return [program, settings, *sorted(file for file in installed if file.suffix in (".pth", ".py"))]
