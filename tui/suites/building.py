"""Makes a Suite of a value of schema 1.0.0 in which nothing is wrong."""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from tui.model.suite import (
    Case,
    Check,
    CheckKind,
    CodeContext,
    CommandCheck,
    LineRange,
    Options,
    RepoClone,
    RepositoryContext,
    RiskCriterion,
    Step,
    Suite,
)
from tui.suites.around import relative

_DEFAULTS = Options()
_CRITERION_FIELDS = itemgetter("name", "description", "severity")


def build_suite(value: dict[str, Any], lines: Iterable[int], path: str, sha256: str) -> Suite:
    """The suite; `lines` are where its cases stand, `path` the file as it was given."""
    build = _Cases().build
    return Suite(
        name=value["name"],
        description=value["description"],
        path=path,
        sha256=sha256,
        format="schema-1.0.0",
        cases=tuple(map(build, value["testCases"], lines)),
        models=tuple(dict.fromkeys(value["models"])),
        options=_options(value.get("options", {})),
        repository_context=_repository_context(value.get("repositoryContext")),
        repo_clone=_repo_clone(value.get("repoClone")),
    )


class _Checks(dict[str, Check]):
    """Equal checks of many cases are one value."""

    def __init__(self, kind: CheckKind) -> None:
        super().__init__()
        self._kind: CheckKind = kind

    def __missing__(self, pattern: str) -> Check:
        check = self[pattern] = Check(self._kind, pattern)
        return check


class _Criteria(dict[tuple[Any, ...], RiskCriterion]):
    """Equal criteria of many cases are one value."""

    def __missing__(self, fields: tuple[Any, ...]) -> RiskCriterion:
        criterion = self[fields] = RiskCriterion(*fields)
        return criterion


class _Cases:
    """Makes cases that share what is equal in them."""

    def __init__(self) -> None:
        self._expected = _Checks("expected_pattern").__getitem__
        self._forbidden = _Checks("forbidden_pattern").__getitem__
        self._criterion = _Criteria().__getitem__

    def build(self, case: dict[str, Any], line: int) -> Case:
        """The case whose value is given."""
        get = case.get
        command = _command(case["command"]) if "command" in case else None
        checks = (
            *map(self._expected, get("expectedPatterns", ())),
            *map(self._forbidden, get("forbiddenPatterns", ())),
            *((Check("command", command.run),) if command is not None else ()),
        )
        target = get("targetFile")
        return Case(
            case["id"],
            case["name"],
            case["category"],
            (Step(case["prompt"], checks),),
            line,
            get("expectedBehavior", ""),
            get("systemMessage"),
            tuple(get("tags", ())),
            get("testType"),
            get("applyChanges", False),
            relative(target) if target else None,
            tuple(map(_code_context, get("codeContext", ()))),
            tuple(map(self._criterion, map(_CRITERION_FIELDS, get("riskCriteria", ())))),
            {},
            command,
        )


def _command(command: str | dict[str, Any]) -> CommandCheck:
    if isinstance(command, str):
        return CommandCheck(command)
    return CommandCheck(command["run"], int(command.get("timeoutMs", CommandCheck("").timeout_ms)))


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
    )


def _repository_context(context: dict[str, Any] | None) -> RepositoryContext | None:
    if context is None:
        return None
    defaults, exclude = RepositoryContext(""), context.get("excludeFiles")
    return RepositoryContext(
        path=context["path"],
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
