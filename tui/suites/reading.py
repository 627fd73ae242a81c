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
    """A file's bytes without a byte order mark of UTF-8, and the SHA-256 of all its bytes in hex."""

    content: bytes
    syntax: Syntax
    sha256: str

    def text(self) -> str:
        """The text. Raises NotRead: not UTF-8, too large for YAML, empty."""
        text = _decoded(self.content)
        if self.syntax == "YAML" and len(self.content) > MOST_YAML_BYTES:
            raise NotRead(_too_large("YAML"))
        if not text.strip():
            raise NotRead("is empty; `assay init` writes a suite to begin with")
        return text


class NotRead(Exception):
    """The file cannot be read at all; the text says why and what to do."""


def read_source(path: Path) -> Source:
    """What is at `path`. Raises NotRead: missing, a folder, too large, not UTF-8 where that would tell the syntax."""
    content = _bytes_at(path)
    if len(content) > MOST_JSON_BYTES:
        raise NotRead(_too_large("YAML" if path.suffix.lower() in _YAML_SUFFIXES else "JSON"))
    sha256 = hashlib.sha256(content).hexdigest()
    content = content.removeprefix(codecs.BOM_UTF8)
    return Source(content, _syntax_of(path, content), sha256)


def _too_large(syntax: Syntax) -> str:
    if syntax == "JSON":
        return "is larger than 16 MiB, the limit for JSON; split it"
    return "is larger than 1 MiB, the limit for YAML; split it, or write it as JSON (up to 16 MiB)"


def _decoded(content: bytes) -> str:
    for bom, name in _BOMS.items():
        if content.startswith(bom):
            raise NotRead(f"is {name}, not UTF-8; save it as UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise NotRead(f"is not UTF-8 (byte 0x{byte:02x} at offset {error.start}); save it as UTF-8") from error


def _bytes_at(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise NotRead("is a folder; name a suite file in it")
        if not stat.S_ISREG(status.st_mode):
            raise NotRead("is not a regular file; name a suite file")
        with path.open("rb") as file:
            # Asked for as much as there is, not as there may be: memory for the rest would be got and given back.
            content = file.read(min(status.st_size, MOST_JSON_BYTES) + 1)
            return content + file.read(max(0, MOST_JSON_BYTES + 1 - len(content)))
    except FileNotFoundError as error:
        raise NotRead("does not exist; check the path") from error
    except PermissionError as error:
        raise NotRead("may not be read; check its permissions") from error
    except (OSError, ValueError) as error:
        raise NotRead(f"cannot be read ({_reason(error)}); check the path") from error


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or "unknown error").lower() if isinstance(error, OSError) else str(error)


def _syntax_of(path: Path, content: bytes) -> Syntax:
    suffix = path.suffix.lower()
    if suffix == ".json":
        return "JSON"
    if suffix in _YAML_SUFFIXES:
        return "YAML"
    return "JSON" if _decoded(content).lstrip()[:1] in ("{", "[") else "YAML"
