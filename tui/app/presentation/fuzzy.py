"""Fuzzy search in short texts: the start of a text first, then starts of words, then scattered letters.

Textual's matcher tries every placement of the letters: its time is exponential in the length of a title.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from tui.app.presentation.pieces import Piece, Role
from tui.model.sanitize import sanitize_line

_MOST_CHARACTERS = 300
"""The characters of a text that are searched: no list displays more."""

Entry = TypeVar("Entry")


class Kind(IntEnum):
    """How well a word matches a text; the best is the greatest."""

    SCATTERED = 1
    INSIDE = 2
    WORD_STARTS = 3
    START = 4
    WHOLE = 5


class Match(NamedTuple):
    """A match of a word in a text: its kind, the number of gaps between the letters, and their places."""

    kind: Kind
    gaps: int
    places: Sequence[int]


Rank = tuple[int, ...]
"""How well an entry matches a query; smaller is better."""


def fold_case(text: str) -> str:
    """Return a text in lower case, character by character, so that places stay the same."""
    lower = text[:_MOST_CHARACTERS].lower()
    if len(lower) <= _MOST_CHARACTERS and len(lower) == len(text[:_MOST_CHARACTERS]):
        return lower
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text[:_MOST_CHARACTERS])


def match_word(word: str, text: str) -> Match | None:
    """Return the best match of a word in a text, both in lower case; None if its letters are not there in order."""
    at = text.find(word)
    if at == 0:
        return Match(Kind.WHOLE if len(word) == len(text) else Kind.START, 0, range(len(word)))
    inside = at
    while at > 0:
        if not text[at - 1].isalnum():
            return Match(Kind.WORD_STARTS, 0, range(at, at + len(word)))
        at = text.find(word, at + 1)
    if inside > 0:
        return Match(Kind.INSIDE, 0, range(inside, inside + len(word)))
    last = _end_of_letters(word, text)
    if last < 0:
        return None
    starts = _at_word_starts(word, text)
    places = starts or _latest_places(word, text, last)
    gaps = sum(after - before > 1 for before, after in pairwise(places))
    return Match(Kind.WORD_STARTS if starts else Kind.SCATTERED, gaps, places)


def _end_of_letters(word: str, text: str) -> int:
    """Return the place of the last letter if all letters are in the text in order, else -1."""
    place = -1
    for letter in word:
        place = text.find(letter, place + 1)
        if place < 0:
            return -1
    return place


def _latest_places(word: str, text: str, last: int) -> tuple[int, ...]:
    """Return the places of the letters that end at `last`, each as late as possible: they are close together."""
    places, end = [], last + 1
    for letter in reversed(word):
        end = text.rfind(letter, 0, end)
        places.append(end)
    return tuple(reversed(places))


def _at_word_starts(word: str, text: str) -> tuple[int, ...]:
    """Return the places of letters that continue a word of the text or start a later one; empty if there are none."""
    places: list[int] = []
    for letter in word:
        place = places[-1] + 1 if places else 0
        if not places or text[place : place + 1] != letter:
            place = next(
                (
                    at
                    for at in range(place, len(text))
                    if text[at] == letter and (at == 0 or not text[at - 1].isalnum())
                ),
                -1,
            )
        if place < 0:
            return ()
        places.append(place)
    return tuple(places)


def _best_match(word: str, fields: Sequence[str]) -> tuple[int, Match] | None:
    """Return the field in which a word matches best, and the match. Starts of words in the first field are enough."""
    best: tuple[int, Match] | None = None
    for number, field in enumerate(fields):
        match = match_word(word, field)
        if match is not None and (best is None or match.kind > best[1].kind):
            best = number, match
            if match.kind >= Kind.WORD_STARTS:
                break
    return best


def _rank(words: Sequence[str], fields: Sequence[str]) -> Rank | None:
    """Return how well the fields of an entry match; None if a word matches none of them."""
    kind, numbers, gaps = Kind.WHOLE, 0, 0
    for word in words:
        best = _best_match(word, fields)
        if best is None:
            return None
        number, match = best
        kind, numbers, gaps = min(kind, match.kind), numbers + number, gaps + match.gaps
    if len(words) > 1:
        kind = Kind.START if fields[0].startswith(" ".join(words)) else min(kind, Kind.WORD_STARTS)
    return -kind, numbers, gaps, len(fields[0])


def rank_entries(query: str, entries: Sequence[Entry], fields_of: Callable[[Entry], Sequence[str]]) -> list[Entry]:
    """Return the entries that match all words of a query, the best first; equally good ones keep their order.

    `fields_of` returns the fields of an entry in lower case; earlier ones count more. A query that starts the first
    field is better than one whose words do.
    """
    words = fold_case(query).split()
    found: list[tuple[Rank, int]] = []
    for place, entry in enumerate(entries):
        rank = _rank(words, fields_of(entry))
        if rank is not None:
            found.append((rank, place))
    return [entries[place] for _, place in sorted(found)]


def matching_places(query: str, fields: Sequence[str]) -> list[frozenset[int]]:
    """Return for each field of an entry the places of the letters that match a query."""
    places: list[set[int]] = [set() for _ in fields]
    for word in fold_case(query).split():
        if best := _best_match(word, fields):
            places[best[0]].update(best[1].places)
    return list(map(frozenset, places))


@lru_cache(512)
def marked(text: str, places: frozenset[int], role: Role) -> tuple[Piece, ...]:
    """Return a text in pieces, in which the letters at `places` are marked. Each piece is sanitized."""
    pieces: list[Piece] = []
    start, text = 0, text[:_MOST_CHARACTERS]
    for end in range(1, len(text) + 1):
        if end == len(text) or (end in places) != (start in places):
            piece = sanitize_line(f"|{text[start:end]}|", 4 * _MOST_CHARACTERS)[
                1:-1
            ]  # the bars keep spaces at the ends
            pieces.append((piece, "accent" if start in places else role))
            start = end
    return tuple(pieces)
