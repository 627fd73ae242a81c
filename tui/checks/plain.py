"""Patterns that are plain words are found right here: no engine is needed, and nothing could keep it busy."""

import re
from functools import lru_cache

from tui.checks.searches import Matches, Search
from tui.model.results import MOST_SPANS

# Signs that mean themselves in a JavaScript pattern, wherever they stand.
_PLAIN = re.compile(r"[A-Za-z0-9 _@#%&=:;,'\"!<>/~`-]{1,200}")
# Longer texts go to a worker, so that the screen never waits for them.
_LONGEST = 256 * 1024


def find_plain(text: str, search: Search) -> Matches | None:
    """What a worker would find; None where the pattern is not plain, or the text long."""
    if search.engine != "javascript" or len(text) > _LONGEST:
        return None
    words = _words(search.pattern)
    if words is None:
        return None
    spans = [match.span() for match in words.finditer(text, search.start)]
    return Matches(len(spans), tuple(spans[:MOST_SPANS]))


@lru_cache(maxsize=4_096)
def _words(pattern: str) -> re.Pattern[str] | None:
    # Without the `u` flag JavaScript folds no other letter into an ASCII one.
    return re.compile(re.escape(pattern), re.IGNORECASE | re.ASCII) if _PLAIN.fullmatch(pattern) else None
