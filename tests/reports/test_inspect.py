"""Scores as Inspect reads them: its rules for the file, applied to what is written."""

import json
from typing import Any

import pytest

from tests.support.kept_runs import HOSTILE, hostile_run, keep, make_case, make_plan, make_result
from tests.support.reviewed_runs import MODELS, act, hostile_review, review, scored_acts, scored_run
from tui.model.suite import RiskCriterion
from tui.reports.inspect import render_inspect

A, B, C = MODELS


def read(text: str) -> dict[tuple[str, int | None], dict[str, Any]]:
    """As `precomputed_scores` does: line by line; `id` and `value` are needed, `epoch` is a number, all differ."""
    found: dict[tuple[str, int | None], dict[str, Any]] = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        record = json.loads(line, parse_constant=pytest.fail)
        assert {"id", "value"} <= set(record)
        assert type(record["value"]) is int
        assert type(record["epoch"]) is int
        key = str(record["id"]), record["epoch"]
        assert key not in found
        found[key] = record
    return found


def test_a_line_is_what_counts_of_an_answer() -> None:
    found = read(render_inspect(scored_run(), review(scored_run(), scored_acts()), A))
    assert {key: record["value"] for key, record in found.items()} == {
        ("case-1", 1): 12,  # the decision: extent 3, weight 4
        ("case-2", 1): 0,
        ("case-3", 1): 0,
        ("case-4", 1): 0,
    }
    first = found["case-1", 1]
    assert first["explanation"].split("\n")[:3] == [
        "SQL injection: extent 0, band negligible (anna)",
        "SQL injection: extent 4, band critical (bert): joins text",
        "SQL injection: decided, extent 3, band critical (chair): as Bert",
    ]
    assert (first["metadata"]["band"], first["metadata"]["model"], first["metadata"]["open"]) == ("critical", A, [])
    judged = first["metadata"]["criteria"][0]
    assert (judged["extent"], judged["how"], judged["decision"]["reviewer"]) == (3, "decided", "chair")
    assert [score["reviewer"] for score in judged["scores"]] == ["anna", "bert"]


def test_what_is_not_scored_or_not_applicable_has_no_line() -> None:
    criteria = (RiskCriterion("Tone", "x", "low"), RiskCriterion("Harm", "y", "critical"))
    plan = make_plan([make_case("one", criteria=criteria), make_case("two", criteria=criteria)], [A], repeats=2)
    kept = keep(plan, [make_result(key) for key in plan.trials])
    one, again, two, _ = plan.trials
    acts = [act(one, "Tone", 4), act(again, "Tone", 3), act(again, "Harm", 1), act(two, "Harm", "n/a")]
    found = read(render_inspect(kept, review(kept, acts), A))
    assert {key: record["value"] for key, record in found.items()} == {("one", 1): 4, ("one", 2): 4}
    assert found["one", 1]["metadata"]["open"] == ["Harm"]
    assert render_inspect(kept, review(kept, []), A) == ""
    assert render_inspect(kept, review(kept, acts), "another") == ""


def test_hostile_text_stays_inside_its_line() -> None:
    kept = hostile_run()
    text = "".join(render_inspect(kept, hostile_review(), model) for model in kept.record.models)
    text.encode("utf-8")
    assert [len(line.splitlines()) for line in text.split("\n")[:-1]] == [1, 1]
    first = json.loads(text.split("\n")[0])
    assert first["id"] == HOSTILE.replace("\ud800", "\ufffd")
    assert "\x1b" not in text
    assert "\u202e" not in text
