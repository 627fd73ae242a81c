"""`assay models`: which models can be asked, and why others cannot."""

import asyncio
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tui.cli.narration import say
from tui.model.shown import show_line

if TYPE_CHECKING:
    from tui.session.listing import ListedModels


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
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
    from tui.session.listing import list_models
    from tui.session.workbench import Workbench

    workbench = Workbench(os.environ)
    try:
        return await list_models(workbench, only)
    finally:
        await workbench.close()
