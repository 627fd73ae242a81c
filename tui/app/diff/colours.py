"""The colours of one side of a diff: lexed slice by slice from its beginning, as far as it is looked at."""

from bisect import bisect_right
from collections.abc import Sequence

from tui.app.text.highlight import CodeLexer, LineColours

_SLICE = 60  # lines lexed at once: some milliseconds
_NEAR = 240  # so far ahead of what is known, the way there is lexed before anything is shown
_MOST_WALKED = 40_000  # lines beyond which a guess has to do
_LONGEST_SLICE, _MOST_SPANS = 8_000, 4_000
_MOST_KEPT = 4_000


class SideColours:
    """`lines` are code from its beginning on. A line far down is guessed first, as if the language began there, and
    put right when everything above it has been lexed: only then is it known whether it stands in a long string."""

    def __init__(self, lexer: CodeLexer, lines: Sequence[str]) -> None:
        self._lexer, self._lines = lexer, lines
        self._begins: list[int] = [0]
        self._states: list[tuple[str, ...]] = [()]
        self._walked = 0
        self._exact: dict[int, LineColours] = {}
        self._guessed: dict[int, LineColours] = {}

    def at(self, line: int) -> LineColours:
        """The colours of a line, counted from 0; none while they are not known."""
        found = self._exact.get(line)
        return found if found is not None else self._guessed.get(line, ())

    def work(self, first: int, last: int) -> range | None:
        """Lex one slice more so that these lines (both included) get their colours. Returns the lines that have other
        colours now; None when there is nothing left to do for them."""
        last = min(last, len(self._lines) - 1)
        first = max(0, min(first, last))
        missing = next((line for line in range(first, last + 1) if line not in self._exact), None)
        if missing is None:
            return None
        if missing < self._walked:
            return self._lex_again(missing)
        if missing - self._walked > _NEAR:
            guess = next((line for line in range(missing, last + 1) if line not in self._guessed), None)
            if guess is not None:
                return self._guess(guess)
            if last > _MOST_WALKED:
                return None
        return self._walk(keep_from=first - _SLICE)

    def _walk(self, keep_from: int) -> range:
        start = self._walked
        state = self._states[-1]
        end, colours, after = self._lex(start, state)
        self._walked = end
        self._begins.append(end)
        self._states.append(after or ())
        return self._keep(self._exact, start, colours) if end > keep_from else range(0)

    def _lex_again(self, line: int) -> range:
        at = bisect_right(self._begins, line) - 1
        colours, _ = self._lexer.colours(self._lines[self._begins[at] : self._begins[at + 1]], self._states[at])
        return self._keep(self._exact, self._begins[at], colours)

    def _guess(self, line: int) -> range:
        start = max(0, line - _SLICE // 4)
        colours, _ = self._lexer.colours(self._lines[start : line + _SLICE], ())
        return self._keep(self._guessed, line, colours[line - start :])

    def _lex(self, start: int, state: tuple[str, ...]) -> tuple[int, list[LineColours], tuple[str, ...] | None]:
        """A slice that ends outside of anything that is still open, as far as that can be had cheaply."""
        size = _SLICE
        while True:
            end = min(len(self._lines), start + size)
            colours, after = self._lexer.colours(self._lines[start:end], state)
            if after is not None or end == len(self._lines) or size >= _LONGEST_SLICE:
                return end, colours, after
            if sum(map(len, colours)) > _MOST_SPANS:
                return end, colours, after
            size *= 2

    @staticmethod
    def _keep(known: dict[int, LineColours], start: int, colours: list[LineColours]) -> range:
        if len(known) > _MOST_KEPT:
            known.clear()
        known.update(enumerate(colours, start))
        return range(start, start + len(colours))
