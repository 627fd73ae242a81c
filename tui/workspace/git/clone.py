"""The bare clone of a run: created by a separate process, removed when the run ends."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tui
from tui.model.current_folder import absolute_path
from tui.model.errors import ConsentNeeded, WorkspaceError
from tui.model.paths import ParsedUrl, needs_consent, parse_url, url_fault
from tui.model.sanitize import sanitize_line
from tui.model.secrets import REMOVED, Secrets
from tui.model.suite import RepoClone
from tui.processes.guarded import run_private
from tui.workspace.temporary import sweep_stale, temporary_folder

if TYPE_CHECKING:
    from tui.workspace.git.base import Base

_HOSTS = {"github.com": ("GITHUB_TOKEN", "GH_TOKEN"), "gitlab.com": ("GITLAB_TOKEN",)}
_KEY_FILES = ("id_ed25519", "id_ecdsa", "id_rsa")
VARIABLE = "ASSAY_GIT_CREDENTIALS"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials for one host. `ssh_keys` are private key files; `agent` says that an ssh agent is running."""

    host: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ssh_keys: tuple[str, ...] = ()
    passphrase: str | None = field(default=None, repr=False)
    agent: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the credentials as JSON for the cloning process."""
        return asdict(self)

    def secrets(self) -> tuple[str, ...]:
        """Return the values that must not be shown."""
        return tuple(value for value in (self.password, self.passphrase) if value)


def find_credentials(url: ParsedUrl, environ: Mapping[str, str]) -> Credentials:
    """Return the credentials for the host of a URL; they are sent to no other host.

    The URL itself comes first, then `ASSAY_GIT_CREDENTIALS` (URLs with user and password, as in git's credential
    store, separated by blanks), then the host's own variable such as `GITHUB_TOKEN`.
    """
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
        if stored and stored.host and stored.server == url.server:
            return Credentials(url.host, stored.username, stored.password or "")
    if url.scheme == "https":
        for name in _HOSTS.get(url.host, ()):
            if token := environ.get(name, "").strip():
                user = "oauth2" if url.host == "gitlab.com" else "x-access-token"
                return Credentials(url.host, user, token)
    return Credentials(url.host)


def _ssh_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    if named := environ.get("ASSAY_SSH_KEY"):
        return (os.path.expanduser(named),)
    folder = Path(environ.get("HOME") or os.path.expanduser("~")) / ".ssh"
    return tuple(str(folder / name) for name in _KEY_FILES if (folder / name).is_file())


CLONE_S = 600.0
_CONNECT_MS, _SILENCE_MS = 15_000, 60_000
_MOST_BYTES, _MOST_MEMORY = 2 << 30, 4 << 30
_CPU_S = 30.0  # of processor time for a repository of any size; larger ones get more
_LONGEST_LINE = 1 << 20
_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|USERPROFILE|SYSTEMROOT|TEMP|TMP|TMPDIR|LANG|LC_\w+|SSH_AUTH_SOCK|SSL_CERT_(FILE|DIR)",
    re.IGNORECASE,
)
_PROXIES = re.compile(r"(https?|no|all)_proxy", re.IGNORECASE)  # may contain passwords
_PROGRAM = Path(__file__).with_name("clone_process.py")


@dataclass(frozen=True, slots=True)
class CloneProgress:
    """The progress of a clone. Totals are 0 until the server has sent them; deltas are resolved last."""

    received_objects: int = 0
    total_objects: int = 0
    received_bytes: int = 0
    indexed_deltas: int = 0
    total_deltas: int = 0


@dataclass(frozen=True, slots=True)
class Clone:
    """A bare repository on disk and the commit to start from.

    `url` has no secrets; `notes` are sentences for the user; `kept` says that the folder will stay.
    """

    folder: Path
    base: "Base"
    url: str
    branch: str
    notes: tuple[str, ...] = ()
    kept: bool = False


def _ignore(_progress: CloneProgress) -> None:
    pass


@asynccontextmanager
async def cloned(
    repo_clone: RepoClone,
    *,
    relative_to: Path | None = None,
    allow_local: bool = False,
    environ: Mapping[str, str] | None = None,
    progress: Callable[[CloneProgress], None] = _ignore,
    limit_s: float = CLONE_S,
) -> AsyncIterator[Clone]:
    """Clone a repository for the duration of the block; then remove its folder, unless `keep_temp_dir` is set.

    A relative path in the URL is relative to `relative_to`. `progress` is called in the event loop, at most ten times
    a second. Cancelling ends the clone at once. Raises WorkspaceError, and ConsentNeeded for http, file and local
    paths without `allow_local`.
    """
    environ = os.environ if environ is None else environ
    url = _checked(repo_clone, allow_local, relative_to or Path())
    await asyncio.to_thread(sweep_stale)
    async with temporary_folder(keep=repo_clone.keep_temp_dir) as folder:
        place = folder / "repository.git"
        output = await _fetch(repo_clone, url, place, environ, progress, limit_s)
        base = await asyncio.to_thread(_open, place, url.url)
        try:
            yield Clone(place, base, url.url, output.branch, tuple(output.notes), repo_clone.keep_temp_dir)
        finally:
            base.repository.free()


def _open(place: Path, title: str) -> "Base":
    from tui.workspace.git.base import open_base

    return open_base(place, title)


def _checked(repo_clone: RepoClone, allow_local: bool, relative_to: Path) -> ParsedUrl:
    if REMOVED in repo_clone.url:
        what = "the repository URL contained a key, which was not saved with the run"
        raise WorkspaceError(what, where=sanitize_line(repo_clone.url), fix="Start a new run.")
    if (fault := url_fault(repo_clone.url)) is not None:
        raise WorkspaceError(
            f"the repository URL is not allowed: it {fault}", where=sanitize_line(parse_url(repo_clone.url).url)
        )
    url = parse_url(repo_clone.url)
    if needs_consent(repo_clone.url) and not allow_local:
        raise ConsentNeeded(
            f"the clone of {sanitize_line(url.url)} does not use https or ssh", fix="To allow it, add --allow-local."
        )
    if url.scheme == "path":
        return url._replace(url=str(absolute_path(relative_to / os.path.expanduser(url.url))))
    return url


class _CloneOutput:
    """The parsed output of the cloning process."""

    def __init__(self, progress: Callable[[CloneProgress], None]) -> None:
        self._progress, self._buffer = progress, bytearray()
        self.notes: list[str] = []
        self.branch = ""
        self.fault: dict[str, Any] | None = None
        self.stray = ""

    def take(self, data: bytes) -> None:
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = rest if len(rest) < _LONGEST_LINE else bytearray()
        for line in lines:
            self._take_line(line.decode("utf-8", "replace"))

    def _take_line(self, line: str) -> None:
        try:
            report = json.loads(line)
        except ValueError:
            report = None
        if not isinstance(report, dict):
            self.stray = line or self.stray
        elif "received_bytes" in report:
            self._progress(CloneProgress(**report))
        elif "note" in report:
            self.notes.append(report["note"])
        elif "fault" in report:
            self.fault = report
        else:
            self.branch = report.get("branch", "")


def _select(environ: Mapping[str, str], names: re.Pattern[str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if names.fullmatch(name)}


async def _fetch(
    repo_clone: RepoClone,
    url: ParsedUrl,
    place: Path,
    environ: Mapping[str, str],
    progress: Callable[[CloneProgress], None],
    limit_s: float,
) -> _CloneOutput:
    credentials = find_credentials(url, environ)
    order = {
        "url": url.url,
        "folder": str(place),
        "branch": repo_clone.branch,
        "depth": max(repo_clone.depth, 0),
        "credentials": credentials.as_json(),
        "environ": _select(environ, _PROXIES),
        "proxy": url.scheme in ("https", "http") and url.host not in ("localhost", "127.0.0.1", "::1"),
        "connect_timeout_ms": _CONNECT_MS,
        "silence_ms": _SILENCE_MS,
        "most_bytes": _MOST_BYTES,
        "cpu_s": _CPU_S,
    }
    output = _CloneOutput(progress)
    passed = _select(environ, _PASSED_ON) | {"PYTHONPATH": str(Path(tui.__file__).parent.parent)}
    try:
        async with asyncio.timeout(limit_s):
            line = json.dumps(order).encode() + b"\n"
            status = await run_private(_PROGRAM, passed, place.parent, output.take, line, memory_bytes=_MOST_MEMORY)
    except TimeoutError:
        what = f"the clone did not finish within {limit_s:,.0f} s"
        raise WorkspaceError(what, where=sanitize_line(url.url), fix="Use a smaller depth or repository.") from None
    except OSError as error:
        raise WorkspaceError(f"cannot start the clone ({error})", where=sanitize_line(url.url)) from error
    if output.fault is not None or status != 0 or not output.branch:
        raise _error(output, status, url, Secrets(credentials.secrets()))
    return output


def _error(output: _CloneOutput, status: int, url: ParsedUrl, secrets: Secrets) -> WorkspaceError:
    where = sanitize_line(url.url)
    if output.fault is None:
        stray = f": {sanitize_line(secrets.hide(output.stray))}" if output.stray else ""
        return WorkspaceError(f"the clone process failed (status {status}){stray}", where=where)
    text = sanitize_line(secrets.hide(str(output.fault["fault"])))
    if not output.fault.get("raw"):
        return WorkspaceError(f"cannot clone the repository: {text}", where=where, fix=output.fault.get("fix", ""))
    for pattern, what, fix in _KNOWN:
        if re.search(pattern, text, re.IGNORECASE):
            return WorkspaceError(f"cannot clone the repository: {what} ({text})", where=where, fix=fix)
    return WorkspaceError(f"cannot clone the repository ({text})", where=where)


_KNOWN = (
    (r"resolve address|name or service", "unknown host", "Check the URL and the network."),
    (r"failed to connect|refused", "connection refused", "Check the URL, and that the server is running."),
    (r"timed out|timeout", "the server timed out", "Try again later."),
    (r"status code: 40[13]|authentication|auth", "authentication failed", "Check the user and the token."),
    (r"object not found", "the repository lacks objects", "It is damaged or a partial copy; clone another one."),
    (r"code: 404|not found|no such|could not find|does not exist", "repository not found", "Check the URL."),
    (r"hostkey|host key|known_hosts|certificate", "the identity of the server cannot be verified",
     "For ssh, connect to the host once with ssh to save its key; for https, check its certificate."),
)  # fmt: skip
