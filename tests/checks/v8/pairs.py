"""Pairs of a pattern and a text on which engines of JavaScript patterns are likely to disagree, made from a seed."""

from collections.abc import Iterator
from random import Random

Pair = tuple[str, str]

# Letters that fold in more than one way, or not at all, without the flag `u`; signs; characters of two UTF-16 units.
_FOLDING = "sſSkK\u212aiIİıßẞσςΣµμΜåÅ\u212bΩω\u2126ǅǄǆθϴϑβϐᲀвВꭰᏰᎠꭰაᲐᾳᾼŉÿŸﬀﬅﬆ\u0345ιΙ\u1fbeϕφΦϰκΚ𐐀𐐨"
_SPACES = " \t\n\r\u2028\u2029\xa0\ufeff\u180e\u200b\x0b"
_ASTRAL = "😀😁🎉\U0001f468\u200d\ud83d\ude00"
_ALPHABETS = (
    "ab",
    "abcAB01_",
    "ab \n_-",
    _FOLDING,
    _FOLDING + "aAzZ",
    "aé😀" + _SPACES,
    _ASTRAL,
    "k{}[]()^$,\\|/-",
    "sSkK\x7f\x80\xff",
)

_CLASSES = (
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", "[^]", "[]", r"[\w]", r"[^\w]", r"[^\W]", r"[\W]", r"[^\W_]",
    r"[\s\S]", r"[\d-z]",
    r"[\w-a]", r"[\b]", r"[^\s\d]", "[a-z]", "[^a-z]", "[A-Z]", "[A-z]", "[_-a]", "[0-9a-f]", "[à-ý]", "[α-ω]",
    "[Α-Ω]", "[а-я]",
    r"[\u0080-\uffff]", r"[^\u0000-\u007f]", r"[^\x00-\x7f]", "[Ā-ſ]", "[ſ]", "[^ſ]", "[İ-ı]", "[\u212a]",
    r"[\u2100-\u212b]", "[ß-ẞ]",
    "[Ꭰ-Ᏼ]", "[ა-ჰ]", "[Ა-Ჰ]", "[😀]", "[^😀]", "[😀-😎]", r"[\ud83d]", r"[\ud83d\ude00]", r"[^\ud83d]",
    r"[\u{41}]", "[^a]", "[^sk]",
    "[^SK]", "[^İ]", "[s-t]", "[^k-l]", "[J-L]", "[[]", r"[\]]", "[^^]", "[a-]", "[-a]", "[&&]", r"[\cA]",
    r"[\c]", r"[\c1]", r"[\12]", r"[\8]", r"[\k]",
)  # fmt: skip
_CLASS_PARTS = (
    "-", "-", "-", "-", r"\w", r"\d", r"\S", r"\W", "^", "a", "z", "0", ".", "[", "(", ",", "ſ", r"\-", r"\]", r"\[",
    r"\cA", r"\c", r"\c_", r"\b", r"\x41", r"\x4", r"\u0041", r"\8", r"\101", r"\1", r"\\",
)  # fmt: skip
_CLASS_TEXT = "".join(map(chr, range(128))) + "ſKé😀\ud83d"
_ATOMS = (
    "a", "b", "ab", "A", "_", "0", " ", "\n", "s", "k", "i", "S", "K", "I", "ſ", "\u212a", "İ", "ı", "ß", "ẞ",
    "σ", "ς", "Σ", "µ", "å", "\u2126", "ǅ",
    "é", "😀", "🎉", "𐐀", "ꭰ", "Ꭰ", "Ა", "ა", "ﬅ", "\u0345", "ι", r"\u017f", r"\u212a", r"\u0130", r"\x73",
    r"\x4", r"\xg", r"\u12", r"\u{41}", r"\u{61}",
    r"\ud83d", r"\ude00", r"\ud83d\ude00", r"\0", r"\01", r"\012", r"\8", r"\9", r"\377", r"\400", r"\cA",
    r"\cj", r"\c", r"\c1", r"\ca", r"\t", r"\n", r"\v",
    r"\-", r"\/", r"\_", r"\a", r"\e", r"\p{L}", r"\P", r"\k", r"\k<n>", r"\k<x", "{", "}", "]", "{}", "{1",
    "{,1}", "{a}", "x{0}", "-", ",", r"\{", r"\\", "&",
    r"\1", r"\2", r"\3", r"\10", "()", "(?:)", "^", "$", r"\b", r"\B",
)  # fmt: skip
_QUANTIFIERS = (
    "*", "+", "?", "*?", "+?", "??", "{1}", "{2}", "{0}", "{0,1}", "{1,2}", "{1,}", "{2,3}?", "{0,}?", "{1,2}?",
    "{,2}", "{ 1}",
)  # fmt: skip
_BAD_QUANTIFIERS = ("{2,1}", "**", "+*", "{1}{2}")
_GROUPS = (
    ("(", ")"), ("(?:", ")"), ("(?=", ")"), ("(?!", ")"), ("(?<=", ")"), ("(?<!", ")"), ("(?<n>", ")"),
    ("(?<m>", ")"), ("(?i:", ")"), ("(?", ")"), ("(", ""), ("", ")"),
)  # fmt: skip
_GROUP_WEIGHTS = (30, 30, 9, 9, 9, 9, 6, 4, 1, 1, 1, 1)


def make_pairs(seed: int, number: int) -> Iterator[Pair]:
    """Yield pairs; the same for the same seed."""
    random = Random(seed)
    for _ in range(number):
        pattern = _pattern(random, random.choice((1, 1, 2, 2, 3)))
        if random.random() < 0.02:
            pattern = _damaged(random, pattern)
        yield pattern, _text(random, pattern)


def make_class_pairs(seed: int, number: int) -> Iterator[Pair]:
    """Yield classes with many dashes, each with a text in which every character counts; the same for the same seed."""
    random = Random(seed)
    for _ in range(number):
        yield f"[{''.join(random.choices(_CLASS_PARTS, k=random.randint(1, 9)))}]", _CLASS_TEXT


def _pattern(random: Random, depth: int) -> str:
    return "|".join(_sequence(random, depth) for _ in range(random.choice((1, 1, 1, 1, 2, 3))))


def _sequence(random: Random, depth: int) -> str:
    return "".join(_term(random, depth) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4))))


def _term(random: Random, depth: int) -> str:
    kind = random.random()
    if depth and kind < 0.3:
        opening, closing = random.choices(_GROUPS, _GROUP_WEIGHTS)[0]
        term = opening + _pattern(random, depth - 1) + closing
    elif kind < 0.55:
        term = random.choice(_CLASSES) if random.random() < 0.6 else _class(random)
    else:
        term = random.choice(_ATOMS)
    if random.random() < 0.25:
        term += random.choice(_BAD_QUANTIFIERS if random.random() < 0.03 else _QUANTIFIERS)
    return term


def _class(random: Random) -> str:
    """Return a class of ranges and characters, now and then one that is the wrong way round."""
    parts = []
    for _ in range(random.choice((1, 1, 2, 3))):
        one, other = (random.choice("aAzZ09_\x80\uffff" + _FOLDING + "😀") for _ in range(2))
        if random.random() < 0.97 and one > other:
            one, other = other, one
        parts.append(
            random.choice((one, f"{one}-{other}", random.choice((r"\w", r"\W", r"\d", r"\s", r"\S", r"\b", "-"))))
        )
    return f"[{random.choice(('', '^'))}{''.join(parts)}]"


def _damaged(random: Random, pattern: str) -> str:
    at = random.randint(0, len(pattern))
    return (
        pattern[:at]
        + random.choice(("", "(", ")", "[", "\\", "*", "?", "{", "(?<", "\\u", "\ud83d"))
        + pattern[at + 1 :]
    )


def _text(random: Random, pattern: str) -> str:
    """Return a text that has something to do with the pattern: letters of the same kinds, and pieces of the pattern."""
    alphabet = random.choice(_ALPHABETS)
    if random.random() < 0.5:
        alphabet += "".join(sign for sign in pattern if sign.isalnum() or ord(sign) > 127) * 2
    text = "".join(random.choice(alphabet) for _ in range(random.choice((0, 1, 2, 4, 8, 16))))
    return text + (pattern[:6] if random.random() < 0.1 else "")
