"""Parts of a YAML document while it is read: what is open, what is complete, and how much it weighs."""

from dataclasses import dataclass

from tui.documents.positions import OpenBranch, Tree
from tui.model.values import JsonValue


@dataclass(slots=True)
class OpenNode(OpenBranch):
    """An object or list that is being read; `size` and `letters` are of all that is in it, `height` its levels."""

    anchor: str | None = None
    size: int = 1
    letters: int = 0
    height: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    """A value that is complete, with its weight; what an alias stands for."""

    value: JsonValue
    tree: Tree
    size: int = 1
    letters: int = 0
    height: int = 0


def copied(value: JsonValue) -> JsonValue:
    """The value again, so that two places of a suite share nothing that could change."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
