"""`assay validate`, `assay schema`, `assay init`."""

import asyncio
import os
from pathlib import Path

import click

from tui.cli.streams import count_words, say, without_keys
from tui.model.sanitize import sanitize_line


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--offline", is_flag=True, help="Do not query providers for their model lists.")
@click.option("--allow-outside", is_flag=True, help="Read data files outside the folder of their suite.")
def validate(paths: tuple[Path, ...], offline: bool, allow_outside: bool) -> int:
    """Check suites and print every problem. A folder is searched recursively.

    If a provider is configured (key or URL), models that it does not list are warnings.
    """
    from tui.session.session import list_suite_files, open_suite, unchecked_problem

    errors = warnings = 0
    checked = [
        (file, open_suite(file, may_read=lambda _: allow_outside)) for path in paths for file in list_suite_files(path)
    ]
    named = dict.fromkeys(model for _, loaded in checked if loaded.suite for model in loaded.suite.models)
    unlisted = _unlisted(tuple(named)) if named and not offline else {}
    for file, loaded in checked:
        if loaded.suite and not unlisted.keys().isdisjoint(loaded.suite.models):
            loaded = open_suite(file, unlisted=unlisted, may_read=lambda _: allow_outside)
        nothing_checked = unchecked_problem(loaded.suite) if loaded.suite else None
        for problem in (*loaded.problems, *([nothing_checked] if nothing_checked else ())):
            click.echo(sanitize_line(without_keys(str(problem)), 2000))
            errors += problem.level == "error"
            warnings += problem.level == "warning"
    say(f"{count_words(len(checked), 'file')}, {count_words(errors, 'error')}, {count_words(warnings, 'warning')}")
    return 2 if errors or not checked else 0


def _unlisted(models: tuple[str, ...]) -> dict[str, str]:
    """Return the models that no provider lists, each with a warning; failed look-ups are printed as notes."""
    from tui.model.errors import ConfigError
    from tui.session.models import unlisted_models

    try:
        unlisted, unknown = asyncio.run(unlisted_models(models, os.environ))
    except ConfigError as error:
        say(f"Note: model names were not checked. {error}")
        return {}
    for listed in unknown:
        say(f"Note: model names of {listed.provider} were not checked: {listed.error}")
    return unlisted


@click.command()
@click.option(
    "--format", "suite_format", type=click.Choice(["schema-1.0.0", "testhaven"]), help="Print only this format."
)
@click.option("--config", "of_config", is_flag=True, help="Print the JSON Schema of the config file.")
@click.option("--project", "of_project", is_flag=True, help="Print the JSON Schema of a project file, .assay.yaml.")
def schema(suite_format: str | None, of_config: bool, of_project: bool) -> None:
    """Print the JSON Schema of the suite formats, of the config file or of a project file, for use in editors."""
    from tui.config.template import config_schema, project_schema
    from tui.reports.json_text import json_text
    from tui.suites.schema import schema_of

    if of_config:
        shown: object = config_schema()
    elif of_project:
        shown = project_schema()
    elif suite_format == "testhaven":
        shown = schema_of("testhaven")
    elif suite_format:
        shown = schema_of("schema-1.0.0")
    else:
        shown = {"schema-1.0.0": schema_of("schema-1.0.0"), "testhaven": schema_of("testhaven")}
    click.echo(json_text(shown, indent=2))


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("test-suites/my-suite.yaml"),
    show_default=True,
    help="Suite file: .yaml (with comments) or .json.",
)
def init(output: Path) -> None:
    """Write an example suite. An existing file is not changed."""
    from tui.cli.run_options import prepare_output
    from tui.model.errors import ConfigError
    from tui.session.files import write_new
    from tui.suites.schema import example_suite

    output = prepare_output(output, ".yaml")
    if output.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ConfigError("A suite file is JSON or YAML", where=str(output), fix="Pass a .json or .yaml file with -o.")
    try:
        write_new(output, lambda: example_suite("JSON" if output.suffix.lower() == ".json" else "YAML"), replaces=False)
    except FileExistsError as error:
        raise ConfigError("The file already exists", where=str(output), fix="Pass another file with -o.") from error
    say(f"Wrote {output}. Next: assay {output}")
