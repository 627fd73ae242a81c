"""Which providers are set up, and which models they are known not to list."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer, closed_port
from tests.support.replies import status
from tui.model.subjects import Config, ProviderSettings
from tui.session.models import ProvidersAlone, configured_providers, list_models, unlisted_models

MINE = {"mine": ProviderSettings("mine", "openai", "http://localhost:1/v1")}


@pytest.mark.parametrize(
    ("environ", "config", "names"),
    [
        ({}, Config(), ()),
        ({"OPENAI_API_KEY": " "}, Config(), ()),
        ({"OPENAI_API_KEY": "k", "OLLAMA_HOST": "h"}, Config(), ("ollama", "openai")),
        ({"ANTHROPIC_AUTH_TOKEN": "k"}, Config(providers=MINE), ("anthropic", "mine")),
        ({"OPENAI_BASE_URL": "http://localhost:1/v1"}, Config(), ("openai",)),
    ],
)
def test_a_key_a_url_or_the_config_sets_a_provider_up(
    environ: Mapping[str, str], config: Config, names: tuple[str, ...]
) -> None:
    assert configured_providers(config, environ) == names


def folders(tmp_path: Path) -> dict[str, str]:
    return {"ASSAY_CONFIG_DIR": str(tmp_path / "c"), "ASSAY_DATA_DIR": str(tmp_path / "d")}


async def test_nobody_is_asked_for_models_of_others(tmp_path: Path) -> None:
    async with ModelServer() as server:
        environ = {**folders(tmp_path), "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        names = ["ollama/x", "anthropic/y", "unknown/z", "github/w", "local/smollm2-135m", "local/x.gguf"]
        assert await unlisted_models(names, environ) == ({}, ())
        assert server.listed == []
        unlisted, unknown = await unlisted_models([*names, "mock-a", "mock-c", "openai/mock-b?seed=1"], environ)
    assert list(unlisted) == ["mock-c"]
    assert unknown == ()
    assert not (tmp_path / "d").exists()  # No history is opened for it.


async def test_a_list_that_cannot_be_had_says_nothing_of_its_models(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    environ = {**folders(tmp_path), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"}
    unlisted, (failed,) = await unlisted_models(["a"], environ)
    assert unlisted == {}
    assert failed.provider == "openai"
    assert failed.error


async def test_a_key_is_in_no_listed_name(tmp_path: Path) -> None:
    listing = status(200, {"object": "list", "data": [{"id": "a-sk-secret-4711"}, {"id": "b"}]})
    async with ModelServer(listing=listing) as server:
        environ = {**folders(tmp_path), "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-secret-4711"}
        providers = ProvidersAlone(environ)
        (listed,) = await list_models(providers, ["openai"])
        await providers.close()
    assert listed.models == ("openai/a-[removed key]", "openai/b")
