"""The config file: what is read from it, and every way of getting it wrong, with its place."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tui.config.load import known_secrets, load_config
from tui.model.errors import ConfigError
from tui.model.prices import Price
from tui.model.secrets import Secrets
from tui.model.subjects import Config, ProviderSettings, Settings, Variant
from tui.providers.registry import provider_settings


def written(folder: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file = folder / "config.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    file.chmod(mode)
    return file


def loaded(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Config:
    written(folder, text)
    return load_config(folder, environ or {})


def problems(folder: Path, text: str | bytes, environ: Mapping[str, str] | None = None) -> list[str]:
    file = written(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_config(folder, environ or {})
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return [str(problem).removeprefix(f"{file}:") for problem in caught.value.problems]


WHOLE = """\
theme: night
models:
  calm:
    provider: mine
    id: vendor/model-1
    temperature: 0
    top_p: 0.5
    seed: 7
    max_tokens: 100
    system: "Be brief."
  plain: {id: gpt-5.2}
providers:
  mine:
    kind: openai
    base_url: https://models.example/v1
    api_key: ${MY_KEY}
    token_limit: max_completion_tokens
    headers: {X-Team: red, X-Token: "Bearer ${MY_TOKEN}"}
    proxy: http://proxy.example:3128
rules:
  "llama*": ollama
  "*": mine
"""
KEYS = {"MY_KEY": " key-of-mine \n", "MY_TOKEN": "token-of-mine", "OPENAI_API_KEY": "key-of-openai"}


def test_a_whole_file(tmp_path: Path) -> None:
    config = loaded(tmp_path, WHOLE, KEYS)
    settings = Settings(temperature=0, top_p=0.5, seed=7, max_tokens=100, system="Be brief.")
    assert config.path == str(tmp_path / "config.yaml")
    assert config.theme == "night"
    assert config.variants == {"calm": Variant("vendor/model-1", "mine", settings), "plain": Variant("gpt-5.2")}
    assert config.rules == (("llama*", "ollama"), ("*", "mine"))
    assert config.providers == {
        "mine": ProviderSettings(
            name="mine",
            kind="openai",
            base_url="https://models.example/v1",
            api_key="key-of-mine",
            key_name="MY_KEY",
            headers={"X-Team": "red", "X-Token": "Bearer token-of-mine"},
            token_limit="max_completion_tokens",
            proxy="http://proxy.example:3128",
        )
    }
    assert config.secrets == {
        "MY_KEY": "key-of-mine",
        "MY_TOKEN": "token-of-mine",
        "OPENAI_API_KEY": "key-of-openai",
    }
    assert config.warnings == ()
    assert "of-mine" not in repr(config)


def test_no_file_is_fine_and_needs_no_yaml(tmp_path: Path) -> None:
    assert load_config(tmp_path, {"GH_TOKEN": "ghp_x", "OTHER": "y"}) == Config(secrets={"GH_TOKEN": "ghp_x"})
    code = (
        "import sys; from pathlib import Path; from tui.config.load import load_config\n"
        f"load_config(Path({str(tmp_path)!r}), {{}}); print('yaml' in sys.modules, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "models:\nproviders:\nrules:\n", "\ufeffmodels: {}\n"])
def test_an_empty_file_is_fine(tmp_path: Path, text: str) -> None:
    config = loaded(tmp_path, text)
    assert (config.variants, config.providers, config.rules, config.theme) == ({}, {}, (), None)


def test_an_entry_is_laid_over_the_built_in_provider(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "key-of-openai", "OPENAI_ORG_ID": "org"}
    text = "providers: {openai: {headers: {X-A: b}}, openrouter: {base_url: 'http://127.0.0.1:1/v1'}}"
    config = loaded(tmp_path, text, environ)
    openai = config.providers["openai"]
    assert (openai.base_url, openai.api_key) == ("https://api.openai.com/v1", "key-of-openai")
    assert openai.headers == {"OpenAI-Organization": "org", "X-A": "b"}
    assert openai.token_limit == "max_completion_tokens"
    assert config.providers["openrouter"].base_url == "http://127.0.0.1:1/v1"


def test_the_protocol_is_chosen_for_a_provider_or_a_variant(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        "models: {deep: {provider: openai, id: new-thing, api: responses}}\n"
        "providers: {mine: {base_url: 'http://h/v1', api: responses}}\n",
    )
    assert config.variants["deep"].settings.api == "responses"
    assert config.providers["mine"].api == "responses"


def test_anthropic_may_be_reached_in_another_way(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        "providers:\n"
        "  anthropic: {headers: {anthropic-version: '2026-10-21'}}\n"
        "  gateway: {kind: anthropic, base_url: 'http://h', api_key: '${GATE}'}\n",
        {"ANTHROPIC_API_KEY": "a-key", "GATE": "g-key"},
    )
    anthropic, gateway = config.providers["anthropic"], config.providers["gateway"]
    assert (anthropic.api_key, anthropic.headers) == ("a-key", {"anthropic-version": "2026-10-21"})
    assert (gateway.kind, gateway.base_url, gateway.api_key, gateway.key_name) == (
        "anthropic",
        "http://h",
        "g-key",
        "GATE",
    )


def test_a_variable_that_is_not_set_is_asked_for_when_it_is_needed(tmp_path: Path) -> None:
    text = "providers: {mine: {base_url: 'http://h/v1', api_key: '${A_KEY}', headers: {X-B: '${B_KEY}'}}}"
    config = loaded(tmp_path, text, {"A_KEY": " "})
    assert config.providers["mine"].missing == ("A_KEY", "B_KEY")
    with pytest.raises(ConfigError, match="mine needs A_KEY and B_KEY"):
        provider_settings("mine", config, {})


def test_a_key_in_a_base_url_is_known_as_a_secret(tmp_path: Path) -> None:
    environ = {"OPENAI_BASE_URL": "http://h/v1?api_key=key-of-variable"}
    text = "providers: {mine: {base_url: 'http://h/v1?token=key-of-file'}}"
    assert set(loaded(tmp_path, text, environ).secrets.values()) == {"key-of-variable", "key-of-file"}


def test_a_key_in_the_file_is_known_as_a_secret(tmp_path: Path) -> None:
    text = (
        "providers:\n  mine:\n    base_url: http://h/v1\n    api_key: literal-key\n"
        "    headers: {Authorization: Bearer literal-token, X-Plain: seen}\n    proxy: http://me:pass%40word@p:1\n"
    )
    config = loaded(tmp_path, text)
    assert config.secrets == {
        "providers.mine.api_key": "literal-key",
        "providers.mine.headers.Authorization": "literal-token",
        "providers.mine.proxy": "pass@word",
    }
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("entry", "quoted"),
    [
        ("api_key: '${TEAM}-literal-key'", "red-literal-key"),
        ("api_key: '${TEAM}-literal-key'", "literal-key"),
        ("api_key: '${HALF}${OTHER}'", "AAAA1BBBB2"),
        ("headers: {X-Api-Key: '${TEAM}-literal-key'}", "red-literal-key"),
        ("headers: {Authorization: 'Bearer ${TEAM}-literal-key'}", "red-literal-key"),
        ("headers: {Authorization: 'Basic ${TEAM}-literal-key'}", "red-literal-key"),
        ("headers: {Authorization: token literal-key}", "literal-key"),
        ("headers: {Authorization: bearer literal-key}", "literal-key"),
        ("headers: {Authorization: Basic bWU6bGl0ZXJhbC1rZXk=}", "literal-key"),
        ("headers: {Cookie: 'team=red; session=literal-of-a-key; x=1'}", "literal-of-a-key"),
        ("headers: {Cookie: 'lang=en;sid=s3ss10n99'}", "s3ss10n99"),
        ('headers: {X-Auth: \'Digest username="me", response="d1g3st"\'}', "d1g3st"),
        ("headers: {X-Signature: literal-key}", "literal-key"),
        ("headers: {X-Keys: AlphaTeamGatewaySecret BravoTeamGatewaySecret}", "AlphaTeamGatewaySecret"),
        ("headers: {X-Keys: AlphaTeamGatewaySecret BravoTeamGatewaySecret}", "BravoTeamGatewaySecret"),
        ("headers: {X-Pass: open sesame my friend}", "open sesame my friend"),
        ("headers: {X-Auth: sid=AbCdEf ; csrf=QwErTy}", "AbCdEf"),
        ("headers: {X-Auth: sid=AbCdEf ; csrf=QwErTy}", "sid=AbCdEf ; csrf=QwErTy"),
        ("proxy: 'http://a-token-of-twenty-characters@p:1'", "a-token-of-twenty-characters"),
    ],
)
def test_each_part_of_a_key_that_a_server_may_repeat_is_a_secret(tmp_path: Path, entry: str, quoted: str) -> None:
    environ = {"TEAM": "red", "HALF": "AAAA1", "OTHER": "BBBB2"}
    config = loaded(tmp_path, f"providers:\n  mine:\n    base_url: http://h/v1\n    {entry}\n", environ)
    assert Secrets(config.secrets.values()).hide(f"({quoted})") == "([removed key])"
    assert known_secrets({**environ, "ASSAY_CONFIG_DIR": str(tmp_path)}).hide(quoted) == "[removed key]"


@pytest.mark.parametrize(
    "line",
    [
        'base_url: "htp://localhost/v1"',
        "- X-Auth-Header: k-5a6b7c8d9e",
        "'Authorization': [k-5a6b7c8d9e",
        '{base_url: "htp://localhost/v1", api_key: k-5a6b7c8d9e}',
    ],
)
def test_the_names_of_settings_in_an_invalid_config_are_no_secrets(tmp_path: Path, line: str) -> None:
    (tmp_path / "config.yaml").write_text(f"providers:\n  mine:\n    {line}\n")
    name = line.partition(":")[0].strip("-{' ")
    hidden = known_secrets({"ASSAY_CONFIG_DIR": str(tmp_path)}).hide(f"providers.mine.{name}: k-5a6b7c8d9e is wrong")
    assert hidden.startswith(f"providers.mine.{name}: ")
    assert ("5a6b7c8d9e" in hidden) == ("5a6b7c8d9e" not in line)


def test_only_the_key_of_a_config_with_a_warning_is_a_secret(tmp_path: Path) -> None:
    written(tmp_path, "providers:\n  a: {kind: anthropic, base_url: 'http://h/v1', api_key: sk-literal-4711}\n", 0o644)
    known = known_secrets({"ASSAY_CONFIG_DIR": str(tmp_path)})
    assert known.hide("anthropic with sk-literal-4711") == "anthropic with [removed key]"
    written(tmp_path, "providers:\n  a: {kind: anthropic, api_key: sk-literal-4711, unknown: [}\n", 0o644)
    known = known_secrets({"ASSAY_CONFIG_DIR": str(tmp_path)})
    assert known.hide("sk-literal-4711") == "[removed key]", "a file that cannot be read"


def test_a_key_that_is_partly_in_the_file_is_warned_about(tmp_path: Path) -> None:
    written(tmp_path, "providers:\n  mine: {base_url: 'http://h/v1', api_key: '${K}-literal'}\n", 0o644)
    (warning,) = load_config(tmp_path, {"K": "a"}).warnings
    assert "contains an API key" in str(warning)
    written(tmp_path, "providers:\n  mine: {base_url: 'http://h/v1', headers: {Authorization: 'Bearer ${K}'}}\n", 0o644)
    assert load_config(tmp_path, {"K": "a-key-of-mine"}).warnings == ()


@pytest.mark.parametrize(
    "environ",
    [
        {"https_proxy": "http://me:secret-word@127.0.0.1:1"},
        {"ALL_PROXY": "http://secret-word-of-twenty@127.0.0.1:1"},
        {"https_proxy": "me:secret-word@127.0.0.1:1"},
        {"ALL_PROXY": "secret-word-of-twenty@127.0.0.1:1"},
        {"ftp_proxy": "ftp://me:secret-word@127.0.0.1:1"},
        {"ASSAY_GIT_CREDENTIALS": "https://a:other@h https://me:secret-word@h"},
        {"GITLAB_TOKEN": "secret-word"},
        {"ASSAY_SSH_PASSPHRASE": "secret-word"},
    ],
)
def test_passwords_of_proxies_and_of_git_are_secrets(tmp_path: Path, environ: dict[str, str]) -> None:
    assert any("secret-word" in value for value in load_config(tmp_path, environ).secrets.values())


def test_parameters_that_are_no_secrets_are_none(tmp_path: Path) -> None:
    header = 'Digest realm="example", algorithm=SHA-256, qop=auth-int, response="d1g3st"'
    written(tmp_path, f"providers:\n  mine: {{base_url: 'http://h/v1', headers: {{X-Auth: '{header}'}}}}\n")
    found = {*load_config(tmp_path, {}).secrets.values()}
    assert "d1g3st" in found
    assert not found & {"example", "SHA-256", "auth-int"}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_in_a_file_that_others_can_read_is_warned_about(tmp_path: Path, mode: int) -> None:
    file = written(tmp_path, "providers:\n  mine: {base_url: 'http://h/v1', api_key: literal-key}\n", mode)
    (warning,) = load_config(tmp_path, {}).warnings
    assert str(warning) == (
        f"{file}:2:3: warning: providers: contains an API key, and other users can read the file (mode {mode:o}). "
        f"Run: chmod 600 {file}"
    )
    written(tmp_path, "providers:\n  mine: {base_url: 'http://h/v1', api_key: '${K}'}\n", mode)
    assert load_config(tmp_path, {}).warnings == ()


PROVIDERS = "agent, anthropic, copilot, llamacpp, lmstudio, local, ollama, openai, openrouter, replay, vllm"
WRONG: list[tuple[str, str, str]] = [
    (
        "modles: {}\n",
        "1:1",
        "modles: unknown key. Did you mean models? Known keys are models, providers, rules, theme, keys, "
        "risk, reviewer, prices, review",
    ),
    ("- a\n", "1:1", "expected a mapping of names to values, got a list"),
    ("theme: [a]\n", "1:8", "theme: expected a single value, got a list"),
    ("theme: 5\n", "1:8", "theme: expected a string; put it in quotes"),
    ("theme: ''\n", "1:8", "theme: expected a string that is not empty"),
    ("theme: ~\n", "1:8", "theme: expected a string that is not empty"),
    ("models: 7\n", "1:9", "models: expected a mapping of names to values, got a single value"),
    ("models: {a: {}}\n", "1:10", "models.a: is missing `id`, the id of the model"),
    ("models: {a: {id: 4.1}}\n", "1:18", "models.a.id: expected a string; put it in quotes"),
    (
        "models: {'a?b': {id: x}}\n",
        "1:10",
        "models.a?b: the name of a variant cannot contain `?` or begin or end with white space",
    ),
    (
        "models: {a: {id: x, temprature: 1}}\n",
        "1:21",
        "models.a.temprature: unknown key. Did you mean temperature? Known keys are provider, id, "
        "temperature, top_p, seed, max_tokens, system, api",
    ),
    ("models: {a: {id: x, temperature: true}}\n", "1:34", "models.a.temperature: is not a number"),
    ("models: {a: {id: x, temperature: '1'}}\n", "1:34", "models.a.temperature: is not a number"),
    ("models: {a: {id: x, temperature: .inf}}\n", "1:34", "models.a.temperature: is not a number"),
    ("models: {a: {id: x, top_p: 2}}\n", "1:28", "models.a.top_p: is not between 0 and 1"),
    ("models: {a: {id: x, seed: 1.5}}\n", "1:27", "models.a.seed: is not a whole number"),
    ("models: {a: {id: x, max_tokens: 0}}\n", "1:33", "models.a.max_tokens: is less than 1 or not below 2^63"),
    ("models: {a: {id: x, api: grpc}}\n", "1:26", "models.a.api: is not chat or responses"),
    ("models: {a: {id: x, system: [a]}}\n", "1:29", "models.a.system: expected a single value, got a list"),
    (
        "models: {a: {id: x, provider: opnai}}\n",
        "1:31",
        f"models.a.provider: unknown provider opnai. Did you mean openai? Providers are {PROVIDERS}",
    ),
    ("models: {a: {id: x}, a: {id: y}}\n", "1:22", "models.a: duplicate key; remove one"),
    (
        "models: {a: {id: x, seed: " + "9" * 5000 + "}}\n",
        "1:27",
        "models.a.seed: a number of 5,000 characters is too long; write a smaller one, or put it in quotes",
    ),
    (
        "models: {a: {id: 2026-13-45}}\n",
        "1:18",
        "models.a.id: is not a valid value; put text in quotes",
    ),
    ("models: {[a]: {id: x}}\n", "1:10", "models: expected a string as name"),
    ("providers: {mine: {}}\n", "1:13", "providers.mine: is missing base_url, for example http://localhost:8080/v1"),
    (
        "providers: {a b: {base_url: 'http://h'}}\n",
        "1:13",
        "providers.a b: the name of a provider can contain only letters, digits, `_`, `-` and `.`",
    ),
    (
        "providers: {mine: {base_url: 'http://h', kind: opnai}}\n",
        "1:48",
        "providers.mine.kind: Did you mean openai? Expected one of openai, local, anthropic, copilot",
    ),
    ("providers: {mine: {base_url: h}}\n", "1:30", "providers.mine.base_url: has no http:// or https:// prefix"),
    (
        "providers: {mine: {base_url: 'http://u:p@h'}}\n",
        "1:30",
        "providers.mine.base_url: contains a user name or password; use api_key instead",
    ),
    (
        "providers: {mine: {base_url: 'http://${H}'}}\n",
        "1:30",
        "providers.mine.base_url: contains a variable; ${NAME} works only in api_key and headers",
    ),
    (
        "providers: {openai: {token_limit: tokens}}\n",
        "1:35",
        "providers.openai.token_limit: Did you mean max_tokens? Expected one of max_tokens, max_completion_tokens",
    ),
    (
        "providers: {openai: {proxy: 'socks5://h'}}\n",
        "1:29",
        "providers.openai.proxy: has no http:// or https:// prefix",
    ),
    (
        "providers: {openai: {api: response}}\n",
        "1:27",
        "providers.openai.api: Did you mean responses? Expected one of chat, responses",
    ),
    (
        "providers: {anthropic: {api: chat}}\n",
        "1:30",
        "providers.anthropic.api: selects one of the OpenAI protocols, and this provider uses none of them",
    ),
    (
        "providers: {mine: {kind: anthropic}}\n",
        "1:13",
        "providers.mine: is missing base_url, for example http://localhost:8080",
    ),
    (
        "providers: {openai: {api_key: 12345}}\n",
        "1:31",
        "providers.openai.api_key: expected a string; put it in quotes",
    ),
    (
        "providers: {openai: {api_key: '${A'}}\n",
        "1:31",
        "providers.openai.api_key: contains a ${ that is not ${NAME}; names have letters, digits and _",
    ),
    (
        "providers: {openai: {headers: {Host: x}}}\n",
        "1:32",
        "providers.openai.headers.Host: is set by Assay; remove it",
    ),
    (
        "providers: {openai: {headers: {'a b': x}}}\n",
        "1:32",
        "providers.openai.headers.a b: is not a valid header name",
    ),
    (
        "providers: {openai: {headers: {X-A: 'é'}}}\n",
        "1:37",
        "providers.openai.headers.X-A: contains a character that is not allowed in a header",
    ),
    ("rules: {gpt-*: nowhere}\n", "1:16", f"rules.gpt-*: unknown provider nowhere. Providers are {PROVIDERS}"),
    (
        "rules: {'a/*': openai}\n",
        "1:9",
        "rules.a/*: rules apply to model ids without a provider, so a rule cannot contain `/`",
    ),
    ("a: [\n", "2:1", "is not valid YAML: expected the node content, but found '<stream end>'"),
    ("a: b: c\n", "1:5", "is not valid YAML: mapping values are not allowed here"),
    ("a: 1\n---\nb: 2\n", "2:1", "is not valid YAML: but found another document"),
    ("a: &x 1\nb: *x\n", "2:4", "aliases (*name) are not supported; repeat the value"),
    ("a: !!python/object:os.system {}\n", "1:4", "tags (!name) are not supported; remove the tag"),
    ("a: \x07\n", "", "is not valid YAML: special characters are not allowed"),
    ("a: " + "[" * 50_000, "1:19", "is nested deeper than 16 levels"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG, ids=[text[:40] for text, _, _ in WRONG])
def test_a_problem_is_reported_with_its_place(tmp_path: Path, text: str, place: str, message: str) -> None:
    assert problems(tmp_path, text) == [f"{place}: error: {message}" if place else f" error: {message}"]


def test_a_literal_key_that_cannot_be_sent_is_not_quoted(tmp_path: Path) -> None:
    (message,) = problems(tmp_path, 'providers: {openai: {api_key: "sk-sécret"}}\n')
    assert message == (
        "1:31: error: providers.openai.api_key: contains a space or a character that is not allowed in a header; copy "
        "the key again"
    )


def test_every_problem_is_reported_at_once_in_the_files_order(tmp_path: Path) -> None:
    text = "theme: 5\nrules: {a: b}\nmodels:\n  x: {id: ''}\nproviders:\n  y: {kind: z}\n"
    assert [message.partition(" error")[0] for message in problems(tmp_path, text)] == [
        "1:8:",
        "2:12:",
        "4:11:",
        "6:3:",
        "6:13:",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: \xff\n", " error: is not UTF-8 (byte 3)"),
        (b"a: b\n" * 100_000, " error: is larger than 256 KiB, the limit for a config file"),
    ],
)
def test_a_file_that_is_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    assert problems(tmp_path, data) == [message]


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(
        ConfigError, match=r"config\.yaml: cannot be read \(Is a directory\)\. Fix or remove the file\."
    ):
        load_config(tmp_path, {})


def test_only_the_limit_of_a_regular_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.touch()
    os.truncate(file, 2**40)
    with pytest.raises(ConfigError, match="is larger than 256 KiB"):
        load_config(tmp_path, {})
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match=r"cannot be read \(not a regular file\)"):
        load_config(tmp_path, {})


def test_keys_of_the_app_are_taken_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("keys: {run.case: g, app.help: 'f1,question_mark'}\n")
    assert load_config(tmp_path, {}).keymap == {"run.case": "g", "app.help": "f1,question_mark"}


def test_prices_are_read(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        "prices:\n  gpt-5.2: {input: 1.75, output: 14}\n"
        "  openrouter/vendor/model:free: {input: 0, output: 0.0, cached: 0.1, cache_writing: 3}\n",
    )
    assert config.prices == {
        "gpt-5.2": Price(1.75, 14.0, "config"),
        "openrouter/vendor/model:free": Price(0.0, 0.0, "config", 0.1, 3.0),
    }


def test_invalid_prices_are_reported_with_their_place(tmp_path: Path) -> None:
    wrong = """\
prices:
  half: {input: 1}
  none: {}
  word: {input: cheap, output: 1}
  low: {input: -1, output: .inf}
  truth: {input: true, output: null}
  much: {input: 1e9, output: .nan}
  odd: {input: 1, output: 2, ouput: 3}
  flat: 3
"""
    usd = "expected a number of USD per million tokens, from 0 to 1,000,000"
    assert problems(tmp_path, wrong) == [
        "2:3: error: prices.half: is missing output (USD per million tokens)",
        "3:3: error: prices.none: is missing input and output (USD per million tokens)",
        f"4:17: error: prices.word.input: {usd}",
        f"5:16: error: prices.low.input: {usd}",
        f"5:28: error: prices.low.output: {usd}",
        f"6:18: error: prices.truth.input: {usd}",
        f"6:32: error: prices.truth.output: {usd}",
        f"7:17: error: prices.much.input: {usd}",
        f"7:30: error: prices.much.output: {usd}",
        "8:30: error: prices.odd.ouput: unknown key. Did you mean output? Known keys are input, output, cached, "
        "cache_writing",
        "9:9: error: prices.flat: expected a mapping of names to values, got a single value",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "headers: {'Authorization: Bearer SECRET1234567': x}",
        "headers: {'X-Key:SECRET1234567': x}",
        "api_key 'SECRET1234567': x",
        "api_key:SECRET1234567: x",
        "'api_key=SECRET1234567': x",
        "KNOWN-SECRET: x",
    ],
)
def test_a_key_in_the_place_of_a_name_is_not_in_the_message(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"providers:\n  mine:\n    base_url: http://h/v1\n    {entry}\n", {"GH_TOKEN": "KNOWN-SECRET"})
    assert "SECRET" not in str(caught.value)
    assert "providers.mine." in str(caught.value)


@pytest.mark.parametrize("text", ["rules: {'*': agent}", "models: {warm: {provider: agent, id: a.py}}"])
def test_the_agent_provider_has_no_models(tmp_path: Path, text: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert "agent is no provider of models" in problem


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        ("X-Extra: Bearer Hd7hQzwxyz99", "Hd7hQzwxyz99"),
        ("X-Extra: Hd7hQzwxyz99", "Hd7hQzwxyz99"),
        ("X-Org: Hd7hQz-1234-wxyz99", "Hd7hQz-1234-wxyz99"),
        ("Portkey-Config: pc-secret", "pc-secret"),
        ("X-Functions: code=aaaabbbb", "aaaabbbb"),
        ("Helicone: Bearer pk-helicone", "pk-helicone"),
        ("X-Team: evaluation", ""),
        ("anthropic-beta: interleaved-thinking-2025-05-14", ""),
        ("anthropic-version: 2023-06-01", ""),
        ("User-Agent: assay-evaluation/2026.11", ""),
    ],
)
def test_a_header_that_looks_like_a_key_is_one(tmp_path: Path, header: str, secret: str) -> None:
    name, _, value = header.partition(": ")
    url = "http://127.0.0.1:1/v1"
    config = loaded(
        tmp_path, f"providers: {{srv: {{kind: openai, base_url: '{url}', headers: {{{name}: '{value}'}}}}}}"
    )
    hidden = Secrets(config.secrets.values()).hide(f"<{value}>")
    assert hidden == f"<{value}>" if not secret else secret not in hidden


@pytest.mark.parametrize(
    ("variable", "value", "is_hidden", "is_warned_of"),
    [
        ("OPENAI_API_KEY", "ollama", False, False),
        ("OPENAI_API_KEY", "Not-Needed", False, False),
        ("OPENAI_API_KEY", "capital", True, True),
        ("OPENAI_API_KEY", "sk-test-4711-secret", True, False),
        ("HTTPS_PROXY", "http://bob:capital@127.0.0.1:1", True, True),
    ],
)
def test_a_key_that_is_a_word_of_answers_is_no_secret_or_warned_of(
    tmp_path: Path, variable: str, value: str, is_hidden: bool, is_warned_of: bool
) -> None:
    config = load_config(tmp_path, {variable: value})
    word = "capital" if "capital" in value else value
    assert (
        Secrets(config.secrets.values()).hide(f"The {word} is Paris.") == "The [removed key] is Paris."
    ) is is_hidden
    assert [variable in str(warning) and "capital" not in str(warning) for warning in config.warnings] == (
        [True] if is_warned_of else []
    )
