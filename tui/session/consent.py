"""Consent for what a suite may do on this machine: start agents, clone, read files, run commands."""

import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib.machinery import all_suffixes
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Literal

from tui.documents.files import NotRegularError, read_beginning, read_whole
from tui.model.errors import ConfigError, ConsentNeeded
from tui.model.interpreters import files_run_at_start, find_interpreter
from tui.model.paths import needs_consent, parse_url
from tui.model.subjects import AGENT_COMMAND, AGENT_URLS, Subject
from tui.model.suite import Suite
from tui.session.code_files import is_code_name
from tui.session.files import locked_for_change, read_json, write_safely

ConsentKind = Literal["agent", "outside", "local", "commands"]
_LARGEST_FILE = 16 << 20
_MOST_BYTES = 64 << 20  # of the files of a consent: of further ones, only size and times are part of its mark
_MOST_FILES = 50_000
_MOST_FOLDERS = 20_000
# Folders with many files, which rarely change, and folders without code.
_INSTALLED = frozenset(("node_modules", "site-packages", "venv", ".venv", ".tox", ".nox"))
_WITHOUT_CODE = frozenset((".git", ".hg", ".svn", ".mypy_cache", ".ruff_cache", ".pytest_cache"))
_MOST_NAMES = 2_000  # of a command; one with more is asked about each time that Assay starts
_MOST_PATHS = 50_000  # of these names in all folders that the command names
_MOST_MATCHES = 1_000  # of a glob
_BRACKETS = re.compile(r"\[[^/]*\]")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9])|\{([A-Za-z0-9_]+)\})")
_SUBSTITUTION = re.compile(r"`|\$\(")
_QUOTE = re.compile("['\"]")
_BLANKS = re.compile(r"(?<!\\)\s+")
_QUOTED_COMMAND = re.compile(r"[\s'\"`();<>|&]")
_SEPARATORS = re.compile(r"[\s'\"`()<>;&|=:,@{}\[\]\\#%^+!]+")  # between names in the source text of most languages
_MODULE = re.compile(r"\w+(\.\w+)+")
_IMPORTED = (*all_suffixes(), ".zip", ".egg", ".whl")
_ADDED_SUFFIXES = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pm", ".lua")  # to the name of a module
OWN_AGENT = "a68cfb603b51fa55aa156a6a0eb3ca6800c05f818127cdcd6c4541b2eebbde42"
"""The digest of `test-suites/agents/flight_booking.py`."""
_THIS_PROCESS = token_hex(8)  # a mark with it is only valid until Assay ends
ReadSuite = Callable[[], Suite | None]
_FLAGS: dict[ConsentKind, str] = {
    "agent": "--allow-commands",
    "outside": "--allow-outside",
    "local": "--allow-local",
    "commands": "--allow-commands",
}


@dataclass(frozen=True, slots=True)
class Consent:
    """An action that needs the user's consent.

    `what` is a sentence for the user; `mark` identifies the action with its kind, its suite and the content that runs,
    so that anything else needs a consent of its own.
    """

    kind: ConsentKind
    what: str
    mark: str

    @property
    def flag(self) -> str:
        """The command-line flag that grants this consent."""
        return _FLAGS[self.kind]


def consents_of(
    suite: Suite, subjects: Iterable[Subject] = (), *, read_again: ReadSuite | None = None
) -> tuple[Consent, ...]:
    """Return everything that a run would do on this machine beyond sending requests to models.

    `subjects` are those of a plan: a saved run may use an agent that its suite does not name. For the suite of a saved
    run, `read_again` reads its file, None if there is none: a history from elsewhere may name any folder as that of its
    suite. Blocks while files are read.
    """
    folder = suite.home.resolve()
    file = folder / Path(suite.path).name
    own_python = find_interpreter(suite.agent_python, folder) if suite.agent_python else ""
    agents = [(suite.agent or "", own_python), *((e.model_id, e.python) for e in subjects if e.provider == "agent")]
    found = [
        _agent_consent(agent, python, file) for agent, python in agents if agent and not agent.startswith(AGENT_URLS)
    ]
    clone, context = suite.repo_clone, suite.repository_context
    if clone and needs_consent(clone.url):
        shown = parse_url(clone.url).url
        found.append(Consent("local", f"The clone of {shown} does not use https or ssh", _mark("local", file, shown)))
    if _sent_files(suite) or (context and not clone):
        root = _resolve(folder / (context.path if context and not clone else ""))
        if read_again and not _asks_for_same_files(suite, read_again()):
            what = f"The saved run reads files of {root} that {file} does not name now"
            found.append(
                Consent("outside", what, _mark("outside", "saved", file, root, context, *sorted(_sent_files(suite))))
            )
        elif not root.is_relative_to(folder):
            what = f"{suite.path} reads files of {root}, outside the suite's folder"
            found.append(Consent("outside", what, _mark("outside", file, root)))
    found += _command_consents(suite, file)
    return tuple({consent.mark: consent for consent in found if consent.mark}.values())


def _resolve(path: Path) -> Path:
    """Return the path without links; one that leads nowhere, such as a link to itself, as it is written."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return Path(os.path.normpath(path))


def _sent_files(suite: Suite) -> frozenset[str]:
    """Return the files that the cases name and that are read from the suite's folder."""
    named = (context for case in suite.cases for context in case.code_context)
    return frozenset(each.file_path for each in named if each.content is None)


def _asks_for_same_files(suite: Suite, on_disk: Suite | None) -> bool:
    if on_disk is None:
        return False
    context = None if suite.repo_clone else suite.repository_context
    return context in (None, on_disk.repository_context) and _sent_files(suite) <= _sent_files(on_disk)


def data_consent(suite_file: Path, data_file: Path) -> Consent:
    """Return the consent for a suite that reads a data file outside its folder."""
    file = suite_file.absolute().parent.resolve() / suite_file.name
    what = f"{file} reads the data file {data_file}, outside the suite's folder"
    return Consent("outside", what, _mark("outside", "data", file, data_file))


def agent_consents(suite: Suite, subjects: Iterable[Subject]) -> tuple[Consent, ...]:
    """Return the consents for the agents among the subjects of a plan."""
    return tuple(each for each in consents_of(replace(suite, agent=None), subjects) if each.kind == "agent")


def _mark(kind: ConsentKind, *parts: object) -> str:
    """Return a text that no other parts have: names of files, commands and agents may contain any character."""
    return json.dumps([kind, *map(str, parts)])


def current_folder() -> Path:
    """Return the current folder, in which the command of an agent is started. Raises ConfigError if it was deleted."""
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError("The current folder no longer exists", fix="Change to a folder that exists.") from error


def _agent_consent(agent: str, python: str, suite_file: Path) -> Consent:
    """Return the consent for an agent and the interpreter of its file, if that is not Assay's own.

    The agent that comes with Assay needs none: its mark stays empty.
    """
    folder = suite_file.parent
    if agent.startswith(AGENT_COMMAND):
        command, here = agent.removeprefix(AGENT_COMMAND), current_folder()  # where the command is started
        program = next(iter(_words(command)), "")
        content = _digest(_named_files(command, (here, folder)))
        mark = _mark("agent", suite_file, agent, here, shutil.which(program) or "", content)
        return Consent("agent", f"The run starts the agent {command}", mark)
    file = (folder / agent).resolve()
    if not python and _is_own(file):
        return Consent("agent", "", "")
    run_by = f" with the Python {python}" if python else ""
    what = f"The run starts the Python file {file} as an agent{run_by}. It has your permissions"
    content = _digest([file, *_files_below(file.parent, _is_imported)])
    interpreter = (python, os.path.realpath(python), _digest(files_run_at_start(python))) if python else ()
    return Consent("agent", what, _mark("agent", suite_file, file, content, *interpreter))


def _is_own(agent: Path) -> bool:
    """Return whether an agent is the one that comes with Assay, and nothing else can be imported from its folder.

    Its place proves nothing: users save suites of others beside the bundled ones.
    """
    if {*_files_below(agent.parent, _is_imported)} != {agent}:
        return False
    try:
        return hashlib.sha256(read_whole(agent, _LARGEST_FILE)).hexdigest() == OWN_AGENT
    except (OSError, ValueError):
        return False


def _command_consents(suite: Suite, suite_file: Path) -> Iterator[Consent]:
    """Yield the consent for each command of the suite's cases, which is started in the repository of the suite."""
    clone, context, folder = suite.repo_clone, suite.repository_context, suite_file.parent
    root = folder / context.path if context and not clone else folder
    where, source = "", ["folder", str(_resolve(root))]
    if clone:
        shown = parse_url(clone.url).url
        where = f" (in a clone of {shown}{f', branch {clone.branch}' if clone.branch else ''})"
        source = ["clone", shown, clone.branch or ""]
    for run in sorted({case.command.run for case in suite.cases if case.command}):
        mark = _mark("commands", suite_file, *source, run, _digest(_named_files(run, (root, folder))))
        yield Consent("commands", f"{suite.path} runs: {run}{where}", mark)
    yield from _assertion_consents(suite, suite_file)


def _assertion_consents(suite: Suite, suite_file: Path) -> Iterator[Consent]:
    """Yield the consent for each command that judges answers, which is started in the suite's folder.

    The code of that folder belongs to it: `make check` names no file.
    """
    checks = (check for case in suite.cases for step in case.steps for check in step.checks)
    programs = {
        tuple(map(str, check.expected))
        for check in checks
        if check.kind == "assert.command" and isinstance(check.expected, list)
    }
    for words in sorted(programs):
        run = shlex.join(words)
        folder = suite_file.parent
        content = _digest((*_named_files(run, (folder,)), *_files_below(folder, _is_code)))
        mark = _mark("commands", suite_file, "assertion", run, content)
        yield Consent("commands", f"{suite.path} runs for each answer: {run}", mark)


def _words(command: str) -> list[str]:
    """Return the words of a command line, first as they are and then split at the operators of a shell too.

    A quoted word that is a command line itself (`sh -c '…'`) is followed by its words.
    """
    operators = shlex.shlex(_SUBSTITUTION.sub(" ", command), posix=True, punctuation_chars=True)
    operators.whitespace_split, operators.commenters = True, ""
    try:
        words = [*shlex.split(command), *operators]
    except ValueError:  # a quote that is not closed, such as an apostrophe in a comment
        lines = command.splitlines()
        by_line = [word for line in lines for word in _words(line)] if len(lines) > 1 else []
        unescaped = (word.replace("\\", "") for word in _BLANKS.split(_QUOTE.sub("", command)))
        return [*command.split(), *_QUOTE.split(command), *unescaped, *by_line]
    inside = (word for word in dict.fromkeys(words) if word != command and _QUOTED_COMMAND.search(word))
    return [*words, *(inner for word in inside for inner in _words(word))]


def _environments(folders: Sequence[Path]) -> list[dict[str, str]]:
    """Return the variables that commands and agents may have, without those that Assay keeps from them.

    A shell sets `PWD` to the folder in which it is started.
    """
    from tui.providers.processes.environ import without_keys
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
    module (`-m PACKAGE.MODULE`).
    """
    joined = command.replace("\\\n", "")  # a line that continues
    for text in dict.fromkeys((command, joined, *_filled_in(joined, environments))):
        words = _words(text)
        yield from words
        yield from _QUOTE.split(text)
        for part in (part for word in (text, *words) for part in _SEPARATORS.split(word)):
            yield part
            if part.startswith("-"):
                yield from _attached(part)
            if _MODULE.fullmatch(part):
                yield from (part.partition(".")[0], part.replace(".", "/"))


def _attached(option: str) -> Iterator[str]:
    """Yield what may be the argument of an option of one letter, which may follow other options: `-sfFILE`."""
    for start in range(2, len(option)):
        if not option[1:start].isalnum():
            return
        if start <= 4 or option[start] != "/":  # `-Isource/lib` does not name /lib
            yield option[start:]


def _named_paths(command: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths that a command may name, also without the suffix of a module, and the matches of its globs.

    Paths may begin with `~` or `$HOME`, which may also be meant literally, and be relative to a folder that the command
    names (`cd FOLDER && …`), also below another one. If there are too many, the last one differs in each process.
    """
    environments = _environments(folders)
    written = [name for name in _possible_names(command, environments) if name]
    filled_in = (each for name in written for each in _filled_in(name, environments))
    all_names = dict.fromkeys((*map(os.path.expanduser, filled_in), *written, *filter(None, map(_known_end, written))))
    names = list(all_names)[:_MOST_NAMES]
    most = _MOST_PATHS // len(names) if names else 0
    found = [path for folder in folders for name in names for path in _places(folder, name) if _is_folder(path)]
    places = list(dict.fromkeys((*folders, *found)))
    _add_folders_below(places, [name for name in names if not os.path.isabs(name)], most)
    for folder in places[:most]:
        for name in names:
            yield from (folder / f"{name}{suffix}" for suffix in _ADDED_SUFFIXES)
            yield from islice(_places(folder, name), 1, None)
    if len(names) < len(all_names) or len(places) > most:
        yield Path(_THIS_PROCESS)


def _known_end(name: str) -> str:
    """Return what follows the folder of a path that only a shell or a program knows: `run` of `~+/run` and `$X/run`."""
    parts = name.split("/")
    computed = [place for place, part in enumerate(parts) if "$" in part or part.startswith("~")]
    return "/".join(parts[computed[-1] + 1 :]) if computed else ""


def _places(folder: Path, name: str) -> Iterator[Path]:
    """Yield the path of a name in a folder, and what it may match as a glob.

    If that is too much, the last path differs in each process. Shells differ in what they match with brackets (`[^a]`,
    `[[:alpha:]]`), which may also be quoted and then belong to a name, so any text is accepted there.
    """
    yield folder / name
    if not glob.has_magic(name):
        return
    matches = islice(glob.iglob(_BRACKETS.sub("*", name), root_dir=folder), _MOST_MATCHES + 1)
    paths = [folder / match for match in sorted(matches)]
    yield from paths
    if len(paths) > _MOST_MATCHES:
        yield Path(_THIS_PROCESS)


def _add_folders_below(places: list[Path], names: Sequence[str], most: int) -> None:
    """Add the folders with these names in the places, then those in the added folders, and so on up to `most`.

    A name that ends with `..` adds only folders within the first places: otherwise it would lead to the root.
    """
    known, within = {_identity(str(place)) for place in places}, [os.path.realpath(place) for place in places]
    for folder in islice(places, most):  # which continues with those that are added
        for name in names:
            if not _is_folder(path := folder / name) or (identity := _identity(str(path))) in known:
                continue
            if Path(name).name != ".." or any(Path(os.path.realpath(path)).is_relative_to(each) for each in within):
                known.add(identity)
                places.append(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _named_files(command: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that a command names, and the code of the folders that it names."""
    for path in dict.fromkeys(_named_paths(command, folders)):
        try:
            status = path.stat()
        except (OSError, ValueError):
            if path.name == _THIS_PROCESS:
                yield path
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _files_below(path, _is_code)
        elif stat.S_ISREG(status.st_mode):
            yield path


def _is_code(place: str, name: str) -> bool:
    """Return whether a file contains code of any language, by its name, or can be executed."""
    if is_code_name(name):
        return not _is_cache(place, name)
    try:
        return bool(os.stat(os.path.join(place, name)).st_mode & 0o111)
    except OSError:
        return False


def _is_imported(place: str, name: str) -> bool:
    """Return whether Python can import a file."""
    return name.endswith(_IMPORTED) and not _is_cache(place, name)


def _files_below(folder: Path, is_part: Callable[[str, str], bool]) -> Iterator[Path]:
    """Yield the files of a folder for which `is_part(folder, name)`, in a stable order, through links too.

    Too many files or folders end with a path that no file has and that differs in each process.
    """
    files, seen = 0, set[tuple[int, int]]()
    for place, folders, names in os.walk(folder, followlinks=True):
        identity = _identity(place)
        if identity in seen:
            folders.clear()
            continue
        seen.add(identity)
        folders[:] = sorted(set(folders) - _WITHOUT_CODE)
        code = sorted(name for name in names if is_part(place, name))
        files += len(code)
        yield from (Path(place, name) for name in code)
        if files > _MOST_FILES or len(seen) > _MOST_FOLDERS:
            yield Path(place, _THIS_PROCESS)
            return


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


def _is_cache(place: str, name: str) -> bool:
    """Return whether a file is one of Python's own bytecode files, which agents do not use."""
    return os.path.basename(place) == "__pycache__" and name.endswith(".pyc") and name.count(".") > 1


def _digest(files: Iterable[Path]) -> str:
    """Return a digest of the names and contents of files.

    The size and the times of change replace the content of large files, installed packages, and files after 64 MiB.
    """
    digest, room = hashlib.sha256(), _MOST_BYTES
    for file in dict.fromkeys(files):
        try:
            status = file.stat()
            if status.st_size > min(room, _LARGEST_FILE) or not _INSTALLED.isdisjoint(file.parts):
                state = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
            else:
                content = read_beginning(file, _LARGEST_FILE)
                room -= len(content)
                state = hashlib.sha256(content).hexdigest()
        except NotRegularError:
            state = "not regular"
        except OSError:
            state = "?"
        digest.update(json.dumps([str(file), state]).encode())
    return digest.hexdigest()


class ConsentRecord:
    """The consents that the user has granted on this machine, stored as JSON in the data folder."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def missing(
        self, suite: Suite, subjects: Iterable[Subject] = (), *, read_again: ReadSuite | None = None
    ) -> tuple[Consent, ...]:
        """Return the consents that a run needs (see `consents_of`) and that have not been granted yet."""
        granted = self._read()
        found = consents_of(suite, subjects, read_again=read_again)
        return tuple(consent for consent in found if consent.mark not in granted)

    def is_granted(self, consent: Consent) -> bool:
        """Return whether the user has granted a consent."""
        return consent.mark in self._read()

    def grant(self, consent: Consent) -> None:
        """Add a consent to the stored ones. Only the owner may read them: they name files and commands.

        Raises StoreError.
        """
        with locked_for_change(self._file, "the consent"):
            granted = self._read() | {consent.mark}
            write_safely(self._file, json.dumps(sorted(granted), indent=1), mode=0o600)

    def _read(self) -> set[str]:
        kept = read_json(self._file, _LARGEST_FILE)
        return {mark for mark in kept if isinstance(mark, str)} if isinstance(kept, list) else set()


def require(consents: tuple[Consent, ...], flags: Set[str]) -> None:
    """Raise ConsentNeeded for the first consent whose flag is not among `flags`; its text names the flag."""
    for consent in consents:
        if consent.flag not in flags:
            other = " or select it with --agent" if consent.kind == "agent" else ""
            raise ConsentNeeded(consent.what, fix=f"To allow it, add {consent.flag}{other}.")
