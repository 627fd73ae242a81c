"""Paths of Python interpreters that run agents: a program, or the folder of a virtual environment."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

OLDEST_PYTHON = (3, 9)
"""The first version of Python that can run an agent file."""
_AT_START = ("sitecustomize", "usercustomize")
_MOST_PTH_CHARACTERS = 100_000
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
    """Return the files of an interpreter that it may read before its program, as far as they exist.

    These are the program itself, the settings of a virtual environment or of paths beside it, and the files directly
    in the folders of packages; and `sitecustomize` and `usercustomize` in the folders that these add to the path of
    modules. A program that is a link finds those beside its target, too.
    """
    program = Path(interpreter)
    folders = dict.fromkeys((program.parent, Path(os.path.realpath(program)).parent))
    files = [program]
    for folder in folders:
        files += (
            folder.parent / "pyvenv.cfg",
            folder / "pyvenv.cfg",
            folder / "pybuilddir.txt",
            *folder.glob("*._pth"),
        )
    # On Windows, a Python without an environment is in its prefix.
    prefixes = dict.fromkeys((*(prefix for folder in folders for prefix in (folder, folder.parent)), *_user_bases()))
    for prefix in prefixes:
        for packages in (*prefix.glob("[Ll]ib*/*/*-packages"), *prefix.glob("[Ll]ib/*-packages")):
            direct = sorted(packages.iterdir())
            files += direct
            for added in (packages, *_added_folders(packages, direct)):
                files += (
                    file for name in _AT_START for file in (*added.glob(f"{name}.*"), *added.glob(f"{name}/**/*"))
                )
    return sorted(file for file in dict.fromkeys(files) if file.is_file())


def _user_bases() -> Iterator[Path]:
    """Yield the folders in which `pip install --user` installs packages, on any system."""
    home = Path(os.path.expanduser("~"))
    yield Path(os.environ.get("PYTHONUSERBASE") or home / ".local")
    yield from home.glob("Library/Python/*")


def _added_folders(packages: Path, files: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders that the `.pth` files in a folder of packages add to the search path of modules."""
    for file in files:
        if file.suffix == ".pth" and file.is_file():
            with file.open(encoding="utf-8", errors="surrogateescape") as lines:
                written = lines.read(_MOST_PTH_CHARACTERS).splitlines()
            for line in map(str.strip, written):
                if line and "\0" not in line and not line.startswith(("#", "import ", "import\t")):
                    yield packages / line
