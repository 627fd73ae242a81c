"""What may be shown to a git server, and to which one: from the URL, the environment, the ssh agent and key files."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tui.model.repository_urls import ParsedUrl, parse_url, url_fault

_HOSTS = {"github.com": ("GITHUB_TOKEN", "GH_TOKEN"), "gitlab.com": ("GITLAB_TOKEN",)}
_KEY_FILES = ("id_ed25519", "id_ecdsa", "id_rsa")
VARIABLE = "ASSAY_GIT_CREDENTIALS"


@dataclass(frozen=True, slots=True)
class Credentials:
    """For one host. `ssh_keys` are private key files; `agent` says that an ssh agent is there."""

    host: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ssh_keys: tuple[str, ...] = ()
    passphrase: str | None = field(default=None, repr=False)
    agent: bool = False

    def as_json(self) -> dict[str, object]:
        """For the process that clones."""
        return asdict(self)

    def secrets(self) -> tuple[str, ...]:
        """What must be seen nowhere."""
        return tuple(value for value in (self.password, self.passphrase) if value)


def find_credentials(url: ParsedUrl, environ: Mapping[str, str]) -> Credentials:
    """What the URL itself holds goes first, then `ASSAY_GIT_CREDENTIALS` (URLs with user and password, as git's
    credential store writes them, with blanks between), then the host's own variable such as `GITHUB_TOKEN`. Each goes
    to the host that it names and to no other."""
    if url.scheme == "ssh":
        return Credentials(
            url.host,
            url.username,
            url.password,
            _ssh_keys(environ),
            environ.get("ASSAY_SSH_PASSPHRASE") or None,
            bool(environ.get("SSH_AUTH_SOCK")),
        )
    if url.scheme not in ("https", "http"):
        return Credentials(url.host)
    if url.username or url.password:
        return Credentials(url.host, url.username, url.password or "")
    for word in environ.get(VARIABLE, "").split():
        stored = parse_url(word) if url_fault(word.rstrip("/") + "/x") is None else None
        if stored and stored.host and _server(stored) == _server(url):
            return Credentials(url.host, stored.username, stored.password or "")
    if url.scheme == "https":
        for name in _HOSTS.get(url.host, ()):
            if token := environ.get(name, "").strip():
                user = "oauth2" if url.host == "gitlab.com" else "x-access-token"
                return Credentials(url.host, user, token)
    return Credentials(url.host)


def _server(url: ParsedUrl) -> tuple[str, str]:
    """The scheme and the host with its port."""
    return url.scheme, url.url.partition("://")[2].partition("/")[0].lower()


def _ssh_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    if named := environ.get("ASSAY_SSH_KEY"):
        return (os.path.expanduser(named),)
    folder = Path(environ.get("HOME") or os.path.expanduser("~")) / ".ssh"
    return tuple(str(folder / name) for name in _KEY_FILES if (folder / name).is_file())
