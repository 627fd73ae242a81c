"""Suggestions for misspelt words."""

import re
from collections.abc import Iterable

_LONGEST = 60


def nearest(word: str, known: Iterable[str], similarity: float = 0.7) -> str | None:
    """Return the known word that is closest to the given one, or None if none is close.

    Case, blanks, `_` and `-` are ignored. `similarity` is the minimal ratio of equal letters, from 0 to 1; short words
    need a lower one.
    """
    if len(word) > _LONGEST:
        return None
    # Loading difflib costs more than a correct file needs.
    from difflib import get_close_matches

    by_letters = {_letters(candidate): candidate for candidate in known}
    found = get_close_matches(_letters(word), by_letters, n=1, cutoff=similarity)
    return by_letters[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `Did you mean X? ` with a trailing space, or an empty string."""
    meant = nearest(word, known)
    return f"Did you mean {meant}? " if meant else ""


def _letters(word: str) -> str:
    return re.sub(r"[-_ ]", "", word).casefold()
