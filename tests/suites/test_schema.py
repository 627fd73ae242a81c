"""The published schemas say what the loader checks; the example is in order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.suites.loaded import suite_of
from tui.model.suite import Options, RepositoryContext, SuiteFormat
from tui.suites.schema import example_suite, schema_of

SEEDS = Path(__file__).parent / "seeds"
FORMATS: tuple[SuiteFormat, ...] = ("schema-1.0.0", "testhaven")


def parts(schema: Any) -> Iterator[tuple[str, Any]]:
    for name, part in {"": schema, **schema.get("$defs", {})}.items():
        for key, field in part.get("properties", {}).items():
            yield f"{name}.{key}", field


@pytest.mark.parametrize("format_", FORMATS)
def test_every_field_is_described(format_: SuiteFormat) -> None:
    schema = schema_of(format_)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert [name for name, field in parts(schema) if not field.get("description")] == []
    assert json.loads(json.dumps(schema)) == schema


def test_unknown_keys_are_marked_by_editors() -> None:
    schema: Any = schema_of("schema-1.0.0")
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["name", "description", "models", "testCases"]
    assert schema["properties"]["testCases"]["minItems"] == 1
    assert "$schema" in schema["properties"]
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())
    required = {name: part.get("required") for name, part in schema["$defs"].items()}
    assert required["CaseShape"] == ["id", "name", "category", "prompt"]
    assert required["CodeContextShape"] == ["filePath"]
    assert required["OptionsShape"] is None


def test_defaults_and_words_are_those_of_the_model() -> None:
    fields = dict(parts(schema_of("schema-1.0.0")))
    assert fields["OptionsShape.timeoutMs"]["default"] == Options().timeout_ms == 60_000
    assert fields["OptionsShape.timeoutMs"]["minimum"] == 1
    assert fields["OptionsShape.retries"]["minimum"] == 0
    assert fields["OptionsShape.delayBetweenTestsMs"]["default"] == 500
    assert "default" not in fields["OptionsShape.streaming"]
    assert fields["RepositoryContextShape.maxFiles"]["default"] == RepositoryContext("").max_files == 100
    assert fields["RepositoryContextShape.maxFileSizeBytes"]["default"] == 100_000
    assert fields["RepoCloneShape.depth"]["default"] == 1
    assert fields["RiskCriterionShape.severity"]["enum"] == ["low", "medium", "high", "critical"]
    assert len(fields["CaseShape.testType"]["enum"]) == 14
    share = fields["CaseShape.minPassRate"]
    assert (share["type"], share["exclusiveMinimum"], share["maximum"]) == ("number", 0, 1)
    guidance = fields[".riskGuidance"]
    assert (guidance["minItems"], guidance["maxItems"], guidance["items"]) == (5, 5, {"type": "string"})
    assert fields["CaseShape.id"]["pattern"] == "^[A-Za-z0-9._-]+$"


def test_testhaven_is_a_test_a_single_turn_or_a_list() -> None:
    schema: Any = schema_of("testhaven")
    assert schema["anyOf"][:2] == [{"$ref": "#/$defs/Test"}, {"$ref": "#/$defs/SingleTurnTest"}]
    assert schema["anyOf"][2]["items"]["anyOf"] == schema["anyOf"][:2]
    assertion = schema["$defs"]["AssertShape"]
    several = {r"^output\.(includes|matches|equals).", r"^tools_used."}
    assert set(assertion["patternProperties"]) == {r"^memory\.."} | several
    assert assertion["additionalProperties"] is False
    assert schema["$defs"]["Test"]["required"] == ["steps"]
    assert schema["$defs"]["SingleTurnTest"]["required"] == ["input"]


@pytest.mark.parametrize("name", ["minimal", "complete", "with-repository-cloning", "security"])
def test_every_key_of_the_examples_is_in_the_schema(name: str) -> None:
    known = {key.rpartition(".")[2] for key, _ in parts(schema_of("schema-1.0.0"))}

    def keys(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from keys(inner)

    assert set(keys(json.loads((SEEDS / f"{name}.json").read_text()))) <= known


def test_the_example_for_a_beginner_is_in_order(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.yaml", example_suite())
    assert len(suite.cases) == 2
    assert suite.cases[1].risk_criteria[0].severity == "critical"
    assert "#" in example_suite()
