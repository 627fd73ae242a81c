"""The shape of the config file, as a JSON Schema and beside the rules of the model."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tui.config.shapes import ConfigShape, LimitsShape, VariantShape, WeightsShape
from tui.model.risk import BandRule
from tui.model.subjects import PARAMETERS, parameter_fault

SCHEMA = TypeAdapter(ConfigShape).json_schema()


def keys(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        for name, key in part["properties"].items():
            yield f"{part['title']}.{name}", key


def test_every_key_has_a_description() -> None:
    assert [name for name, key in keys(SCHEMA) if "description" not in key and "not" not in key] == []


def test_the_schema_states_required_keys_bounds_and_defaults() -> None:
    shapes = SCHEMA["$defs"]
    assert shapes["VariantShape"]["required"] == ["id"]
    assert shapes["PriceShape"]["required"] == ["input", "output"]
    assert all(part["additionalProperties"] is False for part in (SCHEMA, *shapes.values()))
    rule = BandRule()
    for shape, values in (("WeightsShape", rule.weights), ("LimitsShape", dict(rule.limits))):
        given = shapes[shape]["properties"]
        assert {name: given[name]["default"] for name in values} == dict(values)
    assert shapes["ReviewShape"]["properties"]["repeats"]["maximum"] == 30


def test_severities_and_bands_are_in_the_order_of_the_rule() -> None:
    assert list(WeightsShape.__annotations__) == list(BandRule().weights)
    assert list(LimitsShape.__annotations__) == [*dict(BandRule().limits), "critical"]


VALUES = [
    None,
    True,
    "",
    "x",
    "chat",
    "responses",
    -1,
    0,
    1,
    2,
    3,
    2**63 - 1,
    2**63,
    -0.1,
    0.5,
    1.0,
    2.0,
    2.1,
    10**400,
    -(10**400),
]


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("value", [*VALUES, float("inf"), float("nan")])
def test_a_parameter_has_the_bounds_of_the_model(name: str, value: object) -> None:
    try:
        TypeAdapter(VariantShape).validate_python({"id": "m", name: value})
    except ValidationError:
        fits = False
    else:
        fits = True
    assert fits == (value is None or parameter_fault(name, value) is None)
