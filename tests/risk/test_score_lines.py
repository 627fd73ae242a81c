"""Lines of score files: written in one way, read strictly, each fault told in words."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.support.scoring import RUN, act_lists, item, make_act
from tui.model.scores import Act, is_copy, joined
from tui.risk.score_lines import LARGEST_LINE, NEEDED, LineFault, read_line, write_line

LINE: dict[str, Any] = {
    "version": 1,
    "act": "score",
    "id": "0123456789abcdef0123456789abcdef",
    "run": RUN,
    "case": "sec-001",
    "model": "openai/mock-a",
    "repeat": 1,
    "criterion": "Tone",
    "extent": 3,
    "note": "harsh",
    "reviewer": "Ada",
    "scored_at": "2026-11-20T10:15:00+01:00",
    "blind": True,
    "guidance": "9d0139ca",
}
"""As the contract has it, without a key of ours."""


def text_of(changes: Mapping[str, Any]) -> bytes:
    return json.dumps({**LINE, **changes}).encode()


def nested(levels: int) -> Any:
    return [nested(levels - 1)] if levels else ""


def without(*keys: str) -> bytes:
    return json.dumps({key: value for key, value in LINE.items() if key not in keys}).encode()


def fault_of(line: bytes) -> str:
    with pytest.raises(LineFault) as caught:
        read_line(line)
    return str(caught.value)


def test_a_line_of_the_contract_is_read() -> None:
    act = read_line(text_of({}))
    assert act == Act(
        "score", LINE["id"], RUN, item(), 3, "harsh", "Ada", "2026-11-20T10:15:00+01:00", True, "9d0139ca"
    )


def test_a_line_has_the_keys_of_the_contract_in_its_order_and_ends_with_lf() -> None:
    line = write_line(make_act(1, 3))
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    assert tuple(json.loads(line)) == NEEDED == tuple(LINE)
    more = replace(make_act(1, 3), attempt=2, seed=7, took_ms=1500, withdraws="ab" * 16)
    assert list(json.loads(write_line(more)))[len(NEEDED) :] == ["attempt", "seed", "took_ms", "withdraws"]
    reveal = json.loads(write_line(make_act(1, act="reveal")))
    assert [reveal[key] for key in ("case", "model", "repeat", "criterion", "extent")] == ["", "", 0, "", None]


@given(act_lists())
def test_what_is_written_is_read_back_and_written_alike(acts: list[Act]) -> None:
    for act in acts:
        line = write_line(act)
        assert read_line(line.encode()) == act
        assert write_line(read_line(line.encode())) == line


def test_nothing_that_a_terminal_obeys_is_in_a_line_and_nothing_is_lost() -> None:
    note = "\x1b]0;x\x07\x9b2J\x7f\u202e\u200b\u2028\ufeff\ud800\U000e0041 é 日本 🜚\r\n\t"
    line = write_line(replace(make_act(1), note=note, reviewer="\x1b[31m../x")).rstrip("\n")
    assert all(char.isprintable() for char in line)
    assert "é 日本 🜚" in line
    assert (read_line(line.encode()).note, read_line(line.encode()).reviewer) == (note, "\x1b[31m../x")


def test_what_is_scored_again_says_so_in_a_key_of_its_own() -> None:
    act = make_act(1, 3)
    assert act.item is not None
    again = replace(act, item=act.item._replace(again=True), repeats=10)
    fields = json.loads(write_line(again))
    assert (fields["again"], fields["repeats"]) == (True, 10)
    assert read_line(write_line(again).encode()) == again
    assert "again" not in json.loads(write_line(act))
    assert read_line(text_of({"again": False})).item == item()
    assert "expected true or false" in fault_of(text_of({"again": 1}))
    # A program that drops the keys that it does not know leaves a copy, but none may add the key to a line.
    assert is_copy(act, again)
    assert not is_copy(again, act)
    assert joined(act, again) is joined(again, act) is None


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 4, "n/a"])
def test_extents(extent: object) -> None:
    assert read_line(text_of({"extent": extent})).extent == extent


@pytest.mark.parametrize("extent", [-1, 5, 1.0, "3", "N/A", "", True, False, [], {}, 10**40])
@pytest.mark.parametrize("act", ["score", "adjudicate"])
def test_what_is_no_extent(extent: object, act: str) -> None:
    assert 'is not valid; expected 0, 1, 2, 3, 4 or "n/a"' in fault_of(text_of({"extent": extent, "act": act}))


def test_null_is_not_scored_and_no_decision() -> None:
    assert read_line(text_of({"extent": None, "reviewer": ""})).extent is None
    assert "extent" in fault_of(text_of({"extent": None, "act": "adjudicate"}))


def test_an_extent_needs_somebody_who_gave_it() -> None:
    for reviewer in ("", "  \t"):
        assert "write the reviewer's name" in fault_of(text_of({"reviewer": reviewer}))
        assert "reviewer" in fault_of(text_of({"reviewer": reviewer, "act": "invalidate", "extent": None}))


def test_acts_without_an_extent() -> None:
    taken_back = read_line(text_of({"act": "invalidate", "extent": 3}))
    assert (taken_back.extent, taken_back.item) == (3, item())
    assert read_line(text_of({"act": "invalidate", "extent": None})) == replace(taken_back, extent=None)
    nothing = {"case": "", "model": "", "repeat": 0, "criterion": "", "extent": None}
    for changes in (nothing, dict.fromkeys(nothing), {"case": 3}, {"repeat": True}):
        reveal = read_line(text_of({"act": "reveal", **changes}))
        assert reveal.scored_item is reveal.item is None


@pytest.mark.parametrize("act", ["reveal", "invalidate"])
def test_what_others_write_where_nothing_is_needed_is_not_lost(act: str) -> None:
    line = text_of({"act": act})
    assert json.loads(write_line(read_line(line))) == json.loads(line)


@pytest.mark.parametrize("key", NEEDED)
def test_every_key_is_needed(key: str) -> None:
    assert fault_of(without(key)).startswith(f"{key} is missing")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("version", "1"),
        ("version", True),
        ("version", 1.0),
        ("act", "prefer"),
        ("act", ["score"]),
        ("act", None),
        ("id", "0123"),
        ("id", 12),
        ("id", "g" * 32),
        ("id", "01234567-89ab-cdef-0123-456789abcdef"),
        ("run", None),
        ("run", 3),
        ("case", 7),
        ("model", None),
        ("criterion", ["Tone"]),
        ("repeat", 0),
        ("repeat", -1),
        ("repeat", "1"),
        ("repeat", 1.0),
        ("repeat", True),
        ("repeat", 2**60),
        ("note", None),
        ("note", 5),
        ("reviewer", None),
        ("scored_at", "2026-11-20T10:15:00"),
        ("scored_at", "2026-11-20"),
        ("scored_at", "yesterday"),
        ("scored_at", "2026-02-30T10:15:00Z"),
        ("scored_at", 1763633700),
        ("blind", 1),
        ("blind", "true"),
        ("blind", None),
        ("guidance", ["v1"]),
        ("guidance", True),
        ("attempt", "2"),
        ("attempt", -1),
        ("took_ms", 1.5),
        ("seed", True),
        ("withdraws", "x"),
    ],
)
def test_types_are_strict(key: str, value: object) -> None:
    assert fault_of(text_of({key: value})).startswith(f"{key}: ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "is not a JSON object"),
        (b"{", "is not a JSON object"),
        (text_of({})[:-20], "truncated"),
        (text_of({}) * 2, "is not a JSON object"),
        (b"[]", "expected one JSON object"),
        (b"3", "expected one JSON object"),
        (b"<<<<<<< HEAD", "is not a JSON object"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"extent": 1, "extent": 2}', "duplicate key `extent`"),
        (text_of({"extent": float("nan")}), "NaN is not JSON"),
        (text_of({"extent": float("inf")}), "Infinity is not JSON"),
        (b'{"repeat": ' + b"9" * 5000 + b"}", "a number is too long"),
        (b'{"x": ' + b"[" * 100_000, "is nested too deeply"),
        (text_of({"x": nested(200)}), "is nested deeper than 200 levels"),
        (text_of({"note": nested(199)}), "note: "),
        (text_of({"note": "x" * LARGEST_LINE}), "shorten the note"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_line(line: bytes, words: str) -> None:
    assert words in fault_of(line)


@pytest.mark.parametrize(("theirs", "kept"), [(None, ""), (2, "2"), ("v1", "v1")])
def test_others_number_their_guidance_or_have_none(theirs: object, kept: str) -> None:
    assert read_line(text_of({"guidance": theirs})).guidance == kept


def test_unknown_keys_and_the_writing_of_ids_and_spaces_say_nothing() -> None:
    act = read_line(text_of({}))
    assert read_line(text_of({"mood": {"deep": [1]}, "id": LINE["id"].upper()})) == act
    assert read_line(b"  " + text_of({}).replace(b", ", b" ,\t") + b" \r\n") == act


def test_faults_are_of_one_short_line_and_quote_in_part() -> None:
    fault = fault_of(text_of({"scored_at": "x\n\x1b" * 5000}))
    assert len(fault) < 300
    assert "\n" not in fault
    assert "\x1b" not in fault
