"""Consent for what a suite may do on this machine: start agents, clone, read files, run commands."""

import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tui.documents.files import read_whole
from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import ConfigError, ConsentNeeded
from tui.model.interpreters import files_run_at_start, find_interpreter
from tui.model.paths import needs_consent, parse_url
from tui.model.servers import agent_name, without_keys
from tui.model.subjects import AGENT_COMMAND, AGENT_URLS, Subject
from tui.model.suite import RepoClone, Suite
from tui.session.code_search import LARGEST_FILE, CodeSearch, words_of
from tui.session.files import locked_for_change, read_json, write_safely

ConsentKind = Literal["agent", "outside", "local", "commands"]
OWN_AGENT = "a68cfb603b51fa55aa156a6a0eb3ca6800c05f818127cdcd6c4541b2eebbde42"
"""The digest of `test-suites/agents/flight_booking.py`."""
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

    `subjects` are those of a plan: a saved run may use an agent that its suite does not name, and recorded answers or
    models start none; without subjects the suite's agent is meant. For the suite of a saved
    run, `read_again` reads its file, None if there is none: a history from elsewhere may name any folder as that of its
    suite. Blocks while files are read.
    """
    search = CodeSearch()
    folder = Path(real_path(suite.home))
    file = folder / Path(suite.path).name
    subjects = tuple(subjects)
    agents = [(each.model_id, each.python) for each in subjects if each.provider == "agent"]
    if agents or not subjects:
        own_python = find_interpreter(suite.agent_python, folder) if suite.agent_python else ""
        agents.insert(0, (suite.agent or "", own_python))
    found = [_agent_consent(agent, python, file, search) for agent, python in agents if agent]
    clone, context = suite.repo_clone, suite.repository_context
    if clone and needs_consent(clone.url):
        shown, *digest = _clone_source(clone)
        what = f"The clone of {shown} does not use https or ssh"
        found.append(Consent("local", what, _mark("local", file, shown, *digest)))
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
    found += _command_consents(suite, file, search)
    return tuple({consent.mark: consent for consent in found if consent.mark}.values())


def _resolve(path: Path) -> Path:
    """Return the path without links; one that leads nowhere, such as a link to itself, as it is written."""
    try:
        return Path(real_path(path))
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
    file = Path(real_path(absolute_path(suite_file).parent)) / suite_file.name
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


def _agent_consent(agent: str, python: str, suite_file: Path, search: CodeSearch) -> Consent:
    """Return the consent for an agent and the interpreter of its file, if that is not Assay's own.

    The agent that comes with Assay needs none: its mark stays empty.
    """
    folder = suite_file.parent
    if agent.startswith(AGENT_URLS):  # which may be of a service in the user's own network
        shown = agent_name(agent)
        mark = _mark("agent", suite_file, shown, _digest(agent))
        return Consent("agent", f"The run sends the texts of {suite_file.name} to the agent {shown}", mark)
    if agent.startswith(AGENT_COMMAND):
        command, here = agent.removeprefix(AGENT_COMMAND), current_folder()  # where the command is started
        program = next(iter(words_of(command)), "")
        content = search.digest(search.files_of_command(command, (here, folder)))
        mark = _mark("agent", suite_file, agent, here, shutil.which(program) or "", content)
        return Consent("agent", f"The run starts the agent {command}", mark)
    file = Path(real_path(folder / agent))
    if not python and _is_own(file):
        return Consent("agent", "", "")
    run_by = f" with the Python {python}" if python else ""
    what = f"The run starts the Python file {file} as an agent{run_by}. It has your permissions"
    content = search.digest([file, *search.imports_below(file.parent)])
    interpreter = (python, real_path(python), search.digest(files_run_at_start(python))) if python else ()
    return Consent("agent", what, _mark("agent", suite_file, file, content, *interpreter))


def _is_own(agent: Path) -> bool:
    """Return whether an agent is the one that comes with Assay, and nothing else can be imported from its folder.

    Its place proves nothing: users save suites of others beside the bundled ones.
    """
    try:
        digest = hashlib.sha256(read_whole(agent, LARGEST_FILE)).hexdigest()
    except (OSError, ValueError):
        return False
    return digest == OWN_AGENT and {*CodeSearch().imports_below(agent.parent)} == {agent}


def _clone_source(clone: RepoClone) -> tuple[str, ...]:
    """Return the URL of a clone without its password and keys, then the digest of one with keys, which it names."""
    url = parse_url(clone.url).url
    shown = without_keys(url)
    return (shown,) if shown == url else (shown, _digest(url))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _command_consents(suite: Suite, suite_file: Path, search: CodeSearch) -> Iterator[Consent]:
    """Yield the consent for each command of the suite's cases, which is started in the repository of the suite."""
    clone, context, folder = suite.repo_clone, suite.repository_context, suite_file.parent
    root = folder / context.path if context and not clone else folder
    where, source = "", ["folder", str(_resolve(root))]
    if clone:
        shown, *digest = _clone_source(clone)
        where = f" (in a clone of {shown}{f', branch {clone.branch}' if clone.branch else ''})"
        source = ["clone", shown, clone.branch or "", *digest]
    for run in sorted({case.command.run for case in suite.cases if case.command}):
        content = search.digest(search.files_of_command(run, (root, folder)))
        mark = _mark("commands", suite_file, *source, run, content)
        yield Consent("commands", f"{suite.path} runs: {run}{where}", mark)
    yield from _assertion_consents(suite, suite_file, search)


def _assertion_consents(suite: Suite, suite_file: Path, search: CodeSearch) -> Iterator[Consent]:
    """Yield the consent for each command that judges answers, which is started in the suite's folder.

    The code of that folder belongs to it: `make check` names no file.
    """
    checks = (check for case in suite.cases for step in case.steps for check in step.checks)
    programs = {
        tuple(map(str, check.expected))
        for check in checks
        if check.kind == "assert.command" and isinstance(check.expected, list)
    }
    folder = suite_file.parent
    code = search.digest(search.code_below(folder)) if programs else ""
    for words in sorted(programs):
        run = shlex.join(words)
        content = search.digest(search.files_of_command(run, (folder,)))
        mark = _mark("commands", suite_file, "assertion", run, code, content)
        yield Consent("commands", f"{suite.path} runs for each answer: {run}", mark)


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
        kept = read_json(self._file, LARGEST_FILE)
        return {mark for mark in kept if isinstance(mark, str)} if isinstance(kept, list) else set()


def require(consents: tuple[Consent, ...], flags: Set[str]) -> None:
    """Raise ConsentNeeded for the first consent whose flag is not among `flags`; its text names the flag."""
    for consent in consents:
        if consent.flag not in flags:
            other = " or select it with --agent" if consent.kind == "agent" else ""
            raise ConsentNeeded(consent.what, fix=f"To allow it, add {consent.flag}{other}.")
