"""What happens to patterns that run too long, crash their process or lose it, and to everything beside them."""

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.processes import has_ended, is_computing
from tests.support.work import is_linear
from tui.checks import pool
from tui.checks.checker import Answer, Checker
from tui.checks.protocol import Matches, Search
from tui.model.results import CheckResult
from tui.model.suite import Check

SLOW = Answer("a" * 40 + "!")
CATASTROPHE = Check("forbidden_pattern", "(a+)+$")
TOO_LONG = "could not be evaluated: the pattern ran longer than 1 s on this text"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


@pytest.mark.usefixtures("brief_limits")
async def test_a_pattern_that_runs_too_long_is_no_pass_and_the_others_are_decided(checker: Checker) -> None:
    checks = [
        Check("expected_pattern", "a+!"),
        CATASTROPHE,
        Check("forbidden_pattern", "b+"),
        Check("output.matches", "(a+)+$"),
        Check("output.matches", "!$"),
        Check("output.equals", SLOW.text),
    ]
    results = await checker.decide(checks, SLOW)
    assert [each.state for each in results] == ["passed", "timed_out", "passed", "timed_out", "passed", "passed"]
    assert results[1] == CheckResult("forbidden_pattern", "(a+)+$", "timed_out", TOO_LONG)
    assert (await checker.decide([Check("expected_pattern", "a+")], SLOW))[0].state == "passed"


@pytest.mark.usefixtures("brief_limits")
async def test_one_catastrophe_among_a_hundred_answers_is_alone(checker: Checker) -> None:
    fine = [Check("expected_pattern", "a+"), Check("forbidden_pattern", "x+")]
    answers = [checker.decide([CATASTROPHE] if number == 7 else fine, SLOW) for number in range(100)]
    results = await asyncio.gather(*answers)
    states = [[each.state for each in each_answer] for each_answer in results]
    assert states.pop(7) == ["timed_out"]
    assert states == [["passed", "passed"]] * 99


@pytest.mark.long
async def test_catastrophes_share_several_processes(checker: Checker) -> None:
    first = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    second = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    await until(lambda: len(checker.pids) == 2)
    assert not first.done()
    assert [result.state for result in (*await first, *await second)] == ["timed_out"] * 2


async def test_what_others_ask_does_not_wait_behind_a_catastrophe(checker: Checker) -> None:
    slow = asyncio.create_task(checker.decide([CATASTROPHE] * 2, SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    for _ in range(20):
        (result,) = await checker.decide([Check("expected_pattern", "a+")], SLOW)
        assert result.state == "passed"
    assert not slow.done()
    assert [result.state for result in await slow] == ["timed_out"] * 2


@pytest.mark.usefixtures("brief_limits")
async def test_enough_is_found_before_the_rest_takes_too_long(checker: Checker) -> None:
    answer = Answer("line\nok" + "a" * 40 + "!")
    (result,) = await checker.decide([Check("expected_pattern", "ok|(a+)+$")], answer)
    assert result.state == "passed"
    assert (result.detail, result.spans) == (
        "found, starting on line 2; further matches could not be counted",
        ((5, 7),),
    )


@pytest.mark.usefixtures("brief_limits")
async def test_many_matches_are_enough_before_the_rest_takes_too_long(checker: Checker) -> None:
    (result,) = await checker.decide([Check("expected_pattern", "x|(a+)+$")], Answer("x" * 2_000 + SLOW.text))
    assert (result.state, len(result.spans)) == ("passed", 1_000)
    assert result.detail == "found, starting on line 1; further matches could not be counted"


@pytest.mark.long
async def test_a_process_that_dies_in_the_middle_of_several_patterns_is_not_laid_to_all(checker: Checker) -> None:
    checks = [Check("expected_pattern", "a+!"), CATASTROPHE, Check("forbidden_pattern", "b+")]
    task = asyncio.create_task(checker.decide(checks, SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    os.kill(checker.pids[0], signal.SIGSEGV)
    assert [(each.state, each.detail) for each in await task] == [
        ("passed", "found on line 1"),
        ("timed_out", TOO_LONG),
        ("passed", "not found"),
    ]


async def test_a_pattern_in_which_the_process_dies_is_no_pass(checker: Checker) -> None:
    task = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    os.kill(checker.pids[0], signal.SIGSEGV)
    (result,) = await task
    assert result.state == "timed_out"
    assert "crashed the process that evaluated it (SIGSEGV" in result.detail


@pytest.mark.usefixtures("brief_limits")
async def test_a_slow_pattern_does_not_end_the_process(checker: Checker) -> None:
    await checker.decide([Check("expected_pattern", "a+")], SLOW)
    before = checker.pids
    results = await checker.decide([CATASTROPHE, Check("expected_pattern", "a+!")], SLOW)
    assert [each.state for each in results] == ["timed_out", "passed"]
    assert checker.pids == before


@pytest.mark.usefixtures("brief_limits")
async def test_the_patterns_of_an_answer_have_five_seconds_together(checker: Checker) -> None:
    slow = [Check("forbidden_pattern", f"(a+)+{end}") for end in "bcdefgh"]
    quick = Check("expected_pattern", "a+!")
    results = await checker.decide([quick, *slow, quick, Check("output.matches", "!$")], SLOW)
    details = [each.detail for each in results]
    together = "could not be evaluated: the patterns of this answer ran longer than 5 s in total"
    assert results[0].state == "passed"
    assert details.count(TOO_LONG) in (4, 5)
    assert details[1:] == [TOO_LONG] * details.count(TOO_LONG) + [together] * details.count(together)
    assert {each.state for each in results[1:]} == {"timed_out"}
    assert (await checker.decide([quick], SLOW))[0].state == "passed"


@pytest.mark.long
@pytest.mark.usefixtures("brief_limits")
async def test_what_python_patterns_took_counts_too(checker: Checker) -> None:
    checks = [Check("output.matches", f"(a+)+{end}") for end in "bcdefgh"]
    results = await checker.decide([*checks, Check("expected_pattern", "a+!")], SLOW)
    assert {each.state for each in results} == {"timed_out"}
    assert [each.detail for each in results][:4] == [TOO_LONG] * 4
    assert results[-1].detail.endswith("5 s in total")


async def test_memory_is_limited(checker: Checker) -> None:
    hungry = Check("forbidden_pattern", "(a|b)*c")
    results = await checker.decide([hungry, Check("expected_pattern", "^ab")], Answer("ab" * 3_000_000))
    assert [each.state for each in results] == ["timed_out", "passed"]
    assert "too much memory" in results[0].detail
    await checker.decide([Check("expected_pattern", "b+")], Answer("b"))  # so that there is a process again
    assert psutil.Process(checker.pids[0]).rlimit(psutil.RLIMIT_AS)[0] <= 1 << 30


async def test_a_process_that_is_killed_in_the_middle_is_replaced_and_the_pattern_tried_again(checker: Checker) -> None:
    task = asyncio.create_task(checker.decide([Check("expected_pattern", "a+!"), CATASTROPHE], SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    killed = checker.pids[0]
    os.kill(killed, signal.SIGKILL)
    assert [(each.state, each.detail) for each in await task] == [
        ("passed", "found on line 1"),
        ("timed_out", TOO_LONG),
    ]
    assert killed not in checker.pids


async def test_a_process_that_is_killed_again_and_again_ends_in_a_sentence(checker: Checker) -> None:
    task = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    killed: set[int] = set()
    while not task.done():
        for pid in set(checker.pids) - killed:
            if is_computing(pid):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        await asyncio.sleep(0.005)
    (result,) = task.result()
    assert len(killed) == 2
    assert result.detail == "could not be evaluated: the pattern crashed the process that evaluated it (SIGKILL)"


async def test_an_idle_process_that_is_killed_is_not_missed(checker: Checker) -> None:
    for _ in range(5):
        (result,) = await checker.decide([Check("expected_pattern", "a+")], SLOW)
        assert result.state == "passed"
        os.kill(checker.pids[0], signal.SIGKILL)


async def test_a_process_that_is_stopped_is_replaced(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    task = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    os.kill(checker.pids[0], signal.SIGSTOP)
    monkeypatch.setattr(pool, "_WATCH_SECONDS", 0.02)
    assert (await task)[0].detail == TOO_LONG
    assert (await checker.decide([Check("expected_pattern", "a+")], SLOW))[0].state == "passed"


async def test_a_python_that_cannot_be_started_is_a_sentence(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    (result,) = await checker.decide([Check("forbidden_pattern", "a+")], SLOW)
    assert result.state == "timed_out"
    assert "cannot start the process that evaluates patterns ([Errno 2]" in result.detail


async def test_a_python_that_ends_at_once_is_a_sentence(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    (result,) = await checker.decide([Check("forbidden_pattern", "a+")], SLOW)
    assert result.state == "timed_out"
    assert "the process that evaluates patterns" in result.detail
    monkeypatch.undo()
    assert (await checker.decide([Check("expected_pattern", "a+")], SLOW))[0].state == "passed"


async def test_a_cancelled_decision_leaves_the_others_alone(checker: Checker) -> None:
    task = asyncio.create_task(checker.decide([CATASTROPHE], SLOW))
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await checker.decide([Check("expected_pattern", "a+")], SLOW))[0].state == "passed"


async def test_closing_ends_the_processes_and_what_is_being_decided() -> None:
    checker = Checker()
    await checker.close()
    checker = Checker()
    tasks = [asyncio.create_task(checker.decide([CATASTROPHE], SLOW)) for _ in range(40)]
    await until(lambda: bool(checker.pids) and is_computing(checker.pids[0]))
    pids = checker.pids
    await checker.close()
    await checker.close()
    assert all(has_ended(pid) for pid in pids)
    results = [result for (result,) in await asyncio.gather(*tasks)]
    assert {result.detail for result in results} == {"could not be evaluated: the checks were cancelled"}
    assert (await checker.decide([CATASTROPHE], SLOW))[0].state == "timed_out"
    assert checker.pids == ()


async def test_many_open_and_closed_checkers_leave_no_descriptor_behind() -> None:
    before = psutil.Process().num_fds()
    for _ in range(5):
        checker = Checker()
        await checker.decide([Check("expected_pattern", "a+")], SLOW)
        await checker.close()
    assert psutil.Process().num_fds() == before


@pytest.mark.parametrize("pattern", ["a+", "(a+)+$"])
async def test_the_process_ends_when_its_parent_dies(pattern: str) -> None:
    program = f"""
        import asyncio
        from tui.checks.checker import Answer, Checker
        from tui.model.suite import Check
        async def main():
            checker = Checker()
            await checker.decide([Check("expected_pattern", "a+")], Answer("a"))
            print(checker.pids[0], flush=True)
            await checker.decide([Check("expected_pattern", {pattern!r})], Answer({SLOW.text!r}))
            await asyncio.sleep(1000)
        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(program), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    worker = int(await parent.stdout.readline())
    await until(lambda: pattern == "a+" or is_computing(worker))
    parent.kill()
    await parent.wait()
    await until(lambda: has_ended(worker))


async def test_the_process_sees_neither_the_environment_nor_the_current_folder(
    checker: Checker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("quickjs", "_quickjs", "tui", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from the wrong place')")
    (result,) = await checker.decide([Check("expected_pattern", "a+")], SLOW)
    assert result.state == "passed"
    environ = psutil.Process(checker.pids[0]).environ()
    assert not {"OPENAI_API_KEY", "PYTHONPATH"} & environ.keys()


async def test_it_is_in_a_session_of_its_own(checker: Checker) -> None:
    await checker.decide([Check("expected_pattern", "a+")], SLOW)
    assert os.getsid(checker.pids[0]) == checker.pids[0] != os.getsid(0)
    assert psutil.Process(checker.pids[0]).net_connections("inet") == []


async def test_the_cost_of_results_is_linear_in_their_number() -> None:
    def prepare(count: int) -> Callable[[], None]:
        job = pool.Job("text", [Search("javascript", f"a+{number}") for number in range(count)])

        def take() -> None:
            for number in range(count):
                assert not job.is_settled
                job.settle(number, Matches(number))
            assert job.done.result() == tuple(map(Matches, range(count)))

        return take

    assert is_linear(prepare, 30)


async def test_a_second_result_of_a_search_is_ignored() -> None:
    job = pool.Job("text", [Search("javascript", "a+"), Search("javascript", "b+")])
    job.settle(0, Matches(1))
    job.settle(0, Matches(2))
    assert not job.is_settled
    job.settle_all("stopped")
    assert await job.done == (Matches(1), Matches(failure="stopped"))
