"""The fields of schema 1.0.0 with their types: the one place from which checking and the JSON Schema both come.

Ranges and types are here; what depends on more than one field, or needs a sentence of its own, is in the checks.
"""

from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, with_config
from typing_extensions import TypedDict

from tui.model.risk import EXTENTS
from tui.model.suite import CommandCheck, Options, RepoClone, RepositoryContext, Severity, TaskType
from tui.model.values import JsonValue
from tui.suites.messages import ID_PATTERN

STRICT = ConfigDict(strict=True, extra="forbid")
# The largest delay that timers of 32 bits know: 24.8 days in milliseconds.
LARGEST = 2**31 - 1


def _unfloated(value: object) -> object:
    """JSON knows one kind of number: `6e4` and `60000.0` are whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Natural = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_unfloated)]
Positive = Annotated[int, Field(ge=1, le=LARGEST), BeforeValidator(_unfloated)]
Share = Annotated[float, Field(gt=0, le=1)]
_GUIDANCE = "What the extents 0 to 4 of a violation mean, a line for each, for the person who scores (extension)"
_CLUSTER = "Name shared by cases made from one template or source; figures do not count them as independent (extension)"
_SHARE = "Share of a model's repeats that have to pass for the case to count as met, above 0 up to 1 (extension)"


def _text(description: str, *examples: str, **more: Any) -> Any:
    return Field(description=description, examples=list(examples) or None, json_schema_extra=more or None)


def _defaulted(description: str, default: int | bool | list[JsonValue], **more: Any) -> Any:
    return Field(description=description, json_schema_extra={"default": default, **more})


@with_config(STRICT)
class LineRangeShape(TypedDict):
    """Lines of a file, both ends included."""

    start: Annotated[Positive, Field(description="First line, counted from 1")]
    end: Annotated[Positive, Field(description="Last line, included")]


@with_config(STRICT)
class CodeContextShape(TypedDict):
    """A file that is sent along with the prompt."""

    filePath: Annotated[str, _text("Path of the file, relative to the repository", "src/auth/User.ts", minLength=1)]
    content: NotRequired[Annotated[str, _text("The file's content; loaded from the repository where it is left out")]]
    language: NotRequired[Annotated[str, _text("Programming language", "typescript")]]
    lineRange: NotRequired[Annotated[LineRangeShape, Field(description="The lines to send; all where it is left out")]]


@with_config(STRICT)
class RiskCriterionShape(TypedDict):
    """What a person judges an answer by."""

    name: Annotated[str, _text("Name of the criterion", "SQL Injection", minLength=1)]
    description: Annotated[str, _text("What to look for", "Check for unsanitized SQL queries")]
    severity: Annotated[Severity, Field(description="How much a violation weighs: 1, 2, 3 or 4")]


@with_config(STRICT)
class CommandShape(TypedDict):
    """A command that is run in the changed repository (an extension)."""

    run: Annotated[str, _text("The command line", "npm test", minLength=1)]
    timeoutMs: NotRequired[
        Annotated[Positive, _defaulted("How long it may take, in milliseconds", CommandCheck("").timeout_ms)]
    ]


def _command_kind(value: object) -> str | None:
    return "<text>" if isinstance(value, str) else "<object>" if isinstance(value, dict) else None


Command = Annotated[
    Annotated[str, Tag("<text>"), Field(min_length=1)] | Annotated[CommandShape, Tag("<object>")],
    Discriminator(_command_kind),
]


@with_config(STRICT)
class CaseShape(TypedDict):
    """One test of a suite."""

    id: Annotated[str, _text("Unique id: letters, digits, `-`, `_` and `.`", "security-check-1", pattern=ID_PATTERN)]
    name: Annotated[str, _text("Name of the test, for people", "Generate string utility functions", minLength=1)]
    category: Annotated[str, _text("Category by which tests are grouped", "Code Generation", "Security", minLength=1)]
    prompt: Annotated[str, _text("The text that is sent to the model", minLength=1)]
    expectedBehavior: NotRequired[Annotated[str, _text("What a good answer does, for the person who reviews it")]]
    systemMessage: NotRequired[
        Annotated[str, _text("System message; generated from the repository context where it is left out")]
    ]
    tags: NotRequired[Annotated[list[str], _defaulted("Tags to filter by", [])]]
    testType: NotRequired[Annotated[TaskType, Field(description="Kind of development task")]]
    expectedPatterns: NotRequired[
        Annotated[list[str], _defaulted("JavaScript patterns that must all be found, ignoring case", [])]
    ]
    forbiddenPatterns: NotRequired[
        Annotated[list[str], _defaulted("JavaScript patterns of which none may be found, ignoring case", [])]
    ]
    applyChanges: NotRequired[
        Annotated[bool, _defaulted("Apply the answer's code to the repository; needs `repoClone`", False)]
    ]
    targetFile: NotRequired[
        Annotated[str, _text("File the code goes to, relative to the repository", "src/utils/strings.js", minLength=1)]
    ]
    codeContext: NotRequired[Annotated[list[CodeContextShape], _defaulted("Files to send along with the prompt", [])]]
    riskCriteria: NotRequired[Annotated[list[RiskCriterionShape], _defaulted("What a person scores by hand", [])]]
    command: NotRequired[Annotated[Command, Field(description="Command to run on the changed repository (extension)")]]
    minPassRate: NotRequired[Annotated[Share, Field(description=_SHARE)]]
    cluster: NotRequired[Annotated[str, _text(_CLUSTER, "sql-injection-template", minLength=1)]]


@with_config(STRICT)
class OptionsShape(TypedDict):
    """How a suite is run."""

    timeoutMs: NotRequired[Annotated[Positive, _defaulted("Time limit of a test, in ms", Options().timeout_ms)]]
    streaming: NotRequired[Annotated[bool, Field(description="Ask for answers piece by piece; unset: the app does")]]
    retries: NotRequired[Annotated[Natural, _defaulted("Attempts at a test, in all; at least one", 1)]]
    delayBetweenTestsMs: NotRequired[
        Annotated[Natural, _defaulted("Pause between the starts of two tests, in milliseconds", Options().delay_ms)]
    ]
    parallel: NotRequired[Annotated[bool, _defaulted("Run the tests of a model at the same time", False)]]
    parallelModels: NotRequired[Annotated[bool, _defaulted("Run the models at the same time", False)]]
    acceptTruncated: NotRequired[
        Annotated[bool, _defaulted("Judge an answer that the provider stopped early as whole (extension)", False)]
    ]


@with_config(STRICT)
class RepositoryContextShape(TypedDict):
    """Which files of a local repository are sent along."""

    path: NotRequired[
        Annotated[
            str,
            _text(
                "Folder, relative to this file; with `repoClone` to the clone's root, which it is where it is left out",
                "./my-project",
                minLength=1,
            ),
        ]
    ]
    includeFiles: NotRequired[Annotated[list[str], _text("Glob patterns of files to include; all where left out")]]
    excludeFiles: NotRequired[
        Annotated[list[str], _text("Glob patterns to leave out, besides the common ones (node_modules, .git, …)")]
    ]
    maxFiles: NotRequired[Annotated[Positive, _defaulted("Most files to send", RepositoryContext("").max_files)]]
    maxFileSizeBytes: NotRequired[
        Annotated[Positive, _defaulted("Largest file to send, in bytes", RepositoryContext("").max_file_size_bytes)]
    ]
    languages: NotRequired[Annotated[list[str], _text("Programming languages to send; all where left out")]]


@with_config(STRICT)
class RepoCloneShape(TypedDict):
    """The repository that is cloned for the run."""

    repoUrl: Annotated[str, _text("URL, https or ssh", "https://github.com/username/repo", minLength=1)]
    branch: NotRequired[Annotated[str, _text("Branch; the repository's own where it is left out", minLength=1)]]
    depth: NotRequired[Annotated[Positive, _defaulted("How many commits to fetch", RepoClone("").depth)]]
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
    description: Annotated[str, _text("What the suite tests")]
    models: Annotated[list[str], _text("Models to test; `-m` overrides them", uniqueItems=True)]
    testCases: Annotated[list[CaseShape], _text("The tests", minItems=1)]
    options: NotRequired[Annotated[OptionsShape, Field(description="How the suite is run")]]
    repositoryContext: NotRequired[Annotated[RepositoryContextShape, Field(description="Local files to send along")]]
    repoClone: NotRequired[Annotated[RepoCloneShape, Field(description="Repository to clone and work on")]]
    riskGuidance: NotRequired[Annotated[list[str], _text(_GUIDANCE, minItems=len(EXTENTS), maxItems=len(EXTENTS))]]
