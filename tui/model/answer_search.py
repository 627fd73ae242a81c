"""Search in saved answers: the query, what was found, and how far the index is."""

import re
import unicodedata
from typing import NamedTuple

MATCH_START, MATCH_END = "\x02", "\x03"
"""The signs around each match in the context of a hit. They are removed from answers."""
_TERM = re.compile(r'"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+)')
_MOST_TERMS = 20


class AnswerQuery(NamedTuple):
    """The words (of which starts are enough) and phrases that an answer must contain."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """Return words and phrases."""
        return (*self.words, *self.phrases)

    @property
    def needs_scan(self) -> bool:
        """Return whether an index of words cannot answer it.

        A term without a letter or digit (`!=`) is no word, and scripts such as Chinese have no spaces between words.
        """
        return any(
            not any(map(str.isalnum, term)) or any(unicodedata.east_asian_width(sign) in "WF" for sign in term)
            for term in self.terms
        )


def parse_answer_query(text: str) -> AnswerQuery:
    """Parse plain words and "phrases". Every text is valid."""
    words, phrases = [], []
    for match in list(_TERM.finditer(text.replace("\0", " ")))[:_MOST_TERMS]:
        if match["word"]:
            words.append(match["word"])
        elif match["phrase"].strip():
            phrases.append(" ".join(match["phrase"].split()))
    return AnswerQuery(tuple(words), tuple(phrases))


class AnswerHit(NamedTuple):
    """An answer that was found. `verdict` is that of its attempt, `context` a piece of its text with signs around each
    match.
    """

    run: str
    suite: str
    started_at: str
    case: str
    model: str
    repeat: int
    attempt: int
    verdict: str
    context: str


class AnswerHits(NamedTuple):
    """The newest answers that were found; `complete` is false if the search was stopped before it had seen all."""

    hits: tuple[AnswerHit, ...] = ()
    complete: bool = True


class IndexProgress(NamedTuple):
    """The number of results that are in the index, and of those that are saved."""

    indexed: int
    saved: int

    @property
    def is_complete(self) -> bool:
        """Return whether every saved result is in the index."""
        return self.indexed >= self.saved
