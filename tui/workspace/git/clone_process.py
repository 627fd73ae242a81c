"""The program that clones: `serve` reads its order as JSON from stdin and prints a JSON line for each event.

As a separate process it can be ended at any time, whatever the server does, and its memory can be limited.
"""

import json
import os
import sys
import time
from typing import Any, Literal

import pygit2
from pygit2.enums import CredentialType

from tui.model.paths import parse_url

_BETWEEN_S = 0.1
_MOST_NAMED = 10
_CPU_S_PER_MIB = 1.0  # beyond `cpu_s`: ordinary repositories take less than a tenth


class Refused(Exception):
    """The clone ends here; the text says why, `fix` what to do."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


class Callbacks(pygit2.RemoteCallbacks):
    """Reports progress, and sends credentials only to the host that they belong to."""

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__()
        self._url: str = order["url"]
        self._known: dict[str, Any] = order["credentials"]
        self._most_bytes: int = order["most_bytes"]
        self._cpu_s: float = order["cpu_s"]
        self._reported_at = 0.0
        self.ways = list(self._ways())

    def _ways(self) -> Any:
        known = self._known
        if known["agent"]:
            yield CredentialType.SSH_KEY, lambda user: pygit2.KeypairFromAgent(user)
        for key in known["ssh_keys"]:
            yield (
                CredentialType.SSH_KEY,
                lambda user, key=key: pygit2.Keypair(user, None, key, known["passphrase"] or ""),
            )
        if known["password"] is not None:
            yield (
                CredentialType.USERPASS_PLAINTEXT,
                lambda user: pygit2.UserPass(known["username"] or user, known["password"] or ""),
            )

    def credentials(self, url: str, username_from_url: str | None, allowed_types: CredentialType) -> Any:
        """Return the next authentication that the server accepts and that was not tried yet."""
        asking, own = parse_url(url).server, parse_url(self._url).server
        if asking != own:
            target = asking[1] if asking[1] != own[1] else "://".join(asking)
            raise Refused(f"the server redirected to {target}; the credentials of {own[1]} were not sent there")
        user = username_from_url or self._known["username"] or "git"
        if allowed_types & CredentialType.USERNAME and not allowed_types & CredentialType.SSH_KEY:
            return pygit2.Username(user)
        had = len(self.ways)
        for number, (kind, make) in enumerate(self.ways):
            if kind & allowed_types:
                del self.ways[number]
                return make(user)
        what = (
            "the server rejected the credentials"
            if had < len(list(self._ways()))
            else "the server requires authentication"
        )
        raise Refused(what, _WAYS if allowed_types & CredentialType.USERPASS_PLAINTEXT else _SSH_WAYS)

    def certificate_check(self, certificate: None, valid: bool, host: str | bytes) -> bool:
        """Refuse a redirect to another host than that of the URL, which was allowed; leave the rest to libgit2."""
        del certificate, valid
        own, asking = parse_url(self._url).host, (host if isinstance(host, str) else host.decode()).strip("[]").lower()
        if asking != own:
            raise Refused(f"the server redirected to {asking}", _REDIRECT)
        raise pygit2.Passthrough

    def transfer_progress(self, stats: Any) -> None:
        """Report progress at intervals, and stop a clone that exceeds the limits of size and of processor time.

        A few bytes can describe gigabytes, in deltas of deltas.
        """
        if stats.received_bytes > self._most_bytes:
            raise Refused(
                f"the repository is larger than {self._most_bytes >> 20:,} MiB", "Use a smaller depth or repository."
            )
        if time.process_time() > self._cpu_s + stats.received_bytes / (1 << 20) * _CPU_S_PER_MIB:
            raise Refused("the repository takes too much processor time to unpack for its size")
        now = time.monotonic()
        if now - self._reported_at >= _BETWEEN_S:
            self._reported_at = now
            report_progress(stats)


_WAYS = "Set ASSAY_GIT_CREDENTIALS to https://user:token@host, or put user and token into the URL."
_REDIRECT = "Use the URL of the other server in the suite."
_SSH_WAYS = "Add your key to the ssh agent, or set ASSAY_SSH_KEY to its file (and ASSAY_SSH_PASSPHRASE)."


def report(**facts: object) -> None:
    """Print one JSON line for the parent process."""
    print(json.dumps(facts), flush=True)  # noqa: T201


def report_progress(stats: Any) -> None:
    """Print the progress of the transfer."""
    report(
        received_objects=stats.received_objects,
        total_objects=stats.total_objects,
        received_bytes=stats.received_bytes,
        indexed_deltas=stats.indexed_deltas,
        total_deltas=stats.total_deltas,
    )


def clone(order: dict[str, Any]) -> None:
    """Fetch one branch into a new bare repository that has no remote."""
    pygit2.settings.server_connect_timeout = order["connect_timeout_ms"]
    pygit2.settings.server_timeout = order["silence_ms"]
    repository = pygit2.init_repository(order["folder"], bare=True)
    remote = repository.remotes.create_anonymous(order["url"])
    proxy: Literal[True] | None = True if order["proxy"] else None
    asking = Callbacks(order)
    heads = remote.list_heads(callbacks=asking, proxy=proxy)
    source, branch = choose_head(heads, order["branch"])
    spec, depth = f"+{source}:refs/heads/{branch}", order["depth"]
    try:
        remote.fetch([spec], callbacks=Callbacks(order), depth=depth, proxy=proxy)
    except pygit2.GitError as error:
        if not depth or "shallow" not in str(error):
            raise
        report(note="The server does not support shallow clones: the full history was cloned.")
        remote.fetch([spec], callbacks=Callbacks(order), depth=0, proxy=proxy)
    _point_head(repository, branch)
    report(branch=branch)


def _point_head(repository: pygit2.Repository, branch: str) -> None:
    name = f"refs/heads/{branch}"
    commit = repository.references[name].peel(pygit2.Commit)
    repository.references.create(name, commit.id, force=True)  # A branch cannot point to an annotated tag.
    repository.set_head(name)


def choose_head(heads: Any, branch: str | None) -> tuple[str, str]:
    """Return the reference to fetch and the name of the branch that it becomes. Raises Refused."""
    named = {head.name: head for head in heads}
    if branch is not None:
        for kind in ("refs/heads/", "refs/tags/"):
            if kind + branch in named:
                return kind + branch, branch
        there = sorted(name.removeprefix("refs/heads/") for name in named if name.startswith("refs/heads/"))
        more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
        raise Refused(f"no branch {branch!r}; available: {', '.join(there[:_MOST_NAMED]) or 'none'}{more}")
    head = named.get("HEAD")
    if head is None:
        raise Refused("the repository has no commit", "Add a commit, or use another branch.")
    if head.symref_target and head.symref_target in named:
        return head.symref_target, head.symref_target.removeprefix("refs/heads/")
    same = (name for name in sorted(named) if name.startswith("refs/heads/") and named[name].oid == head.oid)
    found = next(same, None)
    return (found, found.removeprefix("refs/heads/")) if found else ("HEAD", "main")


def serve() -> None:
    """Execute the order on stdin. It contains credentials, also in its `environ`, which has the proxies."""
    order = json.loads(sys.stdin.readline())
    os.environ.update(order["environ"])
    try:
        clone(order)
    except Refused as refused:
        report(fault=str(refused), fix=refused.fix)
    except (pygit2.GitError, KeyError, ValueError, OSError, MemoryError) as error:
        report(fault=str(error) or type(error).__name__, raw=True)


if __name__ == "__main__":
    serve()
