"""Reads a suite file's text, within limits, from whatever is found at a path."""

import codecs
import hashlib
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui.suites.limits import MOST_JSON_BYTES, MOST_YAML_BYTES

Syntax = Literal["JSON", "YAML"]
_YAML_SUFFIXES = (".yaml", ".yml")
_BOMS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", codecs.BOM_UTF32_BE: "UTF-32"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text without its byte order mark, and the SHA-256 of its bytes in hex."""

    text: str
    syntax: Syntax
    sha256: str


class NotRead(Exception):
    """The file cannot be read at all; the text says why and what to do."""


def read_source(path: Path) -> Source:
    """The text at `path`. Raises NotRead: missing, a folder, too large, not UTF-8, empty."""
    content = _bytes_at(path)
    if len(content) > MOST_JSON_BYTES:
        raise NotRead(_too_large("YAML" if path.suffix.lower() in _YAML_SUFFIXES else "JSON"))
    text = _decoded(content)
    syntax = _syntax_of(path, text)
    if syntax == "YAML" and len(content) > MOST_YAML_BYTES:
        raise NotRead(_too_large("YAML"))
    if not text.strip():
        raise NotRead("is empty; `assay init` writes a suite to begin with")
    return Source(text, syntax, hashlib.sha256(content).hexdigest())


def _too_large(syntax: Syntax) -> str:
    if syntax == "JSON":
        return "is larger than 16 MiB, the limit for JSON; split it"
    return "is larger than 1 MiB, the limit for YAML; split it, or write it as JSON (up to 16 MiB)"


def _decoded(content: bytes) -> str:
    for bom, name in _BOMS.items():
        if content.startswith(bom):
            raise NotRead(f"is {name}, not UTF-8; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise NotRead(f"is not UTF-8 (byte 0x{byte:02x} at offset {error.start}); save it as UTF-8") from error


def _bytes_at(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise NotRead("is a folder; name a suite file in it")
        if not stat.S_ISREG(mode):
            raise NotRead("is not a regular file; name a suite file")
        with path.open("rb") as file:
            return file.read(MOST_JSON_BYTES + 1)
    except FileNotFoundError as error:
        raise NotRead("does not exist; check the path") from error
    except PermissionError as error:
        raise NotRead("may not be read; check its permissions") from error
    except (OSError, ValueError) as error:
        raise NotRead(f"cannot be read ({_reason(error)}); check the path") from error


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or "unknown error").lower() if isinstance(error, OSError) else str(error)


def _syntax_of(path: Path, text: str) -> Syntax:
    suffix = path.suffix.lower()
    if suffix == ".json":
        return "JSON"
    if suffix in _YAML_SUFFIXES:
        return "YAML"
    return "JSON" if text.lstrip()[:1] in ("{", "[") else "YAML"
