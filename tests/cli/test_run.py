"""`assay run` as a process of its own, against a real server: reports, exit codes, signals, resuming."""

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import Asked, ModelServer, answer_by, closed_port, in_turn, say
from tests.support.replies import HANG, Reply, delta, events, status, whole


def write_suite(folder: Path, count: int = 2, **extra: Any) -> Path:
    """A suite of cases that want the word yes in the answer."""
    cases = [
        {
            "id": f"case-{number}",
            "name": f"Case {number}",
            "category": "Even" if number % 2 == 0 else "Odd",
            "prompt": f"question {number}",
            "tags": [f"tag{number}"],
            "expectedPatterns": ["yes"],
        }
        for number in range(count)
    ]
    options = {"delayBetweenTestsMs": 0, **extra.pop("options", {})}
    suite = {"name": "S", "description": "d", "models": ["openai/mock-a"], "options": options, "testCases": cases}
    path = folder / "suite.json"
    path.write_text(json.dumps({**suite, **extra}))
    return path


def keys_for(server: ModelServer) -> Mapping[str, str]:
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-4711-secret"}


def report_of(ran: Ran) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(ran.out)
    return report


async def test_a_key_a_base_url_and_a_model_are_enough(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(say("oh yes")) as server:
        ran = await assay.run_async("run", str(suite), "-m", "openai/mock-b", "-f", "json", env=keys_for(server))
    assert (ran.code, report_of(ran)["summary"]["passed"]) == (0, 2)
    assert report_of(ran)["results"][0]["model"] == "openai/mock-b"
    assert ran.err.splitlines()[0] == f"run {report_of(ran)['run']['id']}"
    assert [asked.model for asked in server.asked] == ["mock-b", "mock-b"]
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer sk-test-4711-secret"}


async def test_what_failed_is_reported_and_the_exit_code_is_1(assay: CommandLine) -> None:
    suite = write_suite(assay.home)
    async with ModelServer(answer_by({"question 0": "yes", "question 1": "no"})) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    report = report_of(ran)
    assert ran.code == 1
    assert [result["verdict"] for result in report["results"]] == ["passed", "failed"]
    assert "✗ case-1 · openai/mock-a" in ran.err
    assert report["summary"]["by_category"]["Odd"]["failed"] == 1


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
async def test_an_impossible_token_count_of_a_server_is_unknown_in_every_report(
    assay: CommandLine, stream: str
) -> None:
    suite = write_suite(assay.home)
    usage = f'"usage": {{"prompt_tokens": {"9" * 400}, "completion_tokens": {"9" * 4300}}}'.encode()
    body = b'{"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}], ' + usage + b"}"
    data = b"data: " + body + b"\n\ndata: [DONE]\n\n" if stream == "--stream" else body
    kind = "text/event-stream" if stream == "--stream" else "application/json"
    async with ModelServer(in_turn(*[Reply((data,), headers=(("Content-Type", kind),))] * 2)) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", stream, env=keys_for(server))
    assert (ran.code, report_of(ran)["summary"]["passed"]) == (0, 2)
    assert report_of(ran)["summary"]["effort"]["openai/mock-a"]["input_tokens"] is None
    for format in ("json", "markdown", "html", "csv", "junit"):
        assert assay.run("report", "last", "-f", format).code == 0


async def test_a_key_that_an_answer_repeats_is_nowhere(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    async with ModelServer(say("yes, your key is sk-test-4711-secret, really")) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", "--stream", env=keys_for(server))
    assert report_of(ran)["results"][0]["attempts"][0]["steps"][0]["response"] == (
        "yes, your key is [removed key], really"
    )
    assert "sk-test-4711" not in ran.out + ran.err
    kept = b"".join(file.read_bytes() for file in assay.home.rglob("*") if file.is_file())
    assert b"sk-test-4711" not in kept


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "Pass a suite"),
        (["nothing.json"], "nothing.json"),
        (["suite.json", "--repeat", "0"], "--repeat"),
        (["suite.json", "--models"], "--models"),
        (["suite.json", "-f", "pdf"], "pdf"),
        (["suite.json", "--colour"], "--colour"),
        (["suite.json", "--case", "none-such"], "No case"),
        (["suite.json", "--tag", "none-such"], "No case"),
        (["suite.json", "-o", "./suite.json"], "suite.json: Is a suite of this run, which the report would replace"),
        (["suite.json", "-o", "suite.json/folder/report.md"], "suite.json/folder: Cannot create the folder"),
        (["suite.json", "-m", "openai/x"], "OPENAI_API_KEY"),
        (["suite.json", "-m", "local//nowhere/x.gguf"], "/nowhere/x.gguf cannot be read"),
        (["suite.json", "-m", "local/other"], "has no model other"),
        (["suite.json", "-m", "github/gpt-4"], "retired"),
        (["suite.json", "-m", "some-model"], "provider/some-model"),
        (["suite.json", "--agent", "none.py"], "none.py"),
        (["--resume", "0193"], "0193"),
        (["--resume", "last", "--rerun-failed", "last"], "cannot be combined"),
        (["suite.json", "-m", ""], "-m has no value"),
        (["suite.json", "--tag", " , "], "--tag has no value"),
        (["suite.json", "--case", ""], "--case has no value"),
        (["suite.json", "--languages", ""], "--languages has no value"),
        (["suite.json", "--clone", "https://h/x", "--branch=-x"], "The branch name is not allowed: it begins with `-`"),
        (["suite.json", "--clone", "https://h/x", "--repo", "."], "Remove one of them"),
        ([".", "--tag", "none-such"], "No case"),
        (["cache"], "No suite found"),
    ],
)
def test_bad_input_is_one_sentence_and_2(assay: CommandLine, args: list[str], words: str) -> None:
    write_suite(assay.home)
    (assay.home / "cache").mkdir()
    ran = assay.run("run", *args)
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    "command", [["run"], ["validate"], ["review", "import"], ["import"], ["run", "suite.json", "-o"]], ids=" ".join
)
def test_a_path_that_is_too_long_is_bad_input(assay: CommandLine, command: list[str]) -> None:
    write_suite(assay.home)
    ran = assay.run(*command, "a/" * 2500 + "x.json")
    assert (ran.code, ran.out) == (2, "")
    assert "too long" in ran.err or "check the path" in ran.err
    assert "Traceback" not in ran.err


def test_a_suite_with_errors_names_them_all_and_asks_nothing(assay: CommandLine) -> None:
    (assay.home / "bad.json").write_text('{"name": 1, "models": ["m"], "testCases": []}')
    ran = assay.run("run", "bad.json")
    assert ran.code == 2
    assert ran.err.count("bad.json:1:") >= 3


async def test_an_unreachable_server_is_each_trials_error_and_1(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    port = closed_port()
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "sk-test-4711-secret"}
    ran = await assay.run_async("run", str(suite), "-f", "json", env=env)
    assert ran.code == 1
    assert (
        f"Cannot connect to 127.0.0.1:{port} (refused). Is the server running?" in report_of(ran)["results"][0]["error"]
    )


async def test_filters_by_tag_and_id_and_repeats(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 4)
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async(
            "run",
            str(suite),
            "-f",
            "json",
            "--tag",
            "tag1,tag2",
            "--case",
            "case-[23]",
            "--repeat",
            "3",
            env=keys_for(server),
        )
    results = report_of(ran)["results"]
    assert [(result["case"], result["repeat"]) for result in results] == [("case-2", 1), ("case-2", 2), ("case-2", 3)]
    assert report_of(ran)["summary"]["repeats"]["openai/mock-a"]["n"] == 3


async def test_concurrency_overrides_the_suite(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 6)
    async with ModelServer(lambda _: whole("yes", latency_s=0.1)) as server:
        await assay.run_async("run", str(suite), "-f", "json", "--concurrency", "3", env=keys_for(server))
        assert server.most_in_flight == 3


async def test_timeout_and_retries_override_the_suite(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 6, options={"retries": 1, "timeoutMs": 60_000})
    hanging = Reply((HANG,))

    def script(asked: Asked) -> Reply:
        return hanging if asked.prompt == "question 0" else whole("yes")

    async with ModelServer(script) as server:
        command = ("run", str(suite), "-f", "json", "--concurrency", "3", "--timeout", "2000", "--retries", "2")
        ran = await assay.run_async(*command, env=keys_for(server))
    first = report_of(ran)["results"][0]
    assert (first["verdict"], len(first["attempts"])) == ("timed_out", 2)
    assert report_of(ran)["summary"]["errors"] == 1


async def test_a_pass_on_a_later_attempt_is_flaky_and_0(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, options={"retries": 3})
    async with ModelServer(in_turn(whole("no"), whole("yes"))) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    summary = report_of(ran)["summary"]
    assert (ran.code, summary["passed"], summary["flaky"]) == (0, 0, 1)


async def test_interrupted_then_resumed_asks_exactly_what_is_missing(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 4)

    def script(asked: Asked) -> Reply:
        return Reply((HANG,)) if asked.prompt == "question 2" and asked.attempt == 1 else whole("yes")

    async with ModelServer(script) as server:
        process = assay.start("run", str(suite), "-f", "json", env=keys_for(server))
        await server.wait_for_requests(3)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.to_thread(process.communicate, timeout=120)
        report = json.loads(out)
        assert (process.returncode, report["run"]["state"]) == (130, "interrupted")
        assert [result["case"] for result in report["results"]] == ["case-0", "case-1"]
        run_id = err.splitlines()[0].removeprefix("run ")
        resumed = await assay.run_async("run", "--resume", run_id, "-f", "json", env=keys_for(server))
        assert [asked.prompt for asked in server.asked[3:]] == ["question 2", "question 3"]
        again = await assay.run_async("run", "--resume", run_id, "-f", "json", env=keys_for(server))
        assert len(server.asked) == 5
    assert report_of(resumed)["run"]["id"] == run_id
    assert report_of(resumed)["summary"]["passed"] == 4
    assert (resumed.code, again.code, report_of(again)["run"]["state"]) == (0, 0, "finished")


async def test_a_signal_right_after_the_id_still_leaves_a_run_that_can_be_resumed(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 2)
    async with ModelServer(say("yes")) as server:
        server.listing = Reply((HANG,))
        process = assay.start("run", str(suite), str(suite), "-f", "json", env=keys_for(server))
        assert process.stderr is not None
        run_id = (await asyncio.to_thread(process.stderr.readline)).strip().removeprefix("run ")
        process.send_signal(signal.SIGINT)
        out, _ = await asyncio.to_thread(process.communicate, timeout=120)
        assert (process.returncode, server.asked) == (130, [])
        reports = json.loads(out)
        assert [(one["run"]["state"], one["results"]) for one in reports] == [("interrupted", [])] * 2
        assert reports[0]["run"]["id"] == run_id
        server.listing = None
        resumed = await assay.run_async("run", "--resume", run_id, "-f", "json", env=keys_for(server))
    assert (resumed.code, report_of(resumed)["summary"]["passed"]) == (0, 2)


async def test_killed_then_resumed(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 3)

    def script(asked: Asked) -> Reply:
        return Reply((HANG,)) if asked.prompt == "question 1" and asked.attempt == 1 else whole("yes")

    async with ModelServer(script) as server:
        process = assay.start("run", str(suite), env=keys_for(server))
        assert process.stderr is not None
        while "case-0" not in (line := await asyncio.to_thread(process.stderr.readline)):
            assert line, "the run ended before its first case did"
        process.kill()
        await asyncio.to_thread(process.communicate, timeout=120)
        listed = json.loads((await assay.run_async("runs", "--json")).out)
        assert [(run["state"], run["trials"], run["passed"]) for run in listed] == [("interrupted", 3, 1)]
        resumed = await assay.run_async("run", "--resume", listed[0]["id"][:12], "-f", "json", env=keys_for(server))
    assert report_of(resumed)["summary"]["passed"] == 3
    assert [asked.prompt for asked in server.asked[2:]] == ["question 1", "question 2"]


async def test_what_failed_is_asked_again_in_the_same_run_and_is_not_flaky(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 2)
    async with ModelServer(answer_by({"question 0": "yes"}, "no")) as server:
        first = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        server.script = say("yes")
        again = await assay.run_async("run", "--rerun-failed", "last", "-f", "json", env=keys_for(server))
        assert len(server.asked) == 3
    assert (first.code, again.code) == (1, 0)
    result = report_of(again)["results"][1]
    assert report_of(again)["run"]["id"] == report_of(first)["run"]["id"]
    assert (result["verdict"], result["flaky"], len(result["attempts"])) == ("passed", False, 2)
    # The exit code follows the latest verdict, the figures the first judged answer.
    assert (result["first_verdict"], result["reruns"]) == ("failed", 1)
    assert report_of(again)["summary"]["passed"] == 1
    assert report_of(again)["summary"]["reruns"] == {"trials": 1, "passed_since": 1}


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), pytest.param("SIGHUP", 129, marks=pytest.mark.long)])
async def test_other_signals_end_it_with_a_report_too(assay: CommandLine, name: str, code: int) -> None:
    suite = write_suite(assay.home, 2)
    async with ModelServer(in_turn(Reply((HANG,)))) as server:
        process = assay.start("run", str(suite), "-f", "json", env=keys_for(server))
        await server.wait_for_requests(1)
        process.send_signal(getattr(signal, name))
        out, _ = await asyncio.to_thread(process.communicate, timeout=120)
    assert (process.returncode, json.loads(out)["run"]["state"]) == (code, "interrupted")


async def test_a_refused_key_stops_that_provider_and_names_the_variable(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 5)
    refusal = status(401, {"error": {"message": "Incorrect API key provided: sk-test-4711-secret"}})
    async with ModelServer(lambda _: refusal) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        assert len(server.asked) == 1
    errors = {result["error"] for result in report_of(ran)["results"]}
    assert ran.code == 1
    assert len(errors) == 1
    assert "OPENAI_API_KEY" in errors.pop()
    assert "sk-test-4711" not in ran.out + ran.err


async def test_a_stream_that_breaks_off_is_incomplete_and_never_passes(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    async with ModelServer(lambda _: events(delta("yes"), delta(" and"))) as server:
        ran = await assay.run_async("run", str(suite), "--stream", "-f", "json", env=keys_for(server))
    (result,) = report_of(ran)["results"]
    assert (ran.code, result["verdict"]) == (1, "incomplete")
    assert result["attempts"][0]["steps"][0]["response"] == "yes and"


async def test_the_report_goes_to_a_file_whose_name_says_the_format(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", str(suite), "-o", "report.html", env=keys_for(server))
    assert ran.out == ""
    assert (assay.home / "report.html").read_text().lower().startswith("<!doctype html>")
    written = assay.run("report", "last", "-f", "csv")
    assert "case-0" in written.out.splitlines()[1]


async def test_two_suites_are_two_runs_and_an_array(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    other = assay.home / "other.json"
    other.write_text(suite.read_text().replace('"S"', '"T"'))
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", "suite.json", "other.json", "-f", "json", env=keys_for(server))
    reports = json.loads(ran.out)
    assert [report["suite"]["name"] for report in reports] == ["S", "T"]
    assert ran.err.splitlines()[:2] == [f"run {report['run']['id']}" for report in reports]


async def test_of_several_suites_those_without_such_a_case_are_passed_over(assay: CommandLine) -> None:
    (assay.home / "few").mkdir()
    write_suite(assay.home, 3)
    write_suite(assay.home / "few", 1)
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", ".", "--case", "case-2", "-f", "json", env=keys_for(server))
    assert (ran.code, report_of(ran)["summary"]["passed"], len(server.asked)) == (0, 1, 1)
    assert "few/suite.json: no case matches --tag and --case" in ran.err


async def test_a_key_in_a_question_is_sent_as_it_is_and_kept_in_no_result(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    suite.write_text(suite.read_text().replace("question 0", "Is sk-test-4711-secret a good key?"))
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    assert server.asked[0].prompt == "Is sk-test-4711-secret a good key?"
    assert report_of(ran)["results"][0]["attempts"][0]["steps"][0]["input"] == "Is [removed key] a good key?"


async def test_models_that_the_server_does_not_list_are_warned_of(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    async with ModelServer(say("yes"), models=("mock-a", "mock-c:latest")) as server:
        names = "openai/mock-a,openai/mock-b,openai/mock-c"
        ran = await assay.run_async("run", str(suite), "-m", names, "-f", "json", env=keys_for(server))
        server.listing = status(404)
        unknown = await assay.run_async("run", str(suite), "-m", names, "-f", "json", env=keys_for(server))
    assert (ran.code, unknown.code) == (0, 0)
    assert [line for line in ran.err.splitlines() if "Warning" in line] == [
        "Warning: openai/mock-b: openai does not list the model mock-b; run 'assay models' to see its models."
    ]
    assert "Warning" not in unknown.err


async def test_hostile_text_reaches_stderr_as_pictures(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1)
    hostile = "\x1b]52;c;aGk=\x07\x1b[2J\u202eevil"
    async with ModelServer(lambda _: status(400, {"error": {"message": hostile}})) as server:
        ran = await assay.run_async("run", str(suite), "-f", "markdown", env=keys_for(server))
    for text in (ran.err, ran.out):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
    assert "evil" in ran.err
