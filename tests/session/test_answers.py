"""Kept answers by their source: of a run, or the newest; by repeat and attempt."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import STARTED, make_case, make_plan, make_result, make_step, small_run
from tui.model.errors import StoreError
from tui.model.results import Attempt, TrialKey
from tui.session.answers import SavedAnswers, Source
from tui.session.preferences import AnswerPlace, PreferenceLog, Preferred
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"
SUITE = "suites/sample.yaml"
NEWER = "1" * 32


def answers_in(folder: Path) -> tuple[SavedAnswers, SqliteStore]:
    store = SqliteStore(folder / "runs.sqlite")
    kept = small_run()
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.record.id, kept.results)
    plan = replace(make_plan([make_case("sec-001")], [A], repeats=2), run_id=NEWER)
    store.begin_run(plan, STARTED)
    store.save_trials(
        NEWER, [make_result(TrialKey("sec-001", A, repeat), response=f"newer {repeat}") for repeat in (1, 2)]
    )
    return SavedAnswers(store, PreferenceLog(folder / "p.jsonl")), store


def test_the_newest_answer_is_of_the_run_that_gave_it(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    newest = answers.read(Source(SUITE, "", A), "sec-001")
    assert newest is not None
    assert (newest.text, newest.place) == ("newer 1", AnswerPlace(NEWER, A, 1, 1))
    older = answers.read(Source(SUITE, "", A), "bug-001")
    assert older is not None
    assert older.place.run == small_run().record.id
    assert answers.read(Source(SUITE, NEWER, A), "bug-001") is None
    store.close()


def test_repeats_and_attempts_are_answers_of_their_own(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    run = small_run().record.id
    second = answers.read(Source(SUITE, NEWER, A, repeat=2), "sec-001")
    assert second is not None
    assert second.text == "newer 2"
    flaky = answers.read(Source(SUITE, run, A), "sec-002")
    first = answers.read(Source(SUITE, run, A, attempt=1), "sec-002")
    assert flaky is not None and first is not None  # noqa: PT018
    assert (flaky.verdict, flaky.flaky, flaky.place.attempt, flaky.attempts) == ("passed", True, 2, 2)
    assert (first.verdict, first.flaky, first.place.attempt) == ("failed", False, 1)
    assert answers.read(Source(SUITE, run, A, attempt=9), "sec-002") is None
    store.close()


def test_a_preference_is_refused_while_the_answers_are_not_stored_where_they_were(tmp_path: Path) -> None:
    data = tmp_path / "data"
    answers, store = answers_in(data)
    older = AnswerPlace(small_run().record.id, A, 1, 1)
    preferred = Preferred(SUITE, "sec-001", older, AnswerPlace(NEWER, A, 1, 1), "a")
    data.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="removed or replaced"):
        answers.prefer(preferred)
    assert not data.exists()
    (tmp_path / "elsewhere").rename(data)
    answers.prefer(preferred)
    store.finish_run(NEWER, "finished", STARTED)
    store.delete_run(NEWER)
    with pytest.raises(StoreError, match="does not exist"):
        answers.prefer(preferred)
    assert [each.choice for each in answers.preferences.read()] == ["a"]
    store.close()


def chosen_between(answers: SavedAnswers, a: Source, b: Source, case: str = "sec-001") -> Preferred:
    one, other = answers.read(a, case), answers.read(b, case)
    assert one is not None
    assert other is not None
    return Preferred(a.suite, case, one.place, other.place, "a")


def test_choices_are_of_the_suite_whose_runs_they_name_however_its_path_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, store = answers_in(tmp_path)
    whole = str(Path(SUITE).absolute())
    preferred = chosen_between(answers, Source(SUITE, NEWER, A), Source(SUITE, "", B))
    answers.prefer(preferred)
    answers.preferences.append(replace(preferred, choice="tie", at="x"))  # as an earlier version wrote it
    removed = AnswerPlace("2" * 32, A, 1, 1)
    answers.preferences.append(replace(preferred, suite=whole, a=removed, b=removed, choice="both_bad"))
    monkeypatch.chdir(tmp_path)
    assert [each.choice for each in answers.read_preferences(whole)] == ["a", "tie", "both_bad"]
    assert [each.suite for each in answers.read_preferences(whole)] == [whole, SUITE, whole]
    assert answers.read_preferences(SUITE) == (), "another file has the same path below another folder"
    store.close()


def test_choices_about_an_answer_that_was_replaced_do_not_count(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    run = small_run().record.id
    first = chosen_between(answers, Source(SUITE, run, A, attempt=1), Source(SUITE, run, B), "sec-002")
    preferred = chosen_between(answers, Source(SUITE, run, A), Source(SUITE, run, B))
    unknown = replace(preferred, a=replace(preferred.a, answer=""), b=replace(preferred.b, answer=""))
    for each in (first, preferred, unknown):
        answers.prefer(each)
    assert [each.case for each in answers.read_preferences(SUITE)] == ["sec-002", "sec-001", "sec-001"]
    store.save_trials(run, [make_result(TrialKey("sec-001", A), response="another answer")])
    assert [(each.case, each.a.answer) for each in answers.read_preferences(SUITE)] == [
        ("sec-002", first.a.answer), ("sec-001", "")
    ]  # fmt: skip
    rerun = make_result(TrialKey("bug-001", A), response="complete")
    partial = Attempt(1, "incomplete", "ended early", (make_step("par"),))
    store.save_trials(run, [replace(rerun, verdict="incomplete", attempts=(partial,))])
    answers.prefer(chosen_between(answers, Source(SUITE, run, A), Source(SUITE, run, B), "bug-001"))
    assert "bug-001" in [each.case for each in answers.read_preferences(SUITE)]
    whole = replace(rerun.attempts[0], number=2)
    store.save_trials(run, [replace(rerun, attempts=(partial, whole))])
    assert [each.case for each in answers.read_preferences(SUITE)] == ["sec-002", "sec-001"]
    store.finish_run(run, "finished", STARTED)
    store.delete_run(run)
    assert len(answers.read_preferences(str(Path(SUITE).absolute()))) == 4, "nothing says that they were replaced"
    store.close()


def test_choices_about_the_answer_and_the_error_of_a_rerun_in_vain_count(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    run, trial = small_run().record.id, TrialKey("sec-001", A)
    answers.prefer(chosen_between(answers, Source(SUITE, run, A), Source(SUITE, run, B)))
    answered = make_result(trial)
    lost = Attempt(2, "error", "HTTP 500", (), asking=1)
    store.save_trials(run, [replace(answered, verdict="error", attempts=(*answered.attempts, lost))])
    answers.prefer(chosen_between(answers, Source(SUITE, run, A), Source(SUITE, run, B)))
    assert [each.a.attempt for each in answers.read_preferences(SUITE)] == [1, 2]
    whole = replace(answered.attempts[0], number=3, asking=2)
    store.save_trials(run, [replace(answered, attempts=(*answered.attempts, lost, whole))])
    assert [each.a.attempt for each in answers.read_preferences(SUITE)] == [1]
    store.close()


def test_choices_about_another_model_of_the_same_name_are_in_no_ranking(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    answers = SavedAnswers(store, PreferenceLog(tmp_path / "preferences.jsonl"))
    for digit, model_id in (("1", "good"), ("2", "bad")):
        plan = make_plan([make_case("one")], ["prod", "c"], run_id=digit * 32, path=SUITE)
        plan = replace(plan, subjects=(replace(plan.subjects[0], model_id=model_id), *plan.subjects[1:]))
        store.begin_run(plan, STARTED)
        store.save_trials(plan.run_id, [make_result(trial) for trial in plan.trials])
        a, b = (AnswerPlace(plan.run_id, model, 1, 1) for model in ("prod", "c"))
        answers.prefer(Preferred(SUITE, "one", a, b, "a" if digit == "1" else "b"))
    assert [each.choice for each in answers.read_preferences(SUITE)] == ["a", "b"]
    assert [each.choice for each in answers.read_ranked(SUITE)] == ["b"]
    store.close()


def test_outcomes_are_of_one_model_by_case(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    found = answers.outcomes(Source(SUITE, "", A), small_run().plan.suite)
    assert [outcome.trial.repeat for outcome in found["sec-001"]] == [1, 2]
    assert set(found) == {"sec-001", "sec-002", "bug-001", "bug-002"}
    assert set(answers.outcomes(Source(SUITE, NEWER, A), small_run().plan.suite)) == {"sec-001"}
    assert answers.outcomes(Source(SUITE, NEWER, "nobody"), small_run().plan.suite) == {}
    store.close()


def test_sources_are_the_newest_and_every_run_of_the_suite(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    found = answers.list_sources(str(Path(SUITE).absolute()))
    assert [(source.run, source.model) for source, _ in found] == [
        ("", A), ("", B), (NEWER, A), (small_run().record.id, A), (small_run().record.id, B),
    ]  # fmt: skip
    assert answers.list_sources("elsewhere.yaml") == ()
    store.close()


def test_the_steps_of_a_conversation_are_one_text(tmp_path: Path) -> None:
    answers, store = answers_in(tmp_path)
    result = make_result(TrialKey("sec-001", B))
    steps = (make_step("one"), replace(make_step("two"), input="And then?\nmore"))
    store.save_trials(small_run().record.id, [replace(result, attempts=(Attempt(1, "passed", None, steps),))])
    found = answers.read(Source(SUITE, "", B), "sec-001")
    assert found is not None
    assert found.text == "— step 1: Write code.\n\none\n\n— step 2: And then?\n\ntwo"
    assert found.duration_ms == 2400
    store.close()
