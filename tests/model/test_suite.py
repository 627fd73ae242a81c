"""A case asks and judges the same as before only if all of its values are the same."""

import pytest

from tui.model.suite import Case, Check, Step, Suite, SuiteCase
from tui.model.tools import OfferedTool
from tui.model.values import JsonObject, JsonValue


@pytest.mark.parametrize("where", ["check", "memory", "tools"])
def test_true_is_another_value_than_one(where: str) -> None:
    def case(value: JsonValue) -> SuiteCase:
        checks = (Check("memory", "n", {"a": [value]}),) if where == "check" else ()
        memory: JsonObject = {"flag": value} if where == "memory" else {}
        tools = (OfferedTool("t", parameters={"default": value}),) if where == "tools" else ()
        made = Case("a", "a", "c", (Step("in", checks),), memory=memory, tools=tools)
        return SuiteCase(made, Suite("n", "d", "s.yaml", "0", "testhaven", (made,)))

    for one, other in ((1, True), (False, 0)):
        assert case(one).is_unchanged(case(one))
        assert case(one).is_unchanged(case(other)) is False
        assert case(one).asks_the_same(case(other)) is (where == "check")
    assert case(1).is_unchanged(case(1.0))
