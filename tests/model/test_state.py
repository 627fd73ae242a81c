"""What the screen knows of trials, as a fold of events, without a terminal."""

from dataclasses import replace

import pytest

from tests.support.kept_runs import make_suite
from tests.support.scripted_session import prompt_of, result_of, step_of
from tui.model.events import (
    AttemptFinished,
    AttemptStarted,
    CheckMoved,
    Event,
    LimitMoved,
    ReasoningArrived,
    RequestRetried,
    RequestSent,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StepFinished,
    StepStarted,
    StoreRecovered,
    StoreStalled,
    TextArrived,
    ToolsCalled,
    TrialDelayed,
    TrialFinished,
    TrialStarted,
)
from tui.model.outcomes import outcome_of
from tui.model.progress import TrialProgress
from tui.model.results import (
    Attempt,
    CheckResult,
    IncludedFile,
    Message,
    Prompt,
    ToolUse,
    TrialKey,
    TrialResult,
    Verdict,
)
from tui.model.run import RunState as RunOutcome
from tui.model.state import Counts, Limit, RunState
from tui.model.suite import Case, Check, CommandCheck, RepositoryContext, Step, Suite, SuiteCase

A, B = TrialKey("one", "mock-a"), TrialKey("one", "mock-b")


def folded(*events: Event) -> RunState:
    state = RunState()
    for at, event in enumerate((RunStarted("r", (A, B), "t"), *events)):
        state.take(event, float(at))
    return state


def trial_of(state: RunState) -> TrialProgress:
    trial = state.trial("one", "mock-a")
    assert trial is not None
    return trial


STARTED = (TrialStarted(A), AttemptStarted(A, 1, 3), StepStarted(A, 1, 0, prompt_of()), RequestSent(A, 1, 0))


def test_a_run_that_begins_puts_all_its_trials_in_line() -> None:
    state = folded()
    assert state.running
    assert [trial.status for trial in state.trials.values()] == ["waiting", "waiting"]
    assert state.counts.trials == 2
    assert state.trial("two", "mock-a") is None


def test_a_delay_and_a_start_are_seen() -> None:
    delayed = folded(TrialDelayed(A, 500))
    assert (trial_of(delayed).status, trial_of(delayed).delay_ms) == ("delayed", 500)
    started = folded(TrialDelayed(A, 500), *STARTED)
    assert (trial_of(started).status, trial_of(started).delay_ms) == ("running", None)


def test_text_gathers_with_its_times_and_lines() -> None:
    state = folded(
        *STARTED, TextArrived(A, 1, 0, "ab\n"), TextArrived(A, 1, 0, "\ncd"), ReasoningArrived(A, 1, 0, "hm")
    )
    attempt = trial_of(state).attempt
    assert attempt is not None
    step = attempt.steps[0]
    assert (step.text, step.size, step.sent_at, step.first_at) == ("ab\n\ncd", 6, 4.0, 5.0)
    assert [step.line_of(offset) for offset in range(6)] == [1, 1, 1, 2, 3, 3]
    assert step.reasoning == ["hm"]
    assert (attempt.number, attempt.of, attempt.tokens_seen) == (1, 3, 2)


def test_a_retry_is_waited_for_until_the_request_goes_out_again() -> None:
    waits = folded(*STARTED, RequestRetried(A, 1, 0, "too many requests", 1000))
    assert trial_of(waits).waits is not None
    again = folded(*STARTED, RequestRetried(A, 1, 0, "too many requests", 1000), RequestSent(A, 1, 0))
    trial = trial_of(again)
    assert trial.waits is None
    assert trial.attempt is not None
    assert [retry.reason for retry in trial.attempt.steps[0].retries] == ["too many requests"]


def test_checks_move_and_are_decided_at_the_end_of_the_step() -> None:
    moved = folded(*STARTED, CheckMoved(A, 1, 0, 1, "forbidden", ((0, 2),)))
    attempt = trial_of(moved).attempt
    assert attempt is not None
    assert (attempt.steps[0].checks[1].state, attempt.steps[0].checks[1].decided) == ("forbidden", None)
    checks = (
        CheckResult("expected_pattern", "a", "failed"),
        CheckResult("forbidden_pattern", "b", "passed"),
        CheckResult("expected_pattern", "c", "timed_out"),
    )
    done = folded(*STARTED, StepFinished(A, 1, 0, step_of("x", *checks)))
    attempt = trial_of(done).attempt
    assert attempt is not None
    decided = [(live.state, live.decided) for live in attempt.steps[0].checks.values()]
    assert decided == [("waiting", "failed"), ("clear", "passed"), ("timed_out", "timed_out")]


def test_a_new_attempt_begins_with_nothing() -> None:
    first = Attempt(1, "failed", None, (step_of("no"),))
    state = folded(*STARTED, TextArrived(A, 1, 0, "no"), AttemptFinished(A, first), AttemptStarted(A, 2, 3))
    trial = trial_of(state)
    assert trial.attempt is not None
    assert (trial.attempt.number, trial.attempt.steps) == (2, [])
    assert trial.attempts[0].finished == first


@pytest.mark.parametrize(
    ("verdict", "flaky", "counts"),
    [
        ("passed", False, (1, 0, 0, 0)),
        ("passed", True, (0, 0, 1, 0)),
        ("failed", False, (0, 1, 0, 0)),
        ("error", False, (0, 0, 0, 1)),
        ("timed_out", False, (0, 0, 0, 1)),
        ("incomplete", False, (0, 0, 0, 1)),
        ("cancelled", False, (0, 0, 0, 1)),
    ],
)
def test_a_verdict_is_counted_once(verdict: str, flaky: bool, counts: tuple[int, ...]) -> None:
    state = folded(*STARTED, TrialFinished(result_of(A, verdict, step_of("x"), flaky=flaky)))  # type: ignore[arg-type]
    found = state.counts
    assert (found.passed, found.failed, found.flaky, found.errors) == counts
    assert found.done == 1
    assert trial_of(state).status == verdict
    assert not trial_of(state).is_open


def test_the_end_of_a_run_leaves_nothing_in_line() -> None:
    state = folded(*STARTED, TrialFinished(result_of(A, "passed", step_of("x"))), RunFinished("r", "cancelled", "t"))
    assert not state.running
    assert state.ended == "cancelled"
    assert list(state.trials) == [A]


def test_kept_results_give_way_to_what_happens_now() -> None:
    state = RunState()
    state.take_results([result_of(A, "failed", step_of("old"))])
    assert trial_of(state).status == "failed"
    state.take(RunStarted("r", (A,), "t"))
    assert trial_of(state).status == "waiting"
    state.take_results([result_of(A, "failed", step_of("old"))])
    assert trial_of(state).status == "waiting"


def test_a_store_in_trouble_is_known_until_it_is_well() -> None:
    assert folded(StoreStalled("disk full")).stalled == "disk full"
    assert folded(StoreStalled("disk full"), StoreRecovered()).stalled is None


def test_repeats_are_found_by_their_numbers_however_large_those_are() -> None:
    state = RunState()
    state.take_results(result_of(TrialKey("c1", "m", repeat)) for repeat in (10**15, 3, 1, 5))
    assert [trial.key.repeat for trial in state.repeats("c1", "m")] == [1, 3, 5, 10**15]
    assert state.has_repeats
    assert state.repeats("c2", "m") == ()


def test_all_repeats_of_a_trial_are_found_however_they_became_known() -> None:
    state = folded()
    kept = [result_of(TrialKey("one", "mock-a", repeat)) for repeat in (4, 2)]
    state.take_results(kept)
    assert [trial.key.repeat for trial in state.repeats("one", "mock-a")] == [1, 2, 4]
    state.take(RunStarted("again", (TrialKey("two", "mock-a", 5),), "t"))
    assert [trial.key.repeat for trial in state.repeats("two", "mock-a")] == [5]
    assert state.repeats("three", "mock-a") == ()


def test_what_a_run_did_not_come_to_has_the_result_it_had_before() -> None:
    state = RunState()
    state.take_results([result_of(A, "failed")])
    state.take(RunStarted("r", (A, B), "t"))
    state.take(TrialStarted(A))
    assert state.in_progress == {A}
    assert trial_of(state).status == "running"
    state.take(RunFinished("r", "cancelled", "t"))
    assert trial_of(state).status == "failed"
    assert state.in_progress == set()
    assert list(state.trials) == [A]


def _of_three_repeats() -> RunState:
    state = RunState()
    state.take_results(result_of(TrialKey("one", "mock-a", repeat), "failed") for repeat in (1, 2, 3))
    return state


def _statuses(state: RunState) -> dict[int, str]:
    return {trial.key.repeat: trial.status for trial in state.repeats("one", "mock-a")}


def test_a_new_run_replaces_all_repeats_of_its_cases_also_if_it_has_fewer() -> None:
    state = _of_three_repeats()
    state.take_results([result_of(TrialKey("two", "mock-a", 2), "failed")])
    state.take(RunStarted("new", (A,), "t"))
    assert _statuses(state) == {1: "waiting"}
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("new", "finished", "t"))
    assert _statuses(state) == {1: "passed"}
    assert state.trial("two", "mock-a", 2), "a case that was not run keeps its results"
    whole = folded()
    assert (state.is_of_one_run, whole.is_of_one_run) == (False, True)
    state.take(RunStarted("newer", (A, TrialKey("two", "mock-a")), "t"))
    assert (state.is_of_one_run, state.has_repeats) == (True, False)


def test_a_new_run_without_a_result_leaves_all_repeats_as_they_were() -> None:
    state = _of_three_repeats()
    state.take(RunStarted("new", (A,), "t"))
    state.take(RunFinished("new", "cancelled", "t"))
    assert _statuses(state) == {1: "failed", 2: "failed", 3: "failed"}
    assert not state.is_of_one_run


def test_a_cancelled_run_with_some_repeats_does_not_get_others_from_an_earlier_one() -> None:
    state = _of_three_repeats()
    state.take(RunStarted("new", (A, TrialKey("one", "mock-a", 2)), "t"))
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("new", "cancelled", "t"))
    assert _statuses(state) == {1: "passed"}


def test_a_continued_run_keeps_its_other_repeats() -> None:
    state = _of_three_repeats()
    repeats = (A, TrialKey("one", "mock-a", 2))
    state.take(RunStarted("old", repeats, "t", continues=True))
    assert _statuses(state) == {1: "waiting", 2: "waiting", 3: "failed"}
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("old", "cancelled", "t"))
    assert _statuses(state) == {1: "passed", 2: "failed", 3: "failed"}


def _suite(prompt: str, *checks: Check) -> Suite:
    return make_suite([Case("one", "one", "Security", (Step(prompt, checks),))])


def _only(suite: Suite) -> SuiteCase:
    return SuiteCase(suite.cases[0], suite)


def test_results_of_a_case_that_asks_something_else_now_are_hidden() -> None:
    state, first, other = RunState(), _suite("first"), _suite("other")
    state.display(other)
    state.take_results([result_of(A), result_of(B)], {A: _only(first), B: _only(other)})
    assert list(state.trials) == [B]
    assert [state.is_outdated("one", model) for model in ("mock-a", "mock-b", "mock-c")] == [True, False, False]
    state.display(_suite("first"))
    assert list(state.trials) == [A], "the change was taken back"
    state.display(_suite("first", Check("expected_pattern", "x")))
    assert list(state.trials) == [A], "the answer is to the same question"
    state.display(other)
    state.prepare(other)
    state.take(RunStarted("r", (A,), "t"))
    state.take(TrialFinished(result_of(A)))
    assert not state.is_outdated("one", "mock-a")
    state.take(RunFinished("r", "finished", "t"))
    assert state.trials.keys() == {A, B}


def _sent(trial: TrialKey, text: str) -> TrialResult:
    prompt = Prompt("go", (Message("user", text),), (IncludedFile("a.py", len(text)),))
    return result_of(trial, "passed", replace(step_of("x"), prompt=prompt))


def test_results_that_were_sent_with_other_files_in_a_newer_run_are_hidden() -> None:
    state, suite = RunState(), _suite("first")
    state.display(suite)
    state.take_results([_sent(A, "old files"), _sent(B, "old files")], runs={A: "r1", B: "r1"})
    assert state.trials.keys() == {A, B}, "the models are compared on the same files"
    of_one_run = RunState()
    of_one_run.take_results([_sent(A, "with a key"), _sent(B, "without it")], runs={A: "r1", B: "r1"})
    assert of_one_run.trials.keys() == {A, B}
    state.prepare(suite)
    state.take(RunStarted("r2", (A,), "t"))
    state.take(TrialFinished(_sent(A, "new files")))
    state.take(RunFinished("r2", "finished", "t"))
    assert list(state.trials) == [A]
    assert state.is_outdated("one", "mock-b")
    state.take(RunStarted("r3", (B,), "t"))
    state.take(TrialFinished(_sent(B, "new files")))
    state.take(RunFinished("r3", "finished", "t"))
    assert state.trials.keys() == {A, B}


def test_results_of_a_name_that_stands_for_another_model_in_a_newer_run_are_hidden() -> None:
    suite = make_suite([Case(name, name, "Security", (Step("go"),)) for name in ("one", "two")])
    other, imported = TrialKey("two", "mock-a"), TrialKey("two", "mock-b")
    state = RunState()
    state.display(suite)
    runs = dict.fromkeys((A, B, other, imported), "r1")
    definitions = {A: "cold", other: "cold", B: "b"}
    state.take_results(map(result_of, runs), runs=runs, definitions=definitions)
    assert state.trials.keys() == {A, B, other, imported}
    state.prepare(suite, {"mock-a": "warm"})
    state.take(RunStarted("r2", (A,), "t"))
    assert state.trials.keys() == {A, B, imported}, "no mixture during the run"
    state.take(RunFinished("r2", "cancelled", "t"))
    assert state.trials.keys() == {A, B, other, imported}, "the new model has not answered"
    state.take(RunStarted("r3", (A,), "t"))
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("r3", "finished", "t"))
    assert state.trials.keys() == {A, B, imported}
    assert state.is_outdated("two", "mock-a")
    stored = RunState()
    stored.take_results(map(result_of, runs), runs={**runs, A: "r3"}, definitions={**definitions, A: "warm"})
    assert stored.trials.keys() == {A, B, imported}


def test_what_a_redefined_model_sent_still_hides_results_with_older_files() -> None:
    state, other = RunState(), TrialKey("two", "mock-a")
    state.display(make_suite([Case(name, name, "Security", (Step("go"),)) for name in ("one", "two")]))
    results = [_sent(A, "new files"), _sent(B, "old files"), result_of(other)]
    runs, definitions = {A: "r2", B: "r1", other: "r3"}, {A: "cold", B: "b", other: "warm"}
    state.take_results(results, runs=runs, definitions=definitions)
    assert list(state.trials) == [other]


def test_recorded_answers_in_a_newer_run_do_not_keep_results_with_older_files() -> None:
    state, replay, other = RunState(), TrialKey("one", "replay/r1/mock-b"), TrialKey("one", "mock-c")
    state.display(_suite("first"))
    results = [_sent(A, "new files"), _sent(replay, "old files"), _sent(B, "old files"), _sent(other, "new files")]
    state.take_results(results, runs={A: "r2", replay: "r2", B: "r1", other: "r1"})
    assert state.trials.keys() == {A, replay, other}


def test_counts_say_which_trials_a_rerun_judged_otherwise() -> None:
    counts = Counts()
    pairs: tuple[tuple[Verdict, Verdict], ...] = (
        ("passed", "failed"), ("failed", "passed"), ("failed", "failed"), ("passed", "error"),
    )  # fmt: skip
    for first, again in pairs:
        attempts = [replace(result_of(A, word).attempts[0], asking=place) for place, word in enumerate((first, again))]
        counts.take(replace(result_of(A, again), attempts=tuple(attempts)))
    assert (counts.passed, counts.failed, counts.passed_since, counts.failed_since) == (2, 2, 1, 1)


def test_a_rerun_that_is_stopped_leaves_a_finished_run_finished() -> None:
    state = RunState()
    state.take(RunStarted("r", (A, B), "t"))
    for key in (A, B):
        state.take(TrialFinished(result_of(key, "failed")))
    state.take(RunFinished("r", "finished", "t"))
    saved_as: tuple[RunOutcome, ...] = ("cancelled", "finished")
    for state_of_run in saved_as:
        state.take(RunStarted("r", (A,), "t", continues=True))
        assert state.is_interim
        state.take(RunFinished("r", "cancelled", "t", saved_as=state_of_run))
        assert state.is_interim is (state_of_run == "cancelled")


def test_what_counts_of_a_trial_stays_during_its_rerun() -> None:
    state = RunState()
    failed, unread = result_of(A, "failed"), outcome_of(result_of(B, "error"))
    state.take_results([failed])
    state.take_known({B: TrialProgress(B, "error", kept=unread)})
    state.take(RunStarted("r", (A, B), "t", continues=True))
    assert [state.trials[key].is_open for key in (A, B)] == [True, True]
    assert [state.trials[key].counted for key in (A, B)] == [failed, unread]
    passed = result_of(A, "passed")
    state.take(TrialFinished(passed))
    assert state.trials[A].counted == passed
    state.take(RunStarted("r", (A, B), "t", continues=True))
    assert state.trials[B].counted == unread, "a rerun that has not ended is begun again"
    state.take(RunFinished("r", "cancelled", "t"))
    state.take(RunStarted("new", (A, B), "t"))
    assert state.trials[A].counted is None, "a new run counts alone"


def test_results_with_files_of_another_repository_are_hidden() -> None:
    suite = _suite("first")
    here, elsewhere = (replace(suite, repository_context=RepositoryContext(path)) for path in ("here", "elsewhere"))
    state = RunState()
    state.display(here)
    state.take_results([result_of(A), result_of(B)], {A: _only(elsewhere), B: _only(here)})
    assert list(state.trials) == [B]
    state.prepare(here)
    state.take(RunStarted("r3", (A,), "t"))
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("r3", "finished", "t"))
    assert state.trials.keys() == {A, B}
    state.display(elsewhere)
    assert not state.trials


def test_verdicts_of_a_case_that_judges_otherwise_now_are_earlier_ones() -> None:
    suite, checked = _suite("first"), _suite("first", Check("expected_pattern", "x"))
    accepting = replace(suite, options=replace(suite.options, accept_truncated=True))
    running = replace(suite, cases=(replace(suite.cases[0], command=CommandCheck("make test")),))
    state = RunState()
    state.take_results([result_of(A)], {A: _only(suite)})
    earlier = []
    for displayed in (suite, checked, accepting, running, replace(suite, sha256="other")):
        state.display(displayed)
        assert list(state.trials) == [A], "the answer is to the same question"
        earlier.append(state.is_judged_by_earlier_checks("one", "mock-a"))
    assert earlier == [False, True, True, True, False]


@pytest.mark.parametrize("change", ["another question", "another cluster", "other checks", "removed"])
def test_results_are_of_one_run_only_as_long_as_all_of_them_are_displayed(change: str) -> None:
    state, first = RunState(), make_suite([Case(id, id, "c", (Step(id),)) for id in ("one", "two")])
    state.display(first)
    state.prepare(first)
    keys = tuple(TrialKey(id, "mock-a") for id in ("one", "two"))
    state.take(RunStarted("r", keys, "t"))
    for key in keys:
        state.take(TrialFinished(result_of(key)))
    state.take(RunFinished("r", "finished", "t"))
    state.display(replace(first, cases=(*first.cases, Case("new", "new", "c", (Step("new"),)))))
    assert state.is_of_one_run
    cases = {
        "another question": (replace(first.cases[0], steps=(Step("other"),)),),
        "another cluster": (replace(first.cases[0], cluster="new"),),
        "other checks": (replace(first.cases[0], steps=(Step("one", (Check("expected_pattern", "x"),)),)),),
        "removed": (),
    }
    state.display(replace(first, cases=(*cases[change], *first.cases[1:])))
    assert not state.is_of_one_run


def test_results_of_runs_that_are_not_finished_are_interim() -> None:
    finished, other = RunFinished("r", "finished", "t"), TrialKey("two", "mock-a")
    both = TrialFinished(result_of(A)), TrialFinished(result_of(B))
    assert not folded(*both, finished).is_interim
    assert folded(*both).is_interim
    assert folded(both[0], finished).is_interim, "the other one was cancelled before it began"
    state = RunState()
    state.take_results([result_of(A), result_of(other)], runs={A: "o", other: "o"}, unfinished={"o"})
    before = state.is_interim
    for event in (RunStarted("r", (A, B), "t"), *both, finished):
        state.take(event)
    assert (before, state.is_interim) == (True, True), "another case has the result of a run that is not finished"
    for event in (RunStarted("s", (A, B, other), "t"), *both, TrialFinished(result_of(other))):
        state.take(event)
    state.take(RunFinished("s", "finished", "t"))
    assert not state.is_interim


@pytest.mark.parametrize("hidden", [False, True])
def test_equal_answers_of_another_run_are_other_results(hidden: bool) -> None:
    def loaded(run: str) -> RunState:
        state = RunState()
        if hidden:
            state.display(_suite("first"))
        state.take_results([result_of(A)], {A: _only(_suite("other"))}, {A: run})
        assert bool(state.trials) is not hidden
        return state

    assert loaded("1").has_results_of(loaded("1"))
    assert not loaded("1").has_results_of(loaded("2"))


def test_results_of_a_cancelled_run_stay_interim_after_a_run_of_another_case() -> None:
    state, other = RunState(), TrialKey("two", "mock-a")
    for event in (RunStarted("r", (A, B), "t"), TrialFinished(result_of(A)), RunFinished("r", "cancelled", "t")):
        state.take(event)
    for event in (RunStarted("s", (other,), "t"), TrialFinished(result_of(other)), RunFinished("s", "finished", "t")):
        state.take(event)
    assert state.is_interim
    # A rerun of the only trial that has a result leaves the run without the other one.
    ran_again = RunFinished("r", "finished", "t", saved_as="interrupted")
    for again in (RunStarted("r", (A,), "t", continues=True), TrialFinished(result_of(A)), ran_again):
        state.take(again)
    assert state.is_interim
    state.take(RunStarted("t", (A, B), "t"))
    for key in (A, B):
        state.take(TrialFinished(result_of(key)))
    state.take(RunFinished("t", "finished", "t", saved_as="finished"))
    assert not state.is_interim


def test_a_case_that_is_changed_while_it_runs_is_displayed_until_it_ends() -> None:
    state, first, other = RunState(), _suite("first"), _suite("other")
    state.display(first)
    state.prepare(first)
    state.take(RunStarted("r", (A, B), "t"))
    state.take(TrialStarted(A))
    state.display(other)
    assert trial_of(state).case is first.cases[0]
    assert not state.is_judged_by_earlier_checks("one", "mock-a"), "the question was changed, not a check"
    state.take(TrialFinished(result_of(A)))
    assert list(state.trials) == [B]
    assert state.is_outdated("one", "mock-a")
    assert state.counts.passed == 1
    state.take(RunFinished("r", "cancelled", "t"))
    assert not state.trials
    assert state.is_outdated("one", "mock-a")
    state.display(first)
    assert list(state.trials) == [A]


@pytest.mark.parametrize("continues", [False, True])
def test_a_result_that_was_hidden_when_it_came_is_not_replaced_by_an_earlier_one(continues: bool) -> None:
    state, first, other = RunState(), _suite("first"), _suite("other")
    state.display(first)
    again = TrialKey("one", "mock-a", 2)
    asked, runs = dict.fromkeys((A, again), _only(first)), dict.fromkeys((A, again), "q")
    state.take_results([result_of(A, "failed"), result_of(again, "failed")], asked, runs)
    state.prepare(first)
    state.take(RunStarted("r", (A,), "t", continues=continues))
    state.display(other)
    state.take(TrialFinished(result_of(A)))
    state.take(RunFinished("r", "finished", "t"))
    assert not state.trials
    state.display(first)
    assert _statuses(state) == ({1: "passed", 2: "failed"} if continues else {1: "passed"})


def test_a_pause_lasts_until_the_run_goes_on_or_is_over() -> None:
    assert folded(RunPaused()).paused
    assert not folded(RunPaused(), RunResumed()).paused
    assert not folded(RunPaused(), RunFinished("r", "interrupted", "t")).paused


def test_who_is_being_answered_has_a_question_out() -> None:
    asked = folded(*STARTED)
    assert asked.answering == 1
    assert folded(*STARTED[:3]).answering == 0
    assert folded(*STARTED, RequestRetried(A, 1, 0, "429", 500)).answering == 0
    assert folded(*STARTED, RequestRetried(A, 1, 0, "429", 500), RequestSent(A, 1, 0)).answering == 1
    assert folded(*STARTED, StepFinished(A, 1, 0, step_of("whole"))).answering == 0
    assert folded(*STARTED, TrialFinished(result_of(A))).answering == 0


def test_why_a_limit_is_narrow_is_known_until_it_is_back() -> None:
    narrowed = LimitMoved("openai", 6, 8, "429, Retry-After 2 s")
    assert folded(LimitMoved("openai", 8, 8)).limits == {"openai": Limit(8, 8)}
    assert folded(narrowed).limits == {"openai": Limit(6, 8, "429, Retry-After 2 s", 1.0)}
    grown = folded(narrowed, LimitMoved("openai", 7, 8))
    assert grown.limits == {"openai": Limit(7, 8, "429, Retry-After 2 s", 1.0)}
    assert folded(narrowed, LimitMoved("openai", 8, 8)).limits == {"openai": Limit(8, 8)}
    assert folded(narrowed, RunStarted("s", (A,), "t")).limits == {}


def test_a_turn_with_calls_begins_the_text_again_and_continues_the_clock() -> None:
    calls = (ToolUse("turn 1", kind="model"), ToolUse("search", parent=0))
    events = (*STARTED, TextArrived(A, 1, 0, "I search.\n"), CheckMoved(A, 1, 0, 0, "found", ((2, 8),)))
    state = folded(*events, ToolsCalled(A, 1, 0, calls), RequestSent(A, 1, 0))
    attempt = trial_of(state).attempt
    assert attempt is not None
    step = attempt.steps[0]
    assert (step.text, step.size, step.newlines, step.checks) == ("", 0, [], {})
    assert (step.tool_calls, step.turns, attempt.turns) == (list(calls), 1, 1)
    assert (step.sent_at, step.first_at) == (4.0, 5.0)
    assert trial_of(state).is_answered


def test_a_first_turn_without_text_has_its_first_token_at_its_calls() -> None:
    state = folded(*STARTED, ToolsCalled(A, 1, 0, (ToolUse("search"),)), TextArrived(A, 1, 0, "found"))
    attempt = trial_of(state).attempt
    assert attempt is not None
    assert (attempt.steps[0].text, attempt.steps[0].first_at) == ("found", 5.0)
