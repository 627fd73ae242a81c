"""Pairs written by hand: families of patterns on which engines of JavaScript patterns are known to disagree."""

from collections.abc import Iterator
from itertools import product

from tests.checks.javascript_cases import HALVES, SAME
from tests.checks.v8.pairs import Pair

_FOLDING = "sSſkK\u212aiIİıßẞσςΣµμΜåÅ\u212bωΩ\u2126ǆǅǄθϴϑꭰᎠꭵᏵაᲐჰ\u1cb0ﬅﬆÿŸŉᾳᾼ\u0345ιΙ\u1fbe𐐀𐐨"
_LETTERS = " ".join(_FOLDING)
_EVERY = (
    "aZ_09-\x00\x1f\x7f\x80\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u200b\u3000\ufeff \t\n\x0b\x0c\r\x85" + _FOLDING
)

# What an earlier engine decided wrongly.
_FALSE_BEFORE = (
    (r"[\u0080-\uffff]", "numbers 123"),
    (r"^[^\W_]+$", "class"),
    (r"\btoken[\W]", "tokens are fine"),
    (r"(?:(?:\w+){1,2}|x)+?1", "i1"),
    (r"(?:\s*(\w*)?)*;", "const x = 1"),
    (r"(?:\s*(\w*)?)*;", "const x;"),
)
_RANGES = (
    "[a-z]", "[^a-z]", "[A-Z]", "[A-z]", "[Z-a]", "[r-t]", "[^r-t]", "[j-l]", "[^j-l]", "[h-j]", "[à-þ]", "[Α-Ω]",
    "[α-ω]", "[^α-ω]",
    "[Ꭰ-Ᏽ]", "[ꭰ-ꮿ]", "[ა-ჿ]", "[Ა-Ჿ]", r"[\u017f]", r"[^\u017f]", r"[\u212a-\u212b]", r"[^\u2126]",
    r"[\u0130-\u0131]", r"[\u00df]",
    r"[\u1e9e]", r"[\u0080-\uffff]", r"[^\u0000-\u007f]", r"[\u0000-\u007f]", r"[\ud800-\udfff]",
    r"[^\ud800-\udfff]", "[𐐀-𐐨]", "[𐐨]", "𐐨",
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[\w]", r"[^\w]", r"[\W]", r"[^\W]", r"[^\W_]", r"[\s\S]",
    r"[^\s\S]", r"[\w-]", r"[^\d\s]", r"\b", r"\B",
    ".", "[^]", "[]", r"[\d-x]", r"[\w-a-z]", r"[\W-I-i]", r"[\s-a-z]", r"[a-\d-z]", r"[\d-a--\d-b-e]",
    r"[\d-\x41-Z]", r"[\w-z-a]", r"[\w--\[\]]", r"[\d--\]]", r"[\W--\cA]", r"[\s--0-.]", r"[\w---z]", r"[\d----z]",
    r"[^-\d--x]", r"[^--\d-a-z]",
)  # fmt: skip
_HALVES = (
    r"\ud83d", r"\ude00", r"\ud83d\ude00", r"[\ud83d\ude00]", r"[^\ud83d]", r"\ud83d+", "😀+", "[😀]", "[^😀]",
    "[😀-😎]", "(😀|a)b", "😀{2}", ".", "..",
    "...", "^.$", "^..$", "[^]", r"\S", r"\W", "(?=.)", "(?<=.)", r"(?<=\ud83d)", r"(?=\ude00)", "()", "", r"(.)\1",
    r"(\ud83d)[^]\1", "$", "^",
)  # fmt: skip
_HALF_TEXTS = ("😀", "a😀b", "😀😀", "😀😁", "\ud83d", "\ude00", "\ude00\ud83d", "a\ud83db", "😀\ud83d😀", "")
_ANNEX_B = (
    r"\0", r"\00", r"\01", r"\07", r"\08", r"\1", r"\8", r"\9", r"\12", r"\18", r"\377", r"\400", r"[\0]", r"[\01]",
    r"[\1]", r"[\8]", r"[\12]", r"[\377]",
    r"[\400]", r"(a)\1", r"(a)\2", r"\2(a)", r"\2(a)(b)", r"(a)\10", r"\1(a)", r"\c", r"\cA", r"\ca", r"\c0",
    r"\c_", r"\cé", r"[\c]", r"[\cA]",
    r"[\c0]", r"[\c_]", r"[\c*]", "{", "}", "{}", "{1", "{1}", "{1,", "{1,2", "{1,2}", "{,1}", "{,}", "{a}", "a{",
    "a{}", "a{1", "a{1,", "a{1,2",
    "a{,1}", "a{ 1}", "a{1 }", "a{1}{", "a{1}{1}", "a{2,1}", "a{2,1", "a{02}", "a{0}", "a{1,1}", "a{99999999999}",
    "a{0,99999999999}", "x{0}y", "]", "[]]", "a]",
    "[[]", "[[]]", "[a", "a)", "(a", "()", "(?)", "(?a)", "(?:", "(?=", "(?<", "(?<a", "(?<>a)", "(?<1>a)",
    "(?<a>a)", "(?<a>a)(?<b>b)", "(?<a>a)(?<a>b)",
    "(?<a>a)|(?<a>b)", "(?<$>a)", "(?<_é>a)", r"(?<\u0061>a)", r"(?<\u{61}>a)", r"(?<a>a)\k<a>", r"\k<a>(?<a>a)",
    r"(?<a>a)\k<b>", r"(?<a>a)\k", r"\k",
    r"\k<a>", r"\k<a", r"[\k]", r"(?<a>a)[\k]", r"\u", r"\u1", r"\u12", r"\u123", r"\u0041", r"\u{41}", r"\u{3}",
    r"\u{}", r"\u{", r"[\u{41}]", r"[\u{41}-z]",
    r"[\u0041-z]", r"\x", r"\x4", r"\x41", r"[\x41]", r"[\x]", r"\p", r"\p{L}", r"[\p{L}]", r"\P{L}", r"\a", r"\e",
    r"\z", r"\A", r"\-", r"\_", r"\/", r"\ ",
    "\\", "[\\", "[a\\]", "*", "+", "?", "a**", "a++", "a???", "a+*", "a|*", "(*)", "^*", "$*", "^?", r"\b*",
    r"\B+", r"\b{1}", "(?=a)*", "(?=a)+", "(?=a){2}",
    "(?!a)*", "(?!a)?b", "(?<=a)*", "(?<!a)?", "(?=a)**", "(?i)a", "(?i:a)", "(?-i:a)", "(?m:a)", "(?>a)",
    "(?P<n>a)", "(?#a)", "[b-a]", "[a-a]", "[-]", "[--]",
    "[---]", "[a-]", "[-a]", "[^-]", r"[\b]", r"[\B]", r"[\-a]", "[a-c-e]", "[&&]", "[a&&b]", "[^]", "[^^]",
    r"\2(?<m>(a))", r"\2(?<m>[(])", r"\k<n>(?<m>(?<n>a))",
    r"\2(?<m>\()", "(?<m>*)", r"(?<m>(?<n>a))\k<n>\1",
)  # fmt: skip
_ANNEX_B_TEXTS = (
    "a{1,2}b{,1}x\x00\x01\x07\x08\n\x1189\\c0u41{}[]a}",
    "aaabAB\x02uuu",
    "k<a>kp{L}P0\xff \x200zZe-_/",
    "",
)
_STRUCTURES = (
    r"(a)\1", r"(a|b)\1", r"(a*)\1", r"(a)?\1b", r"\1(a)\1", r"(?:(a)|b)*\1", r"(a\1)", r"(?:(a)|(b))+\2", "(a*)*",
    "(a*)+", "(a*?)*?", "(a?)*?$", "(?:a?)*?b",
    "(a|ab)(c|bcd)(d*)", "(z)((a+)?(b+)?(c))*", "(?=(a+))a*b\\1", "(?=(a))ab", r"(?!(a)b)\1a",
    r"(.*?)a(?!(a+)b\2c)\2(.*)", "(?<=a)b", "(?<!a)b", "(?<=^)a",
    "(?<=a|ab)c", "(?<=(a)(b))c", r"(?<=\1(a))b", r"(?<=(a)\1)b", r"(?<=([ab]+)([bc]+))$", "(?<=a*)b", "(?<=a{2})b",
    "(?<!a.*)b", "(?<=(?=a)a)b",
    "(?<=(?<!b)a)b", "(?<=(?<a>a))b", r"(?<=\b)a", r"\b", r"\B", r"\b\b", r"^\b", r"\B$", "^", "$", "^$", "^|$",
    "a|", "|a", "a||b", "(|a)+", "(a|)+b", "(?:|a)+?b",
    "a??", "a*?b", "a{2,3}?", "a{0,2}?b", "(?:a{1,2}){2}", "(?:ab?){2,}", "(?:){3}a", "(?:a|b)*?c", "[ab]*?[bc]",
    "(?:(?:\\w+){1,2}|x)+?b", "(?:a+|b)+?c",
    "(?=a)", "(?!a)", "(?=)", "(?!)", "(?<=)", "(?<!)", "(?=a|b)[^]", "(?:(?=a))*b", "(?:(?=(a)))?b",
    r"(?:(?=(a)))?\1b", "()|a", "(?:a|)*", "a$|b", "^a|c$",
    r"(?<x>a)(?<y>b)\k<y>\k<x>", r"(?:(?<x>a)|b)\k<x>", "((((a))))", "(?:a|b|c|ab|bc)+", r"(\w+)\s\1",
    r"(\w+?)(\w*)\s\1",
)  # fmt: skip
_STRUCTURE_TEXTS = (
    "",
    "a",
    "ab",
    "aab",
    "abab",
    "abcd",
    "aabbcc",
    "ba c",
    "baaabac",
    "zaacbbbcac",
    "ab AB ab",
    "a\nb",
    "xbaab",
    "ccab",
)
_TO_FIND_IN_ANSWERS = (
    r"def\s+\w+\s*\(", r"console\.log\(", r"password\s*=\s*['\"]", r"\beval\s*\(", "TODO|FIXME|XXX", r"^#{1,6}\s",
    r"```[\s\S]*?```", r"https?://[^\s)]+", r"\$\{[^}]*\}",
    r"\b\d{3}-\d{2}-\d{4}\b", r"[\w.+-]+@[\w-]+\.[\w.]+", r"(?<!\w)try\s*\{[^}]*\}\s*catch", "select .* from",
    r"<script[^>]*>", r"\bI (?:can(?:no|')t|won't)\b",
    r"0x[0-9a-f]+", r"(?:^|\n)import\s", r"\.then\(.*\)\.catch\(", r"function\s*\w*\s*\([^)]*\)\s*\{",
    r"['\"]use strict['\"]", "naïve|café", r"[^\x00-\x7f]",
)  # fmt: skip
_ANSWER = """\
# Solution
Here's café code:
```js
'use strict';
import x from 'y';
function add(a, b) { return a + b; } // TODO
try { eval('1') } catch (e) {}
console.log(`${add(1, 0xFF)}`); fetch('https://example.com/a?b=c').then(r => r).catch(e);
```
SELECT * FROM users WHERE password = 'x' -- 123-45-6789
Mail me@example.co.uk 😀. I can't. <SCRIPT src=x> naïve
"""
_CATASTROPHES = (
    ("(a+)+$", "a" * 40 + "!"),
    ("^(a+)+$", "a" * 40 + "!"),
    ("(a|a)*b", "a" * 40),
    (r"(\w+\s?)*$", "word " * 8 + "a" * 30 + "!"),
    (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60),
)


def written_pairs() -> Iterator[Pair]:
    """Yield each pair once."""
    yield from dict.fromkeys(_all())


def _all() -> Iterator[Pair]:
    yield from _FALSE_BEFORE
    yield from ((pattern, text) for pattern, text, _ in (*SAME, *HALVES))
    yield from ((pattern, _EVERY) for pattern in _RANGES)
    yield from ((letter, _LETTERS) for letter in _FOLDING)
    yield from ((f"[{letter}]+", _LETTERS) for letter in _FOLDING)
    yield from ((f"[^{letter}]", _FOLDING) for letter in _FOLDING)
    yield from ((rf"({letter})x\1", f"{letter}x{letter.upper()} {letter.upper()}x{letter}") for letter in _FOLDING)
    yield from product(_HALVES, _HALF_TEXTS)
    yield from product(_ANNEX_B, _ANNEX_B_TEXTS)
    yield from product(_STRUCTURES, _STRUCTURE_TEXTS)
    yield from product(_TO_FIND_IN_ANSWERS, (_ANSWER, _ANSWER.upper()))
    yield from _CATASTROPHES
