"""Remove known keys, by value, from all text that leaves the process, also if a stream splits them."""

from collections.abc import Iterable

_MASK = "[removed key]"
_SHORTEST = 6


class Secrets:
    """A fixed set of secret values. Values under six characters are too common to be removed."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return the text without any of the values."""
        for value in self._values:
            if value in text:
                text = text.replace(value, _MASK)
        return text

    def stream(self) -> "SecretStream":
        """Return a filter for one text that arrives in chunks."""
        return SecretStream(self)

    def held(self, text: str) -> int:
        """Return the number of characters at the end of the text that may be the beginning of a value."""
        longest = 0
        for value in self._values:
            for size in range(min(len(value) - 1, len(text)), longest, -1):
                if text.endswith(value[:size]):
                    longest = size
                    break
        return longest


class SecretStream:
    """A filter that passes text on as it arrives and holds back only the possible beginning of a secret."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets, self._held = secrets, ""

    def feed(self, text: str) -> str:
        """Return the text that can be passed on now, which may be empty."""
        text = self._secrets.hide(self._held + text)
        size = self._secrets.held(text)
        self._held = text[len(text) - size :] if size else ""
        return text[: len(text) - size] if size else text

    def flush(self) -> str:
        """Return the text that was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return held
