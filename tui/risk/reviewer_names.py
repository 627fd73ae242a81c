"""Names of reviewers that people cannot tell apart, although they are different names."""

import unicodedata
from collections.abc import Iterable

_LOOK_ALIKES = str.maketrans(
    # Cyrillic, Greek and Armenian letters, in lower case, and the Latin letters that they look like in either case.
    "абвгдекмнорстухіјѕԁԛԝһ" + "αβγδεζηικμνορτυχω" + "օսհոցզ" + "01|ıɡ",
    "a6brgekmhopctyxijsdqwh" + "abydezhikmnoptyxw" + "ouhngq" + "ollig",
)


def look_alikes(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of different names that look the same, each with the first name that looks so.

    Names look the same if they differ in case, spaces, compatibility forms (Unicode NFKC), invisible characters or
    letters of another script.
    """
    first: dict[str, str] = {}
    pairs = []
    for name in dict.fromkeys(names):
        known = first.setdefault(_appearance(name), name)
        if known != name:
            pairs.append((known, name))
    return tuple(pairs)


def looks_like(one: str, other: str) -> bool:
    """Return whether two names are the same or look the same."""
    return _appearance(one) == _appearance(other)


def _appearance(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).casefold()
    visible = (letter for letter in text if not letter.isspace() and unicodedata.category(letter) not in _INVISIBLE)
    return "".join(visible).translate(_LOOK_ALIKES)


_INVISIBLE = ("Cc", "Cf", "Mn", "Me")
