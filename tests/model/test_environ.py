"""What of the person's environment an agent gets to see."""

import base64

import pytest

from tui.model.environ import without_keys

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
    "PYTHONPATH": "/home/ada/sk-learn:/home/ada/src",
    "LC_ALL": "de_DE.UTF-8",
    "LS_COLORS": "rs=0:di=01;34:*.tar=01;31",
    "XDG_SESSION_ID": "3",
    "PIP_INDEX_URL": "https://mirror.example:8443/@team/simple",
    "OPENAI_BASE_URL": "https://gateway.example/v1?api-version=2",
    "PIP_EXTRA_INDEX_URL": "https://mirror.example:8443/npm/@team/simple",
    "SEARCH": "https://search.example/?q=word&page=2",
    "EDITOR": "vim -c 'set noswapfile'",
    "SHLVL": "2",
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
    "GATEWAY_AS_BASE64": base64.b64encode(b"the value of the config").decode(),
    "GATEWAY_AS_BASIC": "Login " + base64.b64encode(b"user:the value of the config").decode(),
    "GATEWAY_IN_URL": "https://x/?v=the%20value+of+the+config",
    "SMTP_PW": "x",
    "DB_PWD1": "x",
    "GOOGLE_CREDS": "x",
    "STRIPE_SK": "x",
    "STRIPE": "sk_live_abcdef",
    "SLACK_HOOK": "x",
    "SLACK": "https://hooks.slack.com/services/T0/B0/xyz",
    "NETRC": "/home/ada/.netrc",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Team: x",
    "CUSTOM": "Authorization: Bearer zz9Tokenvalue",
    "CURL_OPTIONS": "-H Accept:Bearer ghp_abcdefghijklmnop",
    "CURL_HEADER_ONLY": "-H 'bearer zz9Tokenvalue'",
    "DATABASE_URL": "postgres://u:p/w@h/d",
    "DATABASE": "Server=h;Uid=u;Pwd=x",
    "QUEUE": "redis://:p@ss@h",
    "REPOSITORY": "https://abcdefghijklmnopqrstu@example.org/x.git",
    "MAPS": "https://maps.example/?v=1&key=x",
    "PROXY_WITH_SLASH": "http://u:123/S3CR@h:1",
    "STORAGE": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0c2VjcmV0==",
    "SIGNED": "https://h.example/x?X-Amz-Signature=0123456789abcdef",
    "JSON_PWD": '{"pwd":"secret"}',
    "KUBE": '{"client-key-data":"c2VjcmV0c2VjcmV0"}',
    "SETTINGS": '{"host": "h", "password": "x"}',
    "REPLICATE": "r8_" + "aB" * 18 + "c",
    "ENDPOINT": "https://hook.example/csk-" + "a1" * 24,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_key_is_kept(name: str) -> None:
    assert without_keys(KEPT)[name] == KEPT[name]


@pytest.mark.parametrize("name", TAKEN)
def test_what_looks_like_a_key_or_is_one_is_taken_away(name: str) -> None:
    assert without_keys(TAKEN, ["value of the config"]).get(name) is None


def test_a_secret_too_short_to_be_one_takes_nothing_away() -> None:
    assert without_keys({"LANG": "C.UTF-8"}, ["C", ""]) == {"LANG": "C.UTF-8"}
