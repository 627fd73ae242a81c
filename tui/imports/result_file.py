"""Files of results: their text up to a limit, values of a known shape, and problems with their place."""

import codecs
import functools
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import ConfigDict, Field

from tui.documents.files import NotRead, decode, numbered_lines, read_bytes
from tui.model.errors import Problem, SuiteError
from tui.model.sanitize import sanitize_line
from tui.model.secrets import SHORTEST_SECRET, Secrets
from tui.model.values import has_too_many_values

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails, SchemaValidator, ValidationError

T = TypeVar("T")
MOST_BYTES = 128 << 20
MOST_PROBLEMS = 50
MOST_VALUES = 5_000_000
"""The most JSON values of a file: each needs up to 200 bytes of memory."""
MOST_MEMORY = 512 << 20
"""The most bytes of memory of the values: one emoji makes each character of a text need four."""
_MOST_CHECKED = 50_000  # values of a JSON text that are all checked, also after an invalid one
STRICT = ConfigDict(strict=True, extra="ignore")
# A day: no request takes longer. Counts fit SQLite's integers.
Milliseconds = Annotated[float, Field(ge=0, le=86_400_000)]
Seconds = Annotated[float, Field(ge=0, le=10**8)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Number = Annotated[float, Field(allow_inf_nan=False)]
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "an object with keys",
    "too_short": "a list with at least one result",
}
# Both begin at the first of several backslashes, of which pairs are no part of an escape: the first group.
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..)", re.DOTALL)
# Also one without an end, so that each character is looked at once.
_JSON_TEXT = re.compile(r'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
_PLACE = re.compile(r" at line (\d+) column (\d+)$")


class MemoryLimit:
    """The memory that values take, which are added one by one."""

    def __init__(self) -> None:
        self._held = 0

    def add(self, value: T) -> T:
        """Return the value. Raises NotRead if all values together take too much memory."""
        self._held += _memory_of(value)
        if self._held > MOST_MEMORY:
            raise NotRead(f"needs more than {MOST_MEMORY >> 20} MiB of memory; import it as several files")
        return value


def _memory_of(value: object) -> int:
    """Return the bytes of memory that a value takes; what occurs in it several times counts each time."""
    size = 0
    left = [value]
    while left:
        value = left.pop()
        size += sys.getsizeof(value)
        if isinstance(value, dict):
            left += value
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        elif is_dataclass(value):
            left += (getattr(value, each.name) for each in fields(value))
    return size


class ResultFile:
    """A file of results, read with known keys removed.

    `fix` says how to get a file that can be imported, and `what` why the errors are raised. Every method that reads
    raises SuiteError.
    """

    def __init__(
        self, path: Path, fix: str, secrets: Secrets | None = None, what: str = "The results cannot be imported"
    ) -> None:
        self.path = path
        self._fix, self._what = fix, what
        self._secrets = secrets or Secrets()

    def read(self) -> bytes:
        """Return the content of the file, at most 128 MiB."""
        try:
            content = read_bytes(self.path, MOST_BYTES)
            if len(content) > MOST_BYTES:
                raise NotRead(f"is larger than {MOST_BYTES >> 20} MiB; import it as several files")
            return content
        except NotRead as error:
            raise self.refusal([self.problem(str(error))]) from error

    def json_text(self, content: bytes | None = None) -> str:
        """Return the text of JSON, of the whole file by default, with known keys removed from its texts.

        Numbers stay as they are: most count or measure.
        """
        text = self.text(content)
        return _JSON_TEXT.sub(self._without_keys, text) if self._secrets.values else text

    def _without_keys(self, found: re.Match[str]) -> str:
        written = found[0]
        if len(written) < SHORTEST_SECRET:
            return written
        value = _value_of(written)
        hidden = self._secrets.hide(value) if self._secrets.may_occur_in(value) else value
        return written if hidden == value else json.dumps(hidden)

    def hide(self, text: str) -> str:
        """Return a text with known keys removed."""
        return self._secrets.hide(text)

    def parse(self, shape: "TypeAdapter[Any]", text: str) -> Any:
        """Return the JSON value of a text, which has to have the shape."""
        from pydantic import ValidationError

        self._check_values(text)
        try:
            return _validator(shape, text).validate_json(replace_half_characters(text))
        except ValidationError as error:
            raise self.refusal(problems_of(self.path, error)) from error

    def parse_lines(self, shape: "TypeAdapter[Any]") -> Iterator[tuple[int, Any]]:
        """Yield the number and the JSON value of each line that is not empty; the values have to have the shape.

        The error is raised at the end, with the problems of all lines.
        """
        from pydantic import ValidationError

        problems: list[Problem] = []
        content = self.read()
        self._check_values(content)
        for number, line in numbered_lines(content):
            text = replace_half_characters(self.json_text(line))
            try:
                yield number, _validator(shape, text).validate_json(text)
            except ValidationError as error:
                problems += (replace(each, line=number) for each in problems_of(self.path, error))
            if len(problems) >= MOST_PROBLEMS:
                break
        if problems:
            raise self.refusal(problems[:MOST_PROBLEMS])

    def text(self, content: bytes | None = None) -> str:
        """Return the text of UTF-8 content, that of the whole file by default, with the keys in it."""
        try:
            return decode((self.read() if content is None else content).removeprefix(codecs.BOM_UTF8))
        except NotRead as error:
            raise self.refusal([self.problem(str(error))]) from error

    def _check_values(self, text: str | bytes) -> None:
        if has_too_many_values(text, MOST_VALUES):
            what = f"contains more than {MOST_VALUES:,} values; import it as several files"
            raise self.refusal([self.problem(what)])

    def problem(self, what: str, where: str = "file", line: int | None = None) -> Problem:
        """Return an error of the file."""
        return Problem(str(self.path), line, None, "error", where, sanitize_line(what, 300))

    def refusal(self, problems: Sequence[Problem]) -> SuiteError:
        """Return the exception that refuses the file because of these problems."""
        return SuiteError(self._what, problems, where=str(self.path), fix=self._fix)


def _validator(shape: "TypeAdapter[Any]", text: str) -> "TypeAdapter[Any] | SchemaValidator":
    """Return a validator that finds every problem of a text, or of a large one only the first of each list and object.

    Pydantic collects an error for each invalid item, of one kilobyte each, before any can be counted.
    """
    return _early_validator(shape) if has_too_many_values(text, _MOST_CHECKED) else shape


@functools.lru_cache(maxsize=8)
def _early_validator(shape: "TypeAdapter[Any]") -> "SchemaValidator":
    from pydantic_core import SchemaValidator

    return SchemaValidator(_with_early_end(shape.core_schema))


def _with_early_end(schema: Any) -> Any:
    """Return a core schema of pydantic in which lists and objects end at their first invalid item."""
    if isinstance(schema, list | tuple):
        return type(schema)(map(_with_early_end, schema))
    if not isinstance(schema, dict):
        return schema
    ends = {"fail_fast": True} if schema.get("type") in ("list", "dict") else {}
    return {key: _with_early_end(value) for key, value in schema.items()} | ends


def _value_of(written: str) -> str:
    """Return the text that a JSON text stands for, or what is between its quotation marks if it is invalid."""
    if "\\" in written:
        with suppress(ValueError):
            return str(json.loads(written, strict=False))
    return written.strip('"')


def replace_half_characters(text: str) -> str:
    """Return JSON text in which halves of characters are replaced: JavaScript may cut a text inside of one."""
    if "\\ud" in text or "\\uD" in text:
        return _SURROGATES.sub(lambda found: found[0] if found[2] else found[1] + "\\ufffd", text)
    return text


def problems_of(path: Path, error: "ValidationError") -> list[Problem]:
    """Return the errors that pydantic found as problems of a file: MOST_PROBLEMS of them at most."""
    details = error.errors(include_url=False, include_context=True, include_input=True)
    problems = [_problem(path, detail) for detail in details[:MOST_PROBLEMS]]
    if len(details) > len(problems):
        what = f"{len(details) - len(problems)} more problems not listed; fix these and check again"
        problems.append(Problem(str(path), None, None, "error", "file", what))
    return problems


def _problem(path: Path, detail: "ErrorDetails") -> Problem:
    if detail["type"] == "json_invalid":
        message = str(detail.get("ctx", {}).get("error", detail["msg"]))
        place = _PLACE.search(message)
        line, column = (int(place[1]), max(1, int(place[2]))) if place else (None, None)
        return Problem(str(path), line, column, "error", "JSON", sanitize_line(_PLACE.sub("", message)))
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"]).lstrip(".")
    return Problem(str(path), None, None, "error", sanitize_line(where) or "file", _sentence(detail))


def _sentence(detail: "ErrorDetails") -> str:
    if detail["type"] == "missing":
        return "is missing"
    got = _what(detail["input"])
    if expected := _EXPECTED.get(detail["type"]):
        return f"expected {expected}, got {got}"
    return sanitize_line(f"{detail['msg'][:1].lower()}{detail['msg'][1:]}, got {got}")


def _what(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value:.15g}" if abs(value) < 10**300 else "a number that is too large"
        case str():
            return f"the text `{sanitize_line(value, 40)}`"
        case list():
            return "a list" if value else "an empty list"
    return "an object"
