"""Which repository URLs and branches are taken, asked about, and refused."""

import pytest

from tui.model.paths import branch_fault, needs_consent, parse_url, url_fault, url_secrets

FREE = """https://github.com/a/b https://github.com/a/b.git HTTPS://Host/x https://user:pw@host/x https://host:8443/x
ssh://git@host/x ssh://host:2222/~/x git@github.com:a/b.git host.example:a/b user@[::1]:x https://[::1]:8080/x
https://[::1]/r https://user@example.com/r github.com:username/repo host:repo.git"""
ASKED = """http://host/x http://user:pw@localhost:80/x file:///srv/x.git /srv/x ./x ../x . .. ~/x x C:\\x C:/x sub/x
http://localhost:8000/r.git"""
REFUSED = """ext::sh fd::17 git://host/x ftp://host/x javascript://x/y git+ssh://host/x https:///x https://host https://
http://:80/x https://host:0/x https://host:99999/x https://host:8a/x https://user@/r https://-x/y
-oProxyCommand=x --upload-pack=x -u/x ssh://-oProxyCommand=x/y git@host:-x -u@host:x git@-host:x git@:x host: file://
data:x mailto:x javascript:alert(1) svn+ssh://h/r ::x transport::https://h/x a@b@c:d"""


@pytest.mark.parametrize("url", FREE.split())
def test_https_and_ssh_are_taken(url: str) -> None:
    assert url_fault(url) is None
    assert not needs_consent(url)


@pytest.mark.parametrize("url", ASKED.split())
def test_http_file_and_paths_are_asked_about(url: str) -> None:
    assert url_fault(url) is None
    assert needs_consent(url)


@pytest.mark.parametrize(
    "url",
    [*REFUSED.split(), "", " https://h/x", "https://h/x\n", "https://h/a b", "https://h/\x1bx", "https://h\u202e/x"],
)
def test_everything_else_is_refused(url: str) -> None:
    assert url_fault(url)


@pytest.mark.parametrize(
    ("url", "bare", "host", "user", "password"),
    [
        ("https://u:p%40w@Host:8443/a/b", "https://Host:8443/a/b", "host", "u", "p@w"),
        ("https://token@host/a", "https://host/a", "host", "token", None),
        ("https://a@b:c@host/x", "https://host/x", "host", "a@b", "c"),
        ("ssh://git:pw@host/a", "ssh://git@host/a", "host", "git", "pw"),
        ("git@host.org:a/b", "git@host.org:a/b", "host.org", "git", None),
        ("http://[::1]:80/x", "http://[::1]:80/x", "::1", None, None),
        ("/srv/a:b@c", "/srv/a:b@c", "", None, None),
        ("file:///srv/x", "file:///srv/x", "", None, None),
    ],
)
def test_secrets_are_taken_out(url: str, bare: str, host: str, user: str | None, password: str | None) -> None:
    parsed = parse_url(url)
    assert (parsed.url, parsed.host, parsed.username, parsed.password) == (bare, host, user, password)


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("https://me:sesame@example.com/r", ("sesame",)),
        ("https://me@example.com:443/r", ()),
        ("https://abcdefgh0123456789@example.com/r", ("abcdefgh0123456789",)),
        ("https://abcdefgh0123456789:x-oauth-basic@example.com/r", ("x-oauth-basic", "abcdefgh0123456789")),
        ("ssh://a-user-with-a-long-name@example.com/r", ()),
        ("git@example.com:a:b@c", ()),
        ("/srv/me:sesame@x", ()),
    ],
)
def test_passwords_and_tokens_are_seen(url: str, secrets: tuple[str, ...]) -> None:
    assert url_secrets(url) == secrets


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
        "",
    ],
)
def test_a_branch_is_refused(branch: str) -> None:
    assert branch_fault(branch)
