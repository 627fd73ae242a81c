"""Exported runs with scores: all questions come first, and what other programs store meanwhile stays."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.kept_runs import FINISHED, STARTED, keep, make_case, make_plan, make_result
from tui.checks.checker import Answer, Checker
from tui.imports.imported import ImportedRun
from tui.imports.promptfoo import read_promptfoo
from tui.model.errors import ConfigError
from tui.model.results import CheckResult, TrialResult
from tui.model.secrets import Secrets
from tui.model.subjects import Config
from tui.model.suite import Check, RepoClone, RiskCriterion
from tui.session import score_exchange
from tui.session.result_import import ImportOptions, check_scores, compare_verdicts, read_results, store_results
from tui.session.reviews import Reviews
from tui.session.run_files import pack_lines, read_run_file, run_lines
from tui.session.score_exchange import ScoresRefused
from tui.store.sqlite import SqliteStore

MODEL = "openai/mock-a"
TONE = RiskCriterion("Tone", "Stays polite", "low")
PLAN = make_plan([make_case(f"c-{at}", criteria=(TONE,)) for at in range(4)], (MODEL,))
RUN = PLAN.run_id
RESULTS = tuple(make_result(trial) for trial in PLAN.trials)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "runs.sqlite")
    yield store
    store.close()


@pytest.fixture
def reviews(store: SqliteStore, tmp_path: Path) -> Reviews:
    reviews = Reviews(store, tmp_path, Config())
    reviews.remember_reviewer("Ada")
    return reviews


def score(number: int, **changes: object) -> str:
    fields = {"version": 1, "act": "score", "id": f"{number:032x}", "run": RUN, "case": "c-0", "model": MODEL}
    fields |= {"repeat": 1, "criterion": "Tone", "extent": 2, "note": "", "reviewer": "Ada", "blind": False}
    return json.dumps({**fields, "scored_at": f"2026-11-20T11:00:{number:02}+00:00", "guidance": "", **changes})


def exported(folder: Path, results: int, *scores: str) -> ImportedRun:
    """Return an exported run with the first results, as it is read from its file."""
    elsewhere = SqliteStore(folder / "elsewhere.sqlite")
    elsewhere.begin_run(PLAN, STARTED)
    elsewhere.save_trials(RUN, RESULTS[:results])
    elsewhere.finish_run(RUN, "interrupted", FINISHED)
    lines = run_lines(elsewhere.read_run(RUN), "".join(f"{line}\n" for line in scores))
    (folder / "run.jsonl").write_bytes(pack_lines(lines, compressed=False))
    elsewhere.close()
    return read_run_file(folder / "run.jsonl", Secrets())


def complete(folder: Path, *, with_rerun: bool = True) -> tuple[TrialResult, ...]:
    """Complete the run in another program, where the first answer is also run again; return the results."""
    other = SqliteStore(folder / "runs.sqlite")
    other.begin_run(PLAN, STARTED)
    (attempt,) = RESULTS[0].attempts
    again = replace(RESULTS[0], attempts=(attempt, replace(attempt, number=2)))
    other.save_trials(RUN, (again if with_rerun else RESULTS[0], *RESULTS[1:]))
    other.finish_run(RUN, "finished", FINISHED)
    results = other.read_run(RUN).results
    other.close()
    return results


@pytest.mark.parametrize("is_accepted", [False, True])
@pytest.mark.parametrize("kept", [0, 1])
def test_nothing_is_stored_before_the_question_is_answered_and_nothing_is_lost_then(
    store: SqliteStore, reviews: Reviews, tmp_path: Path, kept: int, is_accepted: bool
) -> None:
    imported = exported(tmp_path, 2, score(1), score(2, reviewer="Bo"))
    if kept:
        store_results(replace(imported, results=imported.results[:kept]), store)
    before = store.read_run(RUN) if kept else None
    others: list[tuple[TrialResult, ...]] = []

    def answer(name: str, count: int) -> bool:
        assert (name, count) == ("Ada", 1)
        assert (store.read_run(RUN) if store.list_runs() else None) == before
        others.append(complete(tmp_path, with_rerun=not is_accepted))
        return is_accepted

    if is_accepted:
        checked = check_scores(imported, store, reviews, answer)
        stored = store_results(imported, store, checked)
        assert stored.scores is not None
        assert (stored.is_new, stored.scores.new) == (False, 2)
    else:
        with pytest.raises(ConfigError, match="Nothing was imported"):
            check_scores(imported, store, reviews, answer)
    after = store.read_run(RUN)
    assert (after.record.state, after.results) == ("finished", *others)
    assert reviews.export(RUN).count("\n") == (2 if is_accepted else 0)


def test_what_another_program_stores_just_before_the_run_is_taken_stays(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = exported(tmp_path, 2)
    begin = store.begin_run
    others: list[tuple[TrialResult, ...]] = []

    def begin_later(*args: Any) -> None:
        others.append(complete(tmp_path))
        begin(*args)

    monkeypatch.setattr(store, "begin_run", begin_later)
    store_results(imported, store)
    after = store.read_run(RUN)
    assert (after.record.state, after.results) == ("finished", *others)


@pytest.mark.parametrize(
    "bad",
    [
        score(1, case="other"),
        score(1, scored_at="2026-11-20T10:00:00+00:00"),
        score(2, extent=3),
        score(1, note="\x7f" * 400_000),
    ],
    ids=["another case", "before the answer", "another score of the same id", "a long line"],
)
def test_a_score_that_cannot_be_imported_is_refused_before_anything_is_stored(
    store: SqliteStore, reviews: Reviews, tmp_path: Path, bad: str
) -> None:
    store_results(first := exported(tmp_path, 1, score(2)), store, check_scores(first, store, reviews))
    before = store.read_run(RUN), reviews.export(RUN)
    # The run and its results are the first three lines.
    with pytest.raises(ScoresRefused, match=f"^{tmp_path}/run.jsonl:5: error: "):
        check_scores(exported(tmp_path, 2, score(3), bad), store, reviews, lambda *_: pytest.fail("was asked"))
    assert (store.read_run(RUN), reviews.export(RUN)) == before


def test_the_size_of_the_scores_is_limited(
    store: SqliteStore, reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = exported(tmp_path, 2, score(1), score(2))
    assert imported.scores is not None
    monkeypatch.setattr(score_exchange, "LARGEST_FILE", len(imported.scores.text) - 1)
    with pytest.raises(ConfigError, match=r"run\.jsonl: with this file, the scores have more .* without --scores"):
        check_scores(imported, store, reviews)
    monkeypatch.setattr(score_exchange, "LARGEST_FILE", len(imported.scores.text))
    stored = store_results(imported, store, check_scores(imported, store, reviews))
    assert stored.scores is not None
    assert stored.scores.new == 2


def test_scores_of_answers_that_are_not_stored_yet_are_bound_to_them(
    store: SqliteStore, reviews: Reviews, tmp_path: Path
) -> None:
    imported = exported(tmp_path, 2, score(1, attempt=1), score(2, case="c-1"))
    stored = store_results(imported, store, check_scores(imported, store, reviews))
    assert stored.scores is not None
    assert stored.scores.new == 2
    answers = {json.loads(line)["answer"] for line in reviews.export(RUN).splitlines()}
    assert answers == set(store.read_answer_hashes(RUN).values())


@pytest.mark.parametrize("clone", ["https://u:Tq8sMz5vLr2x@example.org/r", "https://example.org/r?token=Tq8sMz5vLr2x"])
def test_keys_in_the_urls_of_an_imported_run_are_not_stored(tmp_path: Path, clone: str) -> None:
    plan = make_plan([make_case("a")], ["m"])
    suite = replace(plan.suite, repo_clone=RepoClone(clone), agent="http://example.org/a?token=Tq8sMz5vLr2x")
    kept = keep(replace(plan, suite=suite), map(make_result, plan.trials))
    (path := tmp_path / "run.jsonl").write_bytes(pack_lines(run_lines(kept), compressed=False))
    assert "Tq8sMz5vLr2x" in path.read_text()
    imported = read_results(path, ImportOptions(), {"ASSAY_CONFIG_DIR": str(tmp_path)})
    assert "Tq8sMz5vLr2x" not in repr(imported)


def test_the_assertions_of_an_imported_answer_are_evaluated_together(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = read_promptfoo(Path(__file__).parents[1] / "imports" / "files" / "echoes.json", None, Secrets())
    answers: list[str] = []
    decide = Checker.decide

    async def count(self: Checker, checks: Sequence[Check], answer: Answer) -> tuple[CheckResult, ...]:
        answers.append(answer.text)
        return await decide(self, checks, answer)

    monkeypatch.setattr(Checker, "decide", count)
    found = [result.attempts[0].steps[0] for result in compare_verdicts(imported).results]
    assert answers == [step.response for step in found if step.checks]
    assert max(len(step.checks) for step in found) > 1
