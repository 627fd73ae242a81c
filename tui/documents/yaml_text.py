"""Values and entries as they are written in YAML."""

import json
import re
from collections.abc import Iterator, Sequence

from tui.documents.yaml_scalars import resolved
from tui.model.values import JsonValue

_HEADER = re.compile(r"[|>]([+-]?)([ \t]*(?:#[^\r\n]*)?)(\r\n|\r|\n)")
_NOT_SINGLE = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_CHOMPING = {0: "-", 1: ""}


def entry_lines(path: Sequence[str], value: JsonValue, indent: int, line_end: str = "") -> Iterator[str]:
    """Yield the lines of an entry in a block; with a `line_end`, a text of several lines is a block scalar."""
    *parents, name = path
    for parent in parents:
        yield f"{' ' * indent}{yaml_text(parent)}:"
        indent += 2
    if isinstance(value, dict):
        yield f"{' ' * indent}{yaml_text(name)}:"
        for key, below in value.items():
            yield f"{' ' * (indent + 2)}{yaml_text(key)}: {yaml_value(below)}"
    else:
        written = literal_block(value, indent + 2, line_end) if isinstance(value, str) and line_end else None
        yield f"{' ' * indent}{yaml_text(name)}: {written or yaml_value(value)}"


def yaml_value(value: JsonValue, *, is_flow: bool = False) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, str):
        return yaml_text(value, is_flow=is_flow)
    if isinstance(value, list):
        return "[" + ", ".join(yaml_value(item, is_flow=True) for item in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{yaml_text(key, is_flow=True)}: {yaml_value(below, is_flow=True)}" for key, below in value.items())
        return "{" + ", ".join(pairs) + "}"
    return json.dumps(value)


def literal_block(text: str, indent: int, line_end: str, comment: str = "") -> str | None:
    """Return a text of several lines as a block scalar with this indentation, or None if it needs quotes.

    The `comment` is written behind its first line.
    """
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    if "\n" not in body or body[0] in " \n" or ends not in _CHOMPING or _NOT_SINGLE.search(body.replace("\n", "")):
        return None
    lines = (f"{' ' * indent}{line}" if line else "" for line in body.split("\n"))
    return line_end.join((f"|{_CHOMPING[ends]}{comment}", *lines))


def yaml_block(text: str, start: int, style: str, new: str) -> str | None:
    """Return a block scalar with another text in the indentation of the one at `start`, or None if it needs quotes."""
    header = _HEADER.match(text, start)
    if header is None:
        return None
    indent = re.compile(r"(?:[ ]*(?:\r\n|\r|\n))*([ ]+)(?=[^ \r\n])").match(text, header.end())
    body = new.rstrip("\n")
    lines = body.split("\n")
    ends = len(new) - len(body)
    is_odd = not body or body[0] == " " or _NOT_SINGLE.search(body.replace("\n", "")) or (style == ">" and lines[1:])
    if indent is None or is_odd or ends not in _CHOMPING:
        return None
    chomping = header[1] if (header[1] == "-") == (ends == 0) else _CHOMPING[ends]
    return style + chomping + header[2] + header[3] + header[3].join(f"{indent[1]}{line}" for line in lines)


def yaml_text(text: str, *, is_flow: bool = False, quote: str = "") -> str:
    """Return a text as YAML: without quotes if `quote` is empty and none are needed, else in those quotes if it can
    be."""
    if not quote and _is_plain(text, is_flow):
        return text
    if quote != '"' and not _NOT_SINGLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    return _NOT_SINGLE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(text: str, is_flow: bool) -> bool:
    """Return whether a text is read as that text when it is written without quotes."""
    import yaml

    if _NOT_SINGLE.search(text):
        return False
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(f"[{text}, x]" if is_flow else f"- {text}\n- x\n")
    scalars = []
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.ScalarEvent):
                scalars.append(event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.AliasEvent):
                return False
    except yaml.YAMLError:
        return False
    finally:
        loader.dispose()
    if len(scalars) != 2 or scalars[0].anchor or scalars[0].style:
        return False
    found = resolved(scalars[0])
    return found.value == text and not found.fault and not found.doubt
