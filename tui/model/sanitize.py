"""Sanitize text from outside before it is shown on a screen, in a log or in a report.

Control characters become visible symbols; bidirectional and invisible characters, noncharacters and lone surrogates
become `<U+202E>`. Joiners and variation selectors are preserved where they belong to an emoji, tag characters nowhere.
Stored text is not changed.
"""

import json
import re
from unicodedata import category, east_asian_width

# Unicode's default-ignorable characters, noncharacters and surrogates. The last range also has visible characters,
# which `_picture` keeps: a range for each plane's noncharacters would make the search four times as slow.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001fffe-\U0010ffff"
)
_HOSTILE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_INVISIBLE}]")
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_SELECTABLE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u23ff\u24c2\u25a0-\u25ff\u2934\u2935\u2b00-\u2bff"
    f"\u3030\u303d\u3297\u3299{_EMOJI}"
)
_IN_EMOJI = re.compile(
    f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[\u2194\u2195\u2b1b{_EMOJI}])"  # a joiner, as in a family
    f"|(?<=[{_SELECTABLE}])[\ufe0e\ufe0f]"  # as an emoji, or as text
    "|(?<=[#*0-9])\ufe0f(?=\u20e3)"  # a keycap
)
_HANGUL_VOWELS = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")  # and final consonants: a syllable of three has two cells


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code in (0x200D, 0xFE0E, 0xFE0F) and _IN_EMOJI.match(match.string, match.start()):
        return match[0]
    if code >= 0x20000 and not 0xE0000 <= code <= 0xE0FFF and code & 0xFFFE != 0xFFFE:
        return match[0]
    return f"<U+{code:04X}>"


def sanitize_text(text: str) -> str:
    """Return the text with a visible form of each control, bidirectional and invisible character.

    TAB and LF are preserved, CR LF becomes LF.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HOSTILE.sub(_picture, text.replace("\r\n", "\n"))


def sanitize_line(text: str, limit: int = 300) -> str:
    """Return the sanitized text on one line of at most `limit` code points; TAB and LF become spaces.

    A line that was cut ends with `…`.
    """
    line = sanitize_text(text[: 4 * limit]).replace("\n", " ").replace("\t", " ").strip()
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"


def sanitize_measurable(text: str) -> str:
    """Return the sanitized text with `<U+0301>` for each character whose width differs between terminals.

    Such characters belong to a neighbour (marks, joiners, skin tones, halves of flags), are narrow symbols that some
    terminals draw as emoji, or are not assigned. A row with them may be wider than measured, and lose its end. A TAB
    becomes a symbol, too.
    """
    text = sanitize_text(text).replace("\t", "\u2409")
    return text if text.isascii() else "".join(map(_measurable, text))


def _measurable(character: str) -> str:
    if character.isascii() or "\u00a1" <= character <= "\u00ff" or "\u2400" <= character <= "\u2426":
        return character  # Latin, which has symbols such as the multiplication sign, and what `_picture` returns
    kind = category(character)
    is_plain = kind[0] in "LNP" or kind == "Sc" or (kind == "So" and east_asian_width(character) in "WF")
    return character if is_plain and not _HANGUL_VOWELS.match(character) else f"<U+{ord(character):04X}>"


def remove_unseen(text: str) -> str:
    """Return the text without the characters that `sanitize_text` replaces: for input, in which the cursor counts."""
    return _HOSTILE.sub(lambda match: match[0] if _picture(match) == match[0] else "", text)


def escape_unseen(text: str) -> str:
    """Return JSON text with an escape for each character that `sanitize_text` replaces; its value stays the same."""
    return _HOSTILE.sub(lambda match: match[0] if _picture(match) == match[0] else json.dumps(match[0])[1:-1], text)
