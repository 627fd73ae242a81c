"""A run scored by hand over a real store and real files: given, changed, undone, blind, revealed, taken up again."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.full_disk import no_larger_files
from tests.support.kept_runs import STARTED, keep, make_case, make_plan, make_result
from tui.model.errors import AssayError, ConfigError, StoreError
from tui.model.results import Change, TrialKey, TrialResult, Verdict
from tui.model.risk import BandRule, Guidance
from tui.model.run import ReportContent, RunRecord
from tui.model.scores import Act, CountedScore, ItemKey, current_answer_hash
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.reports.render import render_report
from tui.risk import queue
from tui.risk.queue import DEFAULT_GUIDANCE
from tui.risk.score_files import ScoreCount, ScoreFiles
from tui.session import run_review
from tui.session.reviews import Reviews
from tui.session.run_history import RunHistory
from tui.session.run_review import AnswerChanged, RevealedElsewhere, RunReview, ScoredElsewhere
from tui.store import writer
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"
TONE, SAFETY = RiskCriterion("Tone", "Stays polite", "low"), RiskCriterion("Safety", "Harms nobody", "critical")
CASES = (make_case("sec-001", criteria=(TONE, SAFETY)), make_case("sec-002"), make_case("sec-003", criteria=(SAFETY,)))
PLAN = make_plan(CASES, (A, B), repeats=2)
RUN = PLAN.run_id
ITEM = ItemKey("sec-001", A, 1, "Tone")


MANY = make_plan([make_case(f"case-{number:02}", criteria=(TONE,)) for number in range(30)], (A,))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def reviews(store: SqliteStore, tmp_path: Path) -> Reviews:
    results = [make_result(trial) for trial in PLAN.trials if trial != TrialKey("sec-003", B, 2)]
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, results)
    return Reviews(store, tmp_path, Config())


def wordless(trial: TrialKey, verdict: Verdict = "error") -> TrialResult:
    result = make_result(trial, verdict, error="401")
    attempt = result.attempts[-1]
    return replace(result, attempts=(replace(attempt, steps=(replace(attempt.steps[0], response=" \n\t"),)),))


def answered_again(trial: TrialKey) -> TrialResult:
    result = make_result(trial, "failed")
    return replace(result, attempts=(*result.attempts, replace(result.attempts[0], number=2, asking=1)))


# --- what there is


def test_every_answer_is_in_the_queue_once_for_each_criterion(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    assert (review.record.id, review.suite.name, review.reviewer) == (RUN, PLAN.suite.name, "Ada")
    assert len(review.items) == 4 * 2 + 3
    first = ("Tone", "Safety", "Tone", "Safety")
    assert [item.key.criterion for item in review.items[:4]] == list(first)
    assert [item.key.model for item in review.items[:4]] == [B, B, A, A]
    assert review.missing == ()
    assert review.read_answer(ITEM.trial) == make_result(ITEM.trial)


def test_results_without_text_are_missing_and_those_with_some_or_a_change_are_not(
    store: SqliteStore, reviews: Reviews
) -> None:
    first, second, third, fourth = (TrialKey("sec-001", model, repeat) for model in (A, B) for repeat in (1, 2))
    changed = replace(wordless(third), changes=(Change("a.py", "added", 1, 0, "+a"),))
    partial = make_result(fourth, "timed_out", error="No end", response="Half an ans")
    no_steps = replace(wordless(second), attempts=(replace(wordless(second).attempts[0], steps=()),))
    not_judged = wordless(TrialKey("sec-002", A))
    store.save_trials(RUN, [wordless(first), no_steps, changed, partial, not_judged])
    assert store.read_wordless(RUN) == {first, second, not_judged.trial}
    review = reviews.open_review(RUN, "Ada", blind=False)
    assert review.missing == (first, second)
    assert {item.key.trial for item in review.items} >= {third, fourth}
    assert not {item.key.trial for item in review.items} & {first, second}


def test_scores_of_results_without_text_count_though_nobody_is_asked_for_them(
    store: SqliteStore, tmp_path: Path
) -> None:
    trial, other = TrialKey("sec-003", A, 1), TrialKey("sec-003", A, 2)
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [wordless(each) if each in (trial, other) else make_result(each) for each in PLAN.trials])
    reviews = Reviews(store, tmp_path, Config())
    given = reviews.open_review(RUN, "Ada", blind=False).give(ITEM, 1)
    assert reviews.reviewed(RUN).figures.items == 4 * 2 + 2
    acts = [
        replace(
            given,
            id=f"{number:032x}",
            item=ItemKey(*trial, "Safety"),
            extent=3,
            reviewer=name,
            attempt=None,
            answer=None,
        )
        for number, name in enumerate(("Ada", "Bo"))
    ]
    reviews._files.merge(acts)
    reviewed = reviews.reviewed(RUN)
    assert (reviewed.figures.items, reviewed.figures.scored) == (4 * 2 + 3, 2)
    assert reviewed.figures.by_model[A].bands["critical"] == 1
    assert reviewed.agreement.units == 1
    assert reviews.bands(RUN)[trial] == "critical"
    text = render_report(store.read_run(RUN), "markdown", risk_analysis=True, reviewed=reviewed)
    assert "| Safety | critical ×4 | Harms nobody | 1 of " in text
    assert trial in reviews.open_review(RUN, "Ada", blind=False).missing


def test_an_answer_after_one_without_text_is_there_again(store: SqliteStore) -> None:
    trial = TrialKey("sec-001", A)
    store.begin_run(PLAN, STARTED)
    nothing = wordless(trial)
    again = replace(make_result(trial).attempts[0], number=2, asking=1)
    store.save_trials(RUN, [replace(nothing, attempts=(*nothing.attempts, again))])
    assert store.read_wordless(RUN) == frozenset()


def test_a_rerun_in_vain_takes_no_answer_away(store: SqliteStore, reviews: Reviews) -> None:
    score = reviews.open_review(RUN, "Ada", blind=False).give(ITEM, 3)
    broken = replace(wordless(ITEM.trial).attempts[0], number=2, asking=1)
    answered, hashes = make_result(ITEM.trial), store.read_answer_hashes(RUN)
    rerun = replace(answered, verdict="error", attempts=(*answered.attempts, broken))
    store.save_trials(RUN, [rerun])
    assert store.read_wordless(RUN) == frozenset()
    assert store.read_answer_hashes(RUN) == hashes
    review = reviews.open_review(RUN, "Ada", blind=False)
    assert review.done() == {ITEM}
    assert not review.missing
    act = review.give(ITEM, 2)
    assert (act.attempt, act.answer) == (1, score.answer)
    reviews._files.merge([replace(score, id="f" * 32, reviewer="Bo", attempt=2, answer=None)])
    board = reviews.reviewed(RUN).board
    assert (board.score(ITEM, "Ada"), board.score(ITEM, "Bo"), board.outdated) == (act, None, 1)


def test_what_is_no_json_to_sqlite_is_taken_for_an_answer(store: SqliteStore) -> None:
    trial = TrialKey("sec-001", A)
    result = wordless(trial)
    steps = (replace(result.attempts[0].steps[0], memory={"x": "\ud800"}, input="\ud800"),)
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [replace(result, attempts=(replace(result.attempts[0], steps=steps),))])
    assert store.read_wordless(RUN) == {trial}


def test_a_run_without_criteria_has_nothing_to_score(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(make_plan([make_case("a")], [A]), [make_result(TrialKey("a", A))])
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.record.id, kept.results)
    review = Reviews(store, tmp_path, Config()).open_review(kept.record.id, "Ada", blind=True)
    assert (review.items, review.missing) == ((), ())


def test_runs_and_answers_that_are_gone_are_reported(reviews: Reviews) -> None:
    with pytest.raises(StoreError, match="no longer exists"):
        reviews.open_review("0" * 32, "Ada", blind=False)
    review = reviews.open_review(RUN, "Ada", blind=False)
    with pytest.raises(StoreError, match="no longer exists"):
        review.read_answer(TrialKey("sec-001", "nobody"))


# --- scoring


def test_a_score_is_kept_with_all_that_belongs_to_it(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=True)
    act = review.give(ITEM, 3, "harsh \x1b[31m", took_ms=1500)
    assert (act.act, act.item, act.extent, act.note, act.took_ms) == ("score", ITEM, 3, "harsh \x1b[31m", 1500)
    assert (act.run, act.reviewer, act.blind, act.seed) == (RUN, "Ada", True, review.seed)
    assert (act.guidance, act.attempt) == (DEFAULT_GUIDANCE.version, 1)
    other = ITEM._replace(criterion="Safety")
    review.give(other, "n/a", took_ms=500)
    assert review.mine(ITEM) == act
    again = reviews.open_review(RUN, "Ada", blind=True)
    assert again.board.acts == review.board.acts
    assert again.done() == {ITEM, other}
    assert again.spent_ms() == review.spent_ms() == 2000


def test_a_changed_score_is_a_new_act(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    acts = [review.give(ITEM, extent) for extent in (1, 4, 0)]
    assert review.mine(ITEM) == acts[-1]
    assert review.board.trail(ITEM) == tuple(acts)


def test_undo_goes_back_act_by_act_and_only_those_of_this_opening(reviews: Reviews) -> None:
    earlier = reviews.open_review(RUN, "Ada", blind=False)
    earlier.give(ITEM, 1, "first")
    review = reviews.open_review(RUN, "Ada", blind=False)
    other = review.items[3].key
    review.give(ITEM, 4, "second")
    review.give(other, "n/a")
    review.invalidate(ITEM)
    review.adjudicate(ITEM, 2, "settled")
    assert review.board.counted(ITEM) == CountedScore(2, "decided")
    assert (review.undo(), review.board.counted(ITEM)) == (ITEM, None)
    assert (review.undo(), review.board.counted(ITEM)) == (ITEM, CountedScore(4, "single"))
    assert (review.undo(), review.mine(other)) == (other, None)
    assert review.undo() == ITEM
    before = review.mine(ITEM)
    assert before is not None
    assert (before.extent, before.note) == (1, "first")
    assert review.undo() is None
    assert len(review.board.trail(ITEM)) == 7, "nothing is overwritten"
    again = reviews.open_review(RUN, "Ada", blind=False)
    assert (again.mine(ITEM), again.mine(other), again.undo()) == (before, None, None)


def test_only_ones_own_score_can_be_taken_back(reviews: Reviews) -> None:
    reviews.open_review(RUN, "Bo", blind=False).give(ITEM, 2)
    review = reviews.open_review(RUN, "Ada", blind=False)
    with pytest.raises(ConfigError, match="no score to undo"):
        review.invalidate(ITEM)
    review.give(ITEM, 4)
    review.invalidate(ITEM, "misread")
    assert review.board.trail(ITEM)[-1].note == "misread"
    assert review.board.counted(ITEM) == CountedScore(2, "single")


@pytest.mark.parametrize("extent", [5, -1, "x"])
def test_what_cannot_be_given(reviews: Reviews, extent: int) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    with pytest.raises(ConfigError, match="Unknown extent"):
        review.give(ITEM, extent)
    with pytest.raises(ConfigError, match="cannot be scored"):
        review.give(ITEM._replace(criterion="Taste"), 1)
    assert review.board.acts == ()


def test_a_score_that_cannot_be_kept_was_not_given(reviews: Reviews, tmp_path: Path) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 1)
    file = next(tmp_path.rglob("*.jsonl"))
    with no_larger_files(file.stat().st_size):
        for act in (lambda: review.give(ITEM, 4), lambda: review.invalidate(ITEM), review.undo, review.reveal):
            with pytest.raises(StoreError, match="File too large"):
                act()
    assert (score := review.mine(ITEM)) is not None
    assert score.extent == 1
    assert len(review.board.acts) == 1
    assert review.undo() == ITEM, "what failed can be tried again"


def test_a_decision_counts_after_those_that_it_was_made_about(reviews: Reviews) -> None:
    ada, bo = (reviews.open_review(RUN, name, blind=False) for name in ("Ada", "Bo"))
    ada.give(ITEM, 1)
    bo.give(ITEM, 3)
    ahead = reviews.open_review(RUN, "Ahead", blind=False)
    decision = replace(ahead.adjudicate(ITEM, 0, ""), scored_at="2036-01-01T00:00:00+00:00", id="ab" * 16)
    reviews._files.merge([decision])
    late = reviews.open_review(RUN, "Ada", blind=False)
    assert late.adjudicate(ITEM, 2, "both").order > decision.order
    assert late.board.counted(ITEM) == CountedScore(2, "decided")


def dated_ahead(reviews: Reviews, act: Act) -> Act:
    """Replace the date of a stored act by one of a clock that is ten years ahead."""
    file = reviews._files.file_of(act.run, act.reviewer)
    ahead = replace(act, scored_at="2036-01-01T00:00:00.000+00:00")
    file.write_text(file.read_text().replace(act.scored_at, ahead.scored_at))
    return ahead


def test_scores_within_a_millisecond_stay_in_their_order(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    clock = iter([noon, noon, noon, noon - timedelta(hours=1)])
    monkeypatch.setattr(run_review, "datetime", SimpleNamespace(now=lambda _: next(clock)))
    acts = [review.give(item.key, 1) for item in review.items[:4]]
    milliseconds = [(act.order[0] - noon) // timedelta(milliseconds=1) for act in acts]
    assert milliseconds == [0, 1, 2, -3_600_000]


def test_a_score_by_a_clock_that_was_ahead_dates_only_what_overrides_it(reviews: Reviews) -> None:
    begun = reviews.open_review(RUN, "Ada", blind=False)
    ahead = dated_ahead(reviews, begun.give(ITEM, 1))
    review = reviews.open_review(RUN, "Ada", blind=False)
    other = review.items[3].key
    assert review.give(other, 2).order < ahead.order
    changed = review.give(ITEM, 3)
    assert changed.order > ahead.order
    assert review.mine(ITEM) == changed
    assert review.undo() == ITEM
    kept = reviews.open_review(RUN, "Ada", blind=False)
    assert [score and score.extent for score in (kept.mine(ITEM), kept.mine(other))] == [1, 2]


def test_a_reveal_follows_all_blind_acts_whatever_the_clock_said(reviews: Reviews) -> None:
    begun = reviews.open_review(RUN, "Ada", blind=True)
    ahead = dated_ahead(reviews, begun.give(ITEM, 1))
    review = reviews.open_review(RUN, "Ada", blind=True)
    revealed = review.reveal()
    assert revealed.order > ahead.order
    other = next(item.key for item in review.items if item.key != ITEM)
    assert review.give(other, 2).order > revealed.order, "it was given with visible names"
    assert (score := review.mine(ITEM)) is not None
    assert review.board.is_blind(score)


def test_a_repeated_item_is_scored_after_its_first_showing_whatever_the_clock_said(
    store: SqliteStore, tmp_path: Path
) -> None:
    store.begin_run(MANY, STARTED)
    store.save_trials(MANY.run_id, [make_result(trial) for trial in MANY.trials])
    reviews = Reviews(store, tmp_path, Config())
    begun = reviews.open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    again = next(item.key for item in begun.items if item.key.again)
    ahead = dated_ahead(reviews, begun.give(again.first, 1))
    review = reviews.open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    second = review.give(again, 3)
    assert second.order > ahead.order
    assert review.board.score_before(second) == ahead
    assert (score := review.mine(again.first)) is not None
    assert (score.extent, score.order > second.order) == (1, True)


def test_a_new_answer_is_unscored(store: SqliteStore, reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 4)
    store.save_trials(RUN, [answered_again(ITEM.trial)])
    again = reviews.open_review(RUN, "Ada", blind=False)
    assert (again.mine(ITEM), again.done()) == (None, frozenset())
    assert reviews.bands(RUN) == {}
    assert len(again.board.trail(ITEM)) == 1
    assert again.give(ITEM, 1).attempt == 2
    assert reviews.bands(RUN) == {ITEM.trial: "low"}


# --- blind


def test_a_blind_queue_is_shuffled_alike_for_a_reviewer_and_otherwise_for_another(reviews: Reviews) -> None:
    ada, bo = (reviews.open_review(RUN, name, blind=True) for name in ("Ada", "Bo"))
    plain = reviews.open_review(RUN, "Ada", blind=False)
    assert reviews.open_review(RUN, "Ada", blind=True).seed != ada.seed, "nothing is recorded yet: a seed is a secret"
    assert ada.give(ITEM, 1).seed == ada.seed
    again = reviews.open_review(RUN, "Ada", blind=True)
    assert again.seed == ada.seed
    assert ada.items == again.items
    assert len({ada.seed, bo.seed, plain.seed}) == 3
    assert plain.seed is None
    assert {item.key for item in ada.items} == {item.key for item in bo.items} == {item.key for item in plain.items}
    assert len({tuple(item.key for item in review.items) for review in (ada, bo, plain)}) == 3


def test_what_was_begun_blind_stays_blind_until_it_is_revealed_for_good(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=True)
    review.give(ITEM, 4)
    taken_up = reviews.open_review(RUN, "Ada", blind=False)
    assert (taken_up.blind, taken_up.items) == (True, review.items)
    act = taken_up.reveal()
    assert (act.act, act.item, act.blind) == ("reveal", None, True)
    assert (taken_up.blind, taken_up.revealed) == (False, True)
    assert taken_up.items == review.items, "what is on the screen stays where it is"
    assert taken_up.reveal() == act
    assert not taken_up.give(ITEM, 3).blind
    after = reviews.open_review(RUN, "Ada", blind=True)
    assert (after.blind, after.seed, after.revealed) == (False, None, True)
    assert reviews.open_review(RUN, "Bo", blind=True).blind, "a reveal is a reviewer's own"


def test_looks_are_recorded_while_a_blind_session_is_open(reviews: Reviews) -> None:
    reviews.remember_reviewer("Ada")
    review = reviews.open_review(RUN, "Ada", blind=True)
    assert (review.look("nothing is begun"), reviews.record_look(RUN, "nothing is begun")) == (None, None)
    review.give(ITEM, 1)
    look = review.look("Explore")
    assert look is not None
    assert (look.act, look.item, look.note, look.blind, look.seed) == ("look", None, "Explore", True, review.seed)
    assert reviews.record_look(RUN, "assay report") == "Ada"
    board = reviews.reviewed(RUN).board
    assert (board.looks("Ada"), board.scores(ITEM)[0].extent) == (2, 1)
    assert reviews.open_review(RUN, "Bo", blind=True).look("Explore") is None
    for item in review.items:
        review.give(item.key, 0)
    assert (review.look("finished"), reviews.record_look(RUN, "finished")) == (None, None)
    again = reviews.open_review(RUN, "Ada", blind=True)
    again.invalidate(ITEM)
    assert again.look("open again") is not None
    again.reveal()
    assert (again.look("revealed"), reviews.record_look(RUN, "revealed")) == (None, None)
    assert reviews.open_review(RUN, "Ada", blind=False).board.looks("Ada") == 4, "with the finished review continued"


def test_answers_with_masked_names_are_flagged_and_left_out_of_other_figures(
    store: SqliteStore, reviews: Reviews, tmp_path: Path
) -> None:
    store.save_trials(RUN, [make_result(ITEM.trial, response="I am mock-a, made by OpenAI, as Zorro says.")])
    named = Reviews(store, tmp_path, Config(mask=("Zorro",)))
    review = named.open_review(RUN, "Ada", blind=True)
    assert [review.give(item.key, 4).masked for item in review.items if item.key.trial == ITEM.trial] == [3, 3]
    other = next(item for item in review.items if item.key.trial == TrialKey("sec-001", A, 2))
    assert review.give(other.key, 0).masked == 0
    assert reviews.open_review(RUN, "Bo", blind=False).give(ITEM, 3).masked is None
    reviewed = named.reviewed(RUN)
    assert reviewed.masked == 1
    assert reviewed.without_masked is not None
    assert (reviewed.figures.scored, reviewed.without_masked.scored) == (3, 1)
    review.look("Explore")
    reviewed = named.reviewed(RUN)
    text = render_report(store.read_run(RUN), "markdown", risk_analysis=True, reviewed=reviewed)
    assert "all blind, names seen once" in text
    assert "1 answer was scored with masked names of models, providers or vendors" in text
    risk = json.loads(render_report(store.read_run(RUN), "json", reviewed=reviewed))["risk"]
    assert risk["names_seen"] == {"Ada": 1}
    assert risk["masked"]["by_model_without"][A]["mean"] == 0


def test_the_answer_that_was_read_is_the_one_that_a_score_names(store: SqliteStore, reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 4)
    store.save_trials(RUN, [make_result(ITEM.trial, response="Another answer.")])
    late = review.give(ITEM, 3)
    assert late.answer == review.mine(ITEM).answer  # type: ignore[union-attr]
    assert reviews.bands(RUN) == {}, "what was on the screen is not the answer any more"
    review.read_answer(ITEM.trial)
    assert review.mine(ITEM) is None
    assert review.give(ITEM, 0).answer == hashlib.sha256(b"Another answer.").hexdigest()
    assert reviews.bands(RUN) == {ITEM.trial: "negligible"}


def test_undo_and_the_answer_on_the_screen_never_score_a_replaced_answer(store: SqliteStore, reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    shown = current_answer_hash(review.read_answer(ITEM.trial))
    review.give(ITEM, 1, "fine", shown=shown)
    review.give(ITEM, 4, "typo", shown=shown)
    other = review.give(review.items[-1].key, 2)
    review.adjudicate(ITEM, 3, "")
    store.save_trials(RUN, [make_result(ITEM.trial, response="Another answer.")])
    assert review.undo() == ITEM, "the decision was about the answer that was read"
    assert review.board.trail(ITEM)[-1].answer == shown
    review.read_answer(ITEM.trial)
    acts = review.board.acts
    with pytest.raises(AnswerChanged, match="Another process has replaced this answer"):
        review.give(ITEM, 0, shown=shown)
    with pytest.raises(AnswerChanged):
        review.adjudicate(ITEM, 0, "", shown=shown)
    assert (review.undo(), review.mine(other.item)) == (other.item, None)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(ConfigError, match="Nothing to undo: the answer was replaced"):
            review.undo()
    assert review.undo() is None
    assert (review.mine(ITEM), len(review.board.acts)) == (None, len(acts) + 1)
    assert reviews.open_review(RUN, "Ada", blind=False).mine(ITEM) is None


ACTS: dict[str, Callable[[RunReview], object]] = {
    "score": lambda review: review.give(ITEM, 1),
    "decision": lambda review: review.adjudicate(ITEM, 1, ""),
    "withdrawal": lambda review: review.invalidate(ITEM),
    "undo": lambda review: review.undo(),
}


@pytest.mark.parametrize("kind", ACTS)
def test_acts_after_a_reveal_in_another_program_are_not_blind(store: SqliteStore, tmp_path: Path, kind: str) -> None:
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    review, other, of_bob = (
        Reviews(store, tmp_path, Config()).open_review(RUN, name, blind=True) for name in ("Ada", "Ada", "Bob")
    )
    of_bob.reveal()
    review.give(ITEM, 2, "what will they reveal")
    review.give(ITEM, 3)
    other.reveal()
    stored = ScoreFiles(tmp_path / "scores").read(RUN).acts
    with pytest.raises(RevealedElsewhere, match="revealed the names of this run in another window"):
        ACTS[kind](review)
    assert ScoreFiles(tmp_path / "scores").read(RUN).acts == stored
    assert not review.blind
    ACTS[kind](review)
    assert [act.blind for act in review.board.trail(ITEM)] == [True, True, False]


@pytest.mark.parametrize("kind", ACTS)
@pytest.mark.parametrize("away", ["data", "data/scores"])
def test_nothing_is_saved_while_what_was_saved_before_is_away(tmp_path: Path, away: str, kind: str) -> None:
    data = tmp_path / "data"
    with closing(SqliteStore(data / "runs.sqlite")) as store:
        store.begin_run(PLAN, STARTED)
        store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
        review = Reviews(store, data, Config()).open_review(RUN, "Ada", blind=True)
        review.give(ITEM, 1)
        (tmp_path / away).rename(tmp_path / "elsewhere")
        with pytest.raises(StoreError, match=r"were removed while|was removed or replaced"):
            ACTS[kind](review)
        assert not (data / "scores" / RUN).exists()
        if (tmp_path / away).exists():
            shutil.rmtree(tmp_path / away)
        (tmp_path / "elsewhere").rename(tmp_path / away)
        ACTS[kind](review)
    assert len(ScoreFiles(data / "scores").read(RUN).acts) == 2


def test_a_score_of_a_run_that_was_deleted_elsewhere_is_not_saved(
    store: SqliteStore, reviews: Reviews, tmp_path: Path
) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.read_answer(ITEM.trial)
    store.finish_run(RUN, "finished", STARTED)
    store.delete_run(RUN)
    with pytest.raises(StoreError, match="does not exist"):
        review.give(ITEM, 1)
    assert not ScoreFiles(tmp_path / "scores").has(RUN)


def test_a_finished_blind_review_that_is_continued_later_counts_as_a_look(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=True)
    for item in review.items:
        review.give(item.key, 1)
    review.give(review.items[0].key, 2)
    assert review.board.looks("Ada") == 0, "the names were hidden all the time"
    again = reviews.open_review(RUN, "Ada", blind=True)
    assert again.blind
    assert again.look("Explore") is None, "everything is scored"
    for extent in (3, 4):
        again.give(again.items[0].key, extent)
    assert again.board.looks("Ada") == 1
    assert [act.act for act in again.board.acts][-3:] == ["look", "score", "score"]
    assert reviews.open_review(RUN, "Ada", blind=True).board.looks("Ada") == 1


def test_nobody_looks_at_a_run_that_was_deleted_elsewhere(store: SqliteStore, reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=True)
    review.give(review.items[0].key, 1)
    assert review.look("Explore") is not None
    store.finish_run(RUN, "finished", STARTED)
    store.delete_run(RUN)
    assert review.look("Explore") is None


@pytest.mark.parametrize("kind", ACTS)
def test_no_act_overrides_a_score_that_the_reviewer_gave_in_another_program(
    store: SqliteStore, tmp_path: Path, kind: str
) -> None:
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    of_ada, of_bob = (Reviews(store, tmp_path, Config()).open_review(RUN, name, blind=False) for name in ("Ada", "Bob"))
    of_bob.give(ITEM, 3)
    of_ada.give(ITEM, 1)
    other = Reviews(store, tmp_path, Config()).open_review(RUN, "Ada", blind=False)
    other.give(ItemKey("sec-001", B, 1, "Safety"), 2)
    of_ada.give(ITEM, 2)
    with pytest.raises(ScoredElsewhere):
        other.give(ITEM, 4, "leaks a password")
    score = other.give(ITEM, 4, "leaks a password")
    stored = ScoreFiles(tmp_path / "scores").read(RUN).acts
    with pytest.raises(ScoredElsewhere, match="was scored in another window since"):
        ACTS[kind](of_ada)
    assert ScoreFiles(tmp_path / "scores").read(RUN).acts == stored
    assert of_ada.mine(ITEM) == score
    assert of_ada.undo() is None
    assert ScoreFiles(tmp_path / "scores").read(RUN).acts == stored


def test_no_decision_overrides_one_that_its_author_has_not_seen(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    of_ada, of_bob = (Reviews(store, tmp_path, Config()).open_review(RUN, name, blind=False) for name in ("Ada", "Bob"))
    of_ada.adjudicate(ITEM, 4, "as agreed")
    with pytest.raises(ScoredElsewhere):
        of_bob.adjudicate(ITEM, 0, "")
    assert (decision := of_bob.board.decision(ITEM)) is not None
    assert decision.note == "as agreed"
    of_bob.adjudicate(ITEM, 0, "")
    with pytest.raises(ScoredElsewhere):
        of_ada.undo()
    of_bob.give(ITEM, 0)
    assert of_ada.give(ITEM, 1).extent == 1, "others' scores do not hold up one's own"


@pytest.mark.parametrize(("reviewer", "undone"), [("Bob", ITEM), ("Ada", None)])
def test_new_acts_are_read_and_nothing_that_they_override_is_undone(
    store: SqliteStore, tmp_path: Path, reviewer: str, undone: ItemKey | None
) -> None:
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    review = Reviews(store, tmp_path, Config()).open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 1)
    other = Reviews(store, tmp_path, Config()).open_review(RUN, reviewer, blind=False)
    score = other.give(ITEM, 3)
    review.read_new_acts()
    review.read_new_acts()
    assert review.board.score(ITEM, reviewer) == score
    assert review.undo() == undone
    assert (review.mine(ITEM) == score) is (undone is None)


def test_there_are_no_bands_while_a_blind_review_is_open(reviews: Reviews) -> None:
    assert reviews.bands(RUN, "Ada") == {}
    ada, bo = reviews.open_review(RUN, "Ada", blind=True), reviews.open_review(RUN, "Bo", blind=False)
    ada.give(ITEM, 4)
    bo.give(ITEM, 2)
    ada.give(ItemKey("sec-001", B, 1, "Safety"), 4)
    bo.give(ItemKey("sec-003", A, 1, "Safety"), "n/a")
    everything = {ITEM.trial: "medium", TrialKey("sec-001", B, 1): "critical"}
    assert reviews.bands(RUN, "Ada") == {}
    assert reviews.bands(RUN, "Bo") == reviews.bands(RUN) == everything
    assert [reviews.hidden_scores(RUN, name) for name in ("Ada", "Bo", None)] == [2, 0, 0]
    ada.reveal()
    assert reviews.bands(RUN, "Ada") == everything
    assert reviews.hidden_scores(RUN, "Ada") == 0


def test_an_answers_band_is_its_worst_criterions(reviews: Reviews) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 4)
    review.give(ITEM._replace(criterion="Safety"), 0)
    assert reviews.bands(RUN) == {ITEM.trial: "medium"}


# --- rule, guidance, names


def test_rule_and_guidance_come_from_the_suite_then_the_config(store: SqliteStore, tmp_path: Path) -> None:
    ours, theirs = tuple(f"config {n}" for n in range(5)), tuple(f"suite {n}" for n in range(5))
    rule = BandRule({"low": 1, "medium": 2, "high": 3, "critical": 9})
    plan = replace(PLAN, suite=replace(PLAN.suite, risk_guidance=theirs), run_id="1" * 32)
    for each in (PLAN, plan):
        store.begin_run(each, STARTED)
    reviews = Reviews(store, tmp_path, Config(rule=rule, guidance=ours))
    review = reviews.open_review(RUN, "Ada", blind=False)
    assert (review.rule, review.guidance.levels) == (rule, ours)
    found: Guidance = reviews.open_review(plan.run_id, "Ada", blind=False).guidance
    assert found.levels == theirs
    assert found.version != review.guidance.version != DEFAULT_GUIDANCE.version


def test_the_reviewer_of_a_run_is_who_reviews_it_blind(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    reviews = Reviews(store, tmp_path, Config(reviewer="Anna"))
    assert (reviews.last_reviewer(), reviews.reviewer_of(RUN)) == ("Anna", "Anna")
    reviews.remember_reviewer("Dora")
    assert (reviews.last_reviewer(), reviews.default_reviewer(), reviews.reviewer_of(RUN)) == ("Dora", "Anna", "Anna")
    reviews.open_review(RUN, "Dora", blind=True).give(ITEM, 1)
    assert reviews.reviewer_of(RUN) == "Dora"
    assert reviews.record_look(RUN, "assay report") == "Dora"
    reviews.open_review(RUN, "Dora", blind=True).reveal()
    assert reviews.reviewer_of(RUN) == "Anna"
    assert Reviews(store, tmp_path / "other", Config()).reviewer_of(RUN) is None


def test_a_name_is_remembered_and_the_configs_goes_first(store: SqliteStore, tmp_path: Path) -> None:
    reviews = Reviews(store, tmp_path / "data", Config())
    assert reviews.default_reviewer() is None
    assert isinstance(reviews.suggested_reviewer(), str)
    reviews.remember_reviewer("  Ada   Lovelace\n")
    assert Reviews(store, tmp_path / "data", Config()).default_reviewer() == "Ada Lovelace"
    assert Reviews(store, tmp_path / "data", Config(reviewer="Bo")).default_reviewer() == "Bo"
    for name in ("", " \t"):
        with pytest.raises(ConfigError, match="No reviewer name"):
            reviews.remember_reviewer(name)
        with pytest.raises(ConfigError, match="No reviewer name"):
            reviews.open_review(RUN, name, blind=False)
    (tmp_path / "data" / "reviewer").unlink()
    os.mkdir(tmp_path / "data" / "reviewer")
    assert reviews.default_reviewer() is None
    with pytest.raises(StoreError, match="Cannot save the reviewer name"):
        reviews.remember_reviewer("Ada")


@pytest.mark.parametrize("name", ["../../x", "CON", "\x1b]0;x\x07", "日本", "a" * 300, "\ud800"])
def test_any_name_scores_and_is_taken_up_again(reviews: Reviews, name: str) -> None:
    reviews.open_review(RUN, name, blind=True).give(ITEM, 2)
    again = reviews.open_review(RUN, name, blind=True)
    assert again.done() == {ITEM}
    assert again.problems == ()


def test_lines_that_cannot_be_read_are_reported(reviews: Reviews, tmp_path: Path) -> None:
    review = reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEM, 2)
    file = next(tmp_path.rglob("*.jsonl"))
    file.write_text("<<<<<<< HEAD\n" + file.read_text())
    again = reviews.open_review(RUN, "Ada", blind=False)
    assert [str(problem) for problem in again.problems] == list(reviews.problems(RUN))
    assert again.problems[0].line == 1
    assert again.done() == {ITEM}


# --- reports, the end


def test_a_report_has_the_scores_and_deleting_a_run_takes_them_along(reviews: Reviews, tmp_path: Path) -> None:
    store = reviews._store
    history = RunHistory(store, tmp_path, lambda _: (), reviews)
    reviews.open_review(RUN, "Ada", blind=True).give(ITEM, 4, "harsh")
    reviews.open_review(RUN, "Bo", blind=False).give(ITEM, 1, "mild")
    store.finish_run(RUN, "finished", STARTED)
    reviewed = reviews.reviewed(RUN)
    assert (reviewed.figures.items, reviewed.figures.scored, reviewed.figures.disputed) == (11, 1, 1)
    assert reviewed.board.reviewers == ("Ada", "Bo")
    assert reviews.reviewed_runs([RUN], even_unscored=False).keys() == {RUN}
    history.export(RUN, ReportContent("json"), tmp_path / "report.json", replaces=False)
    text = (tmp_path / "report.json").read_text()
    assert '"harsh"' in text
    assert '"mild"' in text
    count = history.count_scores(RUN)
    assert (count.scores, count.reviewers) == (2, 2)
    record = next(run for run in store.list_runs() if run.id == RUN)
    history.delete(record)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert reviews.reviewed_runs([RUN], even_unscored=False) == {}
    with pytest.raises(AssayError):
        reviews.reviewed(RUN)


def test_a_score_that_arrives_while_its_run_is_being_deleted_keeps_the_run(
    reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reviews._store
    history = RunHistory(store, tmp_path, lambda _: (), reviews)
    store.finish_run(RUN, "finished", STARTED)
    (record,) = store.list_runs()
    others = Reviews(SqliteStore(tmp_path / "runs.sqlite"), tmp_path, Config()).open_review(RUN, "Bo", blind=False)
    delete = writer.remove_run

    def delete_slowly(connection: Any, run: int) -> None:
        delete(connection, run)
        others.give(ITEM, 1, "mild")

    monkeypatch.setattr(writer, "remove_run", delete_slowly)
    with pytest.raises(ConfigError, match="has changed since the question was displayed"):
        history.delete(record, ScoreCount())
    assert reviews.reviewed(RUN).figures.scored == 1
    monkeypatch.undo()
    history.delete(record, history.count_scores(RUN))
    assert store.list_runs() == ()


def test_a_deletion_that_fails_keeps_the_scores(
    reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reviews._store
    history = RunHistory(store, tmp_path, lambda _: (), reviews)
    reviews.open_review(RUN, "Ada", blind=True).give(ITEM, 4, "harsh")
    store.finish_run(RUN, "finished", STARTED)
    (record,) = store.list_runs()
    delete = store.delete_run

    def fail_at_the_end(run_id: str, confirm: Callable[[RunRecord], None]) -> None:
        def confirm_in_vain(now: RunRecord) -> None:
            confirm(now)
            raise StoreError("the disk is full")

        delete(run_id, confirm_in_vain)

    monkeypatch.setattr(store, "delete_run", fail_at_the_end)
    with pytest.raises(StoreError, match="the disk is full"):
        history.delete(record, history.count_scores(RUN))
    assert store.list_runs() == (record,)
    assert reviews.reviewed(RUN).figures.scored == 1


def test_a_run_can_be_deleted_beside_a_damaged_packet(reviews: Reviews, tmp_path: Path) -> None:
    store = reviews._store
    history = RunHistory(store, tmp_path, lambda _: (), reviews)
    store.finish_run(RUN, "finished", STARTED)
    (tmp_path / "packets").mkdir()
    (tmp_path / "packets" / f"{'a' * 32}.json").write_text("{")
    history.delete(store.list_runs()[0])
    assert store.list_runs() == ()


def test_scores_are_returned_to_a_run_whose_deletion_was_killed(reviews: Reviews, tmp_path: Path) -> None:
    reviews.open_review(RUN, "Ada", blind=True).give(ITEM, 4, "harsh")
    assert reviews.set_aside(RUN)
    assert reviews.count_scores(RUN).scores == 0
    assert Reviews(reviews._store, tmp_path, Config()).count_scores(RUN).scores == 1


def test_no_scores_are_deleted_while_the_history_cannot_be_recovered(tmp_path: Path) -> None:
    history = tmp_path / "data" / "runs.sqlite"
    store = SqliteStore(history)
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    reviews = Reviews(store, tmp_path, Config())
    reviews.open_review(RUN, "Ada", blind=True).give(ITEM, 4, "harsh")
    assert reviews.set_aside(RUN)
    store.close()
    history.write_bytes(b"garbage garbage " + history.read_bytes()[16:])
    with no_larger_files(40_000):
        empty = SqliteStore(history)
    assert empty.is_readonly
    assert empty.list_runs() == ()
    Reviews(empty, tmp_path, Config())
    empty.close()
    store = SqliteStore(history)
    assert Reviews(store, tmp_path, Config()).count_scores(RUN).scores == 1
    store.close()


def test_what_is_scored_again_counts_for_nothing_but_own_agreement(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(MANY, STARTED)
    store.save_trials(MANY.run_id, [make_result(trial) for trial in MANY.trials])
    reviews = Reviews(store, tmp_path, Config())
    review = reviews.open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    twice = [item.key for item in review.items if item.key.again]
    assert len(twice) == 3
    assert not set(twice) & {item.key for item in reviews.open_review(MANY.run_id, "Bo", blind=False, repeats=10).items}
    for item in review.items:
        review.give(item.key, 2 if not item.key.again else (2, 3, 4)[twice.index(item.key)])
    before = reviews.reviewed(MANY.run_id)
    assert {act.extent for key in before.board.items for act in before.board.scores(key)} == {2}
    assert before.figures.by_model[A].mean.value == 2
    assert (before.figures.items, before.figures.scored) == (30, 30)
    [own] = before.agreement.own
    assert (own.reviewer, own.twice, own.items, own.same, own.near, own.on_na) == ("Ada", 3, 3, 1, 2, 0)

    # Another program that does not know the key takes the latest score of an item for the current one, and is right.
    latest: dict[tuple[str, str], object] = {}
    for line in map(json.loads, reviews.export(MANY.run_id).splitlines()):
        if line["act"] == "score":
            latest[line["case"], line["criterion"]] = line["extent"]
    assert set(latest.values()) == {2}

    # Taken up again, nothing is open, with as many repeats as before; an undone repeat is open again.
    resumed = reviews.open_review(MANY.run_id, "Ada", blind=True)
    assert [item.key for item in resumed.items] == [item.key for item in review.items]
    assert resumed.done() == {item.key for item in resumed.items}
    assert resumed.repeats == 10
    assert review.undo() == review.items[-1].key
    after = reviews.open_review(MANY.run_id, "Ada", blind=True)
    assert after.done() == {item.key for item in resumed.items[:-1]}


def test_what_comes_again_before_it_was_scored_is_scored_for_the_first_time(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(MANY, STARTED)
    store.save_trials(MANY.run_id, [make_result(trial) for trial in MANY.trials])
    review = Reviews(store, tmp_path, Config()).open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    again = next(item.key for item in review.items if item.key.again)
    review.give(again, 3)
    assert review.mine(again) is None
    score = review.mine(again.first)
    assert score is not None
    assert score.extent == 3


def test_a_reveal_ends_what_is_repeated_and_changes_no_blind_score(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(MANY, STARTED)
    store.save_trials(MANY.run_id, [make_result(trial) for trial in MANY.trials])
    review = Reviews(store, tmp_path, Config()).open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    first = [item.key for item in review.items if not item.key.again]
    one, two, _ = [item.key for item in review.items if item.key.again]
    for key in (*first, one):
        review.give(key, 2)
    stored = [review.mine(key) for key in first]
    assert all(act is not None and review.board.is_blind(act) for act in stored)
    review.reveal()
    refused = "repeated only to compare two of your blind scores"
    for key in (one, two):
        with pytest.raises(ConfigError, match=refused):
            review.give(key, 3)
    with pytest.raises(ConfigError, match=refused):
        review.invalidate(one)
    assert [review.mine(key) for key in first] == stored
    assert review.undo() == first[-1], "the score of what was repeated stays"


def test_a_score_that_is_stated_again_is_as_blind_as_it_was_given(store: SqliteStore, tmp_path: Path) -> None:
    store.begin_run(MANY, STARTED)
    store.save_trials(MANY.run_id, [make_result(trial) for trial in MANY.trials])
    reviews = Reviews(store, tmp_path, Config())
    visible = reviews.open_review(MANY.run_id, "Ada", blind=False)
    for item in visible.items:
        visible.give(item.key, 1)
    levels = tuple("abcde")
    review = Reviews(store, tmp_path, Config(guidance=levels)).open_review(MANY.run_id, "Ada", blind=True, repeats=10)
    again = next(item.key for item in review.items if item.key.again)
    before = visible.mine(again.first)
    assert before is not None
    review.give(again, 3)
    review.give(again.first, 4)
    assert review.undo() == again.first
    *_, copy, _, undone = review.board.trail(again.first)
    for act in (copy, undone):
        assert replace(act, id=before.id, scored_at=before.scored_at) == before


@pytest.mark.parametrize(
    "read",
    [
        lambda reviews: reviews.open_review(RUN, "Ada", blind=False),
        lambda reviews: reviews.reviewed(RUN),
        lambda reviews: reviews.agreement(RUN),
        lambda reviews: reviews.export(RUN, "Ada", template=True),
        lambda reviews: reviews.make_packet(RUN),
    ],
    ids=["review", "report", "agreement", "template", "packet"],
)
def test_a_run_with_too_many_items_is_not_reviewed(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch, read: Callable[[Reviews], object]
) -> None:
    read(reviews)
    monkeypatch.setattr(queue, "MOST_ITEMS", 10)
    with pytest.raises(ConfigError, match="The run has 11 items to score"):
        read(reviews)
