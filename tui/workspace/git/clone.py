"""One bare clone for a run: made in a process of its own, gone when the run ends."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tui
from tui.model.errors import ConsentNeeded, WorkspaceError
from tui.model.paths import ParsedUrl, needs_consent, parse_url, url_fault
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.suite import RepoClone
from tui.workspace.commands import run_guarded
from tui.workspace.temporary import sweep_stale, temporary_folder

if TYPE_CHECKING:
    from tui.workspace.git.base import Base

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


CLONE_S = 600.0
_CONNECT_MS, _SILENCE_MS = 15_000, 60_000
_MOST_BYTES, _MOST_MEMORY = 2 << 30, 4 << 30
_MOST_SAID = 1 << 20
_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|USERPROFILE|SYSTEMROOT|TEMP|TMP|TMPDIR|LANG|LC_\w+|SSH_AUTH_SOCK|SSL_CERT_(FILE|DIR)"
    r"|(https?|no|all)_proxy",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CloneProgress:
    """How far a clone is. Totals are 0 until the server has told them; deltas are worked through last."""

    received_objects: int = 0
    total_objects: int = 0
    received_bytes: int = 0
    indexed_deltas: int = 0
    total_deltas: int = 0


@dataclass(frozen=True, slots=True)
class Clone:
    """A bare repository on disk and the commit to start from. `url` has no secrets; `notes` are sentences to show;
    `kept` says that the folder will stay."""

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
    wanted: RepoClone,
    *,
    relative_to: Path | None = None,
    allow_local: bool = False,
    environ: Mapping[str, str] | None = None,
    progress: Callable[[CloneProgress], None] = _ignore,
    limit_s: float = CLONE_S,
) -> AsyncIterator[Clone]:
    """The clone, for as long as the block runs; then its folder is removed, unless `keep_temp_dir` is set.

    A relative path of the URL is relative to `relative_to`. `progress` is called in the event loop, at most ten times
    a second. Cancelling ends the clone at once. Raises WorkspaceError, and ConsentNeeded for http, file and local
    paths without `allow_local`.
    """
    environ = os.environ if environ is None else environ
    url = _checked(wanted, allow_local, relative_to or Path())
    await asyncio.to_thread(sweep_stale)
    with temporary_folder(keep=wanted.keep_temp_dir) as folder:
        place = folder / "repository.git"
        said = await _fetch(wanted, url, place, environ, progress, limit_s)
        base = await asyncio.to_thread(_open, place, url.url)
        try:
            yield Clone(place, base, url.url, said.branch, tuple(said.notes), wanted.keep_temp_dir)
        finally:
            base.repository.free()


def _open(place: Path, title: str) -> "Base":
    from tui.workspace.git.base import open_base

    return open_base(place, title)


def _checked(wanted: RepoClone, allow_local: bool, relative_to: Path) -> ParsedUrl:
    if (fault := url_fault(wanted.url)) is not None:
        raise WorkspaceError(
            f"the repository's URL is refused: it {fault}", where=sanitize_line(parse_url(wanted.url).url)
        )
    url = parse_url(wanted.url)
    if needs_consent(wanted.url) and not allow_local:
        raise ConsentNeeded(
            f"cloning {sanitize_line(url.url)} is not over https or ssh", fix="Add --allow-local to allow it."
        )
    if url.scheme == "path":
        return url._replace(url=str((relative_to / os.path.expanduser(url.url)).absolute()))
    return url


class _Said:
    """What the cloning process has told so far."""

    def __init__(self, progress: Callable[[CloneProgress], None]) -> None:
        self._progress, self._buffer = progress, bytearray()
        self.notes: list[str] = []
        self.branch = ""
        self.fault: dict[str, Any] | None = None
        self.stray = ""

    def take(self, data: bytes) -> None:
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = rest if len(rest) < _MOST_SAID else bytearray()
        for line in lines:
            self._take_line(line.decode("utf-8", "replace"))

    def _take_line(self, line: str) -> None:
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            self.stray = line or self.stray
        elif "received_bytes" in told:
            self._progress(CloneProgress(**told))
        elif "note" in told:
            self.notes.append(told["note"])
        elif "fault" in told:
            self.fault = told
        else:
            self.branch = told.get("branch", "")


async def _fetch(
    wanted: RepoClone,
    url: ParsedUrl,
    place: Path,
    environ: Mapping[str, str],
    progress: Callable[[CloneProgress], None],
    limit_s: float,
) -> _Said:
    credentials = find_credentials(url, environ)
    order = {
        "url": url.url,
        "folder": str(place),
        "branch": wanted.branch,
        "depth": max(wanted.depth, 0),
        "credentials": credentials.as_json(),
        "proxy": url.scheme in ("https", "http") and url.host not in ("localhost", "127.0.0.1", "::1"),
        "connect_timeout_ms": _CONNECT_MS,
        "silence_ms": _SILENCE_MS,
        "most_bytes": _MOST_BYTES,
        "most_memory": _MOST_MEMORY,
    }
    said = _Said(progress)
    words = (sys.executable, "-P", "-m", "tui.workspace.git.cloning")
    passed = {name: value for name, value in environ.items() if _PASSED_ON.fullmatch(name)}
    passed["PYTHONPATH"] = str(Path(tui.__file__).parent.parent)
    try:
        async with asyncio.timeout(limit_s):
            stdin = json.dumps(order).encode() + b"\n"
            status = await run_guarded(words, passed, place.parent, said.take, stdin=stdin)
    except TimeoutError:
        what = f"the clone did not finish within {limit_s:,.0f} s"
        raise WorkspaceError(what, where=sanitize_line(url.url), fix="Use a smaller depth or repository.") from None
    except OSError as error:
        raise WorkspaceError(f"the clone cannot be started ({error})", where=sanitize_line(url.url)) from error
    if said.fault is not None or status != 0 or not said.branch:
        raise _error(said, status, url, Secrets(credentials.secrets()))
    return said


def _error(said: _Said, status: int, url: ParsedUrl, secrets: Secrets) -> WorkspaceError:
    where = sanitize_line(url.url)
    if said.fault is None:
        stray = f": {sanitize_line(secrets.hide(said.stray))}" if said.stray else ""
        return WorkspaceError(f"the clone broke off (status {status}){stray}", where=where)
    text = sanitize_line(secrets.hide(str(said.fault["fault"])))
    if not said.fault.get("raw"):
        return WorkspaceError(f"the repository cannot be cloned: {text}", where=where, fix=said.fault.get("fix", ""))
    for pattern, what, fix in _KNOWN:
        if re.search(pattern, text, re.IGNORECASE):
            return WorkspaceError(f"the repository cannot be cloned: {what} ({text})", where=where, fix=fix)
    return WorkspaceError(f"the repository cannot be cloned ({text})", where=where)


_KNOWN = (
    (r"resolve address|name or service", "its host is not known", "Check the URL and the network."),
    (r"failed to connect|refused", "nobody answers there", "Check the URL, and that the server is running."),
    (r"timed out|timeout", "the server stopped answering", "Try again later."),
    (r"status code: 40[13]|authentication|auth", "the server did not let us in", "Check the user and the token."),
    (r"code: 404|not found|no such|could not find|does not exist", "there is no such repository", "Check the URL."),
    (r"hostkey|host key|known_hosts|certificate", "the server could not prove who it is",
     "For ssh, connect to it once with ssh to learn its key; for https, check its certificate."),
)  # fmt: skip
