"""From a model's name to who is asked: the order of the rule, inline settings, and names that lead nowhere."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tui.model.errors import ConfigError, ModelUnresolved
from tui.model.subjects import Config, ProviderSettings, Settings, Variant
from tui.providers.registry import provider_settings, resolve_subject

LOOPBACK = "http://127.0.0.1:8080/v1"
OPENAI = {"OPENAI_API_KEY": "sk-openai"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant"}
ROUTER = {"OPENROUTER_API_KEY": "sk-or"}
SERVER = {"OPENAI_BASE_URL": LOOPBACK}
CONFIG = Config(
    variants={
        "gpt-calm": Variant("gpt-5.2", None, Settings(temperature=0.0)),
        "small/hot": Variant("smollm2-135m", "local", Settings(temperature=1.5, seed=1)),
        "gpt-5.2": Variant("llama3", "ollama"),
    },
    providers={"mine": ProviderSettings("mine", "openai", "http://10.0.0.5:8000/v1")},
    rules=(("llama*", "ollama"), ("*-instruct", "mine"), ("llama-x", "openai")),
)

BY_URL = "provider openai, because OPENAI_BASE_URL is set"
BY_ROUTER = "provider openrouter, because OPENROUTER_API_KEY is set"
BY_ANTHROPIC = "provider anthropic, because ANTHROPIC_API_KEY is set"
BY_TOKEN = "provider anthropic, because ANTHROPIC_AUTH_TOKEN is set"
NAMED = "provider openrouter"
LLAMA = "openrouter/meta-llama/llama-3"

HOMES: list[tuple[str, Mapping[str, str], Config, str, str, str]] = [
    # a variant comes first, whatever else would fit
    (
        "gpt-5.2",
        {**OPENAI, **SERVER},
        CONFIG,
        "ollama",
        "llama3",
        "provider ollama, variant gpt-5.2 of the config file",
    ),
    ("small/hot", {}, CONFIG, "local", "smollm2-135m", "provider local, variant small/hot of the config file"),
    ("gpt-calm", OPENAI, CONFIG, "openai", "gpt-5.2", "provider openai, because OPENAI_API_KEY is set"),
    # then a rule, the first that fits
    ("llama-x", {**OPENAI, **SERVER}, CONFIG, "ollama", "llama-x", "provider ollama, rule llama* of the config file"),
    ("phi-instruct", SERVER, CONFIG, "mine", "phi-instruct", "provider mine, rule *-instruct of the config file"),
    # then OPENAI_BASE_URL, for any id
    ("claude-sonnet-4.5", {**SERVER, **ANTHROPIC}, Config(), "openai", "claude-sonnet-4.5", BY_URL),
    ("anything", {**SERVER, **ROUTER}, CONFIG, "openai", "anything", BY_URL),
    # then by the id, where the key is there
    ("gpt-5.2", {**OPENAI, **ROUTER}, Config(), "openai", "gpt-5.2", "provider openai, because OPENAI_API_KEY is set"),
    ("o4-mini", {**OPENAI, **ROUTER}, Config(), "openai", "o4-mini", "provider openai, because OPENAI_API_KEY is set"),
    ("gpt-5.2", ROUTER, Config(), "openrouter", "gpt-5.2", BY_ROUTER),
    ("claude-x", {**OPENAI, **ROUTER}, Config(), "openrouter", "claude-x", BY_ROUTER),
    ("claude-x", {**ANTHROPIC, **ROUTER}, Config(), "anthropic", "claude-x", BY_ANTHROPIC),
    ("claude-x", {"ANTHROPIC_AUTH_TOKEN": "t0ken"}, Config(), "anthropic", "claude-x", BY_TOKEN),
    ("gpt-5.2", {**ANTHROPIC, **ROUTER}, Config(), "openrouter", "gpt-5.2", BY_ROUTER),
    ("gemini-3-pro", {**OPENAI, **ROUTER}, Config(), "openrouter", "gemini-3-pro", BY_ROUTER),
    # named providers; an id may have slashes
    ("openai/gpt-5.2", OPENAI, Config(), "openai", "gpt-5.2", "provider openai"),
    ("anthropic/claude-x", ANTHROPIC, Config(), "anthropic", "claude-x", "provider anthropic"),
    (LLAMA, ROUTER, Config(), "openrouter", "meta-llama/llama-3", NAMED),
    ("local//models/a.gguf", {}, Config(), "local", "/models/a.gguf", "provider local"),
    ("ollama/llama3:8b", {}, Config(), "ollama", "llama3:8b", "provider ollama"),
    ("mine/m", {}, CONFIG, "mine", "m", "provider mine"),
    ("replay/last", {}, Config(), "replay", "last", "provider replay"),
    ("replay/5a1/http://h/agent?x=1", {}, Config(), "replay", "5a1/http://h/agent?x=1", "provider replay"),
    ("replay/5a1/m?seed=7", {}, Config(), "replay", "5a1/m?seed=7", "provider replay"),
]


@pytest.mark.parametrize(("name", "environ", "config", "provider", "model_id", "how"), HOMES)
def test_where_a_name_leads(
    name: str, environ: Mapping[str, str], config: Config, provider: str, model_id: str, how: str
) -> None:
    subject = resolve_subject(name, config, environ)
    assert (subject.name, subject.provider, subject.model_id, subject.how) == (name, provider, model_id, how)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("local/m?temperature=0.8&seed=7", Settings(temperature=0.8, seed=7)),
        ("local/m?top_p=1&max_tokens=5", Settings(top_p=1, max_tokens=5)),
        ("local/m?system=Be%20kind%3F&temperature=0", Settings(temperature=0, system="Be kind?")),
        ("small/hot?seed=2", Settings(temperature=1.5, seed=2)),
        ("mine/m?api=responses", Settings(api="responses")),
    ],
)
def test_inline_settings_are_laid_over_the_variants(name: str, settings: Settings) -> None:
    subject = resolve_subject(name, CONFIG, {})
    assert (subject.name, subject.settings) == (name, settings)


UNRESOLVED: list[tuple[str, Mapping[str, str], str]] = [
    (
        "gemini-3",
        {},
        "gemini-3: no provider found for this model. Use provider/gemini-3; or set OPENAI_BASE_URL for a server, "
        "OPENAI_API_KEY for gpt-* and o*, ANTHROPIC_API_KEY for claude-*, or OPENROUTER_API_KEY for any model; or "
        "install github-copilot-sdk and set COPILOT_GITHUB_TOKEN; or add the model under models: or rules: in "
        "config.yaml. local/smollm2-135m needs no key.",
    ),
    ("gpt-clam", {}, "gpt-clam: no provider found for this model. Did you mean gpt-calm? Use provider/"),
    ("opnai/gpt-5.2", {}, "opnai/gpt-5.2: unknown provider opnai. Did you mean openai? Providers are agent, "),
    ("meta-llama/llama-3", {}, "meta-llama/llama-3: unknown provider meta-llama. Providers are "),
    ("meta-llama/llama-3", SERVER, "If meta-llama/llama-3 is the model id, use openai/meta-llama/llama-3."),
    ("meta-llama/llama-3", ROUTER, "If meta-llama/llama-3 is the model id, use openrouter/meta-llama/llama-3."),
    ("github/gpt-4o", OPENAI, "github/gpt-4o: GitHub Models was retired in July 2026. Use another provider"),
    ("GitHub/openai/gpt-4o", OPENAI, "GitHub Models was retired in July 2026"),
    ("openai/", OPENAI, "openai/ has no model id. Use openai/MODEL."),
    ("", {}, "empty model name. Use provider/model-id."),
    ("a\x1b[2J\u202e", {}, "a\u241b[2J<U+202E>: no provider found"),
]


@pytest.mark.parametrize(("name", "environ", "words"), UNRESOLVED)
def test_a_name_that_leads_nowhere(name: str, environ: Mapping[str, str], words: str) -> None:
    with pytest.raises(ModelUnresolved) as caught:
        resolve_subject(name, CONFIG, environ)
    assert words in str(caught.value)


UNSENDABLE = "contains a character that is not allowed in a header"
UNUSABLE: list[tuple[str, Mapping[str, str], str]] = [
    (
        "openai/gpt-5.2",
        {},
        "openai needs an API key: OPENAI_API_KEY is not set. Set OPENAI_API_KEY (to any value if the server needs no "
        "key), or use another provider.",
    ),
    ("openai/gpt-5.2", {"OPENAI_API_KEY": "  "}, "OPENAI_API_KEY is not set"),
    ("m", {"OPENAI_BASE_URL": "https://gateway.example/v1"}, "OPENAI_API_KEY is not set"),
    ("openrouter/x/y", {}, "openrouter needs an API key: OPENROUTER_API_KEY is not set"),
    ("openai/m", {"OPENAI_API_KEY": "sk-secret\u200b"}, f"OPENAI_API_KEY {UNSENDABLE}, at place 10 of 10"),
    ("openai/m", {"OPENAI_API_KEY": "sk\nsecret"}, f"OPENAI_API_KEY {UNSENDABLE}, at place 3 of 9"),
    ("openai/m", {**OPENAI, "OPENAI_ORG_ID": "ö"}, "the header OpenAI-Organization of openai contains"),
    (
        "anthropic/claude-x",
        {},
        "anthropic needs an API key: ANTHROPIC_API_KEY is not set. Set ANTHROPIC_API_KEY (to any value if the server "
        "needs no key), or use another provider.",
    ),
    ("claude-x", {"ANTHROPIC_API_KEY": "sk\u200bsecret"}, f"ANTHROPIC_API_KEY {UNSENDABLE}, at place 3 of 9"),
    ("claude-x", {**ANTHROPIC, "ANTHROPIC_BASE_URL": "h"}, "ANTHROPIC_BASE_URL: the base URL of anthropic has no http"),
    ("anthropic/m", {"ANTHROPIC_BASE_URL": "https://u:secret@h"}, "contains a user name or password. Use api_key"),
    (
        "copilot/gpt-5.2",
        {},
        "copilot needs github-copilot-sdk, which is not installed. Run: pip install github-copilot-sdk",
    ),
    ("copilot/gpt-5.2", {"GH_TOKEN": "a secret"}, f"GH_TOKEN {UNSENDABLE}, at place 2 of 8"),
    (
        "m",
        {"OPENAI_BASE_URL": "ftp://h/v1"},
        "OPENAI_BASE_URL: the base URL of openai has no http:// or https:// prefix",
    ),
    ("m", {"OPENAI_BASE_URL": "http:///v1"}, "OPENAI_BASE_URL: the base URL of openai has no host"),
    ("m", {"OPENAI_BASE_URL": "http://h:99999/"}, "OPENAI_BASE_URL: the base URL of openai is not a URL"),
    ("m", {"OPENAI_BASE_URL": "http://a b/"}, "contains a space or a character that is not allowed in a URL"),
    ("m", {"OPENAI_BASE_URL": "http://h/#x"}, "has a #fragment; remove it"),
    ("m", {"OPENAI_BASE_URL": "http://user:secret@h/v1"}, "contains a user name or password. Use api_key"),
    ("ollama/m", {"OLLAMA_HOST": "h:port"}, "OLLAMA_HOST: the base URL of ollama is not a URL"),
    ("local/m?temprature=1", {}, "unknown parameter temprature. Did you mean temperature? Parameters are "),
    ("local/m?", {}, "unknown parameter (empty)"),
    ("local/m?seed", {}, "seed has no value"),
    ("local/m?seed=1&seed=1", {}, "seed is set twice"),
    ("local/m?seed=1.5", {}, "seed is not a whole number"),
    ("local/m?seed=1_0", {}, "seed is not a whole number"),
    ("local/m?seed=-1", {}, "seed is less than 0"),
    ("local/m?max_tokens=0", {}, "max_tokens is less than 1"),
    ("local/m?temperature=hot", {}, "temperature is not a number"),
    ("local/m?temperature=nan", {}, "temperature is not a number"),
    ("local/m?temperature=2.1", {}, "temperature is not between 0 and 2"),
    (f"local/m?temperature=1{'0' * 400}", {}, "temperature is not between 0 and 2"),
    (f"local/m?temperature=1{'0' * 5000}", {}, "temperature is not a number"),
    (f"local/m?seed=1{'0' * 400}", {}, "seed is less than 0 or not below 2^63"),
    ("local/m?top_p=1.1", {}, "top_p is not between 0 and 1"),
    ("mine/m?api=grpc", {}, "api is not chat or responses"),
    (
        "local/m?api=chat",
        {},
        "local/m?api=chat: api selects one of the OpenAI protocols, and local uses none of them.",
    ),
    ("claude-x?api=responses", ANTHROPIC, "api selects one of the OpenAI protocols, and anthropic uses none of them"),
]


@pytest.mark.parametrize(("name", "environ", "words"), UNUSABLE)
def test_a_provider_that_cannot_be_used(name: str, environ: Mapping[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_subject(name, CONFIG, environ)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_openai_settings_come_from_the_environment() -> None:
    environ = {"OPENAI_API_KEY": " sk-1 \n", "OPENAI_ORG_ID": "org", "OPENAI_PROJECT_ID": "proj"}
    settings = provider_settings("openai", Config(), environ)
    assert settings.base_url == "https://api.openai.com/v1"
    assert (settings.api_key, settings.key_name) == ("sk-1", "OPENAI_API_KEY")
    assert settings.headers == {"OpenAI-Organization": "org", "OpenAI-Project": "proj"}
    assert settings.token_limit == "max_completion_tokens"
    assert "sk-1" not in repr(settings)


def test_a_server_of_ones_own_knows_the_old_name_of_the_limit_and_needs_no_key_on_loopback() -> None:
    for url in (LOOPBACK, "http://localhost:1/v1", "http://[::1]:1/v1", "http://127.9.9.9/v1", "http://a.localhost"):
        settings = provider_settings("openai", Config(), {"OPENAI_BASE_URL": url})
        assert (settings.base_url, settings.api_key, settings.token_limit) == (url, None, "max_tokens")


@pytest.mark.parametrize(
    ("name", "environ", "url", "key"),
    [
        ("openrouter", ROUTER, "https://openrouter.ai/api/v1", "sk-or"),
        ("ollama", {}, "http://localhost:11434/v1", None),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1", None),
        ("ollama", {"OLLAMA_HOST": "box:1234"}, "http://box:1234/v1", None),
        ("ollama", {"OLLAMA_HOST": ":1234"}, "http://127.0.0.1:1234/v1", None),
        ("ollama", {"OLLAMA_HOST": "https://box"}, "https://box:443/v1", None),
        ("ollama", {"OLLAMA_HOST": "http://box:8080/ollama/"}, "http://box:8080/ollama/v1", None),
        ("ollama", {"OLLAMA_HOST": "[::]"}, "http://[::1]:11434/v1", None),
        ("lmstudio", {"LM_API_TOKEN": "t0ken"}, "http://localhost:1234/v1", "t0ken"),
        ("llamacpp", {}, "http://localhost:8080/v1", None),
        ("vllm", {}, "http://localhost:8000/v1", None),
    ],
)
def test_built_in_servers(name: str, environ: Mapping[str, str], url: str, key: str | None) -> None:
    settings = provider_settings(name, Config(), environ)
    assert (settings.kind, settings.base_url, settings.api_key) == ("openai", url, key)


def test_anthropic_settings_come_from_the_environment() -> None:
    settings = provider_settings("anthropic", Config(), {"ANTHROPIC_API_KEY": " k ", "ANTHROPIC_AUTH_TOKEN": "t"})
    assert (settings.base_url, settings.api_key, settings.key_name) == (
        "https://api.anthropic.com",
        "k",
        "ANTHROPIC_API_KEY",
    )
    settings = provider_settings("anthropic", Config(), {"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "http://h"})
    assert (settings.base_url, settings.api_key, settings.key_name) == ("http://h", "t", "ANTHROPIC_AUTH_TOKEN")
    settings = provider_settings("anthropic", Config(), {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
    assert settings.api_key is None


@pytest.fixture
def copilot_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as can be told without importing it."""
    folder = tmp_path / "github_copilot_sdk-1.0.27.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: github-copilot-sdk\nVersion: 1.0.27\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("copilot_is_installed")
def test_copilot_is_the_last_home_of_a_bare_id() -> None:
    how = "provider copilot, because COPILOT_GITHUB_TOKEN is set and github-copilot-sdk is installed"
    environ = {"COPILOT_GITHUB_TOKEN": "t0ken", "GITHUB_TOKEN": "other"}
    subject = resolve_subject("gpt-5.2", Config(), environ)
    assert (subject.provider, subject.model_id, subject.how) == ("copilot", "gpt-5.2", how)
    assert resolve_subject("gpt-5.2", Config(), {**environ, **ROUTER}).provider == "openrouter"
    with pytest.raises(ModelUnresolved):
        resolve_subject("gpt-5.2", Config(), {})


@pytest.mark.usefixtures("copilot_is_installed")
@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"COPILOT_GITHUB_TOKEN": "a", "GH_TOKEN": "b", "GITHUB_TOKEN": "c"}, "a"),
        ({"GH_TOKEN": "b", "GITHUB_TOKEN": "c"}, "b"),
        ({"GITHUB_TOKEN": "c"}, "c"),
        ({}, None),
    ],
)
def test_copilots_token_is_the_first_that_is_set(environ: Mapping[str, str], key: str | None) -> None:
    assert resolve_subject("copilot/gpt-5.2", Config(), environ).how == "provider copilot"
    assert provider_settings("copilot", Config(), environ).api_key == key


def test_without_the_extra_a_token_gives_no_home() -> None:
    with pytest.raises(ModelUnresolved):
        resolve_subject("gpt-5.2", Config(), {"GITHUB_TOKEN": "t"})


def test_a_variable_that_the_config_names_is_asked_for() -> None:
    lacking = ProviderSettings("mine", "openai", LOOPBACK, missing=("MY_KEY", "MY_ORG"))
    with pytest.raises(ConfigError) as caught:
        provider_settings("mine", Config(providers={"mine": lacking}), {})
    assert str(caught.value) == (
        "mine needs MY_KEY and MY_ORG, used in the config file but not set in the environment. Set MY_KEY and MY_ORG."
    )


def test_a_configured_key_gives_a_bare_id_its_home() -> None:
    routed = ProviderSettings("openrouter", "openai", "https://openrouter.ai/api/v1", "k" * 9, "MY_ROUTER_KEY")
    subject = resolve_subject("some-model", Config(providers={"openrouter": routed}), {})
    assert subject.how == "provider openrouter, because MY_ROUTER_KEY is set"


def test_a_header_with_a_key_is_a_key() -> None:
    azure = ProviderSettings("openai", "openai", "https://x.example/v1", headers={"api-key": "abc"})
    assert provider_settings("openai", Config(providers={"openai": azure}), {}) == azure


def test_nothing_heavy_is_imported_to_resolve_a_name() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from tui.providers.registry import resolve_subject; from tui.model.subjects import Config\n"
        "resolve_subject('local/m?seed=1', Config(), {}); import tui.providers.registry, tui.config.load\n"
        "heavy = ('httpx', 'aiohttp', 'yaml', 'pydantic', 'platformdirs', 'copilot')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["warm", "cmd:touch x", "a.py"])
def test_the_config_makes_no_model_an_agent(name: str) -> None:
    config = Config(variants={"warm": Variant("cmd:touch x", "agent")}, rules=(("*", "agent"),))
    with pytest.raises(ModelUnresolved, match="names an agent, not a model"):
        resolve_subject(name, config, {})


@pytest.mark.parametrize("name", ["agent/a.py", "agent/cmd:touch x", "agent/http://h", "agent/x?temperature=0"])
def test_no_model_name_starts_an_agent(name: str) -> None:
    with pytest.raises(ModelUnresolved, match="names an agent, not a model"):
        resolve_subject(name, Config(), OPENAI)
