"""Preferences: lines that are only ever added to, whatever was there before."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import HOSTILE
from tui.model.errors import StoreError
from tui.session.preferences import AnswerPlace, PreferenceLog, Preferred, latest, swap_sides

A, B = AnswerPlace("r1", "mock-a", 1, 1), AnswerPlace("r2", "mock-b", 2, 3)
FIRST = Preferred("suites/a.yaml", "one", A, B, "a", at="2026-11-20T10:00:00.000+00:00")


def test_a_choice_is_one_line_that_says_everything(tmp_path: Path) -> None:
    log = PreferenceLog(tmp_path / "data" / "preferences.jsonl")
    log.append(Preferred("s", "one", replace(A, answer="hash"), B, "both_bad", blind=True, swapped=True, seed=7))
    assert log.read()[0].a.answer == "hash"
    [line] = (file := tmp_path / "data" / "preferences.jsonl").read_text().splitlines()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file.parent, file)] == [0o700, 0o600]
    written = json.loads(line)
    assert {key: written[key] for key in ("version", "act", "suite", "case", "choice", "blind", "swapped", "seed")} == {
        "version": 1, "act": "prefer", "suite": "s", "case": "one", "choice": "both_bad", "blind": True,
        "swapped": True, "seed": 7,
    }  # fmt: skip
    assert written["a"] == {"run": "r1", "model": "mock-a", "repeat": 1, "attempt": 1, "answer": "hash"}
    assert written["b"] == {"run": "r2", "model": "mock-b", "repeat": 2, "attempt": 3}
    assert len(written["id"]) == 32
    assert written["at"].endswith("+00:00")


def test_nothing_is_overwritten_and_the_last_choice_counts(tmp_path: Path) -> None:
    log = PreferenceLog(tmp_path / "p.jsonl")
    assert log.read() == ()
    second = Preferred("suites/a.yaml", "one", A, B, "tie", seed=3, blind=True, at="2026-11-20T11:00:00.000+00:00")
    log.append(FIRST)
    before = (tmp_path / "p.jsonl").read_bytes()
    log.append(second)
    assert (tmp_path / "p.jsonl").read_bytes().startswith(before)
    assert log.read() == (FIRST, second)
    assert latest(log.read()) == (second,)
    assert latest([swap_sides(FIRST), second]) == (second,)
    assert latest([replace(FIRST, suite="typed/otherwise.yaml"), second]) == (second,)
    assert latest([second, swap_sides(FIRST)]) == (swap_sides(FIRST),)


def test_each_persons_last_choice_counts_and_older_lines_name_nobody(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    log, ada = PreferenceLog(file), replace(FIRST, reviewer="Ada")
    log.append(FIRST)
    older = {key: value for key, value in json.loads(file.read_text()).items() if key != "reviewer"}
    file.write_text(json.dumps(older) + "\n")
    for each in (ada, replace(FIRST, reviewer="Bo", choice="b"), replace(ada, choice="tie")):
        log.append(each)
    assert [each.reviewer for each in log.read()] == ["", "Ada", "Bo", "Ada"]
    assert {each.reviewer: each.choice for each in latest(log.read())} == {"": "a", "Ada": "tie", "Bo": "b"}


def test_a_line_that_was_cut_off_swallows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    log = PreferenceLog(file)
    log.append(FIRST)
    with file.open("ab") as out:
        out.write(b'{"version": 1, "act": "pre')
    log.append(FIRST)
    assert log.read() == (FIRST, FIRST)
    file.write_bytes(file.read_bytes() + b'[1]\n{"act": "prefer"}\nnull\n\xff\xfe\n' + b"[" * 100_000 + b"\n")
    assert log.read() == (FIRST, FIRST)


@pytest.mark.parametrize("value", [["r1"], {"r1": 1}, None, True, 1.5, -1, 2**60])
def test_a_line_with_a_value_of_another_type_is_skipped(tmp_path: Path, value: object) -> None:
    file = tmp_path / "p.jsonl"
    log = PreferenceLog(file)
    log.append(replace(FIRST, a=replace(A, answer="hash"), b=replace(B, answer="hash")))
    good = json.loads(file.read_text())
    damaged = [{**good, side: {**good[side], key: value}} for side in "ab" for key in good[side]]
    damaged += [{**good, side: value} for side in "ab"]
    damaged += [{**good, "seed": value}] if value is not None else []
    file.write_text("".join(json.dumps(line) + "\n" for line in (*damaged, good)))
    assert latest(log.read()) == log.read() == (FIRST,)


def test_hostile_names_stay_in_their_line(tmp_path: Path) -> None:
    log = PreferenceLog(tmp_path / "p.jsonl")
    place = AnswerPlace("r", HOSTILE, 1, 1)
    log.append(Preferred(HOSTILE, HOSTILE, place, B, "b", at="x"))
    assert len((tmp_path / "p.jsonl").read_bytes().splitlines()) == 1
    assert log.read() == (Preferred(HOSTILE, HOSTILE, place, B, "b", at="x"),)


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").mkdir()
    log = PreferenceLog(tmp_path / "p.jsonl")
    with pytest.raises(StoreError, match="Cannot save"):
        log.append(FIRST)
    with pytest.raises(StoreError, match="annot read"):
        log.read()
    assert os.listdir(tmp_path) == ["p.jsonl"]
