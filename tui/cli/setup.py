"""`assay paths`, `assay config`, `assay completion`."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tui.cli.streams import print_path, say
from tui.model.sanitize import sanitize_line

_MOST_NAMED = 20


@click.command()
def paths() -> None:
    """Print the paths of the config file, themes and run history."""
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
        print_path(f"{name:<15} {path}")


@click.group()
def config() -> None:
    """Create, locate and check the config file."""


@config.command("path")
def config_path() -> None:
    """Print the path of the config file."""
    from tui.config.folders import find_folders

    print_path(str(find_folders(os.environ).config_file))


@config.command("init")
def config_init() -> None:
    """Write a config file with every setting, commented out. An existing file is not changed."""
    from tui.config.folders import find_folders
    from tui.config.template import config_template
    from tui.model.errors import ConfigError
    from tui.session.files import write_safely

    file = find_folders(os.environ).config_file
    try:
        if os.path.lexists(file):
            raise ConfigError("The file already exists", where=str(file), fix="Edit that file.")
        file.parent.mkdir(parents=True, exist_ok=True)
        write_safely(file, config_template(), mode=0o600)
    except OSError as error:
        raise ConfigError(f"Cannot write the file ({error.strerror})", where=str(file)) from error
    say(f"Wrote {file}")


@config.command("show")
@click.option("--all", "with_defaults", is_flag=True, help="Print also the settings that have their default.")
def config_show(with_defaults: bool) -> None:
    """Print each setting with its value and where it comes from. Keys are not printed."""
    from tui.config.folders import find_folders, find_project_file
    from tui.session.config_file import ConfigFile
    from tui.session.settings import ConfigSettings

    file = ConfigFile(find_folders(os.environ), os.environ, find_project_file())
    found = ConfigSettings(file, os.environ, lambda _: None).read()
    rows = [each for each in found.settings if each.kind != "section" and (with_defaults or each.origin != "default")]
    width = max((len(each.name) for each in rows), default=0)
    for each in rows:
        origin = f"{each.origin} {each.place}".strip()
        print_path(sanitize_line(f"{each.name:<{min(width, 40)}} {each.text or '-'}  ({origin})", 500))
    if found.fault:
        say(found.fault)
    if not rows:
        say("Every setting has its default.")


@config.command("check")
def config_check() -> int:
    """Check the config file and the project file, and print every problem."""
    from tui.app.keymap import keymap_problems
    from tui.config.folders import find_folders, find_project_file
    from tui.config.load import load_config
    from tui.model.shipped import shipped_folder

    folders = find_folders(os.environ)
    loaded = load_config(folders.config, os.environ, find_project_file())
    for problem in loaded.warnings:
        say(str(problem))
    for sentence in keymap_problems(loaded.keymap) if loaded.keymap else ():
        say(f"warning: {sentence}")
    if loaded.theme is not None:
        for sentence in _theme_problems(loaded.theme, (shipped_folder("themes"), folders.themes)):
            say(f"warning: {sentence}")
    faulty = any(problem.level == "error" for problem in loaded.warnings)
    say(f"{folders.config_file}: {'valid' if loaded.path else 'does not exist (using defaults)'}")
    if loaded.project:
        say(f"{loaded.project}: {'has errors; the entries above are ignored' if faulty else 'valid'}")
    return 2 if faulty else 0


def _theme_problems(theme: str, folders: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence if no theme in these folders has this name, with the problems of their files."""
    from tui.app.theme.theme_files import ThemeFiles
    from tui.model.suggest import did_you_mean

    files = ThemeFiles(folders)
    files.read_changed()
    if theme not in files.names:
        known = f"{did_you_mean(theme, files.names)}Available: {', '.join(files.names[:_MOST_NAMED])}."
        yield f"theme: unknown theme {sanitize_line(theme, 60)}. {known}"
        yield from files.faults


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), default="zsh")
def completion(shell: str) -> None:
    """Print the completion script for a shell. Use it like this: eval "$(assay completion bash)"."""
    from click.shell_completion import get_completion_class

    from tui.cli.main import assay

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(assay, {}, "assay", "_ASSAY_COMPLETE").source())
