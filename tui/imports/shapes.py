"""The shape of promptfoo's JSON output, versions 2 to 4; other fields are ignored."""

import codecs
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from tui.documents.files import NotRead, decode, read_bytes
from tui.model.errors import Problem, SuiteError
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

STRICT = ConfigDict(strict=True, extra="ignore")
# A day: no request takes longer. Counts fit SQLite's integers.
Milliseconds = Annotated[float, Field(ge=0, le=86_400_000)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Number = Annotated[float, Field(allow_inf_nan=False)]


def _as_id(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


def _as_prompt(value: object) -> object:
    return {"raw": value} if isinstance(value, str) else value


@with_config(STRICT)
class ProviderShape(TypedDict):
    """The provider of an answer."""

    id: NotRequired[str | None]
    label: NotRequired[str | None]


@with_config(STRICT)
class PromptShape(TypedDict):
    """A prompt: `raw` as sent, `label` (`display` in version 2) usually the template."""

    raw: str
    label: NotRequired[str | None]
    display: NotRequired[str | None]


@with_config(STRICT)
class DetailsShape(TypedDict):
    """The details of the completion tokens of an answer."""

    reasoning: NotRequired[Count | None]


@with_config(STRICT)
class TokensShape(TypedDict):
    """The token counts of an answer."""

    prompt: NotRequired[Count | None]
    completion: NotRequired[Count | None]
    completionDetails: NotRequired[DetailsShape | None]


@with_config(STRICT)
class ResponseShape(TypedDict):
    """The response of a provider; `output` is text or any JSON."""

    output: NotRequired[Any]
    error: NotRequired[str | None]
    finishReason: NotRequired[str | None]
    tokenUsage: NotRequired[TokensShape | None]


@with_config(STRICT)
class AssertionShape(TypedDict):
    """An assertion about an answer."""

    type: str
    value: NotRequired[Any]
    metric: NotRequired[str | None]


@with_config(STRICT)
class RenderedShape(TypedDict):
    """The value of an assertion with its variables filled in."""

    renderedAssertionValue: NotRequired[Any]


ComponentShape = TypedDict(
    "ComponentShape",
    {
        "pass": bool,
        "reason": NotRequired[str | None],
        "assertion": NotRequired[AssertionShape | None],
        "metadata": NotRequired[RenderedShape | None],
    },
)
with_config(STRICT)(ComponentShape)

GradingShape = TypedDict(
    "GradingShape",
    {
        "pass": NotRequired[bool],
        "reason": NotRequired[str | None],
        "componentResults": NotRequired[list[ComponentShape | None] | None],
    },
)
with_config(STRICT)(GradingShape)

TestShape = TypedDict(
    "TestShape",
    {
        "description": NotRequired[str | None],
        "vars": NotRequired[dict[str, Any] | None],
        "assert": NotRequired[list[Any] | None],
        "metadata": NotRequired[dict[str, Any] | None],
    },
)
with_config(STRICT)(TestShape)


@with_config(STRICT)
class RowShape(TypedDict):
    """One answer of one provider to one prompt of one test."""

    provider: Annotated[ProviderShape, BeforeValidator(_as_id)]
    prompt: Annotated[PromptShape, BeforeValidator(_as_prompt)]
    success: bool
    vars: NotRequired[dict[str, Any] | None]
    response: NotRequired[ResponseShape | None]
    error: NotRequired[str | None]
    failureReason: NotRequired[Count | None]
    score: NotRequired[Number | None]
    cost: NotRequired[Number | None]
    latencyMs: NotRequired[Milliseconds | None]
    gradingResult: NotRequired[GradingShape | None]
    tokenUsage: NotRequired[TokensShape | None]
    testCase: NotRequired[TestShape | None]
    testIdx: NotRequired[Count | None]
    promptIdx: NotRequired[Count | None]


@with_config(STRICT)
class StatsShape(TypedDict):
    """The statistics of the whole evaluation."""

    durationMs: NotRequired[Annotated[float, Field(ge=0, le=10**11)] | None]


@with_config(STRICT)
class SummaryShape(TypedDict):
    """The summary of an evaluation."""

    version: int
    timestamp: str
    results: Annotated[list[RowShape], Field(min_length=1)]
    stats: NotRequired[StatsShape | None]


@with_config(STRICT)
class ConfigShape(TypedDict):
    """The configuration, of which only the name is used."""

    description: NotRequired[str | None]


@with_config(STRICT)
class MetadataShape(TypedDict):
    """The program that wrote the file."""

    promptfooVersion: NotRequired[str | None]


@with_config(STRICT)
class FileShape(TypedDict):
    """A file that `promptfoo eval -o` wrote."""

    results: SummaryShape
    evalId: NotRequired[str | None]
    config: NotRequired[ConfigShape | None]
    metadata: NotRequired[MetadataShape | None]


MOST_BYTES = 128 * 1024 * 1024
_MOST_PROBLEMS = 50
_FIX = "To write a file that can be imported, run `promptfoo eval -o results.json`."
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "an object with keys",
    "too_short": "a list with at least one result",
}
# Match every escape to stay aligned; the group is only set for a lone half of a surrogate pair.
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.", re.DOTALL)
_PLACE = re.compile(r" at line (\d+) column (\d+)$")


def read_file(path: Path, secrets: Secrets) -> "FileShape":
    """Return the content of the file with all secrets removed. Raises SuiteError with every problem found."""
    return _checked(path, mended(secrets.hide(text_at(path))))


def read_lines(path: Path, secrets: Secrets) -> "FileShape":
    """Return the results in a file with one result on each line, as if the evaluation began now.

    Raises SuiteError with every problem found, each with its line.
    """
    from pydantic import TypeAdapter, ValidationError

    shape = TypeAdapter(RowShape)
    rows: list[RowShape] = []
    problems: list[Problem] = []
    # Not splitlines: a line separator may be part of an answer.
    for number, line in enumerate(mended(secrets.hide(text_at(path))).split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(shape.validate_json(line))
        except ValidationError as error:
            problems += (replace(each, line=number) for each in problems_of(path, error))
        if len(problems) >= _MOST_PROBLEMS:
            break
    if problems or not rows:
        found = problems[:_MOST_PROBLEMS] or [Problem(str(path), None, None, "error", "file", "has no result")]
        raise SuiteError("The results cannot be imported", found, where=str(path), fix=_FIX)
    return {"results": {"version": 3, "timestamp": datetime.now(UTC).isoformat(), "results": rows}}


def mended(text: str) -> str:
    """Return JSON text in which halves of characters are replaced: JavaScript may cut a text inside of one."""
    if "\\ud" in text or "\\uD" in text:
        return _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    return text


def _checked(path: Path, text: str) -> "FileShape":
    from pydantic import TypeAdapter, ValidationError

    try:
        file: FileShape = TypeAdapter(FileShape).validate_json(text)
        return file
    except ValidationError as error:
        found = error
    # The value that promptfoo returns to programs: the evaluation without the file around it.
    if any(detail["loc"] == ("results",) and detail["type"] == "dict_type" for detail in _details(found)):
        try:
            return {"results": TypeAdapter(SummaryShape).validate_json(text)}
        except ValidationError as error:
            found = error
    raise SuiteError("The results cannot be imported", problems_of(path, found), where=str(path), fix=_FIX)


def _details(error: "ValidationError") -> list["ErrorDetails"]:
    return error.errors(include_url=False, include_context=True, include_input=True)


def problems_of(path: Path, error: "ValidationError") -> list[Problem]:
    """Return the errors that pydantic found as problems of a file; at most fifty of them."""
    details = _details(error)
    problems = [_problem(path, detail) for detail in details[:_MOST_PROBLEMS]]
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


def text_at(path: Path, fix: str = _FIX) -> str:
    """Return the text of a file, at most 128 MiB. Raises SuiteError, which says with `fix` how to write such a file."""
    try:
        content = read_bytes(path, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise NotRead(
                f"is larger than {MOST_BYTES // 1024**2} MiB; run the evaluation in parts, or without metadata"
            )
        return decode(content.removeprefix(codecs.BOM_UTF8))
    except NotRead as error:
        problem = Problem(str(path), None, None, "error", "file", str(error))
        raise SuiteError("The results cannot be imported", [problem], where=str(path), fix=fix) from error
