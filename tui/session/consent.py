"""Consent for what a suite may do on this machine: start agents, clone, read files, run commands."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tui.documents.files import NotRegularError, read_beginning, read_whole
from tui.model.errors import ConsentNeeded, StoreError
from tui.model.paths import needs_consent, parse_url
from tui.model.shipped import shipped_folder
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.session.files import write_safely

ConsentKind = Literal["agent", "outside", "local", "commands"]
_REMOTE = ("http://", "https://")
_NOT_IMPORTED = ("__pycache__", "node_modules", "site-packages", "venv")
_MOST_FILES = 2000
_LARGEST_FILE = 16 << 20
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


def consents_of(suite: Suite, subjects: Iterable[Subject] = ()) -> tuple[Consent, ...]:
    """Return everything that a run would do on this machine beyond sending requests to models.

    `subjects` are those of a plan: a saved run may use an agent that its suite does not name. Blocks while files are
    read.
    """
    folder = suite.home.resolve()
    agents = [suite.agent or "", *(each.model_id for each in subjects if each.provider == "agent")]
    found = [_agent_consent(agent, folder) for agent in agents if agent and not agent.startswith(_REMOTE)]
    if suite.repo_clone and needs_consent(suite.repo_clone.url):
        shown = parse_url(suite.repo_clone.url).url
        found.append(Consent("local", f"The clone of {shown} does not use https or ssh", _mark("local", folder, shown)))
    if suite.repository_context and not suite.repo_clone:
        root = (folder / suite.repository_context.path).resolve()
        if not root.is_relative_to(folder):
            what = f"{suite.path} reads files of {root}, outside the suite's folder"
            found.append(Consent("outside", what, _mark("outside", folder / Path(suite.path).name, root)))
    commands = sorted({case.command.run for case in suite.cases if case.command})
    found += [Consent("commands", f"{suite.path} runs: {run}", _mark("commands", folder, run)) for run in commands]
    return tuple({consent.mark: consent for consent in found if consent.mark}.values())


def agent_consents(suite: Suite, subjects: Iterable[Subject]) -> tuple[Consent, ...]:
    """Return the consents for the agents among the subjects of a plan."""
    return tuple(each for each in consents_of(replace(suite, agent=None), subjects) if each.kind == "agent")


def _mark(kind: ConsentKind, *parts: object) -> str:
    return "\n".join((kind, *map(str, parts)))


def _agent_consent(agent: str, folder: Path) -> Consent:
    """Return the consent that an agent needs. Agents that come with Assay need none: their mark stays empty."""
    if agent.startswith("cmd:"):
        command = agent.removeprefix("cmd:")
        files = [folder / word for word in command.split()]
        mark = _mark("agent", folder, agent, _digest(file for file in files if file.is_file()))
        return Consent("agent", f"The run starts the agent {command}", mark)
    file = (folder / agent).resolve()
    if file.is_relative_to(shipped_folder("test-suites").resolve()):
        return Consent("agent", "", "")
    what = f"The run starts the Python file {file} as an agent. It has your permissions"
    return Consent("agent", what, _mark("agent", file, _digest([file, *_python_files(file.parent)])))


def _python_files(folder: Path) -> Iterator[Path]:
    """Yield the Python files of a folder, in a stable order, which an agent in it can import."""
    found = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_IMPORTED)
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(place, name)
                found += 1
                if found == _MOST_FILES:
                    return


def _digest(files: Iterable[Path]) -> str:
    """Return a digest of the names and contents of files; of a large one only its size and modification time."""
    digest = hashlib.sha256()
    for file in dict.fromkeys(files):
        digest.update(os.fsencode(file) + b"\0")
        try:
            content = read_beginning(file, _LARGEST_FILE)
            if len(content) > _LARGEST_FILE:
                state = file.stat()
                digest.update(f"{state.st_size} {state.st_mtime_ns}".encode())
            else:
                digest.update(hashlib.sha256(content).digest())
        except NotRegularError:
            continue
        except OSError:
            digest.update(b"?")
    return digest.hexdigest()


class ConsentRecord:
    """The consents that the user has granted on this machine, stored as JSON in the data folder."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def missing(self, suite: Suite, subjects: Iterable[Subject] = ()) -> tuple[Consent, ...]:
        """Return the consents that a run of the suite needs and that have not been granted yet."""
        granted = self._read()
        return tuple(consent for consent in consents_of(suite, subjects) if consent.mark not in granted)

    def grant(self, consent: Consent) -> None:
        """Add a consent to the stored ones. Only the owner may read them: they name files and commands.

        Raises StoreError.
        """
        granted = self._read() | {consent.mark}
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_safely(self._file, json.dumps(sorted(granted), indent=1), mode=0o600)
        except OSError as error:
            raise StoreError(f"Cannot save the consent ({error.strerror})", where=str(self._file)) from error

    def _read(self) -> set[str]:
        try:
            kept = json.loads(read_whole(self._file, _LARGEST_FILE))
        except (OSError, ValueError):
            return set()
        return {mark for mark in kept if isinstance(mark, str)} if isinstance(kept, list) else set()


def require(consents: tuple[Consent, ...], flags: Set[str]) -> None:
    """Raise ConsentNeeded for the first consent whose flag is not among `flags`; its text names the flag."""
    for consent in consents:
        if consent.flag not in flags:
            other = " or select it with --agent" if consent.kind == "agent" else ""
            raise ConsentNeeded(consent.what, fix=f"To allow it, add {consent.flag}{other}.")
