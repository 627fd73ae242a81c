"""The built-in servers' small rules."""

from dataclasses import replace

import pytest

from tests.support.plans import suite_of
from tui.model.secrets import REMOVED
from tui.model.servers import (
    KEY_VARIABLES,
    has_password,
    is_loopback,
    model_names,
    query_secrets,
    show_url,
    token_limit_for,
    url_fault,
)
from tui.model.subjects import parameter_from_text
from tui.model.suggest import did_you_mean, nearest

SERVICE_KEY = "ghp_" + "a1" * 12


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost/v1", True),
        ("http://LOCALHOST./v1", True),
        ("http://127.0.0.1:8080", True),
        ("http://127.255.0.9", True),
        ("http://[::1]:1", True),
        ("http://a.localhost", True),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
        ("http://10.0.0.1", False),
        ("http://[::2]", False),
        ("http://[::1", False),
        ("nonsense", False),
        (None, False),
    ],
)
def test_loopback(url: str | None, loopback: bool) -> None:
    assert is_loopback(url) == loopback


def test_urls() -> None:
    assert url_fault("https://h.example:8443/v1?x=y") is None
    assert url_fault("http://[::1]:8080/v1") is None
    assert url_fault("http://h:0/") == "has port 0"
    assert url_fault("http://[::1/") == "is not a URL"
    assert has_password("http://me@h/v1")
    assert not has_password("http://h/v1?mail=a@b")


@pytest.mark.parametrize(
    "name",
    [
        "key", "api_key", "apikey", "api-key", "x-api-key", "apiKey", "APIKEY", "API_KEY", "subscription-key", "key2",
        "authToken", "access_token", "accesstoken", "mytoken", "client_secret", "token", "password", "passwd", "pwd",
        "pass", "auth", "oauth", "Authorization", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "sig",
        "jwt", "code", "api%5Fkey", "token_2", "token[0]", "auth[key]", "cookie",
        "APIKey", "APIkey", "XAPIKey", "SASToken", "JWTToken", "IDToken", "DBPassword", "appkey", "userKey",
        "licensekey",
    ],
)  # fmt: skip
def test_names_of_keys_in_a_query(name: str) -> None:
    assert query_secrets(f"http://h/?{name}=abcdef") == ("abcdef",)


@pytest.mark.parametrize(
    "name",
    [
        "page", "max_tokens", "maxTokens", "token_budget", "keyspace", "keyword", "passenger", "author", "design",
        "signal", "credit", "monkey", "turkey", "encode", "zipcode", "sigma", "authority", "compass", "tokens", "",
        "HTTPKeyword", "KEYSpace", "sortkey", "primarykey",
    ],
)  # fmt: skip
def test_ordinary_names_in_a_query(name: str) -> None:
    assert query_secrets(f"http://h/?{name}=abcdef") == ()


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://h/v1", ()),
        ("http://h/v1?api-version=2&model=x", ()),
        ("http://h/v1?api_key=a%2Bb&x=y#f", ("a+b", "a%2Bb")),
        ("http://[?code=x&access_token=y&sig=", ("x", "y")),
        ("http://h/?x=1;token=abcdef", ("abcdef",)),
        ("http://h/?token=abc;def", ("abc;def", "abc")),
        ("http://h/?x=1&amp;token=abcdef", ("abcdef",)),
        ("http://h/?url=http%3A%2F%2Fh%3Ftoken%3Dabcdef&y=1", ("abcdef",)),
        ("http://h/?authorization=Bearer+abcdef", ("Bearer abcdef", "Bearer+abcdef", "abcdef")),
        (
            "http://h/?auth=Basic%20bWU6YWJjZGVm",
            ("Basic bWU6YWJjZGVm", "Basic%20bWU6YWJjZGVm", "bWU6YWJjZGVm", "abcdef"),
        ),
        (f"http://h/?k={SERVICE_KEY}", (SERVICE_KEY,)),
        (f"http://h/?{SERVICE_KEY}", (SERVICE_KEY,)),
        (f"http://h/?k=a%20%67{SERVICE_KEY[1:]}", (SERVICE_KEY, f"a%20%67{SERVICE_KEY[1:]}", f"a {SERVICE_KEY}")),
        (f"http://h/{SERVICE_KEY}/agent?x=y", (SERVICE_KEY,)),
        (f"http://{SERVICE_KEY}/agent?x=y", ()),
        ("http://h/hf-llama-3-8b-instruct/sk-learn-classifier-agent-2024?m=xai-grok-2-1212-assistant", ()),
        ("http://h/a?m=hf-" + "aB3d" * 8, ("hf-" + "aB3d" * 8,)),
        ("http://h/hook/hf_" + "aBcDeFg" * 4 + "xyzXYZ/agent", ("hf_" + "aBcDeFg" * 4 + "xyzXYZ",)),
        ("http://h/a?m=glpat-Ab3_9xYz12Qw-3RtYuIo", ("glpat-Ab3_9xYz12Qw-3RtYuIo",)),
    ],
)
def test_keys_in_the_query_of_a_url(url: str, found: tuple[str, ...]) -> None:
    assert query_secrets(url) == found


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"http://u:p@h/hook/{SERVICE_KEY}/x?y=z", f"h/hook/{REMOVED}/x"),
        (f"http://h:0/%67{SERVICE_KEY[1:]}", f"http://h:0/{REMOVED}"),
        (f"http://h/x#{SERVICE_KEY}", f"http://h/x#{REMOVED}"),
        (f"ftp://h/{SERVICE_KEY}", f"ftp://h/{REMOVED}"),
        (f"http:/h/{SERVICE_KEY}", f"http:/h/{REMOVED}"),
        ("agents/one.py", "agents/one.py"),
    ],
)
def test_a_faulty_url_is_shown_without_keys(url: str, shown: str) -> None:
    assert show_url(url) == shown


@pytest.mark.parametrize(
    ("agent", "names"),
    [
        (None, ("a", "b")),
        ("agents/one.py", ("agents/one.py",)),
        ("cmd:one --url http://h/?key=abcdef", ("cmd:one --url http://h/?key=abcdef",)),
        ("http://h/agent?x=1&key=abcdef", ("http://h/agent?x=1&key=[removed key]",)),
    ],
)
def test_the_names_of_a_suites_models_or_of_its_agent(agent: str | None, names: tuple[str, ...]) -> None:
    assert model_names(replace(suite_of(models=("a", "b", "a")), agent=agent)) == names


def test_only_openai_itself_knows_the_new_name_of_the_limit() -> None:
    assert token_limit_for("https://api.openai.com/v1/") == "max_completion_tokens"
    assert token_limit_for("https://api.openai.com.example/v1") == "max_tokens"
    assert token_limit_for(None) == "max_tokens"


def test_keys_are_looked_for_in_all_variables_of_the_servers() -> None:
    assert {"OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GH_TOKEN"} <= set(KEY_VARIABLES)


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("0.5", 0.5), ("1e-1", 0.1), ("-1", -1), ("hot", "hot"), ("1_0", "1_0"), ("٣", "٣"), ("", "")],
)
def test_a_parameter_from_text(text: str, value: object) -> None:
    assert parameter_from_text("temperature", text) == value
    assert parameter_from_text("system", text) == text


def test_the_nearest_word() -> None:
    assert nearest("Temprature", ["seed", "temperature"]) == "temperature"
    assert nearest("api-key", ["api_key"]) == "api_key"
    assert nearest("xyz", ["seed"]) is None
    assert did_you_mean("sed", ["seed"]) == "Did you mean seed? "
    assert did_you_mean("xyz", ["seed"]) == ""
