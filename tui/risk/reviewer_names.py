"""Names of reviewers that people cannot tell apart, although they are different names."""

import unicodedata
from collections.abc import Iterable

_AS_READ = str.maketrans(
    # Letters in lower case (Cherokee and Lisu have none) and the Latin letters that they look like in either case:
    # Cyrillic, Greek, Coptic, Armenian, Cherokee, Lisu, small capitals; more of these and of Latin; digits; Asian and
    # African scripts; Canadian syllabics and runes; further scripts; digits and signs. Of Unicode's confusables, those
    # in fonts of terminals.
    "абвгдекмнорстухіјѕԁԛԝһӏүԍпшьѵё"
    "αβγδεζηικμνορτυχωϳ"
    "ⲁⲉⲓⲕⲙⲛⲟⲣⲥⲧⲩⲭ"
    "օսհոցզ"
    "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏆᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏴ"
    "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ"
    "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑıȷɡǀ"
    "ƅƍƽɣɩɯʋʝϝϻѡҽագռտք"
    "۱۵۷०০੦૦୦௦౦೦൦๐໐၀〇"
    "ଠഠဝყჿሀዐᎱᏳ"
    "ᐯᑌᑭᑯᑲᒍᒪᕁᕼᕽᖇᖯᖴᗅᗞᗪᗰᗷᚷᛁᛕᛖ"
    "ᴑᴦᶃᶌẝỿ℮ⲅⲏⳑⴸⴹⵏⵔⵕⵝꓒꙇꛟꜱꞙꞟꞵꬲꬵꬽꭇꭈꭎꭒꭓꭚ𐐬𐐽𐑃𐑈𐓜𐓪𐓶"
    "01|∣‐‒–—−’ʼ`´",
    "a6brgekmhopctyxijsdqwhlygnwbvë"
    "abydezhikmnoptyxwj"
    "aeikmnopctyx"
    "ouhngq"
    "drtiyajewmhyghzibrwsvslcpkdb"
    "bpdtgkjczfmnlsrvhwxyaeiou"
    "abcdeghijklmnoprtuvwyzaijgl"
    "bgsyiwujfmwewqnsf"
    "lovooooooooooooo"
    "oooyouorg"
    "vupdbjlxhxrbfaddmbxlkm"
    "orgyfyerhlveloqxdivsfubeforruuxyoclsrou"
    "olll-----''''",
)
_LUNATE = str.maketrans("ϲϹ", "cC")  # Unicode's compatible forms of them are sigmas
_AS_DRAWN = str.maketrans("IІΙᏆꓲӀνηυσ", "llllllvnuo")
"""Letters of one case that look like a Latin letter with another sound: `I` like `l`, the Greek `ν` like `v`."""
_BLANK = frozenset("\u2800\u115f\u1160\u3164\uffa0\u2065\U0001d159")
"""Characters without ink that Unicode lists as letters or symbols: the Braille blank, the Hangul fillers, …"""
_INVISIBLE = ("Cc", "Cf", "Mn", "Me")


def look_alikes(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of different names that look the same, each with the first name that looks so.

    Names look the same if they differ in case, spaces, compatibility forms (Unicode NFKC), invisible characters,
    letters of another script, or letters and digits such as `I`, `l` and `1`.
    """
    first: dict[str, str] = {}
    pairs = []
    for name in dict.fromkeys(names):
        appearances = _appearances(name)
        known = next((first[each] for each in appearances if each in first), name)
        for each in appearances:
            first.setdefault(each, known)
        if known != name:
            pairs.append((known, name))
    return tuple(pairs)


def looks_like(one: str, other: str) -> bool:
    """Return whether two names are the same or look the same."""
    return not set(_appearances(one)).isdisjoint(_appearances(other))


def _appearances(name: str) -> tuple[str, str]:
    """Return the name as it is read, in any case, and as it is drawn (`BiII` and `Bill`, `Arnold` and `Amold`)."""
    text = "".join(
        letter for letter in unicodedata.normalize("NFKC", name.translate(_LUNATE)) if not _is_invisible(letter)
    )
    drawn = text.translate(_AS_DRAWN).casefold().translate(_AS_READ)
    return text.casefold().translate(_AS_READ), drawn.replace("rn", "m").replace("vv", "w")


def _is_invisible(letter: str) -> bool:
    return letter.isspace() or letter in _BLANK or unicodedata.category(letter) in _INVISIBLE
