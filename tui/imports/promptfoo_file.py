"""The shape of promptfoo's JSON output, versions 2 to 4; other fields are ignored."""

from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, Field, with_config
from typing_extensions import TypedDict

from tui.imports.result_file import STRICT, Count, Milliseconds, Number, ResultFile
from tui.model.errors import SuiteError


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
    threshold: NotRequired[Number | None]
    transform: NotRequired[Any]
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


def read_file(file: ResultFile) -> FileShape:
    """Return the content of the file. Raises SuiteError with every problem found."""
    from pydantic import TypeAdapter

    text = file.json_text()
    try:
        found: FileShape = file.parse(TypeAdapter(FileShape), text)
        return found
    except SuiteError as error:
        if not any(each.where == "results" and each.what.startswith("expected an object") for each in error.problems):
            raise
    # The value that promptfoo returns to programs: the evaluation without the file around it.
    return {"results": file.parse(TypeAdapter(SummaryShape), text)}


def read_lines(file: ResultFile) -> FileShape:
    """Return the results in a file with one result on each line, as if the evaluation began now.

    Raises SuiteError with every problem found, each with its line.
    """
    from pydantic import TypeAdapter

    rows = [row for _, row in file.parse_lines(TypeAdapter(RowShape))]
    if not rows:
        raise file.refusal([file.problem("has no result")])
    return {"results": {"version": 3, "timestamp": datetime.now(UTC).isoformat(), "results": rows}}
