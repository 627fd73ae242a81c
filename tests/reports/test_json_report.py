"""The JSON report holds what the contract says, under the names it says."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from tests.reports.whole_report import build_report
from tests.support.kept_runs import HOSTILE, hostile_run, keep, make_case, make_plan, make_result, priced_run, small_run
from tests.support.reviewed_runs import act, review
from tui.model.results import Attempt, Timing, TrialKey, TrialResult
from tui.statistics.shares import wilson_interval

A, B = "openai/mock-a", "local/mock-b"
COUNTS = {"trials", "passed", "failed", "errors", "flaky", "unchecked"}


def test_the_head() -> None:
    report = build_report(small_run())
    assert report["version"] == 1
    assert report["run"] == {
        "id": "0193f2a4c6d87000a1b2c3d4e5f60718",
        "started_at": "2026-11-20T10:15:00.000+00:00",
        "finished_at": "2026-11-20T10:16:30.500+00:00",
        "state": "interrupted",
        "command": "assay run suites/sample.yaml",
        "assay": "0.1.0",
        "versions": {},
        "prices": {A: None, B: None},
    }
    assert report["suite"] == {
        "name": "Sample suite",
        "path": "suites/sample.yaml",
        "sha256": "ab" * 32,
        "format": "schema-1.0.0",
    }
    assert list(report) == ["version", "run", "suite", "summary", "comparisons", "results"]


def test_the_summary() -> None:
    summary = build_report(small_run())["summary"]
    assert set(summary) == COUNTS | {
        "by_model", "by_category", "pass_rate_95", "repeats", "cost_usd", "cost_usd_at_least", "reruns",
        "by_category_and_model", "effort",
    }  # fmt: skip
    for count in (summary, *summary["by_model"].values(), *summary["by_category"].values()):
        assert (
            count["trials"] == count["passed"] + count["failed"] + count["errors"] + count["flaky"] + count["unchecked"]
        )
    assert [summary[key] for key in ("trials", "passed", "failed", "errors", "flaky", "unchecked")] == [
        7,
        2,
        1,
        3,
        1,
        0,
    ]
    assert summary["by_model"][A] == {
        "trials": 4, "passed": 2, "failed": 0, "errors": 1, "flaky": 1, "unchecked": 0,
    }  # fmt: skip
    assert summary["reruns"] == {"trials": 0, "passed_since": 0}
    assert summary["pass_rate_95"][A] == pytest.approx([0.1500, 0.8500], abs=1e-4)
    assert summary["repeats"][A] == {"n": 1, "pass_at_k": {"1": 0.5}, "pass_hat_k": {"1": 0.5}, "flake_rate": 0.25}


def test_the_comparisons() -> None:
    assert build_report(small_run())["comparisons"] == [
        {
            "a": A,
            "b": B,
            "wins": 2,
            "losses": 0,
            "ties": 1,
            "win_cases": ["sec-001", "bug-001"],
            "loss_cases": [],
            "method": "mcnemar-exact",
            "p_value": None,
            "p_holm": None,
            "difference": pytest.approx(2 / 3),
            "difference_95": None,
            "detectable": None,
            "conclusion": "not_enough_data",
            "interim": True,
            "units": 3,
            "margin": None,
        }
    ]
    kept = small_run()
    finished = replace(kept, record=replace(kept.record, state="finished"))
    (comparison,) = build_report(finished, margin=0.1)["comparisons"]
    assert (comparison["p_value"], comparison["p_holm"]) == (0.5, 0.5)
    assert (comparison["interim"], comparison["margin"]) == (False, 0.1)
    low, high = comparison["difference_95"]
    assert low <= 0 < comparison["difference"] < high <= 1


def test_a_model_has_the_same_figures_by_category_as_in_all() -> None:
    report = build_report(small_run())["summary"]
    for model, count in report["by_model"].items():
        parts = [by_model[model] for by_model in report["by_category_and_model"].values()]
        assert {name: sum(part[name] for part in parts) for name in count} == count
    secure = report["by_category_and_model"]["Security"][A]
    assert secure["pass_rate"] == secure["passed"] / (secure["trials"] - secure["unchecked"])
    assert secure["pass_rate_95"] == pytest.approx(wilson_interval(secure["passed"], secure["trials"]))


def test_a_result() -> None:
    result = build_report(small_run())["results"][4]
    attempts = result.pop("attempts")
    assert result == {
        "case": "bug-001",
        "name": "Off by one",
        "category": "Bug Fixing",
        "tags": ["quick", "pager"],
        "checked": True,
        # The same in each version: baselines of earlier versions are compared with new runs.
        "case_sha256": "69beecd3fa45b054d62f61e68912cb7cf3e5c5662b1139e206f02c6a914dc0c4",
        "model": A,
        "repeat": 1,
        "verdict": "passed",
        "first_verdict": "passed",
        "reruns": 0,
        "flaky": False,
        "error": None,
        "cost_usd": None,
        "changes": [
            {"path": "src/pager.py", "kind": "modified", "added": 1, "removed": 1, "diff": "@@ -1 +1 @@\n-a\n+b\n"}
        ],
        "not_applied": [{"block": 1, "path": None, "language": "bash", "reason": "no target fits"}],
        "scores": [],
    }
    (attempt,) = attempts
    (step,) = attempt["steps"]
    assert (attempt["verdict"], attempt["error"]) == ("passed", None)
    assert step["input"] == "Write code."
    assert step["response"] == "Use a parameter."
    assert (step["reasoning"], step["tools_used"], step["memory"]) == ("", [], None)
    assert step["checks"] == [
        {
            "kind": "expected_pattern",
            "target": "parameter",
            "state": "passed",
            "detail": "found once",
            "spans": [[6, 15]],
        },
        {"kind": "forbidden_pattern", "target": "eval", "state": "passed", "detail": "", "spans": []},
    ]
    assert step["usage"] == {"input_tokens": 20, "output_tokens": 40, "reasoning_tokens": None}
    assert step["input_details"] == {"cached_tokens": None, "cache_writing_tokens": None}
    assert (step["cost_usd"], step["served_by"]) == (None, None)
    assert step["timing"] == {"first_token_ms": 150.0, "duration_ms": 1200.0}
    assert step["retries"] == []


def test_costs_versions_and_who_served() -> None:
    report = build_report(priced_run())
    assert report["run"]["versions"] == {"assay": "0.1.0", "python": "3.11.7"}
    assert report["run"]["prices"] == {
        A: {
            "input": 1.75, "output": 14.0, "cached": 0.175, "cache_writing": None, "longest_input": None,
            "source": "list 1.0",
        },
        B: None,
    }  # fmt: skip
    # Of A all is known, also the attempt that failed before a flaky pass; of B only one of two.
    assert report["summary"]["cost_usd"] == {A: 1.25, B: None}
    assert report["summary"]["cost_usd_at_least"] == {A: 1.25, B: 0.125}
    assert [(result["model"], result["cost_usd"]) for result in report["results"]] == [
        (A, 0.25), (B, 0.125), (A, 1.0), (B, None),
    ]  # fmt: skip
    (step,) = report["results"][0]["attempts"][0]["steps"]
    assert step["cost_usd"] == 0.25
    assert step["served_by"] == {
        "model": "mock-a-2026-01-01", "fingerprint": "fp_1", "api_version": "", "server": "",
    }  # fmt: skip


def test_every_attempt_and_retry_is_there() -> None:
    result = build_report(small_run())["results"][2]
    assert (result["verdict"], result["flaky"]) == ("passed", True)
    assert [attempt["verdict"] for attempt in result["attempts"]] == ["failed", "passed"]
    assert result["attempts"][1]["steps"][0]["retries"] == [{"reason": "429 Too Many Requests", "waited_ms": 1000}]


def test_scores_are_put_where_they_belong() -> None:
    trial = TrialKey("sec-001", B)
    acts = [
        act(trial, "Tone", 2, note="curt"),
        act(trial, "SQL injection", "n/a"),
        act(trial, "SQL injection", 3, reviewer="bert"),
        act(trial, "SQL injection", 1, reviewer="cleo", kind="adjudicate", note="only half"),
    ]
    report = build_report(small_run(), reviewed=review(small_run(), acts))
    results = report["results"]
    assert [len(result["scores"]) for result in results[:3]] == [0, 3, 0]
    assert results[1]["scores"] == [
        {
            "criterion": criterion,
            "severity": severity,
            "extent": extent,
            "band": band,
            "note": note,
            "reviewer": reviewer,
            "scored_at": "2026-11-20T12:00:00+00:00",
        }
        for criterion, severity, extent, band, note, reviewer in (
            ("SQL injection", "critical", "n/a", None, "", "anna"),
            ("SQL injection", "critical", 3, "critical", "", "bert"),
            ("Tone", "low", 2, "low", "curt", "anna"),
        )
    ]
    (decision,) = results[1]["decisions"]
    assert (decision["extent"], decision["band"], decision["reviewer"]) == (1, "medium", "cleo")
    assert results[0]["decisions"] == []


def test_numbers_that_json_has_not_become_null() -> None:
    plan = make_plan([make_case("one")], [A])
    step = replace(
        make_result(plan.trials[0]).attempts[0].steps[0],
        memory={"a": [math.nan, 1.5, {"b": -math.inf}]},
        timing=Timing(math.nan, math.inf),
    )
    attempt = Attempt(1, "passed", None, (step,), "", math.nan)
    report = build_report(keep(plan, [TrialResult(plan.trials[0], "passed", False, None, (attempt,))]))
    json.dumps(report, allow_nan=False)
    kept = report["results"][0]["attempts"][0]
    assert kept["steps"][0]["memory"] == {"a": [None, 1.5, {"b": None}]}
    assert kept["steps"][0]["timing"] == {"first_token_ms": None, "duration_ms": None}
    assert kept["duration_ms"] is None


def test_hostile_text_is_not_changed() -> None:
    report = build_report(hostile_run())
    assert report["suite"]["name"] == HOSTILE
    step = report["results"][0]["attempts"][0]["steps"][0]
    assert step["response"] == HOSTILE
    assert step["memory"] == {HOSTILE: [HOSTILE, {HOSTILE: None}]}


def plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or type(value) in (str, int, float, bool)


def test_only_what_json_has() -> None:
    assert plain(build_report(small_run()))
    assert plain(build_report(hostile_run()))
