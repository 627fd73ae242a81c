"""Validation of the relative paths, repository URLs and branch names that a suite or an answer may contain."""

import re
import unicodedata
from typing import NamedTuple
from urllib.parse import unquote

MOST_PARTS = 32
MOST_BYTES = 255

_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9]|lpt[0-9])")
# Names under which Windows also finds .git, .gitmodules, .gitattributes and .lfsconfig: `git~1`, `gi7eba~1`.
_SHORT_NAME = re.compile(r"(?:git|gitmod|gitatt|lfscon|(?:gi|lf)[0-9a-f]{3,4})~[0-9]+")
# Filters and drivers of `.gitattributes`, and servers of `.lfsconfig`, act when somebody checks the branch out.
_GIT_SETTINGS = (".gitattributes", ".lfsconfig")
_UNSEEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
# Invisible characters that Unicode classifies as letters or marks.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0000-\U000e0fff]")


def path_fault(path: str) -> str | None:
    """Return why a relative path is refused, as a clause that follows `it …`, or None if it is valid.

    The path is relative and uses `/` as separator on every system. The clause never repeats the path.
    """
    if not path:
        return "is empty"
    if path.startswith("~"):
        return "begins with `~`, a home folder"
    if _DRIVE.match(path):
        return "has a drive letter; write it relative to the root"
    if path[0] in "/\\":
        return "is absolute; write it relative to the root"
    if "\\" in path:
        return "has a backslash; write `/` between folders"
    if path.count("/") >= MOST_PARTS:
        return f"has more than {MOST_PARTS} parts"
    return next((fault for part in path.split("/") if (fault := _part_fault(part))), None)


def written_path_fault(path: str) -> str | None:
    """Return why an answer may not write a file, or None: `path_fault`, and files that configure git for others."""
    if fault := path_fault(path):
        return fault
    for part in path.split("/"):
        if (name := _folded(part).rstrip(". ")) in _GIT_SETTINGS:
            return f"has a part that is or looks like `{name}`, which configures git"
    return None


def folded_path(path: str) -> str:
    """Return the path as a file system would compare it that folds case and compatible characters."""
    return "/".join(_folded(part) for part in path.split("/"))


def _part_fault(part: str) -> str | None:
    if not part:
        return "has an empty part (`//`, or `/` at its end)"
    if part == "..":
        return "contains `..`"
    if part == ".":
        return "has a part `.`; remove it"
    if len(part) > MOST_BYTES:
        return f"has a part longer than {MOST_BYTES} bytes"
    if not part.isascii():
        if fault := _unicode_fault(part):
            return fault
    elif not part.isprintable():
        return "has a control character"
    if found := _FORBIDDEN.search(part):
        return f"has the character `{found[0]}`"
    if part[-1] == "." or part[-1].isspace():
        return "has a part that ends with a dot or a space"
    return _name_fault(part)


def _unicode_fault(part: str) -> str | None:
    for character in part:
        if unicodedata.category(character) in _UNSEEN_CATEGORIES or _is_no_character(ord(character)):
            return "has a control or format character"
    if _UNSEEN.search(part):
        return "has an invisible character"
    if len(part.encode()) > MOST_BYTES:
        return f"has a part longer than {MOST_BYTES} bytes"
    return None


def _is_no_character(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _name_fault(part: str) -> str | None:
    """Return a fault of the name as file systems that fold case and compatible characters would read it, or None."""
    for name in re.split(r"[/\\]", _folded(part)):
        if name == "..":
            return "has a part that looks like `..`"
        bare = name.rstrip(". ")
        if bare == ".git":
            return "has a part that is or looks like `.git`"
        if bare == ".gitmodules":
            return "has a part that is or looks like `.gitmodules`"
        if _SHORT_NAME.fullmatch(bare):
            return "has a part that Windows treats as `.git` or `.gitmodules`"
        if _DEVICE.fullmatch(name.partition(".")[0].rstrip(" ")):
            return "has a reserved device name (such as `con`, `nul`, `com1`)"
    return None


def _folded(part: str) -> str:
    if part.isascii():
        return part.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", part).casefold()).replace("ı", "i")
    return "".join(character for character in plain if unicodedata.category(character)[0] != "M")


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_URL_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_SCP = re.compile(r"(?:(?P<user>[^@/\s:]+)@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^:/@\s\[\]]+):(?P<path>[^\s].*)", re.DOTALL)
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200b-\u200f\ufeff\ud800-\udfff]")
_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(?:/|$)|(?:^|/)\.|\.$|/$|^/")
# A user name of this length is a token: servers accept one in its place.
_TOKEN_LENGTH = 16
_FORMS = "use https://…, ssh://… or user@host:path"


class ParsedUrl(NamedTuple):
    """A URL without its secrets: `url` may be shown, stored and passed to git. `host` is empty for a local path."""

    url: str
    scheme: str
    host: str
    username: str | None
    password: str | None

    @property
    def server(self) -> tuple[str, str]:
        """The scheme and the host with its port, if that is not the usual one of the scheme."""
        authority = self.url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()
        return self.scheme, (authority or self.host).removesuffix(_PORTS.get(self.scheme, ":"))


_PORTS = {"https": ":443", "http": ":80", "ssh": ":22"}


def url_fault(url: str) -> str | None:
    """Return why a repository URL is refused, as a clause that follows `it …`, or None if it may be cloned.

    http, file and local paths are valid here: see `needs_consent`.
    """
    if not url:
        return f"is empty; {_FORMS}"
    if _UNPRINTED.search(url) or url != url.strip():
        return "has invisible characters or spaces around it; remove them"
    if url.startswith("-"):
        return f"begins with `-`; {_FORMS}"
    if _HELPER.match(url):
        return f"starts a helper program (`::`); {_FORMS}"
    if scheme := _SCHEME.match(url):
        return _scheme_fault(scheme[1].lower(), url[scheme.end() :])
    return _scp_fault(url) if ":" in url and not _is_local(url) else None


def _is_local(url: str) -> bool:
    return url.startswith(("/", "./", "../", "~", "\\")) or url in (".", "..") or bool(_URL_DRIVE.match(url))


def _scheme_fault(scheme: str, rest: str) -> str | None:
    if scheme not in ("https", "ssh", "http", "file"):
        return f"has a scheme that is not supported; {_FORMS}"
    authority, _, path = rest.partition("/")
    if scheme == "file":
        return None if path else "has no path; write file:///path/to/repository"
    host = authority.rpartition("@")[2]
    if not host or host.startswith((":", "-")) or re.search(r"\s", rest):
        return f"has no valid host name; {_FORMS}"
    port = host.rpartition(":")[2] if ":" in host and not host.endswith("]") else ""
    if port and not (port.isdigit() and port.isascii() and 0 < int(port[:6]) < 65536):
        return "has an invalid port; use a number from 1 to 65535"
    return None if path else "has no path after the host; add the path of the repository"


def _scp_fault(url: str) -> str | None:
    found = _SCP.fullmatch(url)
    if found is None:
        return f"cannot be parsed; {_FORMS}"
    host, path, user = found["host"], found["path"], found["user"]
    if host.startswith("-") or path.startswith("-") or (user or "").startswith("-"):
        return f"has a user, host or path that begins with `-`; {_FORMS}"
    if user or "." in host or host == "localhost" or path.endswith(".git"):
        return None
    return f"has a scheme that is not supported; {_FORMS}"


def needs_consent(url: str) -> bool:
    """Return whether the user has to allow this clone (`--allow-local`): http, file and local paths."""
    return parse_url(url).scheme not in ("https", "ssh")


def parse_url(url: str) -> ParsedUrl:
    """Return the parts of a URL in which `url_fault` found no fault.

    `scheme` is `path` for a local path, `ssh` for the scp form. An ssh URL keeps its user name, which is no secret.
    """
    scheme = _SCHEME.match(url)
    if scheme is None:
        scp = None if _is_local(url) else _SCP.fullmatch(url)
        return ParsedUrl(url, "ssh", scp["host"], scp["user"], None) if scp else ParsedUrl(url, "path", "", None, None)
    name, rest = scheme[1].lower(), url[scheme.end() :]
    if name == "file":
        return ParsedUrl(url, name, "", None, None)
    authority, _, path = rest.partition("/")
    user_part, at, host = authority.rpartition("@")
    user, _, password = user_part.partition(":")
    user_prefix = f"{user}@" if at and name == "ssh" else ""
    bare_host = re.sub(r":\d+$", "", host).strip("[]").lower()
    return ParsedUrl(
        f"{name}://{user_prefix}{host}/{path}", name, bare_host, unquote(user) or None, unquote(password) or None
    )


def url_secrets(url: str) -> tuple[str, ...]:
    """Return the secrets in a URL: the password, and a token in place of the user name."""
    parsed = parse_url(url)
    token = (
        parsed.username if parsed.scheme in ("https", "http") and len(parsed.username or "") >= _TOKEN_LENGTH else None
    )
    return tuple(dict.fromkeys(secret for secret in (parsed.password, token) if secret))


def branch_fault(branch: str) -> str | None:
    """Return why git would refuse a branch name, as a clause that follows `it …`, or None if it is valid."""
    if branch.startswith("-"):
        return "begins with `-`"
    if not branch or branch == "@" or _BAD_REF.search(branch) or _UNPRINTED.search(branch):
        return "has characters that git does not allow in a branch's name"
    return None
