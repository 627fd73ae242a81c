"""`assay validate`, `assay schema`, `assay init`."""

import json
from pathlib import Path

import click

from tui.cli.narration import say
from tui.model.shown import show_line


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def validate(paths: tuple[Path, ...]) -> int:
    """Check suites and say everything that is wrong with them; a folder is checked whole."""
    from tui.session.opening import open_suite, suites_at

    errors = warnings = 0
    files = [file for path in paths for file in suites_at(path)]
    for file in files:
        for problem in open_suite(file).problems:
            click.echo(show_line(str(problem), 2000))
            errors += problem.level == "error"
            warnings += problem.level == "warning"
    say(_count(len(files), "file") + f", {_count(errors, 'error')}, {_count(warnings, 'warning')}")
    return 2 if errors or not files else 0


@click.command()
@click.option("--format", "suite_format", type=click.Choice(["schema-1.0.0", "testhaven"]), help="Only this format.")
def schema(suite_format: str | None) -> None:
    """Print the JSON Schema of the suite formats, for editors."""
    from tui.suites.schema import schema_of

    if suite_format == "testhaven":
        shown: object = schema_of("testhaven")
    elif suite_format:
        shown = schema_of("schema-1.0.0")
    else:
        shown = {"schema-1.0.0": schema_of("schema-1.0.0"), "testhaven": schema_of("testhaven")}
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("test-suites/my-suite.yaml"))
def init(output: Path) -> None:
    """Write a commented suite to start from; an existing file is left alone."""
    from tui.model.errors import ConfigError
    from tui.suites.example import example_suite

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("x", encoding="utf-8") as file:
            file.write(example_suite())
    except FileExistsError as error:
        raise ConfigError("The file exists already", where=str(output), fix="Name another one with -o.") from error
    except OSError as error:
        raise ConfigError(f"Cannot be written ({error.strerror})", where=str(output), fix="Choose with -o.") from error
    say(f"Wrote {output}. Next: assay {output}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
