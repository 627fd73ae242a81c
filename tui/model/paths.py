"""Which relative paths a suite, a model's answer or a repository may name."""

import re
import unicodedata

MOST_PARTS = 32
MOST_BYTES = 255

_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9]|lpt[0-9])")
# Names under which Windows also finds .git and .gitmodules: `git~1`, `GITMOD~1`, `gi7eba~1`.
_SHORT_NAME = re.compile(r"(?:git|gitmod|gi[0-9a-f]{3,4})~[0-9]+")
_UNSEEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
# Invisible, though Unicode calls them letters or marks.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0000-\U000e0fff]")


def path_fault(path: str) -> str | None:
    """Why a relative path is refused, as a clause that follows `it …`; None when it is fine.

    The path is relative with `/` between its parts, whatever the system. The clause never repeats the path.
    """
    if not path:
        return "is empty"
    if path.startswith("~"):
        return "begins with `~`, a home folder"
    if _DRIVE.match(path):
        return "names a drive; give it relative to the root"
    if path[0] in "/\\":
        return "is absolute; give it relative to the root"
    if "\\" in path:
        return "has a backslash; write `/` between folders"
    if path.count("/") >= MOST_PARTS:
        return f"is deeper than {MOST_PARTS} parts"
    return next((fault for part in path.split("/") if (fault := _part_fault(part))), None)


def _part_fault(part: str) -> str | None:
    if not part:
        return "has an empty part (`//`, or `/` at its end)"
    if part == "..":
        return "goes up with `..`"
    if part == ".":
        return "has a part that is only `.`; leave that part out"
    if len(part) > MOST_BYTES:
        return f"has a part longer than {MOST_BYTES} bytes"
    if not part.isascii():
        if fault := _unicode_fault(part):
            return fault
    elif not part.isprintable():
        return "has a control character"
    if found := _FORBIDDEN.search(part):
        return f"has the character `{found[0]}`"
    if part[-1] == "." or part[-1].isspace():
        return "has a part that ends with a dot or a space"
    return _name_fault(part)


def _unicode_fault(part: str) -> str | None:
    for character in part:
        if unicodedata.category(character) in _UNSEEN_CATEGORIES or _is_no_character(ord(character)):
            return "has a control or format character"
    if _UNSEEN.search(part):
        return "has an invisible character"
    if len(part.encode()) > MOST_BYTES:
        return f"has a part longer than {MOST_BYTES} bytes"
    return None


def _is_no_character(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _name_fault(part: str) -> str | None:
    """What file systems that fold case and compatible characters would make of the name."""
    for name in re.split(r"[/\\]", _folded(part)):
        if name == "..":
            return "has a part that looks like `..`"
        bare = name.rstrip(". ")
        if bare == ".git":
            return "has a part that is `.git` or looks like it"
        if bare == ".gitmodules":
            return "has a part that is `.gitmodules` or looks like it"
        if _SHORT_NAME.fullmatch(bare):
            return "has a part that Windows takes for `.git` or `.gitmodules`"
        if _DEVICE.fullmatch(name.partition(".")[0].rstrip(" ")):
            return "has the name of a device (such as `con`, `nul`, `com1`)"
    return None


def _folded(part: str) -> str:
    if part.isascii():
        return part.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", part).casefold()).replace("ı", "i")
    return "".join(character for character in plain if unicodedata.category(character)[0] != "M")
