"""Versions of the software and files that take part in a run, besides the models' servers."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import tui
from tui.model.current_folder import real_path
from tui.model.errors import ProviderError
from tui.model.run import Plan
from tui.model.sanitize import sanitize_line
from tui.model.subjects import ProviderKind, Subject
from tui.session.files import read_json, write_safely

_FILE = "digests.json"
_MOST = 200  # cached files
_MOST_BYTES = 2**20


class Digests:
    """SHA-256 digests of files, cached in the cache folder by path, size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE

    def of(self, path: Path) -> str:
        """Return the digest of a file in hexadecimal.

        Blocks while the file is read for the first time. Raises OSError.
        """
        stat = path.stat()
        key = f"{real_path(path)}|{stat.st_size}|{stat.st_mtime_ns}"
        known = self._known()
        if key not in known:
            with path.open("rb") as file:
                known[key] = hashlib.file_digest(file, "sha256").hexdigest()
            self._keep(known)
        return known[key]

    def _known(self) -> dict[str, str]:
        kept = read_json(self._file, _MOST_BYTES)
        if not isinstance(kept, dict):
            return {}
        return {key: value for key, value in kept.items() if isinstance(value, str) and len(value) == 64}

    def _keep(self, known: dict[str, str]) -> None:
        # Without a writable cache the digest is computed again next time.
        with contextlib.suppress(OSError, ValueError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_safely(self._file, json.dumps(dict([*known.items()][-_MOST:])))


_PATTERNS, _RUNTIME = "quickjs-ng", "xllamacpp"


def versions_of(plan: Plan, kinds: Mapping[str, ProviderKind], digests: Digests) -> dict[str, str]:
    """Return versions by name.

    These are Assay, Python, the platform, the libraries for patterns and clones if the run uses them, and the
    runtimes on this machine with the digest of each model's or agent's file. `kinds` are the plan's providers.
    Blocks.
    """
    import platform

    found = {"assay": tui.__version__, "python": platform.python_version(), "platform": platform.platform()}
    asked = {trial.case for trial in plan.trials}
    if any(step.checks for case in plan.suite.cases if case.id in asked for step in case.steps):
        found |= _package(_PATTERNS)
    if plan.suite.repo_clone is not None:
        from tui.workspace.git.info import git_versions

        found |= git_versions()
    models = {trial.model for trial in plan.trials}
    for subject in plan.subjects:
        if subject.name in models:
            found |= dict(_of_subject(subject, kinds.get(subject.provider), digests))
    return {name: sanitize_line(version, 200) for name, version in found.items()}


def _of_subject(subject: Subject, kind: ProviderKind | None, digests: Digests) -> Iterator[tuple[str, str]]:
    if kind == "local":
        from tui.providers.local_models import find_model

        yield from _package(_RUNTIME).items()
        with contextlib.suppress(ProviderError, OSError):
            path = find_model(subject.model_id).path
            yield f"file of {_named(subject)}", f"{path.name}, sha256 {digests.of(path)}"
    elif kind == "copilot":
        from tui.providers.copilot_runtime import COPILOT

        yield from _package(COPILOT).items()
    elif kind == "agent" and subject.model_id.endswith(".py"):
        with contextlib.suppress(OSError):
            path = Path(subject.model_id)
            yield f"file of {_named(subject)}", f"{path.name}, sha256 {digests.of(path)}"
        if subject.python:
            yield f"python of {_named(subject)}", subject.python


def _named(subject: Subject) -> str:
    """Return the model's name without settings: variants of one model share its file."""
    return sanitize_line(subject.name.partition("?")[0], 200)


def _package(name: str) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return {name: version(name)}
    except PackageNotFoundError:
        return {}
