"""Remove known keys, by value, from all text that leaves the process, also if a stream splits them.

A key is also removed in the forms in which servers and libraries repeat it: base64 (of a longer text too, as in basic
authentication), percent-encoded, and escaped in JSON.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote

_MASK = "[removed key]"
_SHORTEST = 6
_CUT = "…"  # `sanitize_line` ends a message with it that is longer than its limit


class Secrets:
    """A fixed set of secret values. Values under six characters are too common to be removed."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._values = sorted(forms, key=len, reverse=True)
        self._beginnings: dict[str, list[str]] = {}
        for value in self._values:
            for size in range(1, len(value)):
                self._beginnings.setdefault(value[size - 1], []).append(value[:size])
        for beginnings in self._beginnings.values():
            beginnings.sort(key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return the text without any of the values, and without the beginning of one that `…` has cut off."""
        for value in self._values:
            if value in text:
                text = text.replace(value, _MASK)
        return self._hide_cut(text) if self._values and _CUT in text else text

    def stream(self) -> "SecretStream":
        """Return a filter for one text that arrives in chunks."""
        return SecretStream(self)

    def held(self, text: str) -> int:
        """Return the number of characters at the end of the text that may be the beginning of a value."""
        if not text:
            return 0
        return next((len(start) for start in self._beginnings.get(text[-1], ()) if text.endswith(start)), 0)

    def _hide_cut(self, text: str) -> str:
        pieces = text.split(_CUT)
        for place, piece in enumerate(pieces[:-1]):
            held = self.held(piece)
            if held >= _SHORTEST:
                pieces[place] = piece[:-held] + _MASK
        return _CUT.join(pieces)


def _forms(value: str) -> Iterator[str]:
    """Yield the value and its encoded forms of at least six characters."""
    yield value
    escaped, quoted = json.dumps(value)[1:-1], quote(value.encode("utf-8", "surrogatepass"), safe="")
    yield from (escaped, escaped.replace("/", "\\/"), quoted, quoted.lower() if quoted != value else value)
    data = value.encode("utf-8", "surrogatepass")
    for before in range(3):
        # The characters of base64 that depend on the value alone, where `before` bytes precede it in their group of 3.
        encoded = base64.b64encode(b"\0" * before + data)
        form = encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6].decode("ascii")
        if len(form) >= _SHORTEST:
            yield from (form, form.replace("+", "-").replace("/", "_"))


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
