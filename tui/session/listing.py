"""Which models can be asked, provider by provider."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tui.model.errors import ConfigError, ProviderError
from tui.model.servers import SERVERS
from tui.model.subjects import Subject
from tui.session.workbench import Workbench

# These have no list of models: an agent is a file, a recording a run.
_LISTLESS = {"agent", "replay"}
_SECONDS = 5.0


# Before a run nobody waits long for a list that is only there to warn.
_WARNING_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ListedModels:
    """The names that can be written for one provider; `error` says why there are none."""

    provider: str
    models: tuple[str, ...] = ()
    error: str | None = None


async def list_models(workbench: Workbench, only: Sequence[str] = ()) -> tuple[ListedModels, ...]:
    """The config's variants, then every provider's models, asked at the same time."""
    known = sorted({*SERVERS, *workbench.config.providers} - _LISTLESS)
    listed = await asyncio.gather(*(_list_one(workbench, name) for name in known if not only or name in only))
    variants = ListedModels("config", tuple(workbench.config.variants))
    return (variants, *listed) if variants.models and not only else tuple(listed)


async def unlisted(workbench: Workbench, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
    """Those of the subjects that their provider does not list; nothing is known of a provider that cannot tell."""
    names = sorted({subject.provider for subject in subjects} - _LISTLESS - {"local"})
    listed = await asyncio.gather(*(_list_one(workbench, name, _WARNING_SECONDS) for name in names))
    known = {one.provider: {_plain(model) for model in one.models} for one in listed if one.models}
    return tuple(
        subject
        for subject in subjects
        if subject.provider in known and _plain(f"{subject.provider}/{subject.model_id}") not in known[subject.provider]
    )


def _plain(model: str) -> str:
    # Ollama lists `x:latest` and takes `x`.
    return model.lower().removesuffix(":latest")


async def _list_one(workbench: Workbench, name: str, seconds: float = _SECONDS) -> ListedModels:
    try:
        provider = workbench.provider(name)
        async with asyncio.timeout(seconds):
            found = await provider.models()
    except (ConfigError, ProviderError) as error:
        return ListedModels(name, error=workbench.secrets.hide(str(error)))
    except TimeoutError:
        return ListedModels(name, error=f"No answer within {seconds:g} s")
    return ListedModels(name, tuple(f"{name}/{model}" for model in found))
