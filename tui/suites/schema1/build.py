"""Building a Suite from a valid value of schema 1.0.0."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any, TypeVar

from tui.model.assertions import assertion_check
from tui.model.suite import (
    Case,
    Check,
    CheckKind,
    CodeContext,
    CommandCheck,
    DataRow,
    LineRange,
    Options,
    RepoClone,
    RepositoryContext,
    RiskCriterion,
    Step,
    Suite,
)
from tui.model.tools import DEFAULT_TURNS
from tui.suites.context import relative
from tui.suites.schema1.tools import offered_tool

_Value = TypeVar("_Value", Case, Step, DataRow)
_DEFAULTS = Options()
_CRITERION_FIELDS = itemgetter("name", "description", "severity")


def build_suite(
    value: dict[str, Any], lines: list[int], path: str, sha256: str, rows: Sequence[DataRow | None] = ()
) -> Suite:
    """Return the suite; `lines` are the lines of its cases, `path` the file as given.

    `rows` are the rows that the cases were filled with, if there are any.
    """
    return Suite(
        name=value["name"],
        description=value["description"],
        path=path,
        sha256=sha256,
        format="schema-1.0.0",
        cases=tuple(_cases(value["testCases"], lines, rows)),
        models=tuple(dict.fromkeys(value["models"])),
        options=_options(value.get("options", {})),
        repository_context=_repository_context(value.get("repositoryContext")),
        repo_clone=_repo_clone(value.get("repoClone")),
        risk_guidance=tuple(map(str.strip, value.get("riskGuidance", ()))),
    )


class _SharedChecks(dict[str, Check]):
    """A cache that returns one object for equal checks of many cases."""

    def __init__(self, kind: CheckKind) -> None:
        super().__init__()
        self._kind: CheckKind = kind

    def __missing__(self, pattern: str) -> Check:
        check = self[pattern] = Check(self._kind, pattern)
        return check


class _Criteria(dict[tuple[Any, ...], RiskCriterion]):
    """A cache that returns one object for equal criteria of many cases."""

    def __missing__(self, fields: tuple[Any, ...]) -> RiskCriterion:
        criterion = self[fields] = RiskCriterion(*fields)
        return criterion


def _cases(values: list[dict[str, Any]], lines: list[int], rows: Sequence[DataRow | None]) -> list[Case]:
    """Return the cases of these values at these lines; equal parts are shared between them."""

    used = set[str]().union(*values)

    def column(key: str, default: object = None) -> list[Any]:
        return [value.get(key, default) for value in values] if key in used else [default] * len(values)

    commands = [None if command is None else _command(command) for command in column("command")]
    checks = _checks(
        column("expectedPatterns", ()), column("forbiddenPatterns", ()), column("assertions", ()), commands
    )
    criterion = _Criteria().__getitem__
    return made(
        Case,
        len(values),
        id=column("id"),
        name=column("name"),
        category=column("category"),
        steps=zip(made(Step, len(values), input=column("prompt"), checks=checks), strict=True),
        line=lines,
        expected_behavior=column("expectedBehavior", ""),
        system_message=column("systemMessage"),
        tags=map(tuple, column("tags", ())),
        test_type=column("testType"),
        apply_changes=column("applyChanges", False),
        target_file=[relative(target) if target else None for target in column("targetFile")],
        code_context=_tuples(column("codeContext", ()), _code_context),
        risk_criteria=_tuples(column("riskCriteria", ()), lambda each: criterion(_CRITERION_FIELDS(each))),
        memory=[{} for _ in values],
        command=commands,
        min_pass_rate=[None if share is None else float(share) for share in column("minPassRate")],
        cluster=column("cluster", ""),
        row=rows or [None] * len(values),
        tools=_tuples(column("tools", ()), offered_tool),
        max_turns=map(int, column("maxTurns", DEFAULT_TURNS)),
    )


def _tuples(lists: Iterable[Sequence[Any]], make: Callable[[Any], object]) -> Iterator[tuple[object, ...]]:
    """Yield the tuple of what is made of each list's items; one tuple for a list that many cases share."""
    made: dict[int, tuple[object, ...]] = {}
    for items in lists:
        if id(items) not in made:
            made[id(items)] = tuple(map(make, items))
        yield made[id(items)]


def _checks(
    expected: list[Any], forbidden: list[Any], assertions: list[Any], commands: list[CommandCheck | None]
) -> list[tuple[Check, ...]]:
    """Return the checks of each case from the lists of its kinds of checks."""
    expected_check, forbidden_check = _SharedChecks("expected_pattern"), _SharedChecks("forbidden_pattern")
    return [
        (
            *map(expected_check.__getitem__, has_to_match),
            *map(forbidden_check.__getitem__, must_not_match),
            *map(assertion_check, asserted),
            *(() if command is None else (_command_check(command),)),
        )
        for has_to_match, must_not_match, asserted, command in zip(
            expected, forbidden, assertions, commands, strict=True
        )
    ]


def made(kind: type[_Value], count: int, **columns: Iterable[object]) -> list[_Value]:
    """Return `count` instances of a frozen class with slots, assigned field by field.

    This takes a third of the time of `__init__`, which calls `object.__setattr__` for each field of each instance.
    """
    instances = [kind.__new__(kind) for _ in range(count)]
    for field in fields(kind):
        put = getattr(kind, field.name).__set__
        deque(map(put, instances, columns[field.name]), maxlen=0)
    return instances


def _command(command: str | dict[str, Any]) -> CommandCheck:
    if isinstance(command, str):
        return CommandCheck(command)
    return CommandCheck(command["run"], int(command.get("timeoutMs", CommandCheck("").timeout_ms)))


def _command_check(command: CommandCheck) -> Check:
    return Check("command", command.run)


def _code_context(context: dict[str, Any]) -> CodeContext:
    lines = context.get("lineRange")
    return CodeContext(
        file_path=relative(context["filePath"]),
        content=context.get("content"),
        language=context.get("language"),
        line_range=LineRange(int(lines["start"]), int(lines["end"])) if lines else None,
    )


def _options(options: dict[str, Any]) -> Options:
    return Options(
        timeout_ms=int(options.get("timeoutMs", _DEFAULTS.timeout_ms)),
        streaming=options.get("streaming"),
        attempts=max(1, int(options.get("retries", _DEFAULTS.attempts))),
        delay_ms=int(options.get("delayBetweenTestsMs", _DEFAULTS.delay_ms)),
        parallel=options.get("parallel", False),
        parallel_models=options.get("parallelModels", False),
        accept_truncated=options.get("acceptTruncated", False),
    )


def _repository_context(context: dict[str, Any] | None) -> RepositoryContext | None:
    if context is None:
        return None
    defaults, exclude = RepositoryContext(), context.get("excludeFiles")
    return RepositoryContext(
        path=context.get("path", defaults.path),
        include_files=tuple(context.get("includeFiles", ())),
        exclude_files=None if exclude is None else tuple(exclude),
        max_files=int(context.get("maxFiles", defaults.max_files)),
        max_file_size_bytes=int(context.get("maxFileSizeBytes", defaults.max_file_size_bytes)),
        languages=tuple(context.get("languages", ())),
    )


def _repo_clone(clone: dict[str, Any] | None) -> RepoClone | None:
    if clone is None:
        return None
    return RepoClone(
        url=clone["repoUrl"],
        branch=clone.get("branch"),
        depth=int(clone.get("depth", RepoClone("").depth)),
        keep_temp_dir=clone.get("keepTempDir", False),
    )
