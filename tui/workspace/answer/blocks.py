"""Parsing of an answer's fenced code blocks, with the language and file that each names.

Lines end at LF, CRLF or CR. All functions are linear in the length of the answer.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from tui.model.code_fences import FencedBlock, FenceParser, opening_fence, unquoted
from tui.model.paths import path_fault
from tui.workspace.languages import is_known_file

MOST_BLOCKS = 5_000
MOST_LINES = 100_000  # a comparison holds the GIL, and its time grows faster than the number of lines
_LONGEST = 4_000
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = " \t"
_QUOTES = "\"'`"
_ATTRIBUTE = re.compile(
    r"(?<![\w-])(?P<key>title|path|file|filename)\s{0,9}=\s{0,9}"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^ \t{}]+))",
    re.IGNORECASE,
)
_BRACES = re.compile(r"\{[^{}]*\}?")
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[^ \t]+")
_PLACE = re.compile(r"\d+:\d+:(?P<path>.+)")
_TAG = re.compile(r"[\w+#.-]+")
_SWITCHES = re.compile(r"(?:no-)?line-?numbers(?:=\d+)?|collapsed-lines(?:=\d+)?", re.IGNORECASE)
_EXTENSION = re.compile(r"[^\s.]*\.[A-Za-z]\w{0,9}")
_COMMENT = re.compile(r"\s*(?:#+|/{2,}|-{2,}|;+|/\*+|<!--)\s*(?:file|path)\s*:(?P<rest>.*)", re.IGNORECASE)
_COMMENT_END = re.compile(r"(?:\*+/|--+>)\s*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t](?P<text>.*)")
_FILE_WORD = r"(?:(?:new|updated|modified|changed|complete)\s+)?(?:file|path|filename)(?:\s+\d{1,3})?\s*:"
_LABEL = re.compile(rf"(?:(?:\d{{1,3}}[.):]|[-*+])\s+)?(?:{_FILE_WORD}\s*)?", re.IGNORECASE)
_REMARK = re.compile(r"\s+\([^()]*\)$")
_BACKTICKED = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ALONE = re.compile(
    r"[*_]{0,3}(?:(?:\d{1,3}[.):]|[-*+])\s+)?[*_]{0,3}(?:" + _FILE_WORD + r")?[*_]{0,3}\s*[*_]{0,3}`[^`]+`[*_:.\s]*",
    re.IGNORECASE,
)
_LONGEST_USE = 60  # characters: without a limit, many names in one line would take long
_USED_BEFORE = re.compile(
    r"\b(?:run|runs|running|call|calls|calling|execute|executes|executing|(?:usage|output|result|use) of)"
    r"\s{1,9}(?:(?:the|this|your)\s{1,9})?(?:(?:file|script|program)\s{1,9})?$",
    re.IGNORECASE,
)
_RUN_BEFORE = re.compile(
    r"\b(?:run|runs|running|execute|executes|executing|output of)\s{1,9}(?:(?:the|this|your)\s{1,9})?$", re.IGNORECASE
)
_OUTPUT = re.compile(
    r"[*_]{0,3}(?:the\s{1,9})?(?:(?:expected|sample|example|actual|new|test|program|console|terminal)\s{1,9}){0,2}"
    r"output(?:\s{1,9}(?:is|was|will be|should be))?[*_:.\s]*",
    re.IGNORECASE,
)
"""A line or heading that says no more than that an output follows."""
_USED_AFTER = re.compile(r"\s{1,9}(?:prints|outputs|returns|shows)\b", re.IGNORECASE)
_WORDS_WITH_DOTS = frozenset(
    ("node.js", "vue.js", "next.js", "nuxt.js", "express.js", "react.js", "d3.js", "three.js", "asp.net", "vb.net")
)


def read_info(info: str) -> tuple[str | None, str | None]:
    """Return the language and the path in an info string.

    Recognizes `lang path`, `lang:path`, `title=`, `path=`, `file=` and `filename=`, quoted or not.
    """
    info = info[:_LONGEST].strip(_BLANK)
    path, info = _attribute(info)
    language = None
    if braces := _BRACES.search(info):
        language = next((word[1:] for word in braces[0].strip("{}").split() if word.startswith(".")), None)
        info = info[: braces.start()] + " " + info[braces.end() :]
    tokens = _TOKEN.findall(info)
    if tokens:
        tag, named = _first_token(tokens[0])
        language, path = tag or language, path or named
    if path is None and len(tokens) > 1:
        path = _second_token(tokens[1])
    return language or None, path or None


def _attribute(info: str) -> tuple[str | None, str]:
    for found in _ATTRIBUTE.finditer(info):
        bare = found["bare"]
        path = bare.rstrip(",;") if bare is not None else found["double"] or found["single"] or ""
        prose = found["key"].lower() == "title" and _is_prose(path)
        if path and not prose:
            return path, info[: found.start()] + " " + info[found.end() :]
    return None, _ATTRIBUTE.sub(" ", info)


def _is_prose(title: str) -> bool:
    """Return whether a title is two or more words without anything that looks like a path."""
    words = [word for word in title.split() if sum(map(str.isalpha, word)) > 1]
    return len(words) > 1 and "/" not in title and "\\" not in title and not is_known_file(title)


def _first_token(token: str) -> tuple[str | None, str | None]:
    """Return the language and path in a first word: `ts`, `ts:src/a.ts`, `src/a.ts`, or `12:15:src/a.ts`."""
    if place := _PLACE.fullmatch(token):
        return None, place["path"]
    tag, colon, rest = token.partition(":")
    if colon and rest and _TAG.fullmatch(tag):
        return tag, None if _SWITCHES.fullmatch(rest) else _unquoted_name(rest)
    tag = token.rstrip(":,")
    if "/" in tag or "\\" in tag or ("." in tag[1:] and is_known_file(tag) and tag.lower() not in _WORDS_WITH_DOTS):
        return None, _unquoted_name(tag)
    return tag.strip(_QUOTES), None


def _second_token(token: str) -> str | None:
    if token[0] in _QUOTES:
        return _unquoted_name(token)
    bare = token.strip("[]()`")
    if not bare or "=" in bare or bare[0] in "#@$%&+-":
        return None
    return bare if _looks_like_path(bare) or path_fault(bare) else None


def _looks_like_path(text: str) -> bool:
    if re.search(r"[/\\]", text) or text.startswith(("~", ".")) or is_known_file(text):
        return True
    return bool(_EXTENSION.fullmatch(text))


def _unquoted_name(text: str) -> str:
    """Return the text without the quotes around it; quotes inside stay."""
    text = text.strip(_BLANK)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES else text


def read_comment(line: str) -> str | None:
    """Return the path that a first line names as `file:` or `path:` in a comment, or None for any other line."""
    found = _COMMENT.fullmatch(line[:_LONGEST])
    if not found:
        return None
    rest = _COMMENT_END.sub("", found["rest"]).strip(_BLANK)
    path = _unquoted_name(rest)
    if not re.search(r"[ \t]", path) or path != rest or is_known_file(path):
        return path or None
    # `# file: the one to read` is prose; `# file: src/a.py (new)` names a file.
    first, _, more = path.partition(" ")
    return first if _looks_like_path(first) and more.lstrip().startswith("(") else None


class LineBefore(NamedTuple):
    """What the line before a block says.

    `path` is that of a heading, of a line that is nothing but a path, or one that a sentence mentions. `is_use` says
    that the line names no path for the block, and is about a command or the output of one.
    """

    path: str | None = None
    is_mentioned: bool = False
    is_use: bool = False


def read_line_before(line: str) -> LineBefore:
    """Read the line before a block. Of several paths in backticks, the last one is that of the block."""
    line = line[:_LONGEST]
    heading = _HEADING.fullmatch(line)
    text = heading["text"].strip().rstrip("#").strip() if heading else line.strip()
    ticked = list(_BACKTICKED.finditer(text))
    if len(ticked) == 1 and _ALONE.fullmatch(text):
        path = ticked[0][1].strip()
        if _looks_like_path(path) or path_fault(path):
            return LineBefore(path)
    for found in reversed(ticked):
        path = found[1].strip()
        if _names_file(path) and not _is_used(text, found):
            return LineBefore(path, is_mentioned=heading is None)
    if heading and not ticked and (path_of_heading := _heading_path(text)):
        return LineBefore(path_of_heading)
    is_use = any(_is_used(text, found) if _names_file(found[1].strip()) else _is_run(text, found) for found in ticked)
    return LineBefore(is_use=is_use or bool(_OUTPUT.fullmatch(text)))


def _is_used(text: str, found: re.Match[str]) -> bool:
    """Return whether a sentence is about the use of a file, such as its output or a command: not about its content."""
    is_command = " " in found[1].strip() and "/" not in found[1].split()[0]
    return bool(is_command or _USED_BEFORE.search(_before(text, found)) or _USED_AFTER.match(text, found.end()))


def _is_run(text: str, found: re.Match[str]) -> bool:
    """Return whether a sentence asks to run what is in backticks, or is about its output, or it is a command."""
    words = found[1].split()
    is_command = len(words) > 1 and "/" not in words[0] and any(map(_names_file, words[1:]))
    return is_command or bool(_RUN_BEFORE.search(_before(text, found)))


def _before(text: str, found: re.Match[str]) -> str:
    return text[max(0, found.start() - _LONGEST_USE) : found.start()]


def _heading_path(text: str) -> str | None:
    bare = _REMARK.sub("", _LABEL.sub("", text, count=1).strip("*_ \t").rstrip(":")).strip("*_ \t")
    if not bare or re.search(r"\s", bare) or bare.lower() in _WORDS_WITH_DOTS:
        return None
    return bare if _names_file(bare) or "/" in bare or "\\" in bare else None


def _names_file(text: str) -> bool:
    """Return whether a word is a file's path: `os.path` and `and/or` are not."""
    if re.search(r"\s", text) and "/" not in text:
        return False
    if text.lower() in _WORDS_WITH_DOTS or not is_known_file(text):
        return text.startswith(("../", "~/", ".git/")) or "/.git/" in text
    # `print(x).py`, `f"{name}.txt"`: code that ends like a file.
    return not re.search(r"[(){}\[\]=,;*$\"'<>|]", text)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    `number` counts from 0; `language` and `path` are as written, None if missing; `text` has LF ends, also at its
    last line. `is_mentioned` says that only a sentence before the block has the path, `is_use` that the line before it
    is about a command or an output.
    """

    number: int
    language: str | None
    path: str | None
    text: str
    is_mentioned: bool = False
    is_use: bool = False


def has_too_many_lines(answer: str) -> bool:
    """Return whether an answer has more than MOST_LINES lines."""
    return max(answer.count("\n"), answer.count("\r")) > MOST_LINES


def find_blocks(answer: str) -> tuple[Block, ...]:
    """Return the fenced blocks of an answer, in order, at most MOST_BLOCKS; none if it has too many lines."""
    if has_too_many_lines(answer):
        return ()
    lines = _LINE_END.split(answer)
    if lines[-1] == "":
        lines.pop()
    parser = FenceParser()
    for line in lines:
        parser.add_line(line)
        if len(parser.blocks) > MOST_BLOCKS:
            break
    parser.finish()
    found = enumerate(parser.blocks[:MOST_BLOCKS])
    return tuple(_block(number, block, lines) for number, block in found)


def _block(number: int, found: FencedBlock, lines: list[str]) -> Block:
    fence = found.fence
    language, path = read_info(fence.info)
    body = [fence.content(line) for line in lines[found.first : found.end]]
    if path is None and body and (path := read_comment(body[0])) is not None:
        body = body[1:]
    before = LineBefore(path)
    if path is None:
        before = read_line_before(_line_before(lines, found.first - 1, fence.quotes))
    text = "\n".join([*body, ""]) if body else ""
    return Block(number, language, before.path, text, before.is_mentioned, before.is_use)


def _line_before(lines: list[str], at: int, quotes: int) -> str:
    """Return the last line with text before the fence."""
    for number in range(at - 1, max(at - 4, -1), -1):
        line = unquoted(lines[number], quotes).strip()
        if line:
            fence = opening_fence(line)
            return "" if fence is not None and not fence.info else line
    return ""
