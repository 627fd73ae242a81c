"""One place that turns settings into a provider; each is imported only when it is used."""

from pathlib import Path

from tui.model.errors import ConfigError
from tui.model.subjects import ProviderSettings
from tui.model.trials import TrialResult
from tui.providers.protocol import Provider


def open_provider(
    settings: ProviderSettings, data_folder: Path, *, recordings: tuple[TrialResult, ...] = ()
) -> Provider:
    """The provider that the settings describe. Nothing is connected or started before the first question.

    `data_folder` is where the local model may keep what it needs; `recordings` is what a replay plays. Raises
    ConfigError where a kind is not there yet.
    """
    match settings.kind:
        case "openai":
            from tui.providers.openai import OpenAIProvider

            return OpenAIProvider(settings)
        case "local":
            from tui.providers.local import LocalProvider

            return LocalProvider(settings, data_folder)
        case "agent":
            from tui.providers.agent import AgentProvider

            return AgentProvider(settings)
        case "replay":
            from tui.providers.replay import ReplayProvider

            return ReplayProvider(recordings)
        case _:
            raise ConfigError(f"{settings.name} is not supported yet", fix="Choose another provider.")
