"""`--resume` and `--rerun-failed`: what a kept run has still to ask, from wherever it is taken up."""

import asyncio
import json

import pytest

from tests.cli.test_run import keys_for, report_of, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer, answer_by, say
from tests.support.replies import status, streamed
from tests.support.repositories import make_repository, write_files


async def test_a_finished_run_stays_as_it_ended(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(say("yes")) as server:
        first = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        # Without a key: nothing is asked, so that nothing is needed.
        again = await assay.run_async("run", "--resume", "last", "-f", "json")
        failed = await assay.run_async("run", "--rerun-failed", "last", "-f", "json")
        assert len(server.asked) == 2
    assert (again.code, failed.code) == (0, 0)
    assert again.out == failed.out == first.out
    assert "nothing left to run" in again.err


async def test_a_finished_run_is_not_cloned_again(assay: CommandLine) -> None:
    make_repository(assay.home / "repository", {"a.txt": "a"})
    suite = write_suite(assay.home, 1, repoClone={"repoUrl": "./repository"})
    async with ModelServer(say("yes")) as server:
        first = await assay.run_async("run", str(suite), "--allow-local", env=keys_for(server))
        assert "Cloned" in first.err
        again = await assay.run_async("run", "--resume", "last", env=keys_for(server))
    assert again.code == 0
    assert "Clon" not in again.err


async def test_every_run_that_is_reported_can_be_resumed_after_a_kill_at_once(assay: CommandLine) -> None:
    first = write_suite(assay.home, 1)
    write_files(assay.home, {"second.json": first.read_bytes()})
    async with ModelServer(say("yes"), listing=streamed("late", latency_s=60)) as server:
        running = assay.start("run", str(first), "second.json", env=keys_for(server))
        assert running.stderr is not None
        lines = [await asyncio.to_thread(running.stderr.readline) for _ in range(2)]
        running.kill()
        await asyncio.to_thread(running.communicate)
        assert server.asked == []
    ids = [line.split()[1] for line in lines]
    async with ModelServer(say("yes")) as server:
        for run_id in ids:
            resumed = await assay.run_async("run", "--resume", run_id, "-f", "json", env=keys_for(server))
            assert resumed.code == 0, resumed.err
            assert report_of(resumed)["run"]["state"] == "finished"
        assert len(server.asked) == 2


async def test_a_run_that_waits_for_another_begins_when_it_is_its_turn(assay: CommandLine) -> None:
    first = write_suite(assay.home, 1)
    write_files(assay.home, {"second.json": first.read_bytes()})
    async with ModelServer(say("yes", latency_s=0.2)) as server:
        ran = await assay.run_async(
            "run", str(first), "second.json", "-f", "json", "-o", "r.json", env=keys_for(server)
        )
    assert ran.code == 0, ran.err
    earlier, later = sorted(json.loads(assay.run("runs", "--json").out), key=lambda run: str(run["started_at"]))
    assert later["started_at"] >= earlier["finished_at"]


@pytest.mark.parametrize("words", [("--resume", "last"), ("suite.json", "-m", "openai/mock-a", "--resume", "last")])
async def test_the_suite_may_be_named_beside_the_run(assay: CommandLine, words: tuple[str, ...]) -> None:
    write_suite(assay.home, 2)
    async with ModelServer(lambda _: status(500)) as server:
        await assay.run_async("run", "suite.json", "--case", "case-0", env=keys_for(server))
        ran = await assay.run_async("run", *words, "-f", "json", env=keys_for(server))
    assert ran.code == 1
    assert len(report_of(ran)["results"]) == 1
    assert ("continues with its original models" in ran.err) == ("-m" in words)


async def test_the_run_of_another_suite_is_not_taken_up_and_a_changed_one_is_noted(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    async with ModelServer(answer_by({}, "no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
        write_files(assay.home, {"other.json": suite.read_bytes()})
        other = await assay.run_async("run", "other.json", "--rerun-failed", "last", env=keys_for(server))
        suite.write_text(suite.read_text() + "\n")
        changed = await assay.run_async("run", "suite.json", "--rerun-failed", "last", env=keys_for(server))
        assert len(server.asked) == 2
    assert (other.code, other.out) == (2, "")
    assert "The run belongs to another suite" in other.err
    assert "has changed since" in changed.err


async def test_a_run_finds_its_files_again_from_another_folder(assay: CommandLine) -> None:
    (assay.home / "project").mkdir()
    suite = write_suite(assay.home / "project", 1)
    written = json.loads(suite.read_text())
    written["testCases"][0]["codeContext"] = [{"filePath": "a.py"}]
    suite.write_text(json.dumps(written))
    (assay.home / "project" / "a.py").write_text("canary = 1\n")
    (assay.home / "elsewhere").mkdir()
    async with ModelServer(answer_by({}, "no")) as server:
        first = await assay.run_async("run", "suite.json", env=keys_for(server), folder=assay.home / "project")
        assert first.code == 1
        again = await assay.run_async(
            "run", "--rerun-failed", "last", "-f", "json", env=keys_for(server), folder=assay.home / "elsewhere"
        )
    assert report_of(again)["results"][0]["error"] is None
    assert "canary = 1" in server.asked[1].prompt


async def test_what_was_never_asked_has_not_passed(assay: CommandLine) -> None:
    """After `--rerun-failed` the run is finished, so that nothing may be missing from it."""
    suite = write_suite(assay.home, 3)
    async with ModelServer(answer_by({"question 0": "no"}, "yes")) as server:
        hang = server.script
        server.script = lambda asked: streamed("x").stalled(0) if asked.prompt == "question 1" else hang(asked)
        process = assay.start("run", str(suite), env=keys_for(server))
        await server.wait_for_requests(2)
        process.terminate()
        process.communicate()
        server.script = hang
        again = await assay.run_async("run", "--rerun-failed", "last", "-f", "json", env=keys_for(server))
    assert [asked.prompt for asked in server.asked[2:]] == ["question 0", "question 1", "question 2"]
    assert report_of(again)["run"]["state"] == "finished"
    assert [len(result["attempts"]) for result in report_of(again)["results"]] == [2, 1, 1]


@pytest.mark.parametrize("gate", [[], pytest.param(["--fail-under", "0.5"], marks=pytest.mark.long)])
async def test_a_rerun_of_the_errors_of_an_interrupted_run_does_not_finish_it(
    assay: CommandLine, gate: list[str]
) -> None:
    suite = write_suite(assay.home, 3)
    async with ModelServer(
        lambda asked: status(400) if asked.prompt == "question 0" else streamed("x").stalled(0)
    ) as server:
        process = assay.start("run", str(suite), env=keys_for(server))
        await server.wait_for_requests(2)
        process.terminate()
        process.communicate()
        server.script = say("yes")
        for _ in ("an error", "no error"):
            again = await assay.run_async("run", "--rerun-errors", "last", "-f", "json", *gate, env=keys_for(server))
            assert (again.code, report_of(again)["run"]["state"]) == (1, "interrupted")
            assert "2 of 3 trials have not been run: run them with 'assay run --resume " in again.err
        resumed = await assay.run_async("run", "--resume", "last", "-f", "json", *gate, env=keys_for(server))
    assert [asked.prompt for asked in server.asked[2:]] == ["question 0", "question 1", "question 2"]
    assert (resumed.code, report_of(resumed)["run"]["state"]) == (0, "finished")


async def test_a_replay_is_continued_with_the_answers_of_the_run_that_it_began_with(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, models=["openai/mock-a"])
    replay = ("run", str(suite), "-m", "replay/last/openai/mock-a", "-f", "json")
    async with ModelServer(say("no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
        run = report_of(assay.run(*replay))["run"]["id"]
        newest = assay.run("run", "--rerun-failed", "last", "-f", "json")
        server.script = say("yes")
        await assay.run_async("run", str(suite), env=keys_for(server))
    older = assay.run("run", "--rerun-failed", run, "-f", "json")
    assert (newest.code, older.code) == (1, 1), newest.err + older.err
    [result] = report_of(older)["results"]
    assert result["model"] == "replay/last/openai/mock-a"
    assert [attempt["steps"][0]["response"] for attempt in result["attempts"]] == ["no", "no", "no"]


async def test_a_replay_judges_the_first_judged_answer_below_the_prompt_that_was_sent(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, models=["openai/mock-a"])
    content = json.loads(suite.read_text())
    content["testCases"][0]["codeContext"] = [{"filePath": "a.txt"}]
    write_files(assay.home, {suite.name: json.dumps(content), "a.txt": "the first version"})
    async with ModelServer(say("no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
        server.script = say("yes")
        await assay.run_async("run", "--rerun-failed", "last", env=keys_for(server))
    write_files(assay.home, {"a.txt": "the second version"})
    replayed = assay.run("run", str(suite), "-m", "replay/last/openai/mock-a", "-f", "json")
    assert report_of(replayed)["summary"]["by_model"]["replay/last/openai/mock-a"]["passed"] == 0
    assay.run("runs", "export", "last", "-o", "replayed.jsonl")
    exported = (assay.home / "replayed.jsonl").read_text()
    assert "the first version" in exported
    assert "the second version" not in exported
