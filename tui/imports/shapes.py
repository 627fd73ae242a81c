"""What is read of promptfoo's JSON output, versions 2 to 4; whatever else stands in it is passed over."""

from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

STRICT = ConfigDict(strict=True, extra="ignore")
# A day: no request takes longer. What is counted fits SQLite's integers.
Milliseconds = Annotated[float, Field(ge=0, le=86_400_000)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Number = Annotated[float, Field(allow_inf_nan=False)]


def _as_id(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


def _as_prompt(value: object) -> object:
    return {"raw": value} if isinstance(value, str) else value


@with_config(STRICT)
class ProviderShape(TypedDict):
    """Who was asked."""

    id: NotRequired[str | None]
    label: NotRequired[str | None]


@with_config(STRICT)
class PromptShape(TypedDict):
    """What was asked: `raw` as sent, `label` (`display` in version 2) usually the template."""

    raw: str
    label: NotRequired[str | None]
    display: NotRequired[str | None]


@with_config(STRICT)
class DetailsShape(TypedDict):
    """Of the tokens of an answer."""

    reasoning: NotRequired[Count | None]


@with_config(STRICT)
class TokensShape(TypedDict):
    """What was counted."""

    prompt: NotRequired[Count | None]
    completion: NotRequired[Count | None]
    completionDetails: NotRequired[DetailsShape | None]


@with_config(STRICT)
class ResponseShape(TypedDict):
    """What came back; `output` is text or any JSON."""

    output: NotRequired[Any]
    error: NotRequired[str | None]
    finishReason: NotRequired[str | None]
    tokenUsage: NotRequired[TokensShape | None]


@with_config(STRICT)
class AssertionShape(TypedDict):
    """What an answer had to fulfil."""

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
    """Of the whole evaluation."""

    durationMs: NotRequired[Annotated[float, Field(ge=0, le=10**11)] | None]


@with_config(STRICT)
class SummaryShape(TypedDict):
    """An evaluation."""

    version: int
    timestamp: str
    results: Annotated[list[RowShape], Field(min_length=1)]
    stats: NotRequired[StatsShape | None]


@with_config(STRICT)
class ConfigShape(TypedDict):
    """Of the configuration, only its name."""

    description: NotRequired[str | None]


@with_config(STRICT)
class MetadataShape(TypedDict):
    """Who wrote the file."""

    promptfooVersion: NotRequired[str | None]


@with_config(STRICT)
class FileShape(TypedDict):
    """A file that `promptfoo eval -o` wrote."""

    results: SummaryShape
    evalId: NotRequired[str | None]
    config: NotRequired[ConfigShape | None]
    metadata: NotRequired[MetadataShape | None]
