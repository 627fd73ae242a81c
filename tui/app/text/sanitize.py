"""Sanitize text that arrives in pieces, and map offsets between the raw and the sanitized text."""

from bisect import bisect_right

from tui.model.sanitize import sanitize_text

_JOINER, _SELECTORS = "\u200d", ("\ufe0e", "\ufe0f")
_UNDECIDED = ("\r", _JOINER, *_SELECTORS)  # their sanitized form depends on the next character
_AFTER_EMOJI = (_JOINER, *_SELECTORS)  # theirs depends on the two characters before, too


class Sanitizer:
    """Sanitize pieces of a text.

    The result equals `sanitize_text` of the whole text, however it is split.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._raw = self._shown = 0
        # From raw offset _ends[i] on, which is sanitized offset _places[i], add _shifts[i] to a raw offset.
        self._ends: list[int] = [0]
        self._places: list[int] = [0]
        self._shifts: list[int] = [0]

    @property
    def raw_length(self) -> int:
        """Return the number of raw code points processed so far, without a held-back one."""
        return self._raw

    def feed(self, raw: str) -> str:
        """Return the sanitized text of the next piece, without a last character that depends on the next one."""
        raw = self._held + raw
        self._held = raw[-1] if raw.endswith(_UNDECIDED) else ""
        return self._take(raw[: len(raw) - len(self._held)])

    def finish(self) -> str:
        """Return the sanitized text of a held-back character, at the end of the text."""
        held, self._held = self._held, ""
        return self._take(held)

    def shown_at(self, offset: int) -> int:
        """Return the sanitized offset of a raw offset; offsets beyond the end are the end."""
        offset = max(0, min(offset, self._raw))
        at = bisect_right(self._ends, offset) - 1
        return offset + self._shifts[at]

    def raw_at(self, shown: int) -> int:
        """Return the raw offset of the code point at a sanitized offset, or of the one that was replaced there."""
        at = bisect_right(self._places, shown) - 1
        raw = shown - self._shifts[at]
        return min(raw, self._ends[at + 1] - 1) if at + 1 < len(self._ends) else raw

    def _take(self, raw: str) -> str:
        if not raw:
            return ""
        if raw.startswith(_AFTER_EMOJI) and self._before:
            shown = sanitize_text(self._before + raw)[len(sanitize_text(self._before)) :]
        else:
            shown = sanitize_text(raw)
        if len(shown) != len(raw) or shown != raw:
            self._map(raw, shown)
        self._raw += len(raw)
        self._shown += len(shown)
        self._before = (self._before + raw)[-2:]
        return shown

    def _map(self, raw: str, shown: str) -> None:
        """Record each offset at which the distance between the raw and the sanitized text changes."""
        at, there = 0, 0
        for number, line in enumerate(raw.split("\r\n")):
            if number:
                self._shift(at + 1, there)  # the CR is removed, the LF remains
                at, there = at + 2, there + 1
            if shown.startswith(line, there):
                at, there = at + len(line), there + len(line)
            else:
                there = self._map_line(line, shown, at, there)
                at += len(line)

    def _map_line(self, line: str, shown: str, at: int, there: int) -> int:
        """Record the offsets of one line, and return the sanitized offset after it.

        A character is kept, replaced by one other character, or replaced by `<U+…>`.
        """
        for place, character in enumerate(line, at + 1):
            if shown[there] == character:
                there += 1
                continue
            length = len(f"<U+{ord(character):04X}>") if shown[there] == "<" else 1
            there += length
            if length > 1:
                self._shift(place, there)
        return there

    def _shift(self, at: int, there: int) -> None:
        self._ends.append(self._raw + at)
        self._places.append(self._shown + there)
        self._shifts.append(self._shown + there - self._raw - at)
