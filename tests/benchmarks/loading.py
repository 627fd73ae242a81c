"""What suites cost: loading 10,000 cases (16 MB) beside bare `model_validate_json`, trying patterns, finding files."""

import csv
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from tests.benchmarks.registry import Figure, benchmark, table
from tui.checks.patterns import javascript_error, pattern_error
from tui.model.suite import Severity, TaskType
from tui.suites.load import find_suites, load_suite

Kind = Literal["plain", "changing"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CASES = 10_000
FILES = 400
ROUNDS = 15
TASK = (
    "Write a function that reads the orders of a customer, groups them by month and returns the totals.\n\n"
    'It must say `"None"` when there are none: {"total": 0}, and raise for a negative amount.\n'
)
TYPES = ("code-generation", "bug-fix", "refactoring", "security-review")
SEVERITIES = ("low", "medium", "high", "critical")

Filled = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Bare(BaseModel):
    """The same rules about types as the loader's."""

    model_config = ConfigDict(strict=True, extra="forbid")


class BareLines(Bare):
    start: Whole
    end: Whole


class BareContext(Bare):
    filePath: Filled
    content: str | None = None
    language: str | None = None
    lineRange: BareLines | None = None


class BareCriterion(Bare):
    name: Filled
    description: str
    severity: Severity


class BareCase(Bare):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$")]
    name: Filled
    category: Filled
    prompt: Filled
    expectedBehavior: str = ""
    systemMessage: str | None = None
    tags: list[str] = []
    testType: TaskType | None = None
    expectedPatterns: list[str] = []
    forbiddenPatterns: list[str] = []
    applyChanges: bool = False
    targetFile: Filled | None = None
    codeContext: list[BareContext] = []
    riskCriteria: list[BareCriterion] = []


class BareClone(Bare):
    repoUrl: Filled
    branch: str | None = None


class BareSuite(Bare):
    """The lower bound: objects of the right types, but no ids compared, no patterns tried, no lines known."""

    name: Filled
    description: str
    models: list[str]
    testCases: list[BareCase]
    repoClone: BareClone | None = None


def _case(number: int, prompt: int) -> dict[str, object]:
    text = f"{number}: {TASK * (1 + prompt // len(TASK))}"
    return {
        "id": f"case-{number}",
        "name": f"Totals of the orders, number {number}",
        "category": ("Code Generation", "Security", "Refactoring")[number % 3],
        "prompt": text[:prompt],
        "expectedBehavior": "Returns a mapping of months to totals and handles customers without orders",
        "tags": ["python", "orders", f"group-{number % 50}"],
        "testType": TYPES[number % 4],
        "expectedPatterns": [r"def\s+\w+", f"month_{number % 500}", "return"],
        "forbiddenPatterns": [r"eval\(", r"exec\("],
        "riskCriteria": [
            {"name": "Injection", "description": "Look for unsanitized queries", "severity": SEVERITIES[number % 4]},
            {"name": "Errors", "description": "Proper error handling and validation", "severity": "medium"},
        ],
    }


def _changing(number: int) -> dict[str, object]:
    """What a case has that changes code; each has paths of its own, as far as a repository of 1,000 files goes."""
    context = {
        "filePath": f"src/types/part{number % 1_000}.ts",
        "language": "typescript",
        "lineRange": {"start": 1, "end": 20},
    }
    return {"applyChanges": True, "targetFile": f"src/utils/part{number % 1_000}.ts", "codeContext": [context]}


def write_suite(path: Path, kind: Kind = "plain", cases: int = CASES) -> None:
    """A suite of as many cases, about 1.6 KB each."""
    suite: dict[str, object] = {"name": "Large", "description": "Many cases", "models": ["local/a", "local/b"]}
    if kind == "changing":
        suite["repoClone"] = {"repoUrl": "https://github.com/username/repo", "branch": "main"}
        suite["testCases"] = [_case(number, 450) | _changing(number) for number in range(cases)]
    else:
        suite["testCases"] = [_case(number, 790) for number in range(cases)]
    path.write_text(json.dumps(suite, indent=2))


def write_data_set(path: Path, rows: int = CASES, *, inline: bool = False) -> None:
    """A suite of one case with as many rows, in a CSV file or inline; each fills a prompt and two patterns."""
    cases = [_case(number, 700) for number in range(rows)]
    names = ("id", "customer", "month", "text")
    values = [(f"r{n}", f"customer {n}", f"month_{n % 500}", str(case["prompt"])) for n, case in enumerate(cases)]
    if not inline:
        with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(names)
            table.writerows(values)
    filled = {"prompt": "{{customer}}: {{text}}", "expectedPatterns": [r"def\s+\w+", "{{month}}", "{{customer}}"]}
    data = {"vars": [dict(zip(names, row, strict=True)) for row in values]}
    case = {**cases[0], "id": "orders", **filled, **(data if inline else {"data": path.with_suffix(".csv").name})}
    suite = {"name": "Large", "description": "Many rows", "models": ["local/a", "local/b"], "testCases": [case]}
    path.write_text(json.dumps(suite, indent=2 if inline else None))


def _cpu_ms(do: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    do()
    return (time.process_time() - began) * 1000


def _load_anew(path: Path) -> None:
    """Load as in a new process, where no pattern has been tried."""
    javascript_error.cache_clear()
    assert load_suite(path, pattern_error).suite is not None


def _load_bare(path: Path) -> None:
    BareSuite.model_validate_json(path.read_bytes())


def _compile(patterns: list[str]) -> None:
    javascript_error.cache_clear()
    assert not any(pattern_error("expected_pattern", pattern) for pattern in patterns)


def _side_by_side(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """The medians of alternating runs, after one of each that does not count."""
    gc.collect()
    gc.freeze()  # what other benchmarks have imported is not to be gone through whenever garbage is looked for
    pairs = [(_cpu_ms(ours), _cpu_ms(bare)) for _ in range(ROUNDS + 1)][1:]
    gc.unfreeze()
    our_times, bare_times = zip(*pairs, strict=True)
    return median(our_times), median(bare_times)


@benchmark("loading")
def measure_loading() -> list[Figure]:
    """A suite of 10,000 cases, read and validated, with the patterns tried."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder, f"{kind}.json")
            write_suite(path, kind)
            ours, bare = _side_by_side(partial(_load_anew, path), partial(_load_bare, path))
            name = f"{CASES:,} {kind} cases, {path.stat().st_size / 1e6:.1f} MB, beside pydantic"
            figures.append(Figure(name, "CPU ms", ours, bare, 1.3, "ratio"))
        plain = Path(folder, "plain.json")
        for inline, what in ((False, "rows of a CSV file"), (True, "rows in the suite")):
            path = Path(folder, "rows.json")
            write_data_set(path, inline=inline)
            ours, bare = _side_by_side(partial(_load_anew, path), partial(_load_bare, plain))
            name = f"{CASES:,} {what}, beside pydantic with as many plain cases"
            figures.append(Figure(name, "CPU ms", ours, bare, 1.5, "ratio"))
    patterns = [rf"case{number}\s*\((?:foo|bar)" for number in range(CASES)]
    each = median(_cpu_ms(lambda: _compile(patterns)) for _ in range(ROUNDS)) / CASES * 1000
    return [*figures, Figure("a pattern that has not been tried before", "CPU µs", each)]


@benchmark("finding")
def measure_finding() -> list[Figure]:
    """The suites among as many files that are none, beside reading all of them."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            inner = Path(folder, f"part{number % 20}")
            inner.mkdir(exist_ok=True)
            write_suite(inner / f"suite{number}.json", cases=20)
            inner.joinpath(f"other{number}.json").write_text(json.dumps({"name": "x", "scripts": {"a": TASK * 100}}))
        ours, bare = _side_by_side(lambda: find_suites(Path(folder)), lambda: _read_all(folder))
    return [Figure(f"finding {FILES:,} suites among {2 * FILES:,} files, beside reading", "CPU ms", ours, bare)]


def _read_all(folder: str) -> None:
    for root, _, files in os.walk(folder):
        for name in files:
            Path(root, name).read_bytes()


if __name__ == "__main__":
    print("\n".join(table([*measure_loading(), *measure_finding()])))
