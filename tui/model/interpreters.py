"""Paths of Python interpreters that run agents: a program, or the folder of a virtual environment."""

import os
from contextlib import suppress
from pathlib import Path

from tui.model.current_folder import normal_path, real_path

OLDEST_PYTHON = (3, 9)
"""The first version of Python that can run an agent file."""
_AT_START = ("sitecustomize", "usercustomize")
_IN_ENVIRONMENT = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")


def find_interpreter(written: str, folder: Path) -> str:
    """Return the absolute path of an interpreter that is written relative to a folder.

    The folder of a virtual environment stands for the Python in it. Links are not resolved: the Python of a virtual
    environment is a link, and finds the installed packages by its place.
    """
    path = normal_path(folder / os.path.expanduser(written))
    return os.path.join(path, *_IN_ENVIRONMENT) if os.path.isdir(path) else path


def interpreter_fault(path: str) -> str | None:
    """Return why a file cannot be an interpreter, as a clause that follows its path, or None. Starts nothing."""
    if not os.path.isfile(path):
        return "does not exist"
    return None if os.access(path, os.X_OK) else "is not a program"


def files_run_at_start(interpreter: str) -> list[Path]:
    """Return the files of an interpreter that it may read before its program, as far as they exist.

    These are the program itself, the settings of a virtual environment or of paths beside it, and the files directly
    in the folders of packages. A program that is a link finds those beside its target, too.
    """
    program = Path(interpreter)
    folders = dict.fromkeys((program.parent, Path(real_path(program)).parent))
    files = [program]
    for folder in folders:
        files += (folder.parent / "pyvenv.cfg", folder / "pyvenv.cfg", folder / "pybuilddir.txt")
        with suppress(OSError):
            files += folder.glob("*._pth")
        for prefix in (folder, folder.parent):  # on Windows, a Python without an environment is in its prefix
            for packages in (*prefix.glob("[Ll]ib*/*/*-packages"), *prefix.glob("[Ll]ib/*-packages")):
                with suppress(OSError):
                    files += packages.iterdir()
                    files += (file for name in _AT_START for file in packages.glob(f"{name}/**/*"))
    return sorted(file for file in dict.fromkeys(files) if file.is_file())
