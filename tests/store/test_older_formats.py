"""Histories of older formats are read by today's rules: what is no pass any more is none in any count."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.kept_runs import RUN_ID, STARTED, make_case, make_plan
from tui.model.results import TrialKey
from tui.store import codec
from tui.store.database import mark_damaged
from tui.store.schema import STEPS, migrate
from tui.store.sqlite import SqliteStore

MODEL = "openai/mock-a"
CHECK = {"kind": "expected_pattern", "target": "a", "state": "passed", "detail": "", "spans": [[0, 1]]}


def attempt(
    number: int,
    verdict: str,
    *,
    again: bool = False,
    checks: bool = True,
    finish: str = "stop",
    fault: str | None = None,
) -> dict[str, Any]:
    """An attempt as the formats 1 and 2 keep it."""
    step = {
        "input": "Ask.",
        "response": "a",
        "prompt": {"input": "Ask.", "messages": [{"role": "user", "content": "Ask."}], "included": [], "left_out": []},
        "reasoning": "",
        "tools_used": [],
        "memory_before": {"asked_again": 1},
        "memory": None,
        "checks": [CHECK] if checks else [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "reasoning_tokens": None},
        "timing": {"first_token_ms": 1.0, "duration_ms": 2.0},
        "retries": [],
        "finish_reason": finish,
        "notes": [],
        "pace": [],
    }
    return {
        "number": number,
        "verdict": verdict,
        "error": None,
        "steps": [step],
        "started_at": STARTED,
        "duration_ms": 2.0,
        "asked_again": again,
        "fault": fault,
    }


# By case: the attempts, then what they are read as: verdict, first verdict, flaky, reruns.
TRIALS: dict[str, tuple[list[dict[str, Any]], tuple[str, str, bool, int]]] = {
    "plain": ([attempt(1, "passed")], ("passed", "passed", False, 0)),
    "without-checks": ([attempt(1, "passed", checks=False)], ("unchecked", "unchecked", False, 0)),
    "truncated": ([attempt(1, "passed", finish="length")], ("incomplete", "incomplete", False, 0)),
    "filtered": ([attempt(1, "passed", checks=False, finish="content_filter")],
                 ("incomplete", "incomplete", False, 0)),
    "flaky": ([attempt(1, "failed"), attempt(2, "passed")], ("passed", "passed", True, 0)),
    "rerun": ([attempt(1, "failed"), attempt(2, "failed", again=True), attempt(3, "passed", again=True)],
              ("passed", "failed", False, 2)),
    "two-attempts-each": (
        [attempt(1, "failed"), attempt(2, "failed"),
         attempt(3, "failed", again=True), attempt(4, "passed", again=True)],
        ("passed", "failed", False, 1),
    ),
    "error-then-flaky": (
        [attempt(1, "error"), attempt(2, "error"), attempt(3, "failed", again=True), attempt(4, "passed", again=True)],
        ("passed", "passed", True, 1),
    ),
    "refused-key": (
        [attempt(1, "error", fault="unauthorized"), attempt(2, "failed", again=True), attempt(3, "passed", again=True)],
        ("passed", "passed", True, 1),
    ),
}  # fmt: skip


def write_history(path: Path, version: int) -> None:
    """A file of that format with the trials above, as its own version wrote it."""
    plan = make_plan([make_case(name) for name in TRIALS], [MODEL])
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection, STEPS[:version])
    connection.execute("INSERT INTO suite (digest, content) VALUES ('d', ?)", (codec.encode_suite(plan.suite),))
    connection.execute(
        "INSERT INTO run (id, state, suite, suite_name, suite_path, suite_place, suite_sha256, subjects, models,"
        " options, command, assay, started_at, saved_at, finished_at, trials, passed)"
        " VALUES (?, 'finished', 1, 'Suite', 's.yaml', '/s.yaml', 'ab', ?, ?, ?, '', '0.1.0', ?, ?, ?, ?, ?)",
        (
            *(RUN_ID, codec.encode_subjects(plan.subjects), json.dumps([MODEL]), codec.encode_options(plan.options)),
            *(STARTED, STARTED, STARTED, len(TRIALS), len(TRIALS)),
        ),
    )
    for number, (name, (attempts, _)) in enumerate(TRIALS.items(), 1):
        last = attempts[-1]
        result = {
            "trial": [name, MODEL, 1],
            "verdict": last["verdict"],
            "flaky": last["verdict"] == "passed" and len(attempts) > 1,
            "error": last["error"],
            "attempts": attempts,
            "changes": [],
            "not_applied": [],
        }
        connection.execute(
            "INSERT INTO trial (number, run, case_id, model, repeat, verdict, flaky, attempts, duration_ms, retries)"
            " VALUES (?, 1, ?, ?, 1, ?, ?, ?, 2.0, 0)",
            (number, name, MODEL, result["verdict"], result["flaky"], len(attempts)),
        )
        connection.execute("INSERT INTO result (trial, content) VALUES (?, ?)", (number, json.dumps(result)))
    connection.close()


@pytest.mark.parametrize("version", [1, 2])
def test_each_trial_is_what_it_would_be_today_in_every_place(tmp_path: Path, version: int) -> None:
    path = tmp_path / "data" / "runs.sqlite"
    write_history(path, version)
    store = SqliteStore(path)
    expected_by_case = {name: expected for name, (_, expected) in TRIALS.items()}
    results = {each.trial.case: each for each in store.read_run(RUN_ID).results}
    outcomes = {each.trial.case: each for each in store.read_outcomes(RUN_ID)}
    for found in (results, outcomes):
        assert {
            name: (each.verdict, each.first_verdict, each.flaky, each.reruns) for name, each in found.items()
        } == expected_by_case
    assert results["truncated"].error == outcomes["truncated"].error == "The answer stopped early: token limit (length)"
    assert store.read_trial(RUN_ID, TrialKey("rerun", MODEL)) == results["rerun"]
    assert [attempt.asking for attempt in results["rerun"].attempts] == [0, 1, 2]
    (record,) = store.list_runs()
    assert (record.trials, record.passed, record.unchecked) == (len(TRIALS), 1, 1)
    assert "migrated to a newer format" in store.notices[0]
    store.close()
    again = SqliteStore(path)
    assert again.read_outcomes(RUN_ID) == tuple(outcomes.values())
    assert again.notices == ()
    again.close()


@pytest.mark.parametrize("version", range(len(STEPS)))
def test_a_mark_of_damage_beside_an_empty_or_older_history_goes_once_it_is_checked(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "data" / "runs.sqlite"
    if version:
        write_history(path, version)
    else:
        path.parent.mkdir()
        path.touch()
    mark_damaged(path, [1])
    for _ in range(2):
        store = SqliteStore(path)
        assert not store.is_readonly
        assert len(store.list_runs()) == bool(version)
        assert not any("damaged" in notice for notice in store.notices)
        store.close()
    assert [each.name for each in path.parent.iterdir() if each.name.endswith(".damaged")] == []


def test_sums_of_which_a_part_is_unknown_have_their_known_parts(tmp_path: Path) -> None:
    path = tmp_path / "data" / "runs.sqlite"
    write_history(path, 4)
    unknown = attempt(1, "failed")
    unknown["steps"][0]["usage"] = {"input_tokens": None, "output_tokens": None, "reasoning_tokens": None}
    attempts = [unknown, attempt(2, "passed", again=True)]
    result = {"trial": ["plain", MODEL, 1], "verdict": "passed", "flaky": True, "error": None, "attempts": attempts}
    connection = sqlite3.connect(path)
    content = json.dumps({**result, "changes": [], "not_applied": []})
    connection.execute("UPDATE result SET content = ? WHERE trial = 1", (content,))
    connection.commit()
    connection.close()
    store = SqliteStore(path)
    (found,) = (each for each in store.read_outcomes(RUN_ID) if each.trial.case == "plain")
    assert (found.input_tokens, found.least_input_tokens, found.least_output_tokens) == (None, 1, 1)
    store.close()


def test_what_cannot_be_read_keeps_its_verdict(tmp_path: Path) -> None:
    path = tmp_path / "data" / "runs.sqlite"
    write_history(path, 2)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE result SET content = '{\"trial\": 1}' WHERE trial = 1")
    connection.commit()
    connection.close()
    store = SqliteStore(path)
    outcomes = {each.trial.case: each for each in store.read_outcomes(RUN_ID)}
    assert (outcomes["plain"].verdict, outcomes["plain"].first_verdict) == ("passed", "passed")
    assert outcomes["without-checks"].verdict == "unchecked"
    store.close()
