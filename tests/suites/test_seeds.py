"""Every example of both formats' documents loads, word for word, and means what the documents say."""

import json
from pathlib import Path

import pytest

from tests.suites.loaded import pattern_error, suite_of
from tui.model.suite import (
    Check,
    CodeContext,
    LineRange,
    Options,
    RepoClone,
    RepositoryContext,
    RiskCriterion,
    Step,
    Suite,
)
from tui.suites.load import load_suite

SEEDS = Path(__file__).parent / "seeds"
WHOLE = (
    "minimal.json",
    "complete.json",
    "with-repository-cloning.json",
    "security.json",
    "testhaven-steps.yaml",
    "testhaven-legacy.json",
)


def load_seed(name: str) -> Suite:
    loaded = load_suite(SEEDS / name, pattern_error)
    assert loaded.problems == ()
    assert loaded.suite is not None
    return loaded.suite


@pytest.mark.parametrize("name", WHOLE)
def test_an_example_is_valid(name: str) -> None:
    assert load_seed(name).cases


@pytest.mark.parametrize("name", [name for name in WHOLE if name.endswith(".json")])
def test_an_example_is_valid_as_yaml_too(name: str, tmp_path: Path) -> None:
    text = (SEEDS / name).read_text()
    suite, same = load_seed(name), suite_of(tmp_path, name.replace(".json", ".yaml"), text)
    assert same.cases == suite.cases
    assert same.options == suite.options


@pytest.mark.parametrize("name", ["code-context-fragment.json", "risk-criteria-fragment.json"])
def test_an_example_of_a_part_is_valid_in_a_case(name: str, tmp_path: Path) -> None:
    case = {"id": "a", "name": "n", "category": "c", "prompt": "p", **json.loads((SEEDS / name).read_text())}
    root = {"name": "n", "description": "d", "models": ["m"], "repoClone": {"repoUrl": "https://example.com/r"}}
    suite = suite_of(tmp_path, "s.json", json.dumps({**root, "testCases": [case]}))
    assert suite.cases[0].code_context or suite.cases[0].risk_criteria


def test_the_minimal_example_takes_every_default() -> None:
    suite = load_seed("minimal.json")
    case = suite.cases[0]
    assert (suite.name, suite.description, suite.format) == ("Quick Test", "Minimal test suite", "schema-1.0.0")
    assert suite.models == ("gpt-5.2",)
    assert suite.options == Options(60_000, None, 1, 500, False, False)
    assert suite.repo_clone is None
    assert suite.repository_context is None
    assert (case.id, case.name, case.category, case.line) == ("test-001", "Generate function", "Code Generation", 6)
    assert case.steps == (Step("Create a hello world function"),)
    assert (case.tags, case.system_message, case.test_type, case.apply_changes) == ((), None, None, False)
    assert (case.target_file, case.code_context, case.risk_criteria, case.command) == (None, (), (), None)


def test_the_complete_example_gives_every_field() -> None:
    suite = load_seed("complete.json")
    case = suite.cases[0]
    assert suite.models == ("gpt-5.2", "claude-sonnet-4.5", "gemini-3-pro-preview")
    assert suite.repo_clone == RepoClone("https://github.com/username/test-repo", "main", 1, False)
    assert suite.repository_context == RepositoryContext(
        "./src", ("**/*.ts", "**/*.tsx"), ("**/*.test.ts",), 50, 100_000, ("typescript",)
    )
    assert suite.options == Options(120_000, False, 2, 1_000, False, True)
    assert case.line == 27
    assert case.expected_behavior == "Should generate a utility with hash and verify functions"
    assert case.system_message == "You are a security-focused TypeScript developer"
    assert case.tags == ("security", "authentication", "typescript")
    assert case.test_type == "code-generation"
    assert case.steps[0].checks == (
        *(Check("expected_pattern", word) for word in ("bcrypt", "hash", "compare", "async", "export")),
        *(Check("forbidden_pattern", word) for word in ("md5", "sha1", "eval", "plaintext")),
    )
    assert (case.apply_changes, case.target_file) == (True, "src/utils/password.ts")
    assert case.code_context == (CodeContext("src/types/User.ts", None, "typescript", LineRange(1, 20)),)
    assert case.risk_criteria == (
        RiskCriterion("Cryptographic Security", "Uses industry-standard secure algorithms", "critical"),
        RiskCriterion("Error Handling", "Proper error handling and validation", "high"),
    )


def test_a_testhaven_example_of_steps() -> None:
    suite = load_seed("testhaven-steps.yaml")
    case = suite.cases[0]
    assert (suite.name, suite.format, suite.models) == ("Book flight to Berlin", "testhaven", ())
    assert suite.options == Options(delay_ms=0)
    assert (case.id, case.name, case.line) == ("testhaven-steps", "Book flight to Berlin", 1)
    assert case.memory == {"preferred_airport": "Gatwick"}
    assert case.steps == (
        Step(
            "Book me a flight to Berlin next week",
            (
                Check("output.includes", "Gatwick"),
                Check("output.matches", ".*Berlin.*"),
                Check("tools_used", expected=["Skyscanner"]),
                Check("memory", "last_booking.destination", "Berlin"),
                Check("memory", "last_booking.departure", "Gatwick"),
            ),
        ),
    )


def test_a_testhaven_example_of_a_single_turn() -> None:
    case = load_seed("testhaven-legacy.json").cases[0]
    assert (case.id, case.name) == ("testhaven-legacy", "Book flight to Tokyo")
    assert case.memory == {"preferred_airport": "LAX"}
    assert case.steps == (
        Step(
            "Book a flight to Tokyo next week",
            (
                Check("output.equals", "Booking flight from LAX to Tokyo."),
                Check("tools_used", expected=["Skyscanner"]),
                Check("memory", "last_booking.destination", "Tokyo"),
                Check("memory", "last_booking.departure", "LAX"),
            ),
        ),
    )
