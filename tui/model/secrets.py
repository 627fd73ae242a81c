"""Remove known keys, by value, from all text that leaves the process, also if a stream splits them.

A key is also removed in base64 (of a longer text too, as in basic authentication), and with its punctuation escaped
as URLs, JSON and HTML need it. Libraries differ in which characters they escape, so each one may be escaped or not.
"""

import base64
import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from weakref import WeakSet

REMOVED = "[removed key]"
URL_WITH_PASSWORD = r"://[^/\s:@]*:(?!\d+/(\S*/)?@)\S*@"
"""A regular expression for a URL with a password, which may contain a slash, but is no port and path as `80/@a`."""
_SCHEME = re.compile(r"[A-Za-z-]+\s+")
_KNOWN_SCHEME = re.compile(
    r"(?:bearer|basic|token|key|api-?key|digest|bot|oauth|negotiate|ntlm|hawk|genie-?key|splunk)\s", re.IGNORECASE
)
# What begins as no ordinary name does: the form alone makes it a key, whatever its characters are.
_SERVICE_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9]{20}\w*"
    r"|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|oas|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?"
    r"|xox[a-eoprs]-[\w-]{18,}|xapp-\d-[\w-]{18,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w.-]{20,}"
    r"|(?:hf|api_org)_[A-Za-z0-9]{30,}|sk-ant-[a-z]{3,6}\d\d-[\w-]{20,}|sk-(?:proj|svcacct|admin)-[\w-]{50,}"
    r"|nvapi-[\w-]{60,}|r8_[A-Za-z0-9]{37}|fw_[A-Za-z0-9]{22,}"
    r"|tgp_v1_[\w-]{40,}|lsv2_(?:pt|sk)_\w{32,}|pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}|dapi[0-9a-f]{32}"
    r"|pypi-AgE[\w-]{30,}|do[opr]_v1_\w{20,}|shp(?:at|ca|pa|ss)_\w{20,}|whsec_[A-Za-z0-9+=]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|hv[bs]\.[\w-]{20,}|bot\d{6,12}:[\w-]{30,})",
    re.ASCII,
)
# A JSON web token, only near the beginning of a word: each `eyJ` in it is another search for its end.
_WEB_TOKEN = re.compile(r"(?<![\w-])([\w-]{0,40}?[-_])?(eyJ[\w-]{5,}+\.eyJ[\w.-]+)", re.ASCII)
# What begins as an ordinary name may, such as `hf-llama-3-8b-instruct`: a key if something random follows.
_SERVICE_KEY_OR_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk|hf|gsk|csk|xai|npm|nvapi|pplx|tvly|jina|glagent)[-_][\w-]{18,}", re.ASCII
)
_RANDOM = re.compile(
    r"[A-Za-z0-9]{24}"  # longer than the words of a name
    r"|(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{12}"  # a long word of letters and digits
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_LONG_PART = re.compile(r"[^\s;,=]{12,}")
# The value of a cookie or of a parameter of a header, which may be short, but not that of one that is no secret.
_PARAMETER = re.compile(
    r"(?<![^\s;,])(?!(?:realm|algorithm|qop|uri|username|user|charset|lang|language|locale|theme|domain|path|version)\s*=)"
    r"[^\s;,=]+\s*=\s*\"?([^\s;,=\"]{6,})",
    re.IGNORECASE,
)
SHORTEST_SECRET = 6
_PLACEHOLDERS = frozenset(
    [
        "ollama",
        "lm-studio",
        "lmstudio",
        "llamacpp",
        "llama-cpp",
        "not-needed",
        "not-required",
        "not_needed",
        "no-key",
        "no-key-needed",
        "no-key-required",
        "none-needed",
        "unused",
        "default",
        "dummy-key",
        "dummy_key",
        "placeholder",
        "anything",
        "whatever",
        "ignored",
        "api-key",
        "api_key",
        "apikey",
        "your-api-key",
        "my-api-key",
        "local-key",
        "localhost",
    ]
)
"""What people set where a client asks for a key and the server needs none: no secrets, but words of answers."""
_ORDINARY_WORD = re.compile("[a-z]{6,12}|[A-Z]{6,12}|[A-Z][a-z]{5,11}")
_CUT = "…"  # `sanitize_line` ends a message with it that is longer than its limit
# The beginning of a key at the end of a text is removed if it has so many characters, or half of the key.
_LEAST_HALF, _LONG_BEGINNING = 8, 12
# The beginnings and ends of values that are listed have fewer characters: all of a value take the square of its length.
_MOST_LISTED = 256
_REFERENCE_SIZES = range(1, 9)  # the numbers of digits, with zeros, in numeric references of HTML
_ESCAPED_PIECES = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")
_NEVER_ESCAPED = re.compile("[A-Za-z0-9]+")
_ESCAPE_SIGNS = re.compile(r"[%\\&+]")


def is_placeholder(value: str) -> bool:
    """Return whether a key is a well-known word that stands for no key."""
    return value.lower() in _PLACEHOLDERS


def is_ordinary_word(value: str) -> bool:
    """Return whether a key may be a word of answers, which is removed from them before they are judged."""
    return bool(_ORDINARY_WORD.fullmatch(value)) and not is_placeholder(value)


def hide_service_keys(text: str) -> str:
    """Return a text that the user wrote, such as a command line, without keys that have the form of a known service."""
    text = _WEB_TOKEN.sub(rf"\1{REMOVED}", _SERVICE_KEY.sub(REMOVED, text))
    return _SERVICE_KEY_OR_NAME.sub(lambda found: REMOVED if _RANDOM.search(found[0]) else found[0], text)


def service_keys(text: str) -> list[str]:
    """Return the parts of a text that have the form of a key of a known service."""
    random = (found for found in _SERVICE_KEY_OR_NAME.findall(text) if _RANDOM.search(found))
    tokens = (found[2] for found in _WEB_TOKEN.finditer(text))
    return list(dict.fromkeys((*_SERVICE_KEY.findall(text), *tokens, *random)))


def key_parts(value: str) -> tuple[str, ...]:
    """Return a key without its scheme (`Bearer`), its long parts and parameters, and the password in `Basic`.

    A server may repeat each of them alone. A first word that is no known scheme may be a part of the key.
    """
    whole = value.strip()
    bare = without_scheme(whole)
    known = bare if _KNOWN_SCHEME.match(whole) else whole
    parts = (bare, known, *_LONG_PART.findall(known), *_PARAMETER.findall(known), *_basic_password(value))
    return tuple(dict.fromkeys(parts))


def without_scheme(value: str) -> str:
    """Return a key, or its beginning, without the word before it, such as `Bearer`."""
    value = value.lstrip()
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


def _basic_password(value: str) -> Iterator[str]:
    """Yield the password in a header of basic authentication."""
    scheme, _, encoded = value.strip().partition(" ")
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            yield base64.b64decode(encoded).decode().partition(":")[2]


def hide_number(number: float, hide: Callable[[str], str]) -> float | str:
    """Return a number of a JSON value as it is, or as a text without secrets if its digits contain one."""
    text = json.dumps(number)
    hidden = text if len(text) < SHORTEST_SECRET else hide(text)
    return number if hidden == text else hidden


class Secrets:
    """Secret values. Values under six characters are too common to be removed.

    Values may be added, but none is forgotten: all that have the object remove a new key from then on, and an old one
    that a request in progress may still use.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._whole: frozenset[str] = frozenset()
        self._extends: Secrets | None = None  # held by its extensions, which it does not hold
        self._extended = WeakSet[Secrets]()
        self._cut_parts: _CutParts | None = None
        self.add(values)

    @property
    def values(self) -> frozenset[str]:
        """The values of six and more characters."""
        return self._whole

    def add(self, values: Iterable[str]) -> None:
        """Remove these values as well from now on, also in objects that extend this one."""
        values = tuple(values)
        for extended in tuple(self._extended):
            extended.add(values)
        self._whole |= {value for value in values if len(value) >= SHORTEST_SECRET and not is_placeholder(value)}
        whole = sorted(self._whole, key=len, reverse=True)
        # The longest first, in all forms: a shorter value may be a part of it.
        self._forms = [
            (tuple(_forms(value)), None if _NEVER_ESCAPED.fullmatch(value) else _EscapedValue(value)) for value in whole
        ]
        self._values = sorted({form for forms, _ in self._forms for form in forms}, key=len, reverse=True)
        self._starts = {value[:SHORTEST_SECRET] for value in self._values}
        self._escaped = [escaped for _, escaped in self._forms if escaped is not None]
        sizes: dict[str, dict[str, int]] = {}
        for value in reversed(self._values):
            for size in range(1, min(len(value), _MOST_LISTED)):
                sizes.setdefault(value[size - 1], {}).setdefault(value[:size], len(value))
        self._beginnings = {
            last: sorted(known.items(), key=lambda one: len(one[0]), reverse=True) for last, known in sizes.items()
        }
        self._long = [value for value in self._values if len(value) > _MOST_LISTED]

    def extended(self, values: Iterable[str]) -> "Secrets":
        """Return an object that removes these values too, and all that are added to this one later."""
        extended = Secrets((*self._whole, *values))
        extended._extends = self
        self._extended.add(extended)
        return extended

    def hide(self, text: str) -> str:
        """Return the text without any of the values, and without the part of one that its end or `…` cut off."""
        whole = self.hide_whole(text)
        if size := self.cut(text):  # first in the text as it is: the beginning of a value may be a shorter value
            hidden = self.hide_whole(text[:-size])
            if hidden + self.hide_whole(text[-size:]) == whole:
                return hidden + REMOVED
        size = self.cut(whole)
        return whole[:-size] + REMOVED if size else whole

    def hide_whole(self, text: str) -> str:
        """Return a text that more may follow without any of the values; keep the beginning of one at its end."""
        has_escapes = bool(self._escaped) and _ESCAPE_SIGNS.search(text) is not None
        for forms, escaped in self._forms:
            for form in forms:
                if form in text:
                    text = text.replace(form, REMOVED)
            if has_escapes and escaped is not None:
                text = escaped.pattern.sub(REMOVED, text)
        return self._hide_cut(text) if self._values and _CUT in text else text

    def occur_in(self, text: str) -> bool:
        """Return whether `hide` would remove anything from the text."""
        return self.hide(text) != text

    def may_occur_in(self, text: str) -> bool:
        """Return whether a text may contain anything that `hide` removes from it or from a part of it.

        A quick look for a long text of many parts: each of them would take as much time.
        """
        if _CUT in text or (self._escaped and _ESCAPE_SIGNS.search(text)):
            return True
        return any(start in text for start in self._starts)

    def stream(self) -> "SecretStream":
        """Return a filter for one text that arrives in chunks."""
        return SecretStream(self)

    def held(self, text: str) -> int:
        """Return the number of characters at the end of the text that may be the beginning of a value."""
        if not text:
            return 0
        plain = next((size for size, _ in self._plain_beginnings(text)), 0)
        return max((plain, *(size for size, _ in self._escaped_beginnings(text)))) if self._escaped else plain

    def cut(self, text: str) -> int:
        """Return the number of characters at the end of the text that are the greater part of a value."""
        if not text:
            return 0
        found = (*self._plain_beginnings(text), *self._escaped_beginnings(text))
        return max((size for size, whole in found if _is_most(size, whole)), default=0)

    def _plain_beginnings(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the sizes of the text's ends that are the beginning of a value, the longest first, each with its size.

        Of a long value, only the longest of its beginnings that are not listed is among them.
        """
        if self._long:
            long = ((_long_beginning(text, value), len(value)) for value in self._long)
            yield from sorted((found for found in long if found[0]), reverse=True)
        for start, whole in self._beginnings.get(text[-1], ()):
            if text.endswith(start):
                yield len(start), whole

    def _escaped_beginnings(self, text: str) -> Iterator[tuple[int, int]]:
        if _ESCAPE_SIGNS.search(text) is None:
            return
        for escaped in self._escaped:
            end = text[-escaped.longest :]
            if _ESCAPE_SIGNS.search(end):
                yield from escaped.beginnings(end)

    def _hide_cut(self, text: str) -> str:
        """Return the text without the beginning of a value before `…`, and without the end of one after it.

        A server may send millions of `…`: the time for each is that of two look-ups.
        """
        if self._escaped and _ESCAPE_SIGNS.search(text):
            for escaped in self._escaped:
                text = escaped.hide_cut(text)
        cut_parts, values = self._cut_parts, self._values
        if cut_parts is None or cut_parts.values is not values:  # a value may be added in another thread
            self._cut_parts = cut_parts = _CutParts(values)
        pieces = text.split(_CUT)
        last = len(pieces) - 1
        for place, piece in enumerate(pieces):
            if len(piece) < SHORTEST_SECRET:
                continue
            if place and (size := cut_parts.size_of_end(piece)):
                pieces[place] = piece = REMOVED + piece[size:]
            if place < last and (size := cut_parts.size_of_beginning(piece)):
                pieces[place] = piece[:-size] + REMOVED
        return _CUT.join(pieces)


class _CutParts:
    """The beginnings of values by their last characters, and the ends by their first ones."""

    def __init__(self, values: list[str]) -> None:
        self.values = values
        self._long = [value for value in values if len(value) > _MOST_LISTED]
        self._starts, self._ends = dict[str, set[str]](), dict[str, set[str]]()
        for value in values:
            for size in range(SHORTEST_SECRET, min(len(value), _MOST_LISTED)):
                self._starts.setdefault(value[size - SHORTEST_SECRET : size], set()).add(value[:size])
                self._ends.setdefault(value[-size:][:SHORTEST_SECRET], set()).add(value[-size:])

    def size_of_beginning(self, text: str) -> int:
        """Return the number of characters at the end of the text that are the beginning of a value."""
        known = self._starts.get(text[-SHORTEST_SECRET:], ())
        size = max((len(start) for start in known if text.endswith(start)), default=0)
        return max((size, *(_long_beginning(text, value) for value in self._long))) if self._long else size

    def size_of_end(self, text: str) -> int:
        """Return the number of characters at the beginning of the text that are the end of a value."""
        known = self._ends.get(text[:SHORTEST_SECRET], ())
        size = max((len(end) for end in known if text.startswith(end)), default=0)
        return max((size, *(_long_end(text, value) for value in self._long))) if self._long else size


def _long_beginning(text: str, value: str) -> int:
    """Return the number of characters at the end of the text that are a beginning of a value too long to be listed."""
    head, place = value[:_MOST_LISTED], len(text) - len(value)
    while (place := text.find(head, max(0, place + 1))) >= 0:
        if value.startswith(text[place:]):
            return len(text) - place
    return 0


def _long_end(text: str, value: str) -> int:
    """Return the number of characters at the beginning of the text that are an end of a value too long to be listed."""
    tail, end = value[-_MOST_LISTED:], len(value)
    while (place := text.rfind(tail, 0, end - 1)) >= 0:
        end = place + len(tail)
        if value.endswith(text[:end]):
            return end
    return 0


def _is_most(size: int, whole: int) -> bool:
    return size >= _LONG_BEGINNING or (size >= _LEAST_HALF and 2 * size >= whole)


def _forms(value: str) -> Iterator[str]:
    """Yield the value and the characters of base64 that depend on it alone, if there are at least six."""
    yield value
    data = value.encode("utf-8", "surrogatepass")
    for before in range(3):
        # `before` bytes precede the value in their group of 3.
        encoded = base64.b64encode(b"\0" * before + data)
        form = encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6].decode("ascii")
        if len(form) >= SHORTEST_SECRET:
            yield from (form, form.replace("+", "-").replace("/", "_"))


class _EscapedValue:
    """A value of which each character that is neither a letter nor a digit may be escaped."""

    def __init__(self, value: str) -> None:
        self._value = value

    # The forms are made for the first text with an escape sign: most commands print none.
    @cached_property
    def _parts(self) -> "_Parts":
        return [_escapes(piece) for piece in _ESCAPED_PIECES.findall(self._value)]

    @cached_property
    def _first(self) -> set[str]:
        return {form[0] for form in self._parts[0]}

    @cached_property
    def longest(self) -> int:
        """The number of characters of the longest form."""
        return sum(len(forms[0]) for forms in self._parts)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of all forms. It is compiled when a text is seen that contains an escape sign."""
        return re.compile("".join(f"(?:{'|'.join(map(re.escape, forms))})" for forms in self._parts))

    def hide_cut(self, text: str) -> str:
        """Return the text without the beginning of a form before `…`, and without the end of one after it.

        An end is the beginning of what is read backwards.
        """
        text = _hide_beginnings(text, self._parts, self._first_characters, REMOVED)
        text = _hide_beginnings(text[::-1], self._backwards, self._last_characters, REMOVED[::-1])
        return text[::-1]

    @cached_property
    def _backwards(self) -> "_Parts":
        return [[form[::-1] for form in forms] for forms in reversed(self._parts)]

    @cached_property
    def _first_characters(self) -> re.Pattern[str]:
        return _pattern_of_first(self._parts)

    @cached_property
    def _last_characters(self) -> re.Pattern[str]:
        return _pattern_of_first(self._backwards)

    def beginnings(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the sizes of the text's ends that are the beginning of a form, each with the size of the value."""
        for start, character in enumerate(text):
            if character in self._first and _ends_within(self._parts, text, start):
                yield len(text) - start, len(self._value)


_Parts = Sequence[Sequence[str]]
"""The forms of each part of a value, the longest first."""


def _ends_within(parts: _Parts, text: str, start: int) -> bool:
    """Return whether the text ends within the form that starts here."""
    places = {start}
    for forms in parts:
        for place in places:
            if len(text) - place < len(forms[0]) and any(form.startswith(text[place:]) for form in forms):
                return True
        places = {place + len(form) for place in places for form in forms if text.startswith(form, place)}
        if not places:
            break
    return False


def _pattern_of_first(parts: _Parts) -> re.Pattern[str]:
    """Return the pattern of the first six characters of all forms."""
    begun, found = {""}, set[str]()
    for forms in parts:
        longer = {start + form for start in begun for form in forms}
        found |= {each[:SHORTEST_SECRET] for each in longer if len(each) >= SHORTEST_SECRET}
        begun = {each for each in longer if len(each) < SHORTEST_SECRET}
    return re.compile("|".join(map(re.escape, sorted(found))))


def _hide_beginnings(text: str, parts: _Parts, first: re.Pattern[str], removed: str) -> str:
    """Return the text with `removed` in place of each beginning of a form, of six or more characters, before `…`."""
    longest = sum(len(forms[0]) for forms in parts)
    known, pieces, done, place = dict[str, bool](), list[str](), 0, 0
    while begun := first.search(text, place):
        start, place = begun.start(), begun.start() + 1
        end = text.find(_CUT, begun.end(), start + longest)
        if end < 0:
            continue
        found = text[start:end]
        if found not in known:
            known[found] = _ends_within(parts, found, 0)
        if known[found]:
            pieces += (text[done:start], removed)
            done = place = end
    return "".join((*pieces, text[done:]))


def _escapes(piece: str) -> list[str]:
    """Return the forms of one character, or of characters that are never escaped, the longest first."""
    if _NEVER_ESCAPED.fullmatch(piece):
        return [piece]
    code = ord(piece)
    percent = "".join(f"%{byte:02X}" for byte in piece.encode("utf-8", "surrogatepass"))
    forms = {piece, f"\\{piece}", json.dumps(piece)[1:-1], percent, percent.lower()}
    if code > 0xFFFF:
        forms.add("".join(f"\\u{unit.upper()}" for unit in re.findall("[0-9a-f]{4}", piece.encode("utf-16-be").hex())))
    forms |= {f"&#{code:0{size}};" for size in _REFERENCE_SIZES}
    for digits in (f"{code:x}", f"{code:X}"):
        forms |= {f"\\u{digits:0>4}", f"\\x{digits:0>2}"}
        forms |= {f"&#{sign}{digits:0>{size}};" for sign in "xX" for size in _REFERENCE_SIZES}
    forms |= {f"&{name}" for name in _entities().get(piece, ())}
    if piece == " ":
        forms.add("+")
    return sorted(forms, key=len, reverse=True)


@cache
def _entities() -> dict[str, list[str]]:
    """Return the names of HTML, with their semicolon, by the character that they stand for."""
    from html.entities import html5

    names: dict[str, list[str]] = {}
    for name, character in html5.items():
        if name.endswith(";"):
            names.setdefault(character, []).append(name)
    return names


class SecretStream:
    """A filter that passes text on as it arrives and holds back only the possible beginning of a secret."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets, self._held = secrets, ""

    def feed(self, text: str) -> str:
        """Return the text that can be passed on now, which may be empty.

        What may become a longer value is held back first, because its beginning may be a value itself.
        """
        text, hide, held = self._held + text, self._secrets.hide_whole, self._secrets.held
        size = held(text)
        passed, self._held = text[: len(text) - size], text[len(text) - size :]
        hidden = hide(passed)
        if size and hidden + hide(self._held) != (whole := hide(text)):  # a value continues in what is held back
            size = held(whole)
            hidden, self._held = whole[: len(whole) - size], whole[len(whole) - size :]
        return hidden

    def flush(self) -> str:
        """Return the text that was held back, at the end of the stream, without the greater part of a secret."""
        held, self._held = self._held, ""
        return self._secrets.hide(held)
