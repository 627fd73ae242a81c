"""Sanitize text that arrives in pieces, and map offsets between the raw and the shown text."""

from bisect import bisect_right

from tui.model.sanitize import sanitize_text

_JOINER = "\u200d"
_UNDECIDED = ("\r", _JOINER)  # how these are shown depends on what follows


class Sanitizer:
    """Sanitize pieces of a text; the result equals `sanitize_text` of the whole, however it is split."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._raw = self._shown = 0
        # From raw offset _ends[i] on, which is shown at _places[i], shown offset = raw offset + _shifts[i].
        self._ends: list[int] = [0]
        self._places: list[int] = [0]
        self._shifts: list[int] = [0]

    @property
    def raw_length(self) -> int:
        """Code points that came in and are shown; what is held back does not count yet."""
        return self._raw

    def feed(self, raw: str) -> str:
        """Return the text to show for the next piece. A last character that depends on the next one is held back."""
        raw = self._held + raw
        self._held = raw[-1] if raw.endswith(_UNDECIDED) else ""
        return self._take(raw[: len(raw) - len(self._held)])

    def finish(self) -> str:
        """Return the text that was held back, as nothing follows."""
        held, self._held = self._held, ""
        return self._take(held)

    def shown_at(self, offset: int) -> int:
        """Return the shown offset of a raw offset; offsets beyond the end are the end."""
        offset = max(0, min(offset, self._raw))
        at = bisect_right(self._ends, offset) - 1
        return offset + self._shifts[at]

    def raw_at(self, shown: int) -> int:
        """Return the raw offset of the code point that is shown, as itself or as its replacement, at a shown offset."""
        at = bisect_right(self._places, shown) - 1
        raw = shown - self._shifts[at]
        return min(raw, self._ends[at + 1] - 1) if at + 1 < len(self._ends) else raw

    def _take(self, raw: str) -> str:
        if not raw:
            return ""
        if raw.startswith(_JOINER) and self._before:  # whether it joins depends on what stands before it, too
            shown = sanitize_text(self._before + raw)[len(sanitize_text(self._before)) :]
        else:
            shown = sanitize_text(raw)
        if len(shown) != len(raw) or shown != raw:
            self._map(raw, shown)
        self._raw += len(raw)
        self._shown += len(shown)
        self._before = raw[-1]
        return shown

    def _map(self, raw: str, shown: str) -> None:
        """Note each place from which on the two run apart otherwise than before."""
        at, there = 0, 0
        for number, line in enumerate(raw.split("\r\n")):
            if number:
                self._shift(at + 1, there)  # the CR has no width, the LF has its own
                at, there = at + 2, there + 1
            if shown.startswith(line, there):
                at, there = at + len(line), there + len(line)
            else:
                there = self._map_line(line, shown, at, there)
                at += len(line)

    def _map_line(self, line: str, shown: str, at: int, there: int) -> int:
        """A character is shown as itself, as one picture, or as `<U+…>`; returns the shown offset after the line."""
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
