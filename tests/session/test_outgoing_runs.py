"""Keys that became known after a run and its scores were stored leave Assay in no report and no file."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tests.session.test_reviews import ITEM, PLAN, RUN
from tests.support.kept_runs import STARTED, make_result
from tui.model.run import ReportContent, ReportFormat
from tui.model.scores import answer_hash
from tui.model.secrets import Secrets
from tui.model.subjects import Config
from tui.model.suite import Suite
from tui.session.outgoing_runs import scores_of_outgoing, without_known_keys
from tui.session.reviews import Reviews
from tui.session.run_files import run_lines
from tui.session.run_history import RunHistory
from tui.store.sqlite import SqliteStore

KEY = "late_Key-9876/54"
KNOWN = Config(secrets={"KEY": KEY})


def suite_with_key() -> Suite:
    first, *others = PLAN.suite.cases
    asked = replace(
        first,
        category=f"Category {KEY}",
        steps=tuple(replace(step, input=f"use {KEY}") for step in first.steps),
        risk_criteria=tuple(replace(each, description=f"Repeats {KEY}") for each in first.risk_criteria),
    )
    guidance = (f"None of {KEY}", "a", "b", "c", "d")
    return replace(PLAN.suite, cases=(asked, *others), risk_guidance=guidance)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(replace(PLAN, suite=suite_with_key()), STARTED)
    store.save_trials(
        RUN, [make_result(trial, "failed", response=f"sent {KEY} to it", error=KEY) for trial in PLAN.trials]
    )
    Reviews(store, tmp_path, Config()).open_review(RUN, "Ada", blind=False).give(ITEM, 2, f"401 for {KEY}")
    yield store
    store.close()


@pytest.mark.parametrize("format", get_args(ReportFormat))
def test_no_report_contains_a_key_that_became_known_later(
    store: SqliteStore, tmp_path: Path, format: ReportFormat
) -> None:
    reviews = Reviews(store, tmp_path, KNOWN)
    history, file = RunHistory(store, tmp_path, lambda _: (), reviews), tmp_path / "report"
    history.export(RUN, ReportContent(format, responses=True, risk_analysis=True), file, replaces=False)
    text = file.read_text()
    assert "removed key" in text
    assert Secrets([KEY]).hide(text.replace("\\", "")) == text.replace("\\", "")


def test_no_file_for_others_contains_a_key_that_became_known_later(store: SqliteStore, tmp_path: Path) -> None:
    reviews = Reviews(store, tmp_path, Config())
    reviews.replace_config(KNOWN)
    kept = store.read_run(RUN)
    outgoing = without_known_keys(kept, reviews.secrets)
    scores = scores_of_outgoing(reviews.export(RUN), kept, outgoing)
    packet, run = reviews.make_packet(RUN), "\n".join(run_lines(outgoing, scores))
    for text in (packet, run, reviews.export(RUN)):
        assert KEY not in text
        assert "[removed key]" in text
    assert "None of [removed key]" in packet
    assert "Repeats [removed key]" in packet
    (result,) = (result for result in outgoing.results if result.trial == ITEM.trial)
    assert answer_hash(result.attempts[-1].steps) in scores, "the scores are those of the answers in the file"
    assert [each.trial for each in outgoing.results] == [each.trial for each in kept.results]
    assert all(not check.spans for step in result.attempts[-1].steps for check in step.checks)


def test_the_version_of_the_guidance_stays_when_a_key_in_it_becomes_known(store: SqliteStore, tmp_path: Path) -> None:
    before = Reviews(store, tmp_path, Config()).guidance_for(suite_with_key())
    found = Reviews(store, tmp_path, KNOWN).guidance_for(suite_with_key())
    assert (found.levels[0], found.version) == ("None of [removed key]", before.version)


def test_no_version_of_the_guidance_that_other_tools_wrote_contains_a_known_key(
    store: SqliteStore, tmp_path: Path
) -> None:
    lines = Reviews(store, tmp_path, Config()).export(RUN)
    (tmp_path / "new.jsonl").write_text(json.dumps(json.loads(lines) | {"id": "b" * 32, "guidance": f"v {KEY}"}))
    Reviews(store, tmp_path, Config()).import_files([tmp_path / "new.jsonl"])
    text = Reviews(store, tmp_path, KNOWN).export(RUN)
    assert KEY not in text
    assert "v [removed key]" in text


def test_a_run_without_a_known_key_leaves_as_it_is(store: SqliteStore) -> None:
    kept = store.read_run(RUN)
    assert without_known_keys(kept, Secrets(["another-key"])) == kept


def test_answers_that_equal_another_one_keep_their_matches(store: SqliteStore) -> None:
    kept = store.read_run(RUN)
    result = kept.results[0]
    step = result.attempts[0].steps[0]
    results = []
    for repeat in (1, 2, 3):
        text = "".join(["Use a parameter. ", "It is safer. " * 9])  # each time another object
        check = replace(step.checks[0], spans=((6, 15),))
        answered = replace(step, response=text, checks=(check,), pace=((1, 2),))
        attempt = replace(result.attempts[0], steps=(answered,))
        results.append(replace(result, trial=result.trial._replace(repeat=repeat), attempts=(attempt,)))
    same = replace(kept, results=tuple(results))
    assert without_known_keys(same, Secrets(["another-key"])).results == same.results


def test_a_key_in_a_note_is_not_stored(store: SqliteStore, tmp_path: Path) -> None:
    reviews = Reviews(store, tmp_path, KNOWN)
    lines = Reviews(store, tmp_path, Config()).export(RUN)
    (tmp_path / "stored.jsonl").write_text(lines)
    assert KEY in lines
    assert (found := reviews.import_files([tmp_path / "stored.jsonl"])).known == 1, "the same line, with another note"
    assert found.new == 0
    (tmp_path / "new.jsonl").write_text(json.dumps(json.loads(lines) | {"id": "b" * 32, "reviewer": "Bo"}))
    assert reviews.import_files([tmp_path / "new.jsonl"]).new == 1
    act = reviews.open_review(RUN, "Cleo", blind=False).give(ITEM, 1, f"it is {KEY}.")
    assert act.note == "it is [removed key]."
    written = [file for file in (tmp_path / "scores").rglob("*.jsonl") if KEY in file.read_text()]
    assert [file.name.partition("-")[0] for file in written] == ["ada"]


def test_numbers_of_a_memory_are_hidden_but_no_counts(store: SqliteStore) -> None:
    kept = store.read_run(RUN)
    number = 837492749231
    result = kept.results[0]
    step = replace(result.attempts[0].steps[0], memory=[number, {"n": number}, True, 1.5], pace=((number, 1),))
    attempt = replace(result.attempts[0], steps=(step,), duration_ms=float(number))
    kept = replace(kept, results=(replace(result, attempts=(attempt,)),))
    outgoing = without_known_keys(kept, Secrets([str(number)])).results[0].attempts[0]
    assert outgoing.steps[0].memory == ["[removed key]", {"n": "[removed key]"}, True, 1.5]
    assert (outgoing.steps[0].pace, outgoing.duration_ms) == (((number, 1),), float(number))
