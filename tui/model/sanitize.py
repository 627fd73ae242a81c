"""Sanitize text from outside before it is shown on a screen, in a log or in a report.

Control characters become visible symbols, bidirectional and invisible characters become `<U+202E>`, lone surrogates
`<U+D800>`. Stored text is not changed.
"""

import re

_KEPT = "\t\n"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HOSTILE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_INVISIBLE}]")
_EMOJI_JOINER = re.compile(
    "(?<=[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])"
)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code == 0x200D and _EMOJI_JOINER.match(match.string, match.start()):
        return match[0]
    return f"<U+{code:04X}>"


def sanitize_text(text: str) -> str:
    """Return the text without control, bidirectional and invisible characters. TAB and LF are preserved."""
    if text.isascii() and text.isprintable():
        return text
    return _HOSTILE.sub(_picture, text.replace("\r\n", "\n"))


def sanitize_line(text: str, limit: int = 300) -> str:
    """Return the sanitized text on one line of at most `limit` code points; TAB and LF become spaces.

    A line that was cut ends with `…`.
    """
    line = sanitize_text(text[: 4 * limit]).replace("\n", " ").replace("\t", " ").strip()
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"


def remove_unseen(text: str) -> str:
    """Return the text without the characters that `sanitize_text` replaces: for input, in which the cursor counts."""
    return _HOSTILE.sub(lambda match: match[0] if _picture(match) == match[0] else "", text)
