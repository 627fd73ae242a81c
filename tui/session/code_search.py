"""Search for the files whose content belongs to a consent: those that a command names, and the code of folders."""

import fnmatch
import glob
import hashlib
import json
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import all_suffixes
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex

from tui.documents.files import NotRegularError, read_beginning
from tui.model.current_folder import real_path
from tui.session.code_files import is_code_name

LARGEST_FILE = 16 << 20
_MOST_BYTES = 64 << 20  # of all files of a suite: of further ones, only size and times are part of a digest
_MOST_ENTRIES = 100_000  # of the file system that are looked at for a suite, which takes two seconds
_LONGEST_COMMAND = 100_000  # characters; the question of a longer one is not displayed
_LONGEST_NAME = 4_096
_MOST_NAMES = 2_000  # of a command
_MOST_PATHS = 50_000  # of these names in all folders that the command names
_MOST_MATCHES = 1_000  # of a glob
_MOST_LEVELS = 100  # of the folders in a glob
_THIS_PROCESS = token_hex(8)
"""The name of a file that nobody has: it makes a digest that no other process has, where a search was not complete."""
# Folders with many files, which rarely change, and folders without code.
_INSTALLED = frozenset(("node_modules", "site-packages", "venv", ".venv", ".tox", ".nox"))
_WITHOUT_CODE = frozenset((".git", ".hg", ".svn", ".mypy_cache", ".ruff_cache", ".pytest_cache"))
_ANY = re.compile(r"\[[^/]*\]|\?")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9])|\{([A-Za-z0-9_]+)\})")
_SUBSTITUTION = re.compile(r"`|\$\(")
_BACKQUOTED = re.compile("`[^`]*`")
_QUOTE = re.compile("['\"]")
_BLANKS = re.compile(r"(?<!\\)\s+")
_QUOTED_COMMAND = re.compile(r"[\s'\"`();<>|&\\]")
_SEPARATORS = re.compile(r"[\s'\"`()<>;&|=:,@{}\[\]\\#%^+!]+")  # between names in the source text of most languages
_MODULE = re.compile(r"\w+(\.\w+)+")
_IMPORTED = (*all_suffixes(), ".zip", ".egg", ".whl")
_ADDED_SUFFIXES = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pm", ".lua")  # to the name of a module


class CodeSearch:
    """A search for all consents of one suite, which share its limits.

    What is not looked at because of a limit is replaced by a path that no other process has, so that the digest holds
    for this process only.
    """

    def __init__(self) -> None:
        self._entries, self._room = _MOST_ENTRIES, _MOST_BYTES
        # What was looked at is not counted again: many commands may name the same files.
        self._states = dict[Path, str]()
        self._found = dict[tuple[str, Callable[[str, str], bool]], tuple[Path, ...]]()
        self._statuses, self._listed = dict[str, os.stat_result | None](), dict[str, list[str]]()

    def digest(self, files: Iterable[Path]) -> str:
        """Return a digest of the names and contents of files, and of the places to which folders and their links lead.

        The size and the times of change replace the content of large files, installed packages, and files after 64 MiB.
        """
        digest = hashlib.sha256()
        for file in dict.fromkeys(files):
            state = self._states.get(file) or self._states.setdefault(file, self._read_state(file))
            digest.update(json.dumps([str(file), state]).encode())
        return digest.hexdigest()

    def _read_state(self, file: Path) -> str:
        try:
            status = file.stat()
            if stat.S_ISDIR(status.st_mode):
                return f"folder {real_path(file)}"
            if status.st_size > min(self._room, LARGEST_FILE) or not _INSTALLED.isdisjoint(file.parts):
                return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
            content = read_beginning(file, LARGEST_FILE)
            self._room -= len(content)
            return hashlib.sha256(content).hexdigest()
        except NotRegularError:
            return "not regular"
        except (OSError, ValueError):
            return "?"

    def code_below(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of a folder that contain code of any language, by their names, or that can be executed."""
        return self._below(folder, _is_code)

    def imports_below(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of a folder that Python can import."""
        return self._below(folder, _is_imported)

    def _below(self, folder: Path, is_part: Callable[[str, str], bool]) -> tuple[Path, ...]:
        if (place := (str(folder), is_part)) not in self._found:
            self._found[place] = tuple(self._walk(folder, is_part))
        return self._found[place]

    def _walk(self, folder: Path, is_part: Callable[[str, str], bool]) -> Iterator[Path]:
        """Yield the files for which `is_part(folder, name)`, in a stable order, also through links, and these links."""
        seen = set[tuple[int, int]]()
        for place, folders, names in os.walk(folder, followlinks=True):
            identity = _identity(place)
            if identity in seen:
                folders.clear()
                continue
            seen.add(identity)
            if not self._take(len(folders) + len(names)):
                yield Path(_THIS_PROCESS)
                return
            folders[:] = sorted(set(folders) - _WITHOUT_CODE)
            yield from (path for name in folders if (path := Path(place, name)).is_symlink())
            yield from (Path(place, name) for name in sorted(names) if is_part(place, name))

    def files_of_command(self, command: str, folders: Sequence[Path]) -> Iterator[Path]:
        """Yield the files that a command names, and the folders that it names with their code.

        `folders` are those to which its paths may be relative.
        """
        seen, walked = set[str](), set[tuple[int, int]]()
        for path in self._paths_of(command, folders):
            status = None if path in seen else self._status(path)
            seen.add(path)
            if status is None:
                continue
            if stat.S_ISDIR(status.st_mode):
                yield Path(path)
                if (status.st_dev, status.st_ino) not in walked:
                    walked.add((status.st_dev, status.st_ino))
                    yield from self.code_below(Path(path))
            elif stat.S_ISREG(status.st_mode):
                yield Path(path)
        if self._entries < 0:
            yield Path(_THIS_PROCESS)

    def _paths_of(self, command: str, folders: Sequence[Path]) -> Iterator[str]:
        """Yield the paths that a command may name, also without the suffix of a module, and the matches of its globs.

        Paths may begin with `~` or `$HOME`, which may also be meant literally, and be relative to a folder that the
        command names (`cd FOLDER && …`), also below another one.
        """
        if len(command) > _LONGEST_COMMAND:
            self._give_up()
            return
        environments = _environments(folders)
        written = self._first(_possible_names(command, environments))
        filled_in = (each for name in written for each in _filled_in(name, environments))
        names = self._first(chain(map(os.path.expanduser, filled_in), written, map(_known_end, written)))
        most = _MOST_PATHS // len(names) if names else 0
        starts = list(map(str, folders))
        found = (path for folder in starts for name in names for path in self._places(folder, name))
        places = list(dict.fromkeys((*starts, *filter(self._is_folder, found))))
        self._add_folders_below(places, [name for name in names if not os.path.isabs(name)], most)
        if len(places) > most:
            self._give_up()
        for folder in places[:most]:
            for name in names:
                yield from (os.path.join(folder, f"{name}{suffix}") for suffix in _ADDED_SUFFIXES)
                yield from islice(self._places(folder, name), 1, None)

    def _first(self, names: Iterable[str]) -> list[str]:
        """Return the first different names that a file may have."""
        found = dict[str, None]()
        for name in names:
            if 0 < len(name) <= _LONGEST_NAME:
                found[name] = None
            if len(found) > _MOST_NAMES:
                self._give_up()
                break
        return list(found)[:_MOST_NAMES]

    def _places(self, folder: str, name: str) -> Iterator[str]:
        """Yield the path of a name in a folder, and what it may match as a glob.

        Shells differ in what they match with brackets (`[^a]`, `[[:alpha:]]`), which may also be quoted and then belong
        to a name, and with `?`, which may be a byte, so any text is accepted there.
        """
        path = os.path.join(folder, name)
        yield path
        if not glob.has_magic(name):
            return
        start, pattern = ("/", name) if os.path.isabs(name) else (folder, name)
        parts = [part for part in _ANY.sub("*", pattern).split("/") if part]
        matches = list(islice(self._matches(start, parts), _MOST_MATCHES + 1))
        yield from matches
        if len(matches) > _MOST_MATCHES or len(parts) > _MOST_LEVELS:
            self._give_up()

    def _matches(self, folder: str, parts: Sequence[str]) -> Iterator[str]:
        """Yield the paths below a folder that the parts of a glob match."""
        if len(parts) > _MOST_LEVELS:
            return
        part, rest = parts[0], parts[1:]
        is_match = re.compile(fnmatch.translate(part)).match
        names = [name for name in self._list(folder) if is_match(name)] if glob.has_magic(part) else [part]
        for name in names:
            path = os.path.join(folder, name)
            if not name.startswith(".") or part.startswith("."):  # as shells do
                if not rest:
                    yield path
                elif self._is_folder(path):
                    yield from self._matches(path, rest)

    def _list(self, folder: str) -> list[str]:
        if folder not in self._listed and self._entries >= 0:
            names = list[str]()
            with suppress(OSError, ValueError):
                names = sorted(os.listdir(folder))
            self._listed[folder] = names if self._take(len(names)) else []
        return self._listed.get(folder, [])

    def _add_folders_below(self, places: list[str], names: Sequence[str], most: int) -> None:
        """Add the folders with these names in the places, then those in the added folders, and so on up to `most`.

        A name that ends with `..` adds only folders within the first places: otherwise it would lead to the root.
        """
        known, within = {_identity(place) for place in places}, [real_path(place) for place in places]
        for folder in islice(places, most):  # which continues with those that are added
            for name in names:
                path = os.path.join(folder, name)
                if not self._is_folder(path) or (identity := _identity(path)) in known:
                    continue
                if Path(name).name != ".." or any(Path(real_path(path)).is_relative_to(each) for each in within):
                    known.add(identity)
                    places.append(path)

    def _is_folder(self, path: str) -> bool:
        status = self._status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def _status(self, path: str) -> os.stat_result | None:
        if path not in self._statuses and self._take(1):
            self._statuses[path] = None
            with suppress(OSError, ValueError):
                self._statuses[path] = os.stat(path)
        return self._statuses.get(path)

    def _take(self, entries: int) -> bool:
        """Return whether these entries of the file system may be looked at too."""
        self._entries -= entries
        return self._entries >= 0

    def _give_up(self) -> None:
        self._entries = -1


def words_of(command: str) -> list[str]:
    """Return the words of a command line, first as they are and then split at the operators of a shell too.

    A quoted word that is a command line itself (`sh -c '…'`) is followed by its words.
    """
    operators = shlex.shlex(_SUBSTITUTION.sub(" ", command), posix=True, punctuation_chars=True)
    operators.whitespace_split, operators.commenters = True, ""
    try:
        words = [*shlex.split(command), *operators]
    except ValueError:  # a quote that is not closed, such as an apostrophe in a comment
        lines = command.splitlines()
        by_line = [word for line in lines for word in words_of(line)] if len(lines) > 1 else []
        unescaped = (word.replace("\\", "") for word in _BLANKS.split(_QUOTE.sub("", command)))
        return [*command.split(), *_QUOTE.split(command), *unescaped, *by_line]
    inside = (word for word in dict.fromkeys(words) if word != command and _QUOTED_COMMAND.search(word))
    return [*words, *(inner for word in inside for inner in words_of(word))]


def _environments(folders: Sequence[Path]) -> list[dict[str, str]]:
    """Return the variables that commands and agents may have, without those that Assay keeps from them.

    A shell sets `PWD` to the folder in which it is started.
    """
    from tui.model.environ import without_keys
    from tui.workspace.commands import command_environment

    passed_on = (command_environment(os.environ), without_keys(os.environ))
    return [{**variables, "PWD": str(folder)} for variables in passed_on for folder in folders]


def _filled_in(text: str, environments: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield a text with its variables from Assay's environment, and from the others, where unset ones are empty."""
    yield os.path.expandvars(text)
    for known in environments if "$" in text else ():
        yield _VARIABLE.sub(lambda found, known=known: known.get(found[1] or found[2], ""), text)  # type: ignore[misc]


def _possible_names(command: str, environments: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the texts of a command that may name a file or a folder.

    These are the words of a shell, the texts between quotes and between the separators of other languages
    (`open('FILE')`, `--option=A,B`, `NAME=A:B`), the text that is attached to an option (`-IFOLDER`), and the path of a
    module (`-m PACKAGE.MODULE`, `-mPACKAGE.MODULE`).
    """
    joined = command.replace("\\\n", "")  # a line that continues
    computed = _BACKQUOTED.sub("$0", joined)  # a folder that only the shell knows
    for text in dict.fromkeys((command, joined, computed, *_filled_in(joined, environments))):
        words = words_of(text)
        yield from words
        yield from _QUOTE.split(text)
        for part in (part for word in (text, *words) for part in _SEPARATORS.split(word)):
            attached = _attached(part) if part.startswith("-") else ()
            for name in (part, *attached):
                yield name
                if _MODULE.fullmatch(name):
                    yield from (name.partition(".")[0], name.replace(".", "/"))


def _attached(option: str) -> Iterator[str]:
    """Yield what may be the argument of an option of one letter, which may follow other options: `-sfFILE`."""
    for start in range(2, len(option) if len(option) <= _LONGEST_NAME else 0):
        if not option[start - 1].isalnum():
            return
        if start <= 4 or option[start] != "/":  # `-Isource/lib` does not name /lib
            yield option[start:]


def _known_end(name: str) -> str:
    """Return what follows the folder of a path that only a shell or a program knows: `run` of `~+/run` and `$X/run`."""
    parts = name.split("/")
    computed = [place for place, part in enumerate(parts) if "$" in part or part.startswith("~")]
    return "/".join(parts[computed[-1] + 1 :]) if computed else ""


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return (0, 0)
    return (status.st_dev, status.st_ino)


def _is_code(place: str, name: str) -> bool:
    if is_code_name(name):
        return not _is_cache(place, name) or _is_never_compared(os.path.join(place, name))
    try:
        return bool(os.stat(os.path.join(place, name)).st_mode & 0o111)
    except OSError:
        return False


def _is_imported(place: str, name: str) -> bool:
    return name.endswith(_IMPORTED) and not _is_cache(place, name)


def _is_cache(place: str, name: str) -> bool:
    """Return whether a file is one of Python's own bytecode files, which agents and commands do not use."""
    return os.path.basename(place) == "__pycache__" and name.endswith(".pyc") and name.count(".") > 1


def _is_never_compared(path: str) -> bool:
    """Return whether a bytecode file says that it is used without a look at its source (PEP 552).

    A Python that ignores its environment (`-E`, `-I`) would use it.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(8)[4:] == b"\1\0\0\0"
    except OSError:
        return False
