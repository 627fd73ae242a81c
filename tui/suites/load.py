"""Loading a suite file into a suite, or into all of its problems."""

import codecs
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from tui.documents.files import NotRead, decode, read_bytes
from tui.documents.json_fast import QuickJson, read_quickly, tree_at
from tui.documents.json_reader import ExactJson
from tui.documents.positions import Path as Place
from tui.documents.positions import lines_of, offset_of, places_of
from tui.documents.problems import (
    MOST_DEPTH,
    MOST_JSON_BYTES,
    MOST_PROBLEMS,
    MOST_YAML_BYTES,
    Finding,
    Unreadable,
    problems_of,
)
from tui.model.collector import paused_collector
from tui.model.errors import Level, Problem
from tui.model.suggest import nearest
from tui.model.suite import Suite, SuiteFormat
from tui.model.values import JsonValue, is_deeper
from tui.suites.context import Around, PatternError

if TYPE_CHECKING:
    from tui.suites.schema1.data_sets import FilledCases

_NEEDS = (
    "a schema-1.0.0 suite has `name`, `description`, `models` and `testCases`; "
    "a TestHaven test has `steps`, or `input` with `assert`; "
    "to import recorded answers or the results of another tool, run `assay import`"
)
_SCHEMA_KEYS = ("testCases", "models", "options", "repositoryContext", "repoClone")
_TESTHAVEN_KEYS = ("steps", "input", "assert", "expected", "memory", "agent")
_CASE_KEYS = frozenset(("prompt", "expectedPatterns", "forbiddenPatterns", "testType"))


def format_of(value: JsonValue) -> SuiteFormat:
    """Return the format of a file's value. Raises Unreadable if it is neither format."""
    if isinstance(value, list):
        return _format_of_list(value)
    if value is None:
        raise Unreadable(Finding((), "is empty; run `assay init` to write an example suite"))
    if not isinstance(value, dict):
        raise Unreadable(Finding((), f"expected an object or a list at the top level; {_NEEDS}"))
    if "testCases" in value:
        return "schema-1.0.0"
    if "steps" in value or "input" in value:
        return "testhaven"
    for found in (_exact, _meant):
        if found(value, _SCHEMA_KEYS):
            return "schema-1.0.0"
        if found(value, _TESTHAVEN_KEYS):
            return "testhaven"
    raise Unreadable(Finding((), f"is in neither of the two suite formats; {_NEEDS}"))


def _format_of_list(value: list[JsonValue]) -> SuiteFormat:
    if not value:
        raise Unreadable(Finding((), "is an empty list; add at least one test"))
    objects = [item for item in value[:100] if isinstance(item, dict)]
    if objects and all(_CASE_KEYS.intersection(item) and "input" not in item for item in objects):
        what = "is a list of cases; put it under `testCases` in an object with `name`, `description` and `models`"
        raise Unreadable(Finding((), what))
    if not objects and len(value) > 100:
        raise Unreadable(Finding((), f"is a list without tests; {_NEEDS}"))
    return "testhaven"


def _exact(keys: Iterable[str], known: Iterable[str]) -> bool:
    return not set(known).isdisjoint(keys)


def _meant(keys: Iterable[str], known: Iterable[str]) -> bool:
    return any(nearest(key, known) for key in list(keys)[:100])


Syntax = Literal["JSON", "YAML"]
_YAML_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file without a byte order mark of UTF-8, and the SHA-256 of all its bytes in hex."""

    content: bytes
    syntax: Syntax
    sha256: str

    def text(self) -> str:
        """Return the decoded text. Raises NotRead if it is not UTF-8, too large for YAML, or empty."""
        text = decode(self.content)
        if self.syntax == "YAML" and len(self.content) > MOST_YAML_BYTES:
            raise NotRead(_too_large("YAML"))
        if not text.strip():
            raise NotRead("is empty; run `assay init` to write an example suite")
        return text


def read_source(path: Path) -> Source:
    """Return the content of `path`.

    Raises NotRead: missing, a folder, too large, or not UTF-8 if its syntax is unknown.
    """
    content = read_bytes(path, MOST_JSON_BYTES, "a suite file")
    if len(content) > MOST_JSON_BYTES:
        raise NotRead(_too_large("YAML" if path.suffix.lower() in _YAML_SUFFIXES else "JSON"))
    sha256 = hashlib.sha256(content).hexdigest()
    content = content.removeprefix(codecs.BOM_UTF8)
    return Source(content, syntax_of(path, content), sha256)


def _too_large(syntax: Syntax) -> str:
    if syntax == "JSON":
        return "is larger than 16 MiB, the limit for JSON; split it"
    return "is larger than 1 MiB, the limit for YAML; split it, or write it as JSON (up to 16 MiB)"


def syntax_of(path: Path, content: bytes) -> Syntax:
    suffix = path.suffix.lower()
    if suffix == ".json":
        return "JSON"
    if suffix in _YAML_SUFFIXES:
        return "YAML"
    return "JSON" if decode(content).lstrip()[:1] in ("{", "[") else "YAML"


# Of a file with more problems only the first are reported.
_MOST_FINDINGS = 2 * MOST_PROBLEMS
__all__ = ["Loaded", "PatternError", "load_suite"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A suite with its warnings; if there are errors, None with all problems found.

    `data_files` are the data files that the suite names, relative to its file; `outside` are those outside its folder
    that must not be read, with links resolved.
    """

    suite: Suite | None
    problems: tuple[Problem, ...]
    data_files: tuple[str, ...] = ()
    outside: tuple[Path, ...] = ()


def load_suite(
    path: Path,
    pattern_error: PatternError,
    *,
    clone: bool = False,
    repository: Path | None = None,
    unlisted: Mapping[str, str] = MappingProxyType({}),
    pattern_warning: PatternError | None = None,
    may_read: Callable[[Path], bool] = lambda _: False,
) -> Loaded:
    """Load and validate the suite file at `path`; all problems are in the result, never raised.

    `pattern_error` returns why a pattern cannot compile, `pattern_warning` a warning about a valid one. `clone` is true
    if the command line names a repository to clone, `repository` is a local one that replaces the suite's
    `repositoryContext.path`; `unlisted` maps models that no provider offers to a warning. `may_read` returns whether a
    data file outside the suite's folder may be read.
    """
    around = Around(path.parent, pattern_error, clone, repository, unlisted, pattern_warning, may_read)
    try:
        source = read_source(path)
        with paused_collector():
            quick = read_quickly(source.content) if source.syntax == "JSON" else None
            suite = _load_quickly(quick, path, source, around) if quick else None
            if suite is not None:
                return Loaded(suite, ())
            return (_load_by_value(quick, path, source, around) if quick else None) or _load_exactly(
                path, source, around
            )
    except NotRead as reason:
        return Loaded(None, (Problem(str(path), None, None, "error", "file", str(reason)),))


def _load_quickly(quick: QuickJson, path: Path, source: Source, around: Around) -> Suite | None:
    """Return the suite if it has no problem at all, else None."""
    from tui.suites.schema1.checks import schema_is_fine
    from tui.suites.testhaven.load import testhaven_findings

    try:
        kind = format_of(quick.value)
    except Unreadable:
        return None
    if kind == "schema-1.0.0":
        fine = schema_is_fine(quick, around)
    else:
        sound = not is_deeper(quick.value, MOST_DEPTH) and quick.is_sound()
        fine = sound and next(testhaven_findings(quick.value, around), None) is None
    return _build(kind, quick.value, lines_of(quick.content, quick.starts), path, source.sha256) if fine else None


def _load_by_value(quick: QuickJson, path: Path, source: Source, around: Around) -> Loaded | None:
    """Return the suite with its problems, or None if the text itself may have one.

    Only the values that have a problem are looked for in the text.
    """
    value = quick.value
    if not (isinstance(value, dict) and "testCases" in value and quick.is_regular()):
        return None
    found, filled = _examine("schema-1.0.0", value, around)
    findings, text = _first_of_each_level(found), source.text()
    problems = problems_of(str(path), text, tree_at(text, (finding.path for finding in findings)), findings)
    examined = _Examined("schema-1.0.0", value, problems, filled)
    return _loaded(examined, lambda: lines_of(quick.content, quick.starts), path, source.sha256)


def _load_exactly(path: Path, source: Source, around: Around) -> Loaded:
    text = source.text()
    if source.syntax == "JSON":
        document: Any = ExactJson(text)
    else:
        from tui.documents.yaml_reader import ExactYaml

        document = ExactYaml(text)
    findings: list[Finding] = document.findings
    kind: SuiteFormat | None = None
    filled: FilledCases | None = None
    if document.read():
        try:
            kind = format_of(document.value)
            found, filled = _examine(kind, document.value, around)
            findings += _first_of_each_level(found)
        except Unreadable as reason:
            findings.append(reason.finding)
    problems = problems_of(str(path), text, document.tree, findings)

    def lines() -> list[int]:
        starts = [offset_of(document.tree, case) for case in _case_paths(document.value)]
        places = places_of(text, starts)
        return [places[start][0] for start in starts]

    return _loaded(_Examined(kind, document.value, problems, filled), lines, path, source.sha256)


@dataclass(frozen=True, slots=True)
class _Examined:
    """The value of a file with its problems; without a kind if it is neither of the two formats."""

    kind: SuiteFormat | None
    value: Any
    problems: tuple[Problem, ...]
    filled: "FilledCases | None"


def _loaded(found: _Examined, lines: Callable[[], list[int]], path: Path, sha256: str) -> Loaded:
    """Return the suite if it has no errors; `lines` are those of the cases in the file."""
    problems, filled = found.problems, found.filled
    if filled is not None:
        problems = (*problems, *filled.problems[:MOST_PROBLEMS])
    if found.kind is None or any(problem.level == "error" for problem in problems):
        return Loaded(None, problems, *((tuple(filled.data_files), tuple(filled.outside)) if filled else ()))
    if filled is None:
        return Loaded(_build(found.kind, found.value, lines(), path, sha256), problems)
    return Loaded(_build_filled(filled, found.value, lines(), path, sha256), problems, tuple(filled.data_files))


def _examine(kind: SuiteFormat, value: JsonValue, around: Around) -> tuple[Iterable[Finding], "FilledCases | None"]:
    """Return all problems, and the cases with the rows of their data sets if there are any."""
    from tui.suites.schema1.case_checks import extensions_once
    from tui.suites.schema1.checks import examine_schema
    from tui.suites.testhaven.load import testhaven_findings

    if kind == "schema-1.0.0" and isinstance(value, dict):
        found, filled = examine_schema(value, around)
        return extensions_once(found), filled
    return testhaven_findings(value, around), None


def _first_of_each_level(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings up to the limit of errors, and no more warnings than that."""
    counts: Counter[Level] = Counter()
    first = []
    for finding in findings:
        counts[finding.level] += 1
        if counts[finding.level] <= _MOST_FINDINGS:
            first.append(finding)
        elif finding.level == "error":
            break
    return first


def _build(kind: SuiteFormat, value: Any, lines: list[int], path: Path, sha256: str) -> Suite:
    from tui.suites.schema1.build import build_suite
    from tui.suites.testhaven.load import build_testhaven

    if kind == "schema-1.0.0":
        return build_suite(value, lines, str(path), sha256)
    return build_testhaven(value, lines, path, sha256)


def _build_filled(filled: "FilledCases", value: Any, lines: list[int], path: Path, sha256: str) -> Suite:
    from tui.documents.tables import combined_digest
    from tui.suites.schema1.build import build_suite

    cases, of_cases = {**value, "testCases": filled.cases}, [lines[index] for index in filled.templates]
    digest = combined_digest(sha256, filled.digests.values())
    suite = build_suite(cases, of_cases, str(path), digest, filled.rows)
    return replace(suite, data_files=tuple(filled.digests))


def _case_paths(value: Any) -> list[Place]:
    if isinstance(value, list):
        return [(index,) for index in range(len(value))]
    if "testCases" in value:
        return [("testCases", index) for index in range(len(value["testCases"]))]
    return [()]


_SUFFIXES = frozenset((".yaml", ".yml", ".json"))
_SKIPPED_FOLDERS = frozenset(
    (
        "node_modules",
        "__pycache__",
        "venv",
        "env",
        "site-packages",
        "bower_components",
        "vendor",
        "dist",
        "build",
        "target",
    )
)
_SNIFFED_BYTES = 256 * 1024
_ANY_KEY = re.compile(rb"""(?:^(?:[ \t]*- +)?|[{,]\s*)(?:"[^"\n]+"|'[^'\n]+'|[\w$.-]+)[ \t]*:""", re.MULTILINE)
# Keys of a suite: in YAML at the top or in an item of a list, in JSON wherever an object has them. It begins with a
# set of characters, because then the search runs from one of them to the next, in a third of the time.
_SUITE_KEY = re.compile(
    rb"""[\n{,](?:(?<=\n)(?:- +|  )?|(?<!\n)\s*)["']?"""
    rb"""(?:test[_-]?cases?|models|repo_?clone|steps?|inputs?|assert|expected)["']?\s*:""",
    re.IGNORECASE,
)


def find_suites(path: Path) -> list[Path]:
    """Return the suite files below a folder, each folder's files before its subfolders, by name.

    The path of a file is returned as it is. Hidden files and folders, `node_modules` and the like are skipped, and so
    is a file that is clearly not a suite: valid UTF-8 with keys of which none belongs to either format. A broken, empty
    or doubtful file is included, so that it is reported.
    """
    if not path.is_dir():
        return [path]
    return list(_find_below(path))


def _find_below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            path = Path(root, name)
            if path.suffix.lower() in _SUFFIXES and not name.startswith(".") and not _is_clearly_none(path):
                yield path


def _is_clearly_none(path: Path) -> bool:
    if not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(_SNIFFED_BYTES)
        beginning[:-4].decode()
    except (OSError, UnicodeDecodeError):
        return False
    return _ANY_KEY.search(beginning) is not None and _SUITE_KEY.search(b"\n" + beginning) is None
