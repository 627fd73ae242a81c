"""What of the person's environment an agent gets to see."""

import pytest

from tui.providers.processes.environ import without_keys

KEPT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/ada",
    "PWD": "/home/ada",
    "OLDPWD": "/",
    "LANG": "C.UTF-8",
    "GIT_AUTHOR_NAME": "Ada",
    "KEYBOARD_LAYOUT": "us",
    "XKEYMAP": "de",
    "HTTPS_PROXY": "http://proxy.example:3128",
    "VIRTUAL_ENV": "/home/ada/.venv",
    "LESSOPEN": "| lesspipe %s",
}
TAKEN = {
    "OPENAI_API_KEY": "x",
    "anthropic_api_key": "x",
    "ANTHROPIC_AUTH_TOKEN": "x",
    "LM_API_TOKEN": "x",
    "GH_TOKEN": "x",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SESSION_TOKEN": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "/x.json",
    "AZURE_STORAGE_CONNECTION_STRING": "x",
    "PGPASSWORD": "x",
    "MYSQL_PWD": "x",
    "DB_PASS": "x",
    "SENTRY_DSN": "x",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "HTTP_AUTHORIZATION": "x",
    "GITHUB_PAT": "x",
    "PROXY": "http://ada:pa55@proxy.example",
    "REDIS": "redis://:pa55@cache.example/0",
    "PLAIN": "sk-abcdef",
    "OTHER": "github_pat_123",
    "JWT": "eyJhbGciOi.eyJzdWIi.sig",
    "GATEWAY": "the value of the config",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_key_is_kept(name: str) -> None:
    assert without_keys(KEPT)[name] == KEPT[name]


@pytest.mark.parametrize("name", TAKEN)
def test_what_looks_like_a_key_or_is_one_is_taken_away(name: str) -> None:
    assert without_keys(TAKEN, ["value of the config"]).get(name) is None


def test_a_secret_too_short_to_be_one_takes_nothing_away() -> None:
    assert without_keys({"LANG": "C.UTF-8"}, ["C", ""]) == {"LANG": "C.UTF-8"}
