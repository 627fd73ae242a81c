"""How keys and ids are spelt, and what a misspelt one was meant to be."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from tui.model.sanitize import show_line

ID_PATTERN = r"^[A-Za-z0-9._-]+$"
_LONGEST_GUESSED = 60


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant; case, `_` and `-` do not count."""
    if len(word) > _LONGEST_GUESSED:
        return None
    by_letters = {_letters(candidate): candidate for candidate in known}
    found = get_close_matches(_letters(word), by_letters, n=1, cutoff=0.7)
    return by_letters[found[0]] if found else None


def unknown_key(word: str, known: Iterable[str]) -> str:
    """What to say of a key that is not known and therefore ignored."""
    known = tuple(known)
    meant = suggestion(word, known)
    if meant:
        return f"unknown key, ignored; did you mean `{meant}`?"
    return f"unknown key, ignored; remove it, or use one of: {', '.join(known)}"


def quoted(value: object, limit: int = 60) -> str:
    """A value from the file as it may be shown in a sentence."""
    return f"`{show_line(str(value).replace(chr(10), '␊'), limit)}`"


def _letters(word: str) -> str:
    return re.sub(r"[-_ ]", "", word).lower()
