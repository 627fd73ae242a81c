"""The heat map as rows."""

from tui.model.heat import heat_rows
from tui.model.risk import Heat


def test_the_worst_severity_is_first_and_models_add_up() -> None:
    one: Heat = {("low", 0): 3, ("critical", 4): 1}
    other: Heat = {("critical", 4): 2, ("high", 1): 5}
    assert heat_rows(one) == (
        ("critical", (0, 0, 0, 0, 1)),
        ("high", (0, 0, 0, 0, 0)),
        ("medium", (0, 0, 0, 0, 0)),
        ("low", (3, 0, 0, 0, 0)),
    )
    assert heat_rows(one, other)[:2] == (("critical", (0, 0, 0, 0, 3)), ("high", (0, 5, 0, 0, 0)))
    assert {row for _, row in heat_rows()} == {(0, 0, 0, 0, 0)}
