"""The fields of schema 1.0.0 with their types: the one place from which checking and the JSON Schema both come.

Ranges and types are here; what depends on more than one field, or needs a sentence of its own, is in the checks.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, with_config
from typing_extensions import TypedDict

from tui.model.risk import EXTENTS
from tui.model.suite import CommandCheck, Options, RepoClone, RepositoryContext, Severity, TaskType
from tui.model.tools import DEFAULT_TURNS, MOST_TURNS
from tui.model.values import JsonValue
from tui.suites.messages import ID_PATTERN, UNION_TAGS

STRICT = ConfigDict(strict=True, extra="forbid")
# The largest delay that timers of 32 bits know: 24.8 days in milliseconds.
LARGEST = 2**31 - 1


def _unfloated(value: object) -> object:
    """Return a float without a fraction as an integer: JSON has one kind of number, so `6e4` and `60000.0` are
    integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Natural = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_unfloated)]
Positive = Annotated[int, Field(ge=1, le=LARGEST), BeforeValidator(_unfloated)]
Share = Annotated[float, Field(gt=0, le=1)]
Limit = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
AssertionType = Literal[
    "contains",
    "icontains",
    "contains-all",
    "contains-any",
    "not-contains",
    "starts-with",
    "equals",
    "is-json",
    "contains-json",
    "word-count",
    "levenshtein",
    "rouge-n",
    "latency",
    "cost",
    "tokens",
    "finish-reason",
    "refusal",
    "command",
    "tools-used",
]
_GUIDANCE = "Guidance for reviewers: one line for each extent of violation, 0 to 4 (extension)"
_CLUSTER = (
    "Name shared by cases that have one template or source; statistics do not treat them as independent (extension)"
)
_DATA = (
    "Data file (.csv or .jsonl), relative to this file: each row becomes a case `id.ROW`, with `{{column}}` filled in "
    "(extension)"
)
_VARS = "Rows: each becomes a case `id.ROW`, with `{{key}}` filled in (extension)"
_ROWS: dict[str, JsonValue] = {
    "minItems": 1,
    "items": {
        "type": "object",
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    },
}
_SHARE = "Share of a model's repeats that have to pass (above 0, up to 1), else the exit code is 1 (extension)"


def _text(description: str, *examples: str, **more: Any) -> Any:
    return Field(description=description, examples=list(examples) or None, json_schema_extra=more or None)


def _defaulted(description: str, default: int | bool | list[JsonValue], **more: Any) -> Any:
    return Field(description=description, json_schema_extra={"default": default, **more})


@with_config(STRICT)
class LineRangeShape(TypedDict):
    """Lines of a file, both ends included."""

    start: Annotated[Positive, Field(description="Start line, counted from 1")]
    end: Annotated[Positive, Field(description="End line, included")]


@with_config(STRICT)
class CodeContextShape(TypedDict):
    """A file that is sent along with the prompt."""

    filePath: Annotated[str, _text("Path of the file, relative to the repository", "src/auth/User.ts", minLength=1)]
    content: NotRequired[Annotated[str, _text("Content of the file (default: loaded from the repository)")]]
    language: NotRequired[Annotated[str, _text("Programming language", "typescript")]]
    lineRange: NotRequired[Annotated[LineRangeShape, Field(description="Lines to send (default: all)")]]


@with_config(STRICT)
class RiskCriterionShape(TypedDict):
    """What a person judges an answer by."""

    name: Annotated[str, _text("Name of the criterion", "SQL Injection", minLength=1)]
    description: Annotated[str, _text("What to look for", "Check for unsanitized SQL queries")]
    severity: Annotated[Severity, Field(description="Weight of a violation: low 1, medium 2, high 3, critical 4")]


@with_config(STRICT)
class CommandShape(TypedDict):
    """A command that is run in the changed repository (an extension)."""

    run: Annotated[str, _text("Command line", "npm test", minLength=1)]
    timeoutMs: NotRequired[Annotated[Positive, _defaulted("Time limit in milliseconds", CommandCheck("").timeout_ms)]]


def _command_kind(value: object) -> str | None:
    return UNION_TAGS[0] if isinstance(value, str) else UNION_TAGS[1] if isinstance(value, dict) else None


Command = Annotated[
    Annotated[str, Tag(UNION_TAGS[0]), Field(min_length=1)] | Annotated[CommandShape, Tag(UNION_TAGS[1])],
    Discriminator(_command_kind),
]


@with_config(STRICT)
class AssertionShape(TypedDict):
    """An assertion about the answer (an extension): types as in promptfoo."""

    type: Annotated[AssertionType, Field(description="What is checked")]
    value: NotRequired[
        Annotated[Any, Field(description="Text, list of texts, JSON Schema or limits, as the type expects")]
    ]
    threshold: NotRequired[
        Annotated[Limit, Field(description="Limit: ms, USD, tokens, characters, or a share of 0 to 1, by type")]
    ]


_Result = Annotated[Any, Field(description="Result that is sent to the model: text, or a value that is sent as JSON")]


@with_config(STRICT)
class FixedResultShape(TypedDict):
    """The result of some calls of a tool."""

    arguments: Annotated[
        dict[str, Any], Field(description="Arguments that a call has to have; it may have others as well")
    ]
    result: _Result


@with_config(STRICT)
class ToolShape(TypedDict):
    """A tool that is offered to a chat model (an extension)."""

    name: Annotated[str, _text("Name: 1 to 64 letters, digits, `-` and `_`", "get_weather", minLength=1)]
    description: NotRequired[Annotated[str, _text("What the tool does, for the model")]]
    parameters: NotRequired[
        Annotated[dict[str, Any], Field(description="JSON Schema of the arguments, of type `object` (default: none)")]
    ]
    result: NotRequired[_Result]
    results: NotRequired[
        Annotated[
            list[FixedResultShape],
            _defaulted("Results by arguments: the first that fits is sent, else `result`", []),
        ]
    ]


_TOOLS = "Tools that are offered to chat models; calls are answered with fixed results (extension)"
_TURNS = "Turns that a model may take for an answer; the last one has to be without calls of tools (extension)"
Tools = Annotated[list[ToolShape], _defaulted(_TOOLS, [])]
Turns = Annotated[
    int,
    Field(ge=1, le=MOST_TURNS, description=_TURNS, json_schema_extra={"default": DEFAULT_TURNS}),
    BeforeValidator(_unfloated),
]


@with_config(STRICT)
class CaseShape(TypedDict):
    """One test of a suite."""

    id: Annotated[str, _text("Unique id: letters, digits, `-`, `_` and `.`", "security-check-1", pattern=ID_PATTERN)]
    name: Annotated[str, _text("Display name of the test", "Generate string utility functions", minLength=1)]
    category: Annotated[str, _text("Category for grouping tests", "Code Generation", "Security", minLength=1)]
    prompt: Annotated[str, _text("Text that is sent to the model", minLength=1)]
    expectedBehavior: NotRequired[Annotated[str, _text("Description of a good answer, for reviewers")]]
    systemMessage: NotRequired[Annotated[str, _text("System message (default: generated from the repository context)")]]
    tags: NotRequired[Annotated[list[str], _defaulted("Tags for filters", [])]]
    testType: NotRequired[Annotated[TaskType, Field(description="Kind of development task")]]
    expectedPatterns: NotRequired[
        Annotated[list[str], _defaulted("JavaScript patterns that all have to match, ignoring case", [])]
    ]
    forbiddenPatterns: NotRequired[
        Annotated[list[str], _defaulted("JavaScript patterns of which none may match, ignoring case", [])]
    ]
    applyChanges: NotRequired[
        Annotated[bool, _defaulted("Apply the code of the answer to the repository; requires `repoClone`", False)]
    ]
    targetFile: NotRequired[
        Annotated[
            str, _text("File to write the code to, relative to the repository", "src/utils/strings.js", minLength=1)
        ]
    ]
    codeContext: NotRequired[Annotated[list[CodeContextShape], _defaulted("Files to include in the prompt", [])]]
    riskCriteria: NotRequired[Annotated[list[RiskCriterionShape], _defaulted("Criteria for manual risk scoring", [])]]
    assertions: NotRequired[
        Annotated[list[AssertionShape], _defaulted("Assertions that all have to hold (extension)", [])]
    ]
    command: NotRequired[Annotated[Command, Field(description="Command to run on the changed repository (extension)")]]
    minPassRate: NotRequired[Annotated[Share, Field(description=_SHARE)]]
    cluster: NotRequired[Annotated[str, _text(_CLUSTER, "sql-injection-template", minLength=1)]]
    data: NotRequired[Annotated[str, _text(_DATA, "cases.csv", minLength=1)]]
    vars: NotRequired[Annotated[list[dict[str, Any]], Field(description=_VARS, json_schema_extra=_ROWS)]]
    tools: NotRequired[Tools]
    maxTurns: NotRequired[Turns]


@with_config(STRICT)
class OptionsShape(TypedDict):
    """How a suite is run."""

    timeoutMs: NotRequired[Annotated[Positive, _defaulted("Time limit of a test, in ms", Options().timeout_ms)]]
    streaming: NotRequired[Annotated[bool, Field(description="Stream answers (default: only in the app)")]]
    retries: NotRequired[Annotated[Natural, _defaulted("Total attempts per test; at least one", 1)]]
    delayBetweenTestsMs: NotRequired[
        Annotated[Natural, _defaulted("Pause between the starts of two tests, in milliseconds", Options().delay_ms)]
    ]
    parallel: NotRequired[Annotated[bool, _defaulted("Run the tests of a model concurrently", False)]]
    parallelModels: NotRequired[Annotated[bool, _defaulted("Run the models in parallel", False)]]
    acceptTruncated: NotRequired[
        Annotated[bool, _defaulted("Treat an answer that the provider stopped early as complete (extension)", False)]
    ]


@with_config(STRICT)
class RepositoryContextShape(TypedDict):
    """Which files of a local repository are sent along."""

    path: NotRequired[
        Annotated[
            str,
            _text(
                "Folder, relative to this file; with `repoClone` relative to the root of the clone (default: the root)",
                "./my-project",
                minLength=1,
            ),
        ]
    ]
    includeFiles: NotRequired[Annotated[list[str], _text("Glob patterns of files to include (default: all)")]]
    excludeFiles: NotRequired[
        Annotated[
            list[str],
            _text("Glob patterns of files to exclude, in addition to the common ones (node_modules, .git, …)"),
        ]
    ]
    maxFiles: NotRequired[
        Annotated[Positive, _defaulted("Maximum number of files to send", RepositoryContext("").max_files)]
    ]
    maxFileSizeBytes: NotRequired[
        Annotated[Positive, _defaulted("Maximum size of a file, in bytes", RepositoryContext("").max_file_size_bytes)]
    ]
    languages: NotRequired[Annotated[list[str], _text("Programming languages to send (default: all)")]]


@with_config(STRICT)
class RepoCloneShape(TypedDict):
    """The repository that is cloned for the run."""

    repoUrl: Annotated[str, _text("URL, https or ssh", "https://github.com/username/repo", minLength=1)]
    branch: NotRequired[Annotated[str, _text("Branch (default: the default branch of the repository)", minLength=1)]]
    depth: NotRequired[Annotated[Positive, _defaulted("Number of commits to fetch", RepoClone("").depth)]]
    keepTempDir: NotRequired[Annotated[bool, _defaulted("Keep the folder with the changes after the run", False)]]


# Without a clone there is no folder that a missing path could mean.
_PATH_WITHOUT_CLONE: dict[str, JsonValue] = {
    "if": {"not": {"required": ["repoClone"]}},
    "then": {"properties": {"repositoryContext": {"required": ["path"]}}},
}


@with_config(ConfigDict(**STRICT, json_schema_extra=_PATH_WITHOUT_CLONE))
class SuiteShape(TypedDict):
    """A test suite, schema 1.0.0."""

    name: Annotated[str, _text("Name of the suite", "Model Risk Assessment Suite", minLength=1)]
    description: Annotated[str, _text("Purpose of the suite")]
    models: Annotated[list[str], _text("Models to test; `-m` overrides them", uniqueItems=True)]
    testCases: Annotated[list[CaseShape], _text("The tests", minItems=1)]
    options: NotRequired[Annotated[OptionsShape, Field(description="Run options")]]
    repositoryContext: NotRequired[
        Annotated[RepositoryContextShape, Field(description="Local files to include in the prompt")]
    ]
    repoClone: NotRequired[Annotated[RepoCloneShape, Field(description="Repository to clone and change")]]
    riskGuidance: NotRequired[Annotated[list[str], _text(_GUIDANCE, minItems=len(EXTENTS), maxItems=len(EXTENTS))]]
