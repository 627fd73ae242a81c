"""Did you mean: the known word that is nearest to a misspelt one."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a person most likely meant, or None."""
    from difflib import get_close_matches

    by_folded = {item.casefold().replace("-", "_"): item for item in known}
    hits = get_close_matches(word.casefold().replace("-", "_"), by_folded, n=1, cutoff=0.7)
    return by_folded[hits[0]] if hits else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean X? ` with a space after it, or nothing."""
    hit = nearest(word, known)
    return f"Did you mean {hit}? " if hit else ""
