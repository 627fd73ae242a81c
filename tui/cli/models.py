"""`assay models`, and `assay run` with `-a` or `-i`: which models can be run, and why others cannot."""

import asyncio
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tui.cli.streams import say
from tui.model.sanitize import sanitize_line
from tui.model.secrets import REMOVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.cli.run_options import ModelChoice
    from tui.model.suite import Suite
    from tui.session.models import ListedModels
    from tui.session.session import Session


@click.command()
@click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--provider", "providers", multiple=True, metavar="NAME", help="List only this provider.")
def models(as_json: bool, providers: tuple[str, ...]) -> None:
    """List the models of every reachable provider, and the variants from the config file."""
    listed = asyncio.run(_list_models(providers))
    if as_json:
        from tui.reports.json_text import json_text

        click.echo(json_text([asdict(entry) for entry in listed], indent=2))
        return
    for entry in listed:
        if entry.error:
            say(f"{entry.provider}: {entry.error}")
        for name in entry.models:
            click.echo(sanitize_line(name))


async def _list_models(only: tuple[str, ...]) -> "tuple[ListedModels, ...]":
    from tui.session.models import list_models
    from tui.session.session import Session

    session = Session(os.environ)
    try:
        return await list_models(session, only)
    finally:
        await session.close()


async def choose_models(
    session: "Session", choice: "ModelChoice", suites: "Sequence[Suite]", notes: list[str]
) -> tuple[str, ...]:
    """Return the models to run.

    These are all models that the configured providers list (the local one's if none is configured), or those of them
    and of the suites that the user picks. A list that cannot be read adds a note. Raises ConfigError if there is no
    model, and Abort if the user cancels.
    """
    from tui.model.errors import ConfigError
    from tui.session.models import configured_providers, list_each, resolvable

    names = configured_providers(session.config, os.environ) or ("local",)
    listed = await list_each(session, names)
    failures, found = [], dict[str, None]()
    for one in listed:
        named = [model for model in one.models if REMOVED not in model]
        usable = [model for model in named if "?" not in model and resolvable((model,), session.config, os.environ)]
        found |= dict.fromkeys(usable)
        failures += [f"{one.provider}: {one.error}"] if one.error else []
        if count := len(one.models) - len(named):
            failures.append(f"{one.provider}: {_left_out(count, 'contains an API key', 'contain an API key')}")
        if count := len(named) - len(usable):
            failures.append(f"{one.provider}: {_left_out(count, 'is not that of a model', 'are not those of models')}")
    notes.extend(f"Note: {failure}" for failure in failures)
    if choice == "ask":
        return await _pick(session, suites, listed, tuple(found))
    if not found:
        why = " ".join(failures)
        fix = "Set a provider key or URL, such as OPENAI_BASE_URL, or pass models with -m."
        raise ConfigError("No provider lists any model" + (f" ({sanitize_line(why, 600)})" if why else ""), fix=fix)
    return tuple(found)


def _left_out(count: int, of_one: str, of_several: str) -> str:
    """Return the sentence about listed names that cannot be used, with what is said of one name and of several."""
    if count == 1:
        return f"1 listed model is left out: its name {of_one}"
    return f"{count} listed models are left out: their names {of_several}"


async def _pick(
    session: "Session",
    suites: "Sequence[Suite]",
    listed: "Sequence[ListedModels]",
    found: "Sequence[str]",
) -> tuple[str, ...]:
    from tui.app.main import pick_models
    from tui.model.errors import ConfigError
    from tui.model.subjects import Settings
    from tui.session.models import missing_in_lists, resolvable

    own = resolvable(dict.fromkeys(model for suite in suites for model in suite.models), session.config, os.environ)
    plain = {f"{subject.provider}/{subject.model_id}" for subject in own if subject.settings == Settings()}
    names = [*(subject.name for subject in own), *(model for model in found if model not in plain)]
    if not names:
        raise ConfigError("No model available", fix="Pass models with -m.")
    missing = {subject.name for subject in missing_in_lists(own, listed)}
    chosen = await pick_models(names, {subject.name for subject in own} - missing)
    if chosen is None:
        say("Nothing was run.")
        raise click.Abort
    return tuple(chosen)
