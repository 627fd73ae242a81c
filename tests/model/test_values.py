"""The limit of values in one JSON text, and repeated names."""

import pytest

from tui.model.values import MOST_JSON_VALUES, JsonTooLarge, first_repeated, has_too_many_values, is_deeper, parse_json

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


class CountedName(str):
    """A name that counts how often one is compared with another."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        CountedName.comparisons += 1
        return str(self) == other

    __hash__ = str.__hash__


def test_a_repeated_name_is_found_without_comparing_all() -> None:
    names = [CountedName(f"c{number}") for number in range(2_000)]
    assert first_repeated(names) is None
    assert first_repeated([*names, CountedName("c7"), CountedName("c3")]) == "c7"
    assert CountedName.comparisons < 2 * len(names)


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a": ', "}")])
def test_the_levels_of_a_text_are_limited(start: str, end: str) -> None:
    most = start * 200 + "1" + end * 200
    assert not is_deeper(parse_json(most), 200)
    assert is_deeper(parse_json(most), 199)
    for levels in (201, 900, 970, 1_000, 100_000):
        with pytest.raises(JsonTooLarge, match="is nested"):
            parse_json(start * levels + "1" + end * levels)
