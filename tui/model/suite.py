"""A suite of tests: a Suite has Cases, a Case has Steps, a Step has an input and Checks."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, cast

from tui.model.current_folder import absolute_path
from tui.model.tools import DEFAULT_TURNS, OfferedTool
from tui.model.values import JsonObject, JsonValue, equals

SuiteFormat = Literal["schema-1.0.0", "testhaven"]
Severity = Literal["low", "medium", "high", "critical"]
TaskType = Literal[
    "code-generation",
    "code-completion",
    "bug-fix",
    "refactoring",
    "code-review",
    "documentation",
    "test-generation",
    "explanation",
    "debugging",
    "security-review",
    "performance-optimization",
    "api-design",
    "error-handling",
    "type-safety",
]
TextAssertion = Literal[
    "assert.contains",
    "assert.icontains",
    "assert.contains-all",
    "assert.contains-any",
    "assert.not-contains",
    "assert.starts-with",
]
"""The assertions that search for plain texts in an answer."""
CheckKind = Literal[
    "expected_pattern",
    "forbidden_pattern",
    "output.includes",
    "output.matches",
    "output.equals",
    "tools_used",
    "memory",
    "expected",
    "command",
    "recorded",
    TextAssertion,
    "assert.equals",
    "assert.is-json",
    "assert.contains-json",
    "assert.word-count",
    "assert.levenshtein",
    "assert.rouge-n",
    "assert.latency",
    "assert.cost",
    "assert.tokens",
    "assert.finish-reason",
    "assert.refusal",
    "assert.command",
    "assert.tools-used",
]
ASSERTION = "assert."
"""What the kind of a check begins with that is an assertion of a case; its type follows."""
RUN_KINDS: frozenset[CheckKind] = frozenset(("command", "assert.command"))
"""The kinds of checks that run a command instead of searching the answer."""
FORBIDDING: frozenset[CheckKind] = frozenset(("forbidden_pattern", "assert.not-contains"))
"""The kinds of checks that a match fails, whatever follows in the answer."""
TOOL_KINDS: frozenset[CheckKind] = frozenset(("tools_used", "assert.tools-used"))
"""The kinds of checks that need the calls of tools only, and no text."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation of an answer.

    `target` is the text in the suite: a pattern, a text, a dotted memory path or a command; empty if the expectation is
    not a text (`tools_used`, `expected`). `expected` is the value to equal: a list of names for `tools_used`, any value
    for `memory`, an object with `output`, `tools_used` and `memory` for `expected`. A `recorded` check was decided by
    another tool and cannot be evaluated here.

    An assertion has its `value` as `expected`, shown as `target`, and the limit of `threshold` (milliseconds, USD,
    tokens, characters or a share, by its type).
    """

    kind: CheckKind
    target: str = ""
    expected: JsonValue = None
    threshold: float | None = None


_LISTED = re.compile(r'\s*(?:"((?:[^"\\]|""|\\.)*)"|([^",\s][^,]*)?)\s*(,|\Z)', re.DOTALL)
_ESCAPED_QUOTE = re.compile(r'""|\\(["\\])')


def comma_separated(text: str) -> list[str] | None:
    """Return the texts of a list with commas; None if a quotation mark is not closed before a comma or the end.

    A text in double quotes may contain commas; a quotation mark inside it is doubled or follows a backslash.
    """
    parts: list[str] = []
    at = 0
    while (match := _LISTED.match(text, at)) is not None:
        quoted, plain, comma = match.groups()
        if quoted is None:
            parts.append((plain or "").strip())
        else:
            parts.append(_ESCAPED_QUOTE.sub(lambda escape: escape[1] or '"', quoted))
        if not comma:
            return parts
        at = match.end()
    return None


@dataclass(frozen=True, slots=True)
class LineRange:
    """A range of lines of a file, both ends included, counted from 1."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CodeContext:
    """A file that is sent along with the prompt; if `content` is None it is loaded from disk."""

    file_path: str
    content: str | None = None
    language: str | None = None
    line_range: LineRange | None = None


@dataclass(frozen=True, slots=True)
class RiskCriterion:
    """A criterion by which reviewers score an answer."""

    name: str
    description: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """A command that is run in the changed repository; the check passes on exit status 0."""

    run: str
    timeout_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class Step:
    """One input and the checks of its answer."""

    input: str
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class DataRow:
    """A row of a data set, from which a case was made.

    `template` is the id of the case in the file, `id` that of the row; `values` are the texts by column. `filled` are
    the numbers of the checks, from 0, in which a text of the row was filled in.
    """

    template: str
    id: str
    values: dict[str, str] = field(default_factory=dict)
    filled: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One test.

    A case with a data set becomes one case for each `row`, with the id `case.ROW` and the name that is in the file.
    `line` is its line in the file, counted from 1; `memory` is the memory before the first step (TestHaven);
    `min_pass_rate` is the required share (above 0, at most 1) of plain passes among a model's repeats. Cases of one
    `cluster` were made from one template or source: figures do not count them as independent. `tools` are offered to
    chat models, which may take `max_turns` turns for the answer to a step.
    """

    id: str
    name: str
    category: str
    steps: tuple[Step, ...]
    line: int = 1
    expected_behavior: str = ""
    system_message: str | None = None
    tags: tuple[str, ...] = ()
    test_type: TaskType | None = None
    apply_changes: bool = False
    target_file: str | None = None
    code_context: tuple[CodeContext, ...] = ()
    risk_criteria: tuple[RiskCriterion, ...] = ()
    memory: JsonObject = field(default_factory=dict)
    command: CommandCheck | None = None
    min_pass_rate: float | None = None
    cluster: str = ""
    row: DataRow | None = None
    tools: tuple[OfferedTool, ...] = ()
    max_turns: int = DEFAULT_TURNS

    @property
    def title(self) -> str:
        """The text by which lists show the case: its name, or the id of a row, as all rows have the same name."""
        return self.id if self.row else self.name or self.id

    @property
    def is_checked(self) -> bool:
        """Whether any step has a check."""
        return any(step.checks for step in self.steps)

    @property
    def question(self) -> tuple[object, ...]:
        """All of the case that its answer depends on: with another question, an earlier answer is not one to it."""
        inputs = tuple(step.input for step in self.steps)
        files = self.code_context, self.apply_changes, self.target_file
        return inputs, self.system_message, self.memory, self.tools, self.max_turns, *files

    @property
    def inputs(self) -> str:
        """The inputs of all steps as one text."""
        return "\n\n".join(step.input for step in self.steps)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    values = {each.name: getattr(value, each.name) for each in fields(value)}
    defaults = {
        each.name: each.default_factory() if each.default_factory is not MISSING else each.default
        for each in fields(value)
    }
    return {name: _plain(each) for name, each in values.items() if each != defaults[name]}


def checked_sentence(cases: Collection[Case]) -> str:
    """Return a sentence with the number of cases that have a check: `12 of 40 cases have a check.`"""
    checked = sum(case.is_checked for case in cases)
    if not cases:
        return "The suite has no case."
    if not checked:
        return "No case has a check: every complete answer is unchecked and not part of any rate."
    if checked < len(cases):
        return f"{checked:,} of {len(cases):,} cases have a check."
    return f"All {checked:,} cases have a check." if checked > 1 else "The only case has a check."


@dataclass(frozen=True, slots=True)
class Options:
    """The run options of a suite.

    Durations are milliseconds. `attempts` is the total, at least one. `streaming` is None if the file does not set it.
    `accept_truncated` judges answers that the provider stopped early like complete ones.
    """

    timeout_ms: int = 60_000
    streaming: bool | None = None
    attempts: int = 1
    delay_ms: int = 500
    parallel: bool = False
    parallel_models: bool = False
    accept_truncated: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryContext:
    """Which files of a folder are sent along. `path` is relative to the suite's folder, or to the clone's root."""

    path: str = "."
    include_files: tuple[str, ...] = ()
    exclude_files: tuple[str, ...] | None = None
    max_files: int = 100
    max_file_size_bytes: int = 100_000
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepoClone:
    """The repository that is cloned for a suite."""

    url: str
    branch: str | None = None
    depth: int = 1
    keep_temp_dir: bool = False


class SuiteSources(NamedTuple):
    """Where the files come from that are sent with the prompts of a suite."""

    repository_context: RepositoryContext | None = None
    repo_clone: RepoClone | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite file.

    `path` is the path as given, `sha256` the hex digest of the file's bytes, `folder` the absolute folder of the file
    (empty if unknown). With `data_files`, whose paths are relative to the file, the digest is of their bytes too.
    `agent_python` is the Python, or the folder of the virtual environment, that runs the agent's file; None is Assay's
    own, and a relative path starts at the suite's folder. `risk_guidance` are the suite's own five lines that explain
    the extents 0 to 4, or none.
    """

    name: str
    description: str
    path: str
    sha256: str
    format: SuiteFormat
    cases: tuple[Case, ...]
    models: tuple[str, ...] = ()
    options: Options = Options()
    repository_context: RepositoryContext | None = None
    repo_clone: RepoClone | None = None
    agent: str | None = None
    agent_python: str | None = None
    folder: str = ""
    risk_guidance: tuple[str, ...] = ()
    data_files: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[object, ...]:
        """Where the files come from that are sent and changed: with others, an earlier answer is not one to a case."""
        return self.repository_context, self.repo_clone and (self.repo_clone.url, self.repo_clone.branch)

    @property
    def file(self) -> str:
        """The absolute path of the suite's file, also of a stored run that was started in another folder."""
        return str(self.home / Path(self.path).name)

    @property
    def home(self) -> Path:
        """The folder that the suite's relative paths start from, also for a stored run that is resumed elsewhere."""
        return Path(self.folder) if self.folder else absolute_path(self.path).parent


class SuiteCase(NamedTuple):
    """A case with its suite, which decides what files the case sends and how its answers are judged."""

    case: Case
    suite: Suite

    def asks_the_same(self, then: "SuiteCase") -> bool:
        """Return whether the case asks what it did `then`: an answer from that time is one to this case."""
        if self.case is not then.case and not _asks_the_same(self.case, then.case):
            return False
        return self.suite is then.suite or self.suite.sources == then.suite.sources

    def judges_the_same(self, then: "SuiteCase") -> bool:
        """Return whether the case judges answers as it did `then`."""
        is_same = self.case is then.case or _judges_the_same(self.case, then.case)
        return is_same and self.suite.options.accept_truncated == then.suite.options.accept_truncated

    def is_unchanged(self, then: "SuiteCase") -> bool:
        """Return whether the case asks and judges as it did `then`: a verdict from that time is one of this case."""
        return self.judges_the_same(then) and self.asks_the_same(then)


def question_digest(asked: SuiteCase) -> str:
    """Return a digest of what a case asks, apart from the content of files, and of how its answers are judged.

    Fields with their default value are left out, so that a field of a later version changes no digest.
    """
    import hashlib
    import json

    case, suite = asked
    parts = [_plain(getattr(case, name)) for name in ("system_message", "memory", "command", "tools", "max_turns")]
    parts += [_plain(getattr(case, name)) for name in ("apply_changes", "target_file", "code_context")]
    parts += ["accepts truncated answers"] if suite.options.accept_truncated else []
    parts += [_plain(suite.sources)] if any(suite.sources) else []
    text = json.dumps([_plain(case.steps), *parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _asks_the_same(now: Case, then: Case) -> bool:
    # Python takes true for 1, so equal JSON values are compared again.
    return (
        now.question == then.question
        and equals(now.memory, then.memory)
        and (not now.tools or equals(_json(now.tools), _json(then.tools)))
    )


def _judges_the_same(now: Case, then: Case) -> bool:
    ours, theirs = ([step.checks for step in case.steps] for case in (now, then))
    if ours != theirs or now.command != then.command:
        return False
    pairs = zip(chain.from_iterable(ours), chain.from_iterable(theirs), strict=True)
    return all(check.expected is None or equals(check.expected, other.expected) for check, other in pairs)


def _json(tools: tuple[OfferedTool, ...]) -> JsonValue:
    return cast("JsonValue", _plain(tools))


def cases_by_id(suite: Suite) -> dict[str, SuiteCase]:
    """Return the cases of a suite by their ids."""
    return {case.id: SuiteCase(case, suite) for case in suite.cases}


def with_inputs(case: Case, inputs: Sequence[str]) -> Case:
    """Return a case with these inputs of its first steps: those to which a recorded answer was given."""
    asked = tuple(replace(step, input=given) for step, given in zip(case.steps, inputs, strict=False))
    return replace(case, steps=(*asked, *case.steps[len(asked) :]))


def clusters_of(cases: Iterable[Case]) -> dict[str, str]:
    """Return the cluster of each case that names one, by the case's id."""
    return {case.id: case.cluster for case in cases if case.cluster}
