"""Which repository URLs and branch names a suite may give."""

import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_TAKEN = frozenset(("https", "ssh", "http", "file"))
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_SCP = re.compile(r"(?:(?P<user>[^@/\s]+)@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^:/@\s\[\]]+):(?P<path>[^\s].*)")
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200b-\u200f\ufeff\ud800-\udfff]")
_TAKEN_FORMS = "give https://…, ssh://… or user@host:path"
_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(?:/|$)|(?:^|/)\.|\.$|/$|^/")


def url_fault(url: str) -> str | None:
    """Why a repository URL is refused, as a clause that follows `it …`; None when it may be cloned.

    http, file and local paths are fine here: a person is asked about them before the run.
    """
    if _UNPRINTED.search(url) or url != url.strip():
        return "has invisible characters or spaces around it; remove them"
    if url.startswith("-"):
        return f"begins with `-`; {_TAKEN_FORMS}"
    if _HELPER.match(url):
        return f"names a helper program (`::`); {_TAKEN_FORMS}"
    if scheme := _SCHEME.match(url):
        return _scheme_fault(scheme[1].lower(), url[scheme.end() :])
    if url.startswith(("/", "./", "../", "~", "\\")) or url in (".", "..") or _DRIVE.match(url):
        return None
    if ":" in url:
        return _scp_fault(url)
    return None


def _scheme_fault(scheme: str, rest: str) -> str | None:
    if scheme not in _TAKEN:
        return f"has a scheme that is not taken; {_TAKEN_FORMS}"
    authority, _, path = rest.partition("/")
    if scheme == "file":
        return None if path else "names no folder; write file:///path/to/repository"
    host = authority.rpartition("@")[2]
    if not host or host.startswith((":", "-")) or any(character.isspace() for character in rest):
        return f"has no proper host name; {_TAKEN_FORMS}"
    port = host.rpartition(":")[2] if ":" in host and not host.endswith("]") else ""
    if port and not (port.isdigit() and port.isascii() and 0 < int(port[:6]) < 65536):
        return "has a port that is no number from 1 to 65535; mend it"
    return None if path else "names no repository after the host; add its path"


def _scp_fault(url: str) -> str | None:
    found = _SCP.fullmatch(url)
    if found is None:
        return f"cannot be read; {_TAKEN_FORMS}"
    host, path = found["host"], found["path"]
    if host.startswith("-") or path.startswith("-"):
        return f"has a host or path that begins with `-`; {_TAKEN_FORMS}"
    if found["user"] or "." in host or host == "localhost" or path.endswith(".git"):
        return None
    return f"has a scheme that is not taken; {_TAKEN_FORMS}"


def url_password(url: str) -> bool:
    """Whether a password or token stands in the URL."""
    scheme = _SCHEME.match(url)
    authority = url[scheme.end() :].partition("/")[0] if scheme else ""
    return ":" in authority.rpartition("@")[0]


def branch_fault(branch: str) -> str | None:
    """Why git would not take a branch's name, as a clause that follows `it …`; None when it would."""
    if branch.startswith("-"):
        return "begins with `-`"
    if branch == "@" or _BAD_REF.search(branch) or _UNPRINTED.search(branch):
        return "has characters that git does not allow in a branch's name"
    return None
