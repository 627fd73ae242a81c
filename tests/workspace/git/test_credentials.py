"""Which credentials are found, and to whom they go."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tui.model.paths import parse_url
from tui.workspace.git.clone import Credentials, find_credentials
from tui.workspace.git.clone_process import Callbacks, Refused, choose_head

import pygit2  # isort: skip
from pygit2.enums import CredentialType  # isort: skip


def found(url: str, **environ: str) -> tuple[str | None, str | None]:
    credentials = find_credentials(parse_url(url), environ)
    return credentials.username, credentials.password


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        ("https://u:p@host/x", {"ASSAY_GIT_CREDENTIALS": "https://a:b@host"}, ("u", "p")),
        ("https://token@host/x", {}, ("token", "")),
        ("https://host/x", {"ASSAY_GIT_CREDENTIALS": "https://x:y@other https://a:b@host"}, ("a", "b")),
        ("https://host:443/x", {"ASSAY_GIT_CREDENTIALS": "https://a:b@host"}, ("a", "b")),
        ("https://host:8443/x", {"ASSAY_GIT_CREDENTIALS": "https://a:b@host"}, (None, None)),
        ("http://host/x", {"ASSAY_GIT_CREDENTIALS": "https://a:b@host"}, (None, None)),
        ("https://HOST/x", {"ASSAY_GIT_CREDENTIALS": "nonsense https:// https://a:b@host/ignored"}, ("a", "b")),
        ("https://github.com/a/b", {"GITHUB_TOKEN": "t"}, ("x-access-token", "t")),
        ("https://github.com/a/b", {"GH_TOKEN": " t\n"}, ("x-access-token", "t")),
        ("http://github.com/a/b", {"GITHUB_TOKEN": "t"}, (None, None)),
        ("https://github.com.evil.org/a/b", {"GITHUB_TOKEN": "t"}, (None, None)),
        ("https://gitlab.com/a/b", {"GITLAB_TOKEN": "t", "GITHUB_TOKEN": "no"}, ("oauth2", "t")),
        ("file:///x", {"GITHUB_TOKEN": "t"}, (None, None)),
    ],
)
def test_credentials_belong_to_their_host(
    url: str, environ: dict[str, str], expected: tuple[str | None, str | None]
) -> None:
    assert found(url, **environ) == expected


def test_ssh_takes_the_agent_then_key_files(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    for name in ("id_rsa", "id_ed25519"):
        (tmp_path / ".ssh" / name).touch()
    environ = {"HOME": str(tmp_path), "SSH_AUTH_SOCK": "/run/agent", "ASSAY_SSH_PASSPHRASE": "pp"}
    credentials = find_credentials(parse_url("git@host:a/b"), environ)
    assert credentials.agent
    assert [Path(key).name for key in credentials.ssh_keys] == ["id_ed25519", "id_rsa"]
    named = find_credentials(parse_url("ssh://me@host/x"), {"ASSAY_SSH_KEY": "/k"})
    assert (named.username, named.ssh_keys, named.agent) == ("me", ("/k",), False)
    asking = Callbacks(
        {"credentials": credentials.as_json(), "most_bytes": 1, "cpu_s": 60, "url": "ssh://git@host/a/b"}
    )
    url = "ssh://git@host/a/b"
    given = [asking.credentials(url, "git", CredentialType.SSH_KEY) for _ in range(3)]
    assert [type(one) for one in given] == [pygit2.KeypairFromAgent, pygit2.Keypair, pygit2.Keypair]
    with pytest.raises(Refused, match="rejected"):
        asking.credentials(url, "git", CredentialType.SSH_KEY)
    assert isinstance(asking.credentials(url, None, CredentialType.USERNAME), pygit2.Username)


def test_another_host_gets_nothing() -> None:
    known = Credentials("host", "u", "p").as_json()
    asking = Callbacks({"credentials": known, "most_bytes": 1, "cpu_s": 60, "url": "https://host/a"})
    with pytest.raises(Refused, match=r"redirected to evil\.org"):
        asking.credentials("https://evil.org/x", None, CredentialType.USERPASS_PLAINTEXT)
    with pytest.raises(Refused, match="redirected to host:8443; the credentials of host were not sent"):
        asking.credentials("https://host:8443/x", None, CredentialType.USERPASS_PLAINTEXT)
    with pytest.raises(Refused, match="redirected to http://host; the credentials of host were not sent"):
        asking.credentials("http://host/x", None, CredentialType.USERPASS_PLAINTEXT)


def test_another_host_with_a_certificate_is_refused() -> None:
    known = Credentials("host").as_json()
    for url in ("https://host/a", "https://Host:8443/a", "ssh://me@host/a", "me@host:a"):
        asking = Callbacks({"credentials": known, "most_bytes": 1, "cpu_s": 60, "url": url})
        with pytest.raises(pygit2.Passthrough):
            asking.certificate_check(None, True, b"host")
        with pytest.raises(Refused, match=r"the server redirected to evil\.org"):
            asking.certificate_check(None, True, "evil.org")
    asking = Callbacks({"credentials": known, "most_bytes": 1, "cpu_s": 60, "url": "https://[::1]:8443/a"})
    with pytest.raises(pygit2.Passthrough):
        asking.certificate_check(None, True, "::1")


def test_secrets_are_not_in_the_representation() -> None:
    assert "hunter2" not in repr(Credentials("h", "u", "hunter2", passphrase="hunter2"))
    assert Credentials("h", "u", "a", passphrase="b").secrets() == ("a", "b")


def test_a_transfer_that_grows_too_large_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    asking = Callbacks(
        {"credentials": Credentials("h").as_json(), "most_bytes": 100 << 20, "cpu_s": 1e9, "url": "https://h/x"}
    )
    stats = SimpleNamespace(received_objects=1, total_objects=2, received_bytes=1, indexed_deltas=0, total_deltas=0)
    asking.transfer_progress(stats)
    asking.transfer_progress(stats)
    assert len(capsys.readouterr().out.splitlines()) == 1
    stats.received_bytes = (100 << 20) + 1
    with pytest.raises(Refused, match="larger than 100 MiB"):
        asking.transfer_progress(stats)


def head(name: str, oid: str = "1", target: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(name=name, oid=oid, symref_target=target)


def test_the_branch_to_fetch_is_chosen() -> None:
    heads = [head("HEAD", "2", "refs/heads/main"), head("refs/heads/dev", "1"), head("refs/heads/main", "2")]
    assert choose_head(heads, None) == ("refs/heads/main", "main")
    assert choose_head(heads, "dev") == ("refs/heads/dev", "dev")
    assert choose_head([head("HEAD", "1"), *heads[1:]], None) == ("refs/heads/dev", "dev")
    assert choose_head([head("HEAD", "9"), *heads[1:]], None) == ("HEAD", "main")
    assert choose_head([*heads, head("refs/tags/v1")], "v1") == ("refs/tags/v1", "v1")
    with pytest.raises(Refused, match="the repository has no commit"):
        choose_head([], None)
    with pytest.raises(Refused, match="no branch 'x'; available: none"):
        choose_head([], "x")
