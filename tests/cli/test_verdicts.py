"""Unchecked and incomplete answers, reruns and gates, by `assay run` as a process and a real server."""

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.test_run import keys_for, report_of
from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import Asked, ModelServer, answer_by, say
from tests.support.replies import Reply, status, whole

MODELS = ["openai/mock-a", "openai/mock-b"]


def write_suite(folder: Path, cases: int, **extra: Any) -> Path:
    """A suite whose cases have the prompts `question 0`, `question 1`, … and what `extra` says."""
    more = {key: extra.pop(key) for key in ("expectedPatterns", "forbiddenPatterns", "minPassRate") if key in extra}
    tests = [
        {
            "id": f"case-{number}",
            "name": f"Case {number}",
            "category": "Safety",
            "prompt": f"question {number};",
            **more,
        }
        for number in range(cases)
    ]
    options = {"delayBetweenTestsMs": 0, "parallel": True, **extra.pop("options", {})}
    suite = {"name": "S", "description": "d", "models": MODELS, "options": options, "testCases": tests, **extra}
    path = folder / "suite.json"
    path.write_text(json.dumps(suite))
    return path


async def rerun(assay: CommandLine, server: ModelServer, flag: str) -> Ran:
    return await assay.run_async("run", flag, "last", "-f", "json", env=keys_for(server))


async def test_a_suite_without_a_pattern_is_unchecked_in_every_report_and_has_no_rate(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 24)
    async with ModelServer(say("Certainly.")) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    summary = report_of(ran)["summary"]
    assert ran.code == 0
    assert "No case has a check" in ran.err
    assert "48/48  ○ 48  " in ran.err
    assert {name: summary[name] for name in ("trials", "passed", "failed", "errors", "flaky", "unchecked")} == {
        "trials": 48, "passed": 0, "failed": 0, "errors": 0, "flaky": 0, "unchecked": 48,
    }  # fmt: skip
    assert summary["by_category"]["Safety"]["unchecked"] == 48
    assert summary["pass_rate_95"] == dict.fromkeys(MODELS)
    assert summary["repeats"]["openai/mock-a"]["flake_rate"] is None
    (pair,) = report_of(ran)["comparisons"]
    assert {pair[name] for name in ("p_value", "p_holm", "difference", "difference_95", "detectable")} == {None}
    assert (pair["conclusion"], pair["interim"]) == ("not_enough_data", False)
    assert {result["verdict"] for result in report_of(ran)["results"]} == {"unchecked"}

    reports = {form: assay.run("report", "last", "-f", form).out for form in ("markdown", "html", "csv", "junit")}
    for form in ("markdown", "html"):
        assert "No case has a check" in reports[form]
        assert "no pass rate" in reports[form]
    assert "100%" not in reports["markdown"]
    assert "+100" not in reports["markdown"]
    assert "95% interval from" not in reports["html"]
    rows = list(csv.DictReader(io.StringIO(reports["csv"])))
    assert {(row["verdict"], row["first_verdict"], row["reruns"]) for row in rows} == {("unchecked", "unchecked", "0")}
    junit = ElementTree.fromstring(reports["junit"])
    assert (junit.get("tests"), junit.get("skipped"), junit.get("failures"), junit.get("errors")) == (
        "48", "48", "0", "0",
    )  # fmt: skip
    assert {skipped.get("message") for skipped in junit.iter("skipped")} == {"unchecked: the case has no check"}
    (kept,) = json.loads(assay.run("runs", "--json").out)
    assert (kept["trials"], kept["passed"]) == (48, 0)


def test_validate_warns_of_a_suite_in_which_nothing_is_checked(assay: CommandLine) -> None:
    write_suite(assay.home, 2)
    (assay.home / "steps.yaml").write_text("steps:\n  - input: hello\n")
    ran = assay.run("validate", "suite.json", "steps.yaml")
    assert ran.code == 0
    first, second = ran.out.splitlines()
    assert first.startswith("suite.json:1:1: warning: testCases: no case has a check, so every answer")
    assert second.startswith("steps.yaml:1:1: warning: steps: no case has a check, so every answer")
    write_suite(assay.home, 2, forbiddenPatterns=["x"])
    assert assay.run("validate", "suite.json").out == ""


async def test_two_reruns_do_not_improve_a_rate(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 12, expectedPatterns=["yes"], models=["openai/mock-a"])
    wrong = {f"question {number};": "no" for number in (3, 6, 9)}
    async with ModelServer(answer_by(wrong, "yes")) as server:
        first = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        del wrong["question 3;"]
        second = await rerun(assay, server, "--rerun-failed")
        wrong.clear()
        third = await rerun(assay, server, "--rerun-failed")
        assert len(server.asked) == 12 + 3 + 2
        nothing = await rerun(assay, server, "--rerun-failed")
        assert len(server.asked) == 12 + 3 + 2
    assert [ran.code for ran in (first, second, third, nothing)] == [1, 1, 0, 0]
    assert "nothing left to run" in nothing.err
    summaries = [report_of(ran)["summary"] for ran in (first, second, third)]
    assert [(summary["passed"], summary["failed"]) for summary in summaries] == [(9, 3)] * 3
    assert len({tuple(summary["pass_rate_95"]["openai/mock-a"]) for summary in summaries}) == 1
    assert [summary["reruns"] for summary in summaries] == [
        {"trials": 0, "passed_since": 0}, {"trials": 3, "passed_since": 1}, {"trials": 3, "passed_since": 3},
    ]  # fmt: skip
    assert "the original verdict of 3 of these trials" in second.err
    assert "✓ case-3 · openai/mock-a" in second.err
    assert "passed on rerun 1, counts as failed" in second.err
    result = report_of(third)["results"][6]
    assert (result["verdict"], result["first_verdict"], result["reruns"], result["flaky"]) == (
        "passed", "failed", 2, False,
    )  # fmt: skip
    assert [attempt["asked_again"] for attempt in result["attempts"]] == [False, True, True]
    sentence = "3 failed trials were rerun; 3 of them have passed since. Statistics count the original verdict."
    for form in ("markdown", "html"):
        text = assay.run("report", "last", "-f", form).out
        assert sentence in text
        assert "75%" in text
    junit = ElementTree.fromstring(assay.run("report", "last", "-f", "junit").out)
    assert (junit.get("tests"), junit.get("failures")) == ("12", "3")
    assert {each.get("value") for each in junit.iter("property") if each.get("name") == "reruns"} == {sentence}
    (kept,) = json.loads(assay.run("runs", "--json").out)
    assert kept["passed"] == 9


async def test_a_rerun_of_errors_replaces_them_and_leaves_failures_alone(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 4, expectedPatterns=["yes"], models=["openai/mock-a"])
    replies: dict[str, Reply] = {
        "question 0;": whole("yes"), "question 1;": whole("no"),
        "question 2;": status(401), "question 3;": whole("yes, bu", finish="length"),
    }  # fmt: skip

    def script(asked: Asked) -> Reply:
        return next(reply for key, reply in replies.items() if key in asked.prompt)

    async with ModelServer(script) as server:
        first = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
        replies["question 2;"] = replies["question 3;"] = whole("yes")
        again = await rerun(assay, server, "--rerun-errors")
        assert sorted(asked.prompt for asked in server.asked[4:]) == ["question 2;", "question 3;"]
    before, after = report_of(first), report_of(again)
    assert [result["verdict"] for result in before["results"]] == ["passed", "failed", "error", "incomplete"]
    assert before["results"][3]["error"] == "The answer stopped early: token limit (length)"
    assert "◌ case-3 · openai/mock-a" in first.err
    assert (before["summary"]["errors"], after["summary"]["errors"]) == (2, 0)
    assert (before["summary"]["passed"], after["summary"]["passed"]) == (1, 3)
    assert after["summary"]["reruns"] == {"trials": 0, "passed_since": 0}
    assert [result["first_verdict"] for result in after["results"]] == ["passed", "failed", "passed", "passed"]
    assert again.code == 1


async def test_a_failed_trial_whose_rerun_had_an_error_is_no_error(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, expectedPatterns=["yes"], models=["openai/mock-a"])
    async with ModelServer(say("no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
        server.script = lambda _: status(400)
        again = await rerun(assay, server, "--rerun-failed")
        nothing = await rerun(assay, server, "--rerun-errors")
        assert len(server.asked) == 2
    (result,) = report_of(again)["results"]
    assert (result["verdict"], result["first_verdict"]) == ("error", "failed")
    assert "nothing left to run" in nothing.err


def test_the_ways_of_taking_a_run_up_exclude_each_other(assay: CommandLine) -> None:
    ran = assay.run("run", "--rerun-errors", "a", "--rerun-failed", "a")
    assert (ran.code, "cannot be combined" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "verdict", "code"), [({}, "incomplete", 1), ({"acceptTruncated": True}, "passed", 0)]
)
async def test_truncated_answers_are_whole_where_the_suite_says_so(
    assay: CommandLine, options: dict[str, bool], verdict: str, code: int
) -> None:
    suite = write_suite(assay.home, 1, expectedPatterns=["yes"], models=["openai/mock-a"], options=options)
    async with ModelServer(lambda _: whole("yes, bu", finish="length")) as server:
        ran = await assay.run_async("run", str(suite), "-f", "json", env=keys_for(server))
    assert (ran.code, report_of(ran)["results"][0]["verdict"]) == (code, verdict)
    warnings = assay.run("validate", "suite.json").out.splitlines()
    assert [": warning: options.acceptTruncated: is an extension" in line for line in warnings] == [True] * len(options)


@pytest.mark.parametrize(
    ("rate", "code"), [("0.75", 0), ("0.76", 1), ("0", 0), ("1", 1), ("1.01", 2), ("-0.1", 2), ("nan", 2), ("half", 2)]
)
async def test_fail_under_decides_the_exit_code(assay: CommandLine, rate: str, code: int) -> None:
    suite = write_suite(assay.home, 4, expectedPatterns=["yes"], models=["openai/mock-a"])
    async with ModelServer(answer_by({"question 0;": "no"}, "yes")) as server:
        ran = await assay.run_async("run", str(suite), "--fail-under", rate, env=keys_for(server))
        assert ran.code == code
        assert len(server.asked) == (0 if code == 2 else 4)
    if code == 1:
        assert f"3 of 4 checked trials pass (75.0%), below --fail-under {rate}" in ran.err


@pytest.mark.parametrize(("rate", "code"), [("0.5", 1), ("0", 0)])
async def test_each_model_has_to_reach_the_rate(assay: CommandLine, rate: str, code: int) -> None:
    suite = write_suite(assay.home, 2, expectedPatterns=["yes"], models=["openai/mock-a", "openai/mock-b"])
    async with ModelServer(lambda asked: whole("yes" if asked.body["model"] == "mock-a" else "no")) as server:
        ran = await assay.run_async("run", str(suite), "--fail-under", rate, env=keys_for(server))
    assert ran.code == code
    missed = [line for line in ran.err.splitlines() if "below --fail-under" in line]
    assert missed == ["openai/mock-b: 0 of 2 checked trials pass (0.0%), below --fail-under 0.5"][:code]


async def test_nothing_checked_reaches_no_rate(assay: CommandLine) -> None:
    suite = write_suite(assay.home, 1, models=["openai/mock-a"])
    async with ModelServer(say("yes")) as server:
        ran = await assay.run_async("run", str(suite), "--fail-under", "0.5", env=keys_for(server))
    assert (ran.code, "no checked trial" in ran.err) == (1, True)


@pytest.mark.parametrize(("share", "code"), [(0.5, 0), (0.6, 1)])
async def test_a_share_of_repeats_decides_for_its_case(assay: CommandLine, share: float, code: int) -> None:
    suite = write_suite(assay.home, 1, expectedPatterns=["yes"], minPassRate=share, models=["openai/mock-a"])
    answers = ["no", "yes"]

    def script(_: Asked) -> Reply:
        return whole(answers.pop() if answers else "no")

    async with ModelServer(script) as server:
        command = ("run", str(suite), "--repeat", "2", "-f", "json", "--concurrency", "1")
        ran = await assay.run_async(*command, env=keys_for(server))
    assert (ran.code, report_of(ran)["summary"]["passed"]) == (code, 1)
    assert ("below its minPassRate of 0.6" in ran.err) == (code == 1)
