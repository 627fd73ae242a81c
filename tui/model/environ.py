"""The environment of the programs that Assay starts: the user's variables without keys."""

import re
from collections.abc import Collection, Mapping

from tui.model.secrets import URL_WITH_PASSWORD, Secrets, service_keys

_KEY_NAME = re.compile(
    r"KEY(?!BOARD|MAP)|TOKEN|SECRET|PASS(?!AGE|IVE)|CRED|AUTH(?!ORS?(_|$))|COOKIE|BEARER|JWT|PRIVATE|HOOK|NETRC"
    r"|CONN(ECTION)?_?STR|DSN|HEADERS?(_|$)|_PAT$|_(SK|PSK|SAS|SIG)(_|\d*$)|.(?<!^OLD)PWD?\d*$",
    re.IGNORECASE,
)
_KEY_VALUE = re.compile(
    # The beginning of a key of a known service, as the value or as a word in it.
    r"(?:^|[\s\"'`=:,;({\[])(sk[-_]|pk[-_]|rk[-_]|whsec_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\."
    r"|hf_|gsk_|xai-|nvapi-|pplx-|npm_|pypi-|dop_v1_|shpat_|SG\.|hvs\.|eyJ[\w-]+\.eyJ)"
    r"|(?i:\b(bearer|basic)\s+[\w+/.~=-]{8})"
    r"|(?i:authorization|api[-_]?key|access[-_]?key|token|secret|passw(or)?d|[;,{\s\"']pwd)[\"']?\s*[=:]\s*\S"
    r"|(?i:[a-z_-]key(-data)?[\"']?\s*[=:]\s*[\"']?[^\s\"']{6})"
    # A user with a password, or a token as the user; a key in a query or in a web hook.
    rf"|{URL_WITH_PASSWORD}|://[^/\s:@]{{20,}}@|[?&](?i:[\w.-]*(key|sig|token|secret|pass|pwd|cred|auth)[\w-]*|code)="
    r"|hooks\.slack\.com/|discord(app)?\.com/api/webhooks/|webhook\.office\.com/|api\.telegram\.org/bot"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def without_keys(environ: Mapping[str, str], secrets: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that do not look like a key by name or by value and contain none of `secrets`."""
    known = Secrets(secrets)
    return {
        name: value
        for name, value in environ.items()
        if not (_KEY_NAME.search(name) or _KEY_VALUE.search(value) or service_keys(value) or known.occur_in(value))
    }
