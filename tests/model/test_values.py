"""The limit of values in one JSON text."""

import pytest

from tui.model.values import MOST_JSON_VALUES, has_too_many_values

TEXT = b'"' + b'[{,\\",' * MOST_JSON_VALUES + b'"'


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"0," * (MOST_JSON_VALUES - 2) + b"0]",
        TEXT,
        b'{"text": ' + TEXT + b', "end": ["\\\\", ' + TEXT + b"]}",
        b'["' + b"\\" * 2_000_000 + b'"]',
        b"",
    ],
    ids=["just as many", "text", "several texts", "backslashes", "nothing"],
)
def test_few_values(data: bytes) -> None:
    assert not has_too_many_values(data)


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"0," * MOST_JSON_VALUES + b"0]",
        b"[" + b"{}," * MOST_JSON_VALUES + b"0]",
        b"[" + b'"",' * MOST_JSON_VALUES + b"0]",
        b"{" + b'"":"",' * MOST_JSON_VALUES + b'"":0}',
        b'{"text": ' + TEXT + b', "end": [' + b"[]," * MOST_JSON_VALUES + b"0]}",
        b'["\\\\",' + b"0," * MOST_JSON_VALUES + b"0]",
    ],
    ids=["numbers", "objects", "texts", "pairs", "objects after a text", "numbers after a backslash"],
)
def test_too_many_values(data: bytes) -> None:
    assert has_too_many_values(data)


@pytest.mark.parametrize("quotes", [2, 3])
def test_a_higher_limit_counts_beyond_many_texts(quotes: int) -> None:
    data = b'{"a": [' + b'"[",' * quotes * MOST_JSON_VALUES + b"0]}"
    assert not has_too_many_values(data, quotes * MOST_JSON_VALUES + 2)
    assert has_too_many_values(data, quotes * MOST_JSON_VALUES + 1)
    assert has_too_many_values(data.decode(), quotes * MOST_JSON_VALUES + 1)
