"""Consent for what a suite may do on this machine: start agents, clone, read files, run commands."""

import hashlib
import json
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui.model.errors import ConsentNeeded, StoreError
from tui.model.paths import needs_consent, parse_url
from tui.model.shipped import shipped_folder
from tui.model.suite import Suite
from tui.session.files import write_safely

ConsentKind = Literal["agent", "outside", "local", "commands"]
_FLAGS: dict[ConsentKind, str] = {
    "agent": "--allow-commands",
    "outside": "--allow-outside",
    "local": "--allow-local",
    "commands": "--allow-commands",
}


@dataclass(frozen=True, slots=True)
class Consent:
    """An action that needs the user's consent.

    `what` is a sentence for the user; `mark` identifies the action, so that a changed file needs consent again.
    """

    kind: ConsentKind
    what: str
    mark: str

    @property
    def flag(self) -> str:
        """The command-line flag that grants this consent."""
        return _FLAGS[self.kind]


def consents_of(suite: Suite) -> tuple[Consent, ...]:
    """Return everything that a suite would do on this machine beyond sending requests to models."""
    folder = suite.home.resolve()
    found = []
    if suite.agent and not suite.agent.startswith(("http://", "https://")):
        found.append(_agent_consent(suite.agent, folder))
    if suite.repo_clone and needs_consent(suite.repo_clone.url):
        shown = parse_url(suite.repo_clone.url).url
        found.append(Consent("local", f"The clone of {shown} does not use https or ssh", f"{folder}\n{shown}"))
    if suite.repository_context and not suite.repo_clone:
        root = (folder / suite.repository_context.path).resolve()
        if not root.is_relative_to(folder):
            found.append(
                Consent("outside", f"{suite.path} reads files of {root}, outside the suite's folder", str(root))
            )
    commands = sorted({case.command.run for case in suite.cases if case.command})
    found += [Consent("commands", f"{suite.path} runs: {run}", f"{folder}\n{run}") for run in commands]
    return tuple(consent for consent in found if consent.mark)


def _agent_consent(agent: str, folder: Path) -> Consent:
    """Return the consent that an agent needs. Agents that come with Assay need none: their mark stays empty."""
    if agent.startswith("cmd:"):
        return Consent("agent", f"The suite starts the agent {agent.removeprefix('cmd:')}", f"{folder}\n{agent}")
    file = (folder / agent).resolve()
    if file.is_relative_to(shipped_folder("test-suites").resolve()):
        return Consent("agent", "", "")
    content = file.read_bytes() if file.is_file() else b""
    what = f"The suite runs the Python file {file} as an agent. It runs with your permissions"
    return Consent("agent", what, f"{file}\n{hashlib.sha256(content).hexdigest()}")


class ConsentRecord:
    """The consents that the user has granted on this machine, stored as JSON in the data folder."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def missing(self, suite: Suite) -> tuple[Consent, ...]:
        """Return the consents that the suite needs and that have not been granted yet."""
        granted = self._read()
        return tuple(consent for consent in consents_of(suite) if consent.mark not in granted)

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
            kept = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return set()
        return {mark for mark in kept if isinstance(mark, str)} if isinstance(kept, list) else set()


def require(consents: tuple[Consent, ...], flags: Set[str]) -> None:
    """Raise ConsentNeeded for the first consent whose flag is not among `flags`; its text names the flag."""
    for consent in consents:
        if consent.flag not in flags:
            other = " or select it with --agent" if consent.kind == "agent" else ""
            raise ConsentNeeded(consent.what, fix=f"To allow it, add {consent.flag}{other}.")
