"""One place that turns settings into a provider; each is imported only when it is used."""

from collections.abc import Collection, Mapping

from tui.model.errors import ConfigError
from tui.model.subjects import ProviderSettings
from tui.providers.protocol import Provider


def open_provider(settings: ProviderSettings, environ: Mapping[str, str], secrets: Collection[str]) -> Provider:
    """The provider that the settings describe. Nothing is connected or started before the first question.

    Processes of agents, of the local model and of Copilot get `environ` without keys, those of agents and Copilot
    without any of the `secrets`, by value. Raises ConfigError for a kind that cannot be opened from settings alone: a
    recording belongs to a run, and whoever has the run opens it.
    """
    match settings.kind:
        case "openai":
            from tui.providers.openai.provider import OpenAIProvider

            return OpenAIProvider(settings)
        case "anthropic":
            from tui.providers.anthropic import AnthropicProvider

            return AnthropicProvider(settings)
        case "copilot":
            from tui.providers.copilot import CopilotProvider

            return CopilotProvider(settings, environ, secrets=secrets)
        case "local":
            from tui.providers.local import LocalProvider

            return LocalProvider(environ)
        case "agent":
            from tui.providers.agent import AgentProvider

            return AgentProvider(settings, environ, secrets=secrets)
        case "replay":
            raise ConfigError(f"{settings.name} names no run", fix="Write replay/RUN/MODEL.")
