"""Settings become providers, and only the one that is used is imported."""

from pathlib import Path

import pytest

from tests.support.asking import server_settings
from tui.model.errors import ConfigError
from tui.model.subjects import ProviderKind, ProviderSettings
from tui.providers.openai import OpenAIProvider
from tui.providers.opening import open_provider


async def test_a_server_is_opened_without_being_asked(tmp_path: Path) -> None:
    provider = open_provider(server_settings("http://127.0.0.1:9/v1"), tmp_path)
    assert isinstance(provider, OpenAIProvider)
    await provider.close()


async def test_an_agent_is_opened(tmp_path: Path) -> None:
    from tui.providers.agent import AgentProvider

    provider = open_provider(ProviderSettings("agent", "agent"), tmp_path)
    assert isinstance(provider, AgentProvider)
    await provider.close()


@pytest.mark.parametrize(
    ("kind", "words"),
    [("anthropic", "not supported yet"), ("copilot", "not supported yet"), ("replay", "Write replay/RUN/MODEL.")],
)
def test_a_kind_that_cannot_be_opened_from_settings(kind: ProviderKind, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        open_provider(ProviderSettings("x", kind), tmp_path)
