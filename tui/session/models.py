"""Lists of the models that each provider offers."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tui.config.folders import find_folders
from tui.config.load import load_config
from tui.model.errors import ConfigError, ProviderError
from tui.model.secrets import Secrets
from tui.model.servers import SERVERS, variable
from tui.model.subjects import Config, Subject
from tui.providers.copilot_runtime import copilot_version
from tui.providers.local_models import is_local_id
from tui.providers.protocol import Provider
from tui.providers.registry import resolve_subject
from tui.session.providers import OpenProviders

# These have no list of models: an agent is a file, a recording is a run.
LISTLESS = {"agent", "replay"}
_SECONDS = 5.0
# Before a run, a list that only serves for a warning may not take long.
_WARNING_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ListedModels:
    """The model names that one provider offers; `error` says why there are none."""

    provider: str
    models: tuple[str, ...] = ()
    error: str | None = None


class Providers(Protocol):
    """An object that opens the configured providers by name, such as a Session."""

    config: Config
    secrets: Secrets

    def provider(self, name: str) -> Provider:
        """Return a provider by its name. Raises ConfigError."""
        ...


class ProvidersAlone:
    """The providers of config and environment, without a run history.

    Without `config`, the config file is read. Raises ConfigError on construction.
    """

    def __init__(self, environ: Mapping[str, str], config: Config | None = None) -> None:
        self.config = config or load_config(find_folders(environ).config, environ)
        self.secrets = Secrets(self.config.secrets.values())
        self._providers = OpenProviders(self.config, environ, None, None)

    def provider(self, name: str) -> Provider:
        """Return a provider by its name. Raises ConfigError."""
        return self._providers.by_name(name)

    async def close(self) -> None:
        """Close the providers' connections and processes."""
        await self._providers.close()


def configured_providers(config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the providers that the user has set up.

    These are the providers of the config file and those whose key or URL is in the environment; not the local model,
    which needs no setup, nor providers without a list of models.
    """
    named = {
        name
        for name, server in SERVERS.items()
        if any(variable(environ, key) for key in (*server.key_variables, server.url_variable) if key)
    }
    if copilot_version() is None:
        named.discard("copilot")  # GITHUB_TOKEN is set on many machines that have no Copilot.
    return tuple(sorted({*named, *config.providers} - LISTLESS))


async def list_models(providers: Providers, only: Sequence[str] = ()) -> tuple[ListedModels, ...]:
    """Return the variants of the config, then the models of each provider; the providers are queried concurrently."""
    known = sorted({*SERVERS, *providers.config.providers} - LISTLESS)
    listed = await list_each(providers, [name for name in known if not only or name in only])
    variants = ListedModels("config", tuple(providers.config.variants))
    return (variants, *listed) if variants.models and not only else listed


async def list_each(providers: Providers, names: Sequence[str], seconds: float = _SECONDS) -> tuple[ListedModels, ...]:
    """Return the models of these providers, queried concurrently with a timeout in seconds."""
    return tuple(await asyncio.gather(*(_list_one(providers, name, seconds) for name in names)))


async def unlisted(providers: Providers, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
    """Return the subjects that their provider does not list.

    A provider that cannot list its models counts as unknown.
    """
    names = sorted({subject.provider for subject in subjects} - LISTLESS - {"local"})
    return missing_in_lists(subjects, await list_each(providers, names, _WARNING_SECONDS))


async def unlisted_models(
    models: Iterable[str], environ: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ListedModels, ...]]:
    """Check model names against the lists of their configured providers.

    Return the names that are not listed, each with a warning, and the lists that could not be read. Sends no request
    if no name belongs to a configured provider. Raises ConfigError.
    """
    providers = ProvidersAlone(environ)
    try:
        subjects = resolvable(models, providers.config, environ)
        used = {subject.provider for subject in subjects}
        names = [name for name in configured_providers(providers.config, environ) if name in used]
        listed = await list_each(providers, names, _WARNING_SECONDS)
        nowhere = [one for one in subjects if one.provider == "local" and not is_local_id(one.model_id)]
        missing = (*missing_in_lists(subjects, listed), *nowhere)
        sentences = {subject.name: unlisted_sentence(subject) for subject in missing}
        return sentences, tuple(one for one in listed if one.error)
    finally:
        await providers.close()


def resolvable(models: Iterable[str], config: Config, environ: Mapping[str, str]) -> list[Subject]:
    """Return the subjects of those model names that can be resolved on this machine."""
    found = []
    for name in models:
        try:
            found.append(resolve_subject(name, config, environ))
        except ConfigError:
            continue
    return found


def unlisted_sentence(subject: Subject) -> str:
    """Return the warning about a model that its provider does not list, with what to do."""
    return f"{subject.provider} does not list the model {subject.model_id}; run 'assay models' to see its models"


def missing_in_lists(subjects: Sequence[Subject], listed: Sequence[ListedModels]) -> tuple[Subject, ...]:
    """Return the subjects that are missing in their provider's list, if it has one."""
    known = {one.provider: {_plain(model) for model in one.models} for one in listed if one.models}
    return tuple(
        subject
        for subject in subjects
        if subject.provider in known and _plain(f"{subject.provider}/{subject.model_id}") not in known[subject.provider]
    )


def _plain(model: str) -> str:
    # Ollama lists `x:latest` and accepts `x`.
    return model.lower().removesuffix(":latest")


async def _list_one(providers: Providers, name: str, seconds: float) -> ListedModels:
    try:
        provider = providers.provider(name)
        async with asyncio.timeout(seconds):
            found = await provider.models()
    except (ConfigError, ProviderError) as error:
        return ListedModels(name, error=providers.secrets.hide(str(error)))
    except TimeoutError:
        return ListedModels(name, error=f"No answer within {seconds:g} s")
    return ListedModels(name, tuple(providers.secrets.hide(f"{name}/{model}") for model in found))
