"""The value of a plain word in YAML."""

import pytest

from tui.documents.yaml_scalars import plain_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-12", -12),
        ("+12", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("tRue", "tRue"),
        ("yes", "yes"),
        ("y", "y"),
        ("017", "017"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-02-29", "2024-02-29"),
        ("2024-02-29T10:00:00Z", "2024-02-29T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        ("+", "+"),
        (".", "."),
        ("1e", "1e"),
        ("NaN", "NaN"),
        ("١", "١"),
    ],
)
def test_a_word_in_yaml(text: str, value: object) -> None:
    scalar = plain_scalar(text)
    assert scalar.fault == ""
    assert (scalar.value, type(scalar.value)) == (value, type(value))
