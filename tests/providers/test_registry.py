"""Settings become providers, and only the one that is used is imported."""

import pytest

from tests.support.asking import server_settings
from tui.model.errors import ConfigError
from tui.model.subjects import ProviderSettings
from tui.providers.openai.provider import OpenAIProvider
from tui.providers.registry import open_provider


async def test_a_server_is_opened_without_being_asked() -> None:
    provider = open_provider(server_settings("http://127.0.0.1:9/v1"), {}, ())
    assert isinstance(provider, OpenAIProvider)
    await provider.close()


async def test_an_agent_is_opened() -> None:
    from tui.providers.agent import AgentProvider

    provider = open_provider(ProviderSettings("agent", "agent"), {}, ())
    assert isinstance(provider, AgentProvider)
    await provider.close()


async def test_the_local_model_is_opened_without_being_started() -> None:
    from tui.providers.local import LocalProvider

    provider = open_provider(ProviderSettings("local", "local"), {}, ())
    assert isinstance(provider, LocalProvider)
    await provider.close()


async def test_anthropic_is_opened_without_being_asked() -> None:
    from tui.providers.anthropic import AnthropicProvider

    provider = open_provider(ProviderSettings("anthropic", "anthropic", "http://127.0.0.1:9"), {}, ())
    assert isinstance(provider, AnthropicProvider)
    await provider.close()


async def test_copilot_is_opened_without_its_sdk() -> None:
    from tui.providers.copilot import CopilotProvider

    provider = open_provider(ProviderSettings("copilot", "copilot"), {}, ())
    assert isinstance(provider, CopilotProvider)
    await provider.close()


def test_a_recording_cannot_be_opened_from_settings() -> None:
    with pytest.raises(ConfigError, match=r"Use replay/RUN/MODEL\."):
        open_provider(ProviderSettings("x", "replay"), {}, ())
