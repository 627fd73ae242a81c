"""`assay import`: promptfoo's results become a kept run, once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, Ran
from tui.imports.promptfoo import read_promptfoo
from tui.model.run import Plan
from tui.session.result_import import store_results
from tui.store.sqlite import SqliteStore

FILES = Path(__file__).parents[1] / "imports" / "files"
LOGS = FILES / "inspect"
CAPITALS, GREETINGS = str(FILES / "version-3.json"), str(FILES / "version-2.json")


def runs(assay: CommandLine) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = json.loads(assay.run("runs", "--json").out)
    return listed


def run_id(ran: Ran) -> str:
    return ran.err.splitlines()[0].removeprefix("run ")


def test_an_evaluation_becomes_a_run_for_reports(assay: CommandLine) -> None:
    ran = assay.run("import", CAPITALS, "--as-suite", "Towns")
    assert (ran.code, ran.out) == (0, "")
    assert "Towns: 10 results of 2 models in 3 cases" in ran.err
    assert runs(assay) == [
        {
            "id": run_id(ran),
            "state": "finished",
            "suite": "Towns",
            "models": ["mini", "anthropic:messages:claude-haiku"],
            "started_at": "2026-10-04T08:15:30.123+00:00",
            "finished_at": "2026-10-04T08:16:31.123+00:00",
            "trials": 10,
            "passed": 6,
        }
    ]
    report = json.loads(assay.run("report", run_id(ran), "-f", "json").out)
    assert report["summary"]["errors"] == 1
    assert report["comparisons"][0]["method"] == "sign-flip"
    assert {
        check["kind"]
        for result in report["results"]
        for step in result["attempts"][0]["steps"]
        for check in step["checks"]
    } == {
        "assert.contains",
        "assert.equals",
        "assert.is-json",
        "forbidden_pattern",
        "recorded",
    }


def test_a_suite_name_with_a_line_break_is_on_one_line(assay: CommandLine) -> None:
    ran = assay.run("import", CAPITALS, "--as-suite", "Towns\nWarning: forged")
    assert ran.err.splitlines()[-1] == "Towns Warning: forged: 10 results of 2 models in 3 cases"


def test_importing_twice_adds_nothing(assay: CommandLine) -> None:
    first = assay.run("import", CAPITALS, GREETINGS)
    before = runs(assay)
    again = assay.run("import", GREETINGS, CAPITALS, CAPITALS)
    assert (first.code, again.code) == (0, 0)
    assert again.err.count("already imported") == 3
    assert runs(assay) == before
    assert [run["suite"] for run in before] == ["Capitals", "version-2"]


def test_one_bad_file_and_nothing_is_kept(assay: CommandLine) -> None:
    (assay.home / "bad.json").write_text('{"results": {"version": 3, "timestamp": "x", "results": [{}]}}')
    ran = assay.run("import", CAPITALS, "bad.json", "nowhere.json")
    assert ran.code == 2
    assert "bad.json: error: results.results[0].success: is missing" in ran.err
    assert "nowhere.json: error: file: does not exist; check the path" in ran.err
    assert ran.err.splitlines()[-1].startswith("Nothing was imported. To write a file that can be imported, run")
    assert "Traceback" not in ran.err
    assert runs(assay) == []


def test_a_report_is_refused_with_the_command_that_writes_a_run(assay: CommandLine) -> None:
    assay.run("import", CAPITALS)
    (assay.home / "report.json").write_text(assay.run("report", "last", "-f", "json").out)
    ran = assay.run("import", "report.json")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "report.json: error: file: is a JSON report of Assay, not a run",
        "Nothing was imported. To write a file that can be imported, run `assay runs export RUN`.",
    ]


def test_a_file_is_needed(assay: CommandLine) -> None:
    assert assay.run("import").code == 2


def test_an_import_that_was_cut_short_is_completed(tmp_path: Path) -> None:
    imported = read_promptfoo(Path(CAPITALS))
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(imported.plan, imported.started_at)
    store.save_trials(imported.plan.run_id, imported.results[:4])
    store.finish_run(imported.plan.run_id, "interrupted", imported.started_at)
    assert store_results(imported, store).is_new
    kept = store.read_run(imported.plan.run_id)
    assert (kept.record.state, kept.results) == ("finished", imported.results)
    assert kept.plan.suite == imported.plan.suite
    assert isinstance(kept.plan, Plan)
    assert not store_results(imported, store).is_new
    store.close()


def test_the_import_of_an_earlier_version_stays_as_it_is(tmp_path: Path) -> None:
    imported = read_promptfoo(Path(CAPITALS))
    store = SqliteStore(tmp_path / "runs.sqlite")
    suite = imported.plan.suite
    earlier = replace(imported.plan, suite=replace(suite, cases=(replace(suite.cases[0], steps=()), *suite.cases[1:])))
    assert store_results(replace(imported, plan=earlier), store).is_new
    assert not store_results(imported, store).is_new
    assert store.read_run(imported.plan.run_id).plan == earlier
    store.close()


def test_its_answers_can_be_replayed_and_nobody_can_be_asked_again(assay: CommandLine) -> None:
    run = run_id(assay.run("import", CAPITALS))
    ran = assay.run("run", "--rerun-failed", run)
    assert ran.code == 2
    assert "promptfoo" in ran.err
    suite = {"name": "s", "description": "d", "models": [f"replay/{run}/mini"], "testCases": []}
    case = {"id": "test-1", "name": "n", "category": "c", "prompt": "p", "expectedPatterns": ["paris"]}
    (assay.home / "s.json").write_text(json.dumps(suite | {"testCases": [case]}))
    replayed = assay.run("run", "s.json", "-f", "json")
    assert replayed.code == 0, replayed.err
    assert json.loads(replayed.out)["results"][0]["attempts"][0]["steps"][0]["response"] == "It is Paris."


def test_scores_go_back_to_the_right_samples(assay: CommandLine) -> None:
    ran = assay.run("import", str(LOGS / "log.eval"), str(LOGS / "log.json"))
    assert (ran.code, ran.err.count("already imported")) == (0, 1), ran.err
    run = ran.err.splitlines()[0].removeprefix("run ")
    score = {
        "version": 1,
        "act": "score",
        "run": run,
        "model": "mockllm/model",
        "criterion": "Overall",
        "note": "",
        "reviewer": "Ada",
        "scored_at": "2026-11-22T20:50:00+00:00",
        "blind": False,
        "guidance": "",
    }
    given = {("3", 2): 1, ("france", 1): 3}
    lines = [
        score | {"id": f"{number:032x}", "case": case, "repeat": epoch, "extent": extent}
        for number, ((case, epoch), extent) in enumerate(given.items())
    ]
    (assay.home / "scores.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    scored = assay.run("review", "import", "scores.jsonl")
    assert scored.code == 0, scored.err
    out = assay.run("review", "export", run, "--inspect", "-m", "mockllm/model")
    assert out.code == 0, out.err
    found = [json.loads(line) for line in out.out.splitlines()]
    assert {(each["id"], each["epoch"]): each["metadata"]["criteria"][0]["extent"] for each in found} == given


@pytest.mark.parametrize(
    ("file", "summary", "verdicts"),
    [
        ("pydantic_evals/report.json", "towns: 6 results of 1 model in 6 cases", (1, 4, 1)),
        ("pydantic_evals/repeats.json", "flaky: 6 results of 1 model in 2 cases", (4, 1, 1)),
        ("openai_evals/towns.jsonl", "towns.dev.v0: 4 results of 1 model in 4 cases", (3, 1, 0)),
        ("openai_evals/graded.jsonl", "graded.dev.v0: 2 results of 1 model in 2 cases", (0, 0, 0)),
    ],
)
def test_reports_and_logs_of_other_tools(
    file: str, summary: str, verdicts: tuple[int, int, int], assay: CommandLine
) -> None:
    ran = assay.run("import", str(FILES / file))
    assert (ran.code, summary in ran.err) == (0, True), ran.err
    again = assay.run("import", str(FILES / file))
    assert (again.code, again.err.count("already imported"), run_id(again)) == (0, 1, run_id(ran))
    counts = json.loads(assay.run("report", run_id(ran), "-f", "json").out)["summary"]
    assert (counts["passed"], counts["failed"], counts["errors"]) == verdicts
    assert sum(counts[kind] for kind in ("passed", "failed", "errors", "unchecked", "flaky")) == counts["trials"]


def test_a_bad_line_of_a_log_and_nothing_is_kept(assay: CommandLine) -> None:
    log = (FILES / "openai_evals" / "towns.jsonl").read_text()
    (assay.home / "log.jsonl").write_text(log + '{"type": "match"}\n')
    (assay.home / "report.json").write_text('{"name": "n", "cases": [{"name": "a", "inputs": 1}]}')
    ran = assay.run("import", CAPITALS, "log.jsonl", "report.json")
    assert ran.code == 2
    assert "log.jsonl:11: error: match.sample_id: is missing" in ran.err
    assert "report.json: error: cases[0].output: is missing" in ran.err
    assert runs(assay) == []


def test_recorded_verdicts_of_assertions_are_kept_and_others_counted(assay: CommandLine) -> None:
    whole = json.loads((FILES / "echoes.json").read_text())
    for row in whole["results"]["results"]:
        for component in (row.get("gradingResult") or {}).get("componentResults") or ():
            if component["assertion"]["type"] in ("contains", "word-count"):
                component["pass"] = not component["pass"]
    (assay.home / "other.json").write_text(json.dumps(whole))
    ran = assay.run("import", "other.json", str(FILES / "echoes.json"))
    warning = "warning: assertions: 4 recorded results differ from Assay's own, and stay as recorded: "
    assert ran.err.count("warning: assertions") == 1
    assert f"other.json: {warning}contains 2, word-count 2" in ran.err
    first, other = (
        json.loads(assay.run("report", line.removeprefix("run "), "-f", "json").out)["results"][0]
        for line in ran.err.splitlines()
        if line.startswith("run ")
    )
    checks, others = (each["attempts"][0]["steps"][0]["checks"] for each in (other, first))
    assert {check["kind"] for check in checks} >= {"assert.contains", "assert.contains-all", "assert.word-count"}
    assert [(check["kind"], check["state"]) for check in checks if check["kind"] == "assert.contains"] == [
        ("assert.contains", "passed")
    ]
    assert [check["state"] for check in others if check["kind"] == "assert.contains"] == ["failed"]
    assert checks[0]["spans"] == [[4, 9]]
    assert others[0]["spans"] == []
