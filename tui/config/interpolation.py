"""`${NAME}` in keys and headers: filled from the environment, remembering which values are secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tui.model.servers import variable

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Filled:
    """`text` is None where a variable is missing; `used` maps the variables that were filled in to their values."""

    text: str | None
    used: Mapping[str, str]
    missing: tuple[str, ...]


def fill(text: str, environ: Mapping[str, str]) -> Filled:
    """The text with each `${NAME}` replaced by the value of that variable, without the white space around it."""
    names = dict.fromkeys(_VARIABLE.findall(text))
    values = {name: variable(environ, name) for name in names}
    missing = tuple(name for name, value in values.items() if value is None)
    used = {name: value for name, value in values.items() if value is not None}
    if missing:
        return Filled(None, used, missing)
    return Filled(_VARIABLE.sub(lambda match: used[match[1]], text), used, ())


def has_variable(text: str) -> bool:
    """Whether there is something to fill in."""
    return _VARIABLE.search(text) is not None


def variable_fault(text: str) -> str | None:
    """What is wrong with the way in which variables are written."""
    if "${" in _VARIABLE.sub("", text):
        return "holds a ${ that is no ${NAME}; names have letters, digits and _"
    return None
