"""The environment of an agent: the user's variables without keys."""

import re
from collections.abc import Collection, Mapping

_TELLING_NAME = re.compile(
    r"KEY(?!BOARD|MAP)|TOKEN|SECRET|PASS(?!AGE|IVE)|_PWD$|CREDENTIAL|AUTH(?!ORS?(_|$))|COOKIE|BEARER"
    r"|CONNECTION_STRING|DSN|_PAT$|WEBHOOK",
    re.IGNORECASE,
)
_TELLING_VALUE = re.compile(
    r"^(sk-|pk-|rk-|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|gsk_|npm_|pypi-|eyJ[\w-]+\.eyJ)"
    r"|://[^/\s:@]*:[^/\s@]+@"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def without_keys(environ: Mapping[str, str], secrets: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that do not look like a key by name or by value and contain none of `secrets`."""
    return {name: value for name, value in environ.items() if not _tells(name, value, secrets)}


def _tells(name: str, value: str, secrets: Collection[str]) -> bool:
    if _TELLING_NAME.search(name) or _TELLING_VALUE.search(value):
        return True
    return any(secret in value for secret in secrets if len(secret) >= 6)
