"""Which repository URLs, branches, ids and words are taken."""

import pytest

from tui.suites.spelling import suggestion
from tui.suites.urls import branch_fault, url_fault, url_password
from tui.suites.yaml_scalars import plain_scalar

FINE = (
    "https://github.com/username/repo",
    "https://github.com:443/username/repo.git",
    "https://user@example.com/r",
    "HTTPS://example.com/r",
    "https://[::1]/r",
    "https://[::1]:8080/r",
    "git@github.com:username/repo.git",
    "github.com:username/repo",
    "host:repo.git",
    "git@[::1]:repo",
    "ssh://git@github.com/username/repo.git",
    "ssh://git@github.com:22/username/repo.git",
    "http://localhost:8000/r.git",
    "file:///srv/repo.git",
    "/srv/repo",
    "./repo",
    "../repo",
    "repo",
    "folder/repo",
    "C:\\repo",
    "C:/repo",
    "~/repo",
    "..",
)
REFUSED = (
    "git://github.com/x/y",
    "ftp://example.com/r",
    "ext::sh -c id",
    "fd::17",
    "::x",
    "javascript:alert(1)",
    "data:text/plain,x",
    "mailto:a@b",
    "svn+ssh://h/r",
    "git+ssh://h/r",
    "-u/x",
    "--upload-pack=touch x",
    "-oProxyCommand=x:y",
    "https://",
    "https:///r",
    "https://example.com",
    "https://-x/r",
    "ssh://-oProxyCommand=id/r",
    "https://user@/r",
    "https://exa mple.com/r",
    "https://example.com:0/r",
    "https://example.com:99999/r",
    "https://example.com:x/r",
    "file://",
    "https://example.com/r\n",
    " https://example.com/r",
    "https://exam\u200bple.com/r",
    "https://example.com/\x1b[31m",
    "git@-x:y",
    "git@host:-x",
    "git@:x",
    "host:",
)


@pytest.mark.parametrize("url", FINE)
def test_a_url_is_fine(url: str) -> None:
    assert url_fault(url) is None


@pytest.mark.parametrize("url", REFUSED, ids=ascii)
def test_a_url_is_refused(url: str) -> None:
    fault = url_fault(url)
    assert fault
    assert ";" in fault


def test_a_password_in_a_url_is_seen() -> None:
    assert url_password("https://me:sesame@example.com/r")
    assert not url_password("https://me@example.com:443/r")
    assert not url_password("git@example.com:a:b@c")


@pytest.mark.parametrize("branch", ["main", "feature/new-feature", "release-1.0", "日本", "a@b", "v1.2.x"])
def test_a_branch_is_fine(branch: str) -> None:
    assert branch_fault(branch) is None


@pytest.mark.parametrize(
    "branch",
    [
        "-x",
        "a b",
        "a..b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "[a",
        "a\\b",
        "@",
        "a@{1}",
        ".a",
        "a/.b",
        "a.lock",
        "a/",
        "/a",
        "a//b",
        "a.",
        "a\n",
    ],
)
def test_a_branch_is_refused(branch: str) -> None:
    assert branch_fault(branch)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("expectedPattern", "expectedPatterns"), ("TESTCASES", "testCases"), ("test_cases", "testCases"), ("zzz", None)],
)
def test_a_misspelt_key_is_understood(word: str, meant: str | None) -> None:
    assert suggestion(word, ["testCases", "expectedPatterns", "name"]) == meant


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-12", -12),
        ("+12", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("tRue", "tRue"),
        ("yes", "yes"),
        ("y", "y"),
        ("017", "017"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-02-29", "2024-02-29"),
        ("2024-02-29T10:00:00Z", "2024-02-29T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        ("+", "+"),
        (".", "."),
        ("1e", "1e"),
        ("NaN", "NaN"),
        ("١", "١"),
    ],
)
def test_a_word_in_yaml(text: str, value: object) -> None:
    scalar = plain_scalar(text)
    assert scalar.fault == ""
    assert (scalar.value, type(scalar.value)) == (value, type(value))
