"""Validation of a suite in schema 1.0.0 beyond the types of its fields.

The values passed here fit their shapes, or are None if they did not: None has been reported already.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from pydantic import TypeAdapter

from tui.documents.json_fast import QuickJson
from tui.documents.positions import Path
from tui.documents.problems import MOST_PROBLEMS, Finding, has_most_errors, pruned
from tui.model.paths import branch_fault, url_fault, url_secrets
from tui.model.risk import EXTENTS
from tui.suites.context import Around, refused_path, relative
from tui.suites.messages import ID_PATTERN, quoted, shape_findings
from tui.suites.schema1.case_checks import (
    EXTENSIONS,
    FILE_KEYS,
    PATTERN_KINDS,
    blank,
    case_findings,
    extension,
    file_findings,
    is_blank,
)
from tui.suites.schema1.data_sets import FilledCases, fill_cases, has_data
from tui.suites.schema1.fast_check import keys_in
from tui.suites.schema1.shapes import CaseShape, SuiteShape

_ID = re.compile(ID_PATTERN)
_OTHER_EXTENSIONS = frozenset(EXTENSIONS)


def suite_findings(suite: dict[str, Any], around: Around, sound: bool) -> Iterator[Finding]:
    """Return all problems of the suite; `sound` is true if all of it fits its shape."""
    if is_blank(suite.get("name")):
        yield blank(("name",))
    yield from _model_findings(suite.get("models"), around.unlisted)
    clone, context = suite.get("repoClone"), suite.get("repositoryContext")
    cloned = around.clone or "repoClone" in suite
    if clone is not None:
        yield from _clone_findings(clone)
    if context is not None:
        yield from _context_findings(context, cloned, around)
    if "riskGuidance" in suite:
        yield extension(("riskGuidance",))
        yield from _guidance_findings(suite["riskGuidance"])
    if "acceptTruncated" in (suite.get("options") or {}):
        yield extension(("options", "acceptTruncated"))
    cases = suite.get("testCases")
    if cases == []:
        yield Finding(("testCases",), "is empty; add at least one case")
    elif cases:
        yield from _cases_findings(cases, cloned, _context_roots(context, cloned, around), around, sound)


def _context_roots(context: dict[str, Any] | None, cloned: bool, around: Around) -> tuple[FilePath, ...]:
    """Return the folders that are searched for files of `codeContext`, in order.

    Empty if they are unknown: in a repository that is not cloned yet, and if the folder of the context itself is
    invalid.
    """
    if cloned:
        return ()
    root = around.repository
    if root is None and context is not None:
        path = context.get("path")
        if not path or "\0" in path:
            return ()
        root = around.folder / path
    if root is None:
        return (around.folder,)
    return tuple(dict.fromkeys((root, around.folder))) if root.is_dir() else ()


def _model_findings(models: list[str | None] | None, unlisted: Mapping[str, str]) -> Iterator[Finding]:
    if models == []:
        yield Finding(("models",), "is empty; add a model, or pass one with `-m`", "warning")
    seen = set()
    for index, model in enumerate(models or ()):
        if model is None:
            continue
        if not model.strip():
            yield Finding(("models", index), "is empty; write a model name, such as `openai/gpt-5.2`")
        elif not model.isprintable():
            yield Finding(("models", index), f"{quoted(model)} has a character that is not visible; remove it")
        elif model in seen:
            yield Finding(("models", index), f"duplicate model {quoted(model)}; remove one", "warning")
        elif model in unlisted:
            yield Finding(("models", index), unlisted[model], "warning")
        seen.add(model)


def _clone_findings(clone: dict[str, Any]) -> Iterator[Finding]:
    url, branch = clone.get("repoUrl"), clone.get("branch")
    if url is not None:
        if is_blank(url):
            yield blank(("repoClone", "repoUrl"))
        elif fault := url_fault(url):
            yield Finding(("repoClone", "repoUrl"), f"the URL is not allowed: it {fault}")
        elif url_secrets(url):
            what = "the URL contains a password; remove it and use the environment or an ssh key"
            yield Finding(("repoClone", "repoUrl"), what, "warning")
    if branch is not None:
        if is_blank(branch):
            yield Finding(("repoClone", "branch"), "is empty; write a branch name, or remove the key")
        elif fault := branch_fault(branch):
            yield Finding(
                ("repoClone", "branch"), f"the branch name {quoted(branch)} is not allowed: it {fault}; correct it"
            )


def _context_findings(context: dict[str, Any], cloned: bool, around: Around) -> Iterator[Finding]:
    at = ("repositoryContext",)
    path = context.get("path")
    if "path" not in context and not cloned and around.repository is None:
        fix = "add it (a folder, relative to this file), or add `repoClone` to the suite"
        yield Finding((*at, "path"), f"is missing; {fix}")
    if path is not None:
        if is_blank(path):
            yield blank((*at, "path"))
        elif not path.isprintable():
            yield Finding((*at, "path"), "the path is not allowed: it has a control or format character; remove it")
        elif cloned:
            inner = relative(path).rstrip("/")
            if inner not in (".", "") and (what := refused_path(inner)):
                yield Finding((*at, "path"), what)
        elif around.repository is None:
            yield from _folder_findings((*at, "path"), path, around)
    for key in ("includeFiles", "excludeFiles", "languages"):
        for index, item in enumerate(context.get(key) or ()):
            if is_blank(item):
                yield Finding((*at, key, index), "is empty; add text, or remove the entry")


def _folder_findings(at: Path, path: str, around: Around) -> Iterator[Finding]:
    if path.startswith("~"):
        yield Finding(at, f"{quoted(path)} begins with `~`, which is not expanded; write the full path")
        return
    folder = around.folder / path
    try:
        what = "" if folder.is_dir() else "is a file, not a folder" if folder.exists() else "does not exist"
    except (OSError, ValueError):
        what = "cannot be accessed"
    if what:
        yield Finding(at, f"the folder {quoted(folder, 300)} {what}; correct the path (relative to the suite's folder)")


def _guidance_findings(lines: list[str | None] | None) -> Iterator[Finding]:
    if lines is not None and len(lines) != len(EXTENTS):
        what = f"expected {len(EXTENTS)} lines, one per extent ({', '.join(EXTENTS)}), got {len(lines)}; correct it"
        yield Finding(("riskGuidance",), what)
    for index, line in enumerate(lines or ()):
        if is_blank(line):
            yield blank(("riskGuidance", index))
        elif line is not None and len(line.strip().splitlines()) > 1:
            yield Finding(("riskGuidance", index), "expected a single line; join the lines")


def _cases_findings(
    cases: list[dict[str, Any] | None], cloned: bool, roots: tuple[FilePath, ...], around: Around, sound: bool
) -> Iterator[Finding]:
    complete = [case for case in cases if case is not None]
    yield from _doubled_ids(cases)
    bad = _bad_patterns(complete, around)
    look = file_findings if sound and not bad and _texts_are_fine(complete) else case_findings
    for index, case in enumerate(cases):
        if case is not None and (look is case_findings or not FILE_KEYS.isdisjoint(case)):
            yield from look(case, ("testCases", index), cloned, roots, around)


def _texts_are_fine(cases: list[dict[str, Any]]) -> bool:
    """Return whether cases that fit their shape have no problems, except in patterns and FILE_KEYS."""
    ids = [case["id"] for case in cases]
    criteria = [(index, item["name"]) for index, case in enumerate(cases) for item in case.get("riskCriteria", ())]
    return (
        all(ids)
        and _ID.fullmatch("".join(ids)) is not None
        and all(all(map(str.strip, [case[key] for case in cases])) for key in ("name", "category", "prompt"))
        and all(name.strip() for _, name in criteria)
        and len(set(criteria)) == len(criteria)
        and _OTHER_EXTENSIONS.isdisjoint(chain.from_iterable(cases))
    )


def _doubled_ids(cases: Iterable[dict[str, Any] | None]) -> Iterator[Finding]:
    ids = [case.get("id") if case is not None else None for case in cases]
    if len(set(ids)) == len(ids):
        return
    first: dict[str, int] = {}
    for index, identity in enumerate(ids):
        if identity is None:
            continue
        if identity in first:
            what = f"duplicate id {quoted(identity)}, already used by testCases[{first[identity]}]; choose another"
            yield Finding(("testCases", index, "id"), what)
        first.setdefault(identity, index)


def _bad_patterns(cases: list[dict[str, Any]], around: Around) -> bool:
    """Return whether there is a finding about any pattern of any case."""
    bad = False
    for key, kind in PATTERN_KINDS:
        for pattern in dict.fromkeys(chain.from_iterable(case.get(key) or () for case in cases)):
            if pattern is None:
                continue
            if not pattern or around.pattern_fault(kind, pattern) or around.pattern_risk(kind, pattern):
                bad = True
    return bad


_CHUNK = 1_000


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def schema_is_fine(quick: QuickJson, around: Around) -> bool:
    """Return whether neither a suite's value nor its text has a problem."""
    suite = quick.value
    if not isinstance(suite, dict):
        return False
    cases = suite.get("testCases")
    if isinstance(cases, list) and has_data([case for case in cases if isinstance(case, dict)]):
        return False  # a data set is an extension, which gets a warning
    keys = keys_in(CaseShape, cases) if isinstance(cases, list) else None
    rest = {key: value for key, value in suite.items() if key != "$schema"}
    if keys is not None:
        rest["testCases"] = []
    if not _adapter(SuiteShape).validator.isinstance_python(rest):
        return False
    keys = None if keys is None or _is_odd(suite) else keys + _keys_around_cases(suite)
    return next(suite_findings(suite, around, sound=True), None) is None and quick.is_sound(keys)


def _keys_around_cases(suite: dict[str, Any]) -> int:
    return len(suite) + sum(len(part) for part in suite.values() if isinstance(part, dict))


def _is_odd(suite: dict[str, Any]) -> bool:
    """Return whether a suite that fits its shape has unknown keys, or a number with a fraction."""
    parts = [part for part in suite.values() if isinstance(part, dict)]
    numbers = chain.from_iterable(map(dict.values, parts))
    return not isinstance(suite.get("$schema", ""), str) or any(isinstance(number, float) for number in numbers)


def examine_schema(suite: dict[str, Any], around: Around) -> tuple[Iterator[Finding], FilledCases | None]:
    """Return all problems of a suite's value, and its cases with their rows filled in if any has a data set.

    Values that do not fit are replaced by None in the suite.
    """
    suite.pop("$schema", None)
    found = _shape_findings(suite)
    if has_most_errors(found):
        return iter(found), None
    pruned(suite, found)
    rest = suite_findings(suite, around, sound=False)
    cases = suite.get("testCases")
    if not cases or not has_data(cases):
        return chain(found, rest), None
    filled = fill_cases(cases, around)
    static = (finding for finding in rest if not filled.is_filled(finding.path))
    return chain(found, filled.findings, static), filled


def _shape_findings(suite: dict[str, Any]) -> list[Finding]:
    cases = suite.get("testCases")
    if not isinstance(cases, list):
        return shape_findings(_adapter(SuiteShape), suite)
    found = shape_findings(_adapter(SuiteShape), {**suite, "testCases": []})
    for start in range(0, len(cases), _CHUNK):
        if has_most_errors(found):
            break
        chunk, warnings = cases[start : start + _CHUNK], len(found) < MOST_PROBLEMS
        for finding in shape_findings(_adapter(list[CaseShape]), chunk, warnings=warnings):
            index, *rest = finding.path
            found.append(replace(finding, path=("testCases", start + int(index), *rest)))
    return found
