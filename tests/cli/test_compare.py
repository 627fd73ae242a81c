"""`assay compare` and `assay trend` on the command line, on saved runs and on report files."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.kept_runs import make_case, make_plan, make_result
from tui.model.results import Message, Prompt, TrialResult
from tui.model.run import COMMIT, RunState
from tui.model.suite import Check, CodeContext, RepositoryContext, Step
from tui.model.tools import OfferedTool
from tui.session.run_history import Baselines
from tui.store.sqlite import SqliteStore

STEP = make_case("x").steps[0]
FINISHED = "2026-11-20T10:16:30.500+00:00"
CASES = [f"case-{at:02}" for at in range(40)]


def save_run(
    home: Path,
    number: int,
    failing: Mapping[str, int],
    *,
    state: RunState = "finished",
    repeats: int = 1,
    cases: list[str] = CASES,
    checks: str = "",
    cluster: str = "",
    changes: Mapping[str, Any] = MappingProxyType({}),
    sent: str | Mapping[str, str] = "",
    accepts_truncated: bool = False,
    repository: RepositoryContext | None = None,
    model_id: str = "",
) -> str:
    """Store a run in which each model fails its first cases, as many as `failing` says. Return its id.

    `changes` are those of the first case, `sent` is what all were asked, or each model, if it is not what the suite
    says.
    `model_id` is that of the first model, if its name is an entry of the config file.
    """
    run_id = f"{number:032x}"
    made = [replace(make_case(f"{case}", name=checks), cluster=cluster) for case in cases]
    made[0] = replace(made[0], **changes)
    plan = make_plan(made, list(failing), run_id=run_id, repeats=repeats, path=str(home / "suite.yaml"))
    options = replace(plan.suite.options, accept_truncated=accepts_truncated)
    plan = replace(plan, suite=replace(plan.suite, options=options, repository_context=repository))
    if model_id:
        plan = replace(plan, subjects=(replace(plan.subjects[0], model_id=model_id), *plan.subjects[1:]))
    (home / "assay_data_dir").mkdir(exist_ok=True)
    store = SqliteStore(home / "assay_data_dir" / "runs.sqlite")
    store.begin_run(plan, f"2026-11-{number:02}T10:15:00.000+00:00")
    results = [
        make_result(key, "failed" if cases.index(key.case) < failing[key.model] else "passed") for key in plan.trials
    ]
    texts = dict.fromkeys(failing, sent) if isinstance(sent, str) else sent
    store.save_trials(run_id, [asked(each, texts[each.trial.model]) for each in results] if sent else results)
    store.finish_run(run_id, state, FINISHED)
    store.close()
    return run_id


def asked(result: TrialResult, text: str) -> TrialResult:
    attempt = result.attempts[0]
    step = replace(attempt.steps[0], prompt=Prompt(text, (Message("user", text),)))
    return replace(result, attempts=(replace(attempt, steps=(step,)),))


def compared(assay: CommandLine, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = assay.run("compare", *arguments, "-f", "json")
    assert done.code == code, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_cases_that_broke_and_were_fixed_are_listed_for_each_model(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 2, "b": 9})
    run = save_run(assay.home, 2, {"a": 12, "b": 1})
    found = compared(assay, run, base)
    assert (found["run"], found["base"], list(found["models"])) == (run, base, ["a", "b"])
    a, b = found["models"]["a"], found["models"]["b"]
    assert (a["broke"], a["fixed"], a["same"]) == (CASES[2:12], [], 30)
    assert (b["broke"], b["fixed"], b["same"]) == ([], CASES[1:9], 32)
    assert a["difference"] == pytest.approx(-0.25)
    # Ten cases of ten in one direction: 2 × 0.5^10.
    assert a["p_value"] == pytest.approx(2 * 0.5**10)
    assert a["difference_95"][0] < -0.25 < a["difference_95"][1] < 0
    assert (a["conclusion"], b["conclusion"]) == ("worse", "better")


def test_each_gate_decides_the_exit_code(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 10})
    equal, one, many = (save_run(assay.home, 2 + at, {"a": bad}) for at, bad in enumerate((10, 11, 25)))

    def code(run: str, *gates: str) -> int:
        done = assay.run("compare", run, base, *(part for gate in gates for part in ("--fail-on", gate)))
        assert f"`{run}`" in done.out
        return done.code

    assert [code(run, "broke") for run in (equal, one, many)] == [0, 1, 1]
    assert [code(run, "worse") for run in (equal, one, many)] == [0, 0, 1]
    assert [code(run, "unproven") for run in (equal, one, many)] == [1, 1, 1]
    assert code(many) == 0
    assert code(one, "worse", "broke") == 1
    within = assay.run("compare", one, base, "--fail-on", "unproven", "--margin", "0.2")
    assert within.code == 0, within.err
    beyond = assay.run("compare", one, base, "--fail-on", "unproven", "--margin", "0.05")
    assert (beyond.code, "not shown to be within 5 points" in beyond.err) == (1, True)
    better = assay.run("compare", equal, many, "--fail-on", "unproven")
    assert better.code == 0, better.err


def test_the_base_may_be_a_committed_report_or_the_marked_run(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 0})
    run = save_run(assay.home, 2, {"a": 3})
    assert assay.run("report", base, "-f", "json", "-o", "baseline.json").code == 0
    by_id = compared(assay, run, base)
    assert compared(assay, run, "baseline.json") == by_id
    assert compared(assay, "last", str(assay.home / "baseline.json"), "--fail-on", "broke", code=1) == by_id
    unmarked = assay.run("compare", run, "baseline")
    assert (unmarked.code, "No run of this suite is marked as baseline" in unmarked.err) == (2, True)
    Baselines(assay.home / "assay_data_dir" / "baselines").mark(str(assay.home / "suite.yaml"), base)
    assert compared(assay, run, "baseline") == by_id


def test_clusters_count_alike_in_saved_runs_and_reports(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 0}, cluster="one")
    run = save_run(assay.home, 2, {"a": 40}, cluster="one")
    by_id = compared(assay, run, base, "--fail-on", "worse")
    assert by_id["models"]["a"]["conclusion"] == "not_enough_data"
    for name, id in (("base.json", base), ("run.json", run)):
        assert assay.run("report", id, "-f", "json", "-o", name).code == 0
    for pair in (("run.json", "base.json"), ("run.json", base), (run, "base.json")):
        assert compared(assay, *pair, "--fail-on", "worse") == by_id
    # Reports of earlier versions do not contain clusters.
    old = json.loads((assay.home / "run.json").read_text())
    for result in old["results"]:
        for key in ("checked", "case_sha256", "cluster"):
            del result[key]
    (assay.home / "run.json").write_text(json.dumps(old))
    assert compared(assay, "run.json", base, "--fail-on", "worse") == by_id


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": (Step("Say no."),)},
        {"steps": (replace(STEP, checks=(Check("assert.rouge-n", "a", "a", 0.1),)),)},
        {"steps": (replace(STEP, checks=(Check("assert.is-json", "x" * 1000, {"y": "x" * 1000}),)),)},
        {"system_message": "Be brief."},
        {"tools": (OfferedTool("search", result="rain"),)},
    ],
    ids=str,
)
def test_cases_with_another_prompt_or_other_checks_are_listed_of_reports_too(
    assay: CommandLine, changes: dict[str, Any]
) -> None:
    base = save_run(assay.home, 1, {"a": 0})
    run = save_run(assay.home, 2, {"a": 1}, changes=changes)
    for name, id in (("base.json", base), ("run.json", run)):
        assert assay.run("report", id, "-f", "json", "-o", name).code == 0
    for pair in ((run, base), ("run.json", "base.json"), ("run.json", base), (run, "base.json")):
        assert compared(assay, *pair)["changed_cases"] == CASES[:1]
    assert "differ from the base: `case-00`\n" in assay.run("compare", run, "base.json").out
    assert compared(assay, "run.json", "run.json")["changed_cases"] == []


@pytest.mark.parametrize(
    "before", [{"accepts_truncated": True}, {"repository": RepositoryContext("src", include_files=("*.py",))}], ids=str
)
def test_cases_of_a_suite_that_judges_or_sends_something_else_are_listed_and_not_broken_in_a_trend(
    assay: CommandLine, before: dict[str, Any]
) -> None:
    base = save_run(assay.home, 1, {"a": 0}, **before)
    run = save_run(assay.home, 2, {"a": 1})
    assert assay.run("report", base, "-f", "json", "-o", "base.json").code == 0
    for name in (base, "base.json"):
        assert compared(assay, run, name)["changed_cases"] == CASES
    assert json.loads(assay.run("trend", "suite.yaml", "-f", "json").out)["a"]["broken"] == []


def test_cases_whose_files_changed_are_listed_of_reports_too(assay: CommandLine) -> None:
    changes = {"code_context": (CodeContext("f.txt"),)}
    texts = ("version one", "version two", "version two")
    base, run, same = (
        save_run(assay.home, number, {"a": 1}, changes=changes, sent=text) for number, text in enumerate(texts, 1)
    )
    for name, id in (("base.json", base), ("run.json", run)):
        assert assay.run("report", id, "-f", "json", "-o", name).code == 0
    for pair in ((run, base), ("run.json", "base.json"), ("run.json", base), (run, "base.json")):
        assert compared(assay, *pair)["changed_cases"] == CASES
    assert compared(assay, same, "run.json")["changed_cases"] == []


def test_recorded_answers_in_the_same_run_hide_no_files_that_changed(assay: CommandLine) -> None:
    changes = {"code_context": (CodeContext("f.txt"),)}
    base = save_run(assay.home, 1, {"a": 0}, changes=changes, sent="version one")
    replay = f"replay/{base}/a"
    sent = {replay: "version one", "a": "version two"}
    run = save_run(assay.home, 2, {replay: 0, "a": 1}, changes=changes, sent=sent)
    for name, id in (("base.json", base), ("run.json", run)):
        assert assay.run("report", id, "-f", "json", "-o", name).code == 0
    for pair in ((run, base), ("run.json", "base.json"), ("run.json", base), (run, "base.json")):
        assert compared(assay, *pair)["changed_cases"] == CASES
    assert json.loads(assay.run("trend", "suite.yaml", "-m", "a", "-f", "json").out)["a"]["broken"] == []


def test_an_error_of_a_case_without_a_check_is_in_no_rate_of_a_report(assay: CommandLine) -> None:
    cases = [make_case("a"), replace(make_case("free"), steps=(Step("Ask."),))]
    plan = make_plan(cases, ["m"], run_id=f"{1:032x}")
    store = SqliteStore(assay.home / "assay_data_dir" / "runs.sqlite")
    store.begin_run(plan, "2026-11-21T10:15:00.000+00:00")
    store.save_trials(plan.run_id, [make_result(plan.trials[0]), make_result(plan.trials[1], "error")])
    store.finish_run(plan.run_id, "finished", FINISHED)
    store.close()
    assert assay.run("report", "last", "-f", "json", "-o", "base.json").code == 0
    by_report, by_id = compared(assay, "last", "base.json"), compared(assay, "last", plan.run_id)
    assert by_report == by_id
    assert (by_id["models"]["m"]["base_pass_rate"], by_id["models"]["m"]["missing"]) == (1.0, [])


def test_another_commit_of_the_repository_is_named(assay: CommandLine) -> None:
    runs = [save_run(assay.home, number, {"b": number - 1}) for number in (1, 2, 3)]
    store = SqliteStore(assay.home / "assay_data_dir" / "runs.sqlite")
    for run, commit in zip(runs[1:], ("a" * 40, "b" * 40), strict=True):
        store.add_versions(run, {COMMIT: commit})
    store.close()
    assert assay.run("report", runs[1], "-f", "json", "-o", "base.json").code == 0
    for base in (runs[1], "base.json"):
        found = compared(assay, runs[2], base)
        assert (found["commit"], found["base_commit"]) == ("b" * 40, "a" * 40)
        assert f"may differ: `{'b' * 40}`, in the base `{'a' * 40}`" in assay.run("compare", runs[2], base).out
    assert compared(assay, runs[2], runs[0])["base_commit"] is None
    for base in (runs[0], runs[2]):
        assert "commit" not in assay.run("compare", runs[2], base).out


def test_names_that_stand_for_other_models_are_listed_and_not_broken_in_a_trend(assay: CommandLine) -> None:
    first = save_run(assay.home, 1, {"warm": 0, "b": 0}, model_id="model-1")
    same = save_run(assay.home, 2, {"warm": 0, "b": 1}, model_id="model-1")
    run = save_run(assay.home, 3, {"warm": 3, "b": 1}, model_id="model-2")
    for name, id in (("base.json", first), ("run.json", run)):
        assert assay.run("report", id, "-f", "json", "-o", name).code == 0
    for pair in ((run, first), (run, "base.json"), ("run.json", "base.json")):
        assert compared(assay, *pair)["changed_models"] == ["warm"]
    assert compared(assay, same, "base.json")["changed_models"] == []
    assert "These names stand for other models or settings than in the base: `warm`" in (
        assay.run("compare", run, first).out
    )
    trend = json.loads(assay.run("trend", "suite.yaml", "-f", "json").out)
    assert ([each["case"] for each in trend["b"]["broken"]], trend["warm"]["broken"]) == (CASES[:1], [])
    assert [point["redefined"] for point in trend["warm"]["runs"]] == [True, True, False]
    text = assay.run("trend", "suite.yaml", "-m", "warm").out
    assert (text.count(" ≠ |"), "In the runs marked ≠" in text) == (2, True)
    assert "≠" not in assay.run("trend", "suite.yaml", "-m", "b").out


def test_repeats_may_be_better_or_worse_without_breaking(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 0}, repeats=2)
    plan = make_plan([make_case(case) for case in CASES], ["a"], run_id=f"{2:032x}", repeats=2)
    store = SqliteStore(assay.home / "assay_data_dir" / "runs.sqlite")
    store.begin_run(plan, "2026-11-21T10:15:00.000+00:00")
    half = [make_result(key, "failed" if key.case == CASES[0] and key.repeat == 1 else "passed") for key in plan.trials]
    flaky = [make_result(each.trial, flaky=True) if each.trial.case == CASES[1] else each for each in half]
    store.save_trials(plan.run_id, flaky)
    store.finish_run(plan.run_id, "finished", FINISHED)
    store.close()
    found = compared(assay, plan.run_id, base, "--fail-on", "broke")["models"]["a"]
    assert (found["broke"], found["worse"], found["same"]) == ([], CASES[:2], 38)
    back = compared(assay, base, plan.run_id)["models"]["a"]
    assert (back["better"], back["fixed"]) == (CASES[:2], [])


def test_a_run_that_is_not_finished_passes_no_gate(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 0})
    run = save_run(assay.home, 2, {"a": 0}, state="interrupted")
    found = compared(assay, run, base)["models"]["a"]
    assert (found["p_value"], found["difference_95"], found["interim"]) == (None, None, True)
    done = assay.run("compare", run, base, "--fail-on", "broke")
    assert done.code == 2
    assert f"assay run --resume {run}" in done.err


def test_cases_of_one_run_only_are_named(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 0})
    run = save_run(assay.home, 2, {"a": 0}, cases=[*CASES[5:], "new"], checks="other")
    found = compared(assay, run, base)["models"]["a"]
    assert (found["missing"], found["added"], found["same"]) == (CASES[:5], ["new"], 35)
    text = assay.run("compare", run, base).out
    assert "No checked result in the run: `case-00`, `case-01`" in text


def test_markdown_says_that_the_difference_counts_fewer_cases_than_the_rates(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a": 20})
    run = save_run(assay.home, 2, {"a": 5}, cases=CASES[20:])
    text = assay.run("compare", run, base).out
    assert "| a | 50.0% | 75.0% | −25 points" in text
    note = "Difference, p-value and conclusion count only the cases that have results in both runs."
    assert note in text
    assert note not in assay.run("compare", run, run).out


def test_markdown_has_a_row_for_each_model(assay: CommandLine) -> None:
    base = save_run(assay.home, 1, {"a|b": 0, "c": 4, "only-base": 1})
    run = save_run(assay.home, 2, {"a|b": 30, "c": 4, "only-run": 1})
    out = assay.run("compare", run, base, "-o", "change")
    assert (out.code, out.out) == (0, "")
    text = (assay.home / "change.md").read_text(encoding="utf-8")
    assert "| a\\|b | 100.0% | 25.0% | −75 points" in text
    assert "the base does better" in text
    assert "| c | 90.0% | 90.0% |" in text
    assert "### a\\|b\n\n- Broke: `case-00`" in text
    assert "and 10 more" in text
    assert "Only in one of the runs, not compared: `only-run`, `only-base`" in text


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [("runs.sqlite", True), ("filters.json", True), ("scores/x/a.json", True), ("runs.md", False), ("mine.md", False)],
)
def test_no_report_replaces_a_file_of_assay(assay: CommandLine, name: str, is_refused: bool) -> None:
    run = save_run(assay.home, 1, {"a": 0})
    file = assay.home / "assay_data_dir" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if name != "runs.sqlite":
        file.write_text("before")
    before = file.read_bytes()
    for command in (("report", run), ("compare", run, run)):
        link = assay.home / "link.md"
        link.unlink(missing_ok=True)
        link.symlink_to(file)
        for target in (str(file), "link.md"):
            done = assay.run(*command, "-o", target)
            assert (done.code, "keeps its own data" in done.err) == ((2, True) if is_refused else (0, False)), done.err
    assert (file.read_bytes() == before) is is_refused


@pytest.mark.parametrize("name", ["new/../runs.sqlite", "consents.json", "packets/a.json"])
def test_no_report_becomes_a_file_of_assay_before_there_is_one(assay: CommandLine, name: str) -> None:
    run = save_run(assay.home, 1, {"a": 0})
    done = assay.run("report", run, "-o", str(assay.home / "assay_data_dir" / name))
    assert (done.code, "keeps its own data" in done.err) == (2, True), done.err
    assert assay.run("report", run).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["last"], "Missing argument"),
        (["last", "nothing"], "nothing"),
        (["last", "missing.json"], "missing.json"),
        (["last", "bad.json"], "bad.json"),
        (["last", "list.json"], "The report holds several runs"),
        (["last", "last", "--margin", "2"], "--margin is 2"),
        (["last", "other.json"], "no model in common"),
        (["other.json", "baseline"], "Only a saved run has a baseline"),
    ],
)
def test_what_cannot_be_compared_is_bad_input(assay: CommandLine, arguments: list[str], message: str) -> None:
    save_run(assay.home, 1, {"a": 0})
    (assay.home / "bad.json").write_text('{"version": 1, "run": 5}')
    (assay.home / "list.json").write_text("[]")
    report = {"version": 1, "run": {"id": "x", "state": "finished"}, "suite": {"name": "s"}, "results": []}
    (assay.home / "other.json").write_text(json.dumps(report))
    done = assay.run("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_trend_names_the_run_in_which_a_case_broke(assay: CommandLine) -> None:
    runs = [save_run(assay.home, 1 + at, {"a": bad, "b": 1}) for at, bad in enumerate((0, 0, 2, 3))]
    save_run(assay.home, 9, {"b": 1}, state="interrupted")
    found = json.loads(assay.run("trend", "suite.yaml", "-f", "json").out)
    assert [point["run"] for point in found["a"]["runs"]] == runs
    assert [point["pass_rate"] for point in found["a"]["runs"]] == [1.0, 1.0, 0.95, 0.925]
    assert found["b"]["runs"][-1]["finished"] is False
    low, high = found["a"]["runs"][-1]["pass_rate_95"]
    report = json.loads(assay.run("report", runs[-1], "-f", "json").out)
    assert [low, high] == report["summary"]["pass_rate_95"]["a"]
    broken = {each["case"]: each for each in found["a"]["broken"]}
    assert list(broken) == CASES[:3]
    assert broken[CASES[0]] == {
        "case": CASES[0],
        "passed_in": runs[1],
        "broke_in": runs[2],
        "failed_runs": 2,
    }
    assert broken[CASES[2]]["broke_in"] == runs[3]
    # A case that never passed is not broken.
    assert found["b"]["broken"] == []
    text = assay.run("trend", "suite.yaml", "--models", "a").out
    assert "## a" in text
    assert "## b" not in text
    assert f"| case-00 | {runs[2]} | {runs[1]} | 2 |" in text  # which no shorter prefix distinguishes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["other.yaml"], "No saved run of this suite"),
        (["suite.yaml", "-m", "z"], "No checked result of z"),
        (["suite.yaml", "-m", ""], "--models has no value"),
    ],
)
def test_a_trend_without_runs_is_bad_input(assay: CommandLine, arguments: list[str], message: str) -> None:
    save_run(assay.home, 1, {"a": 0})
    done = assay.run("trend", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_trend_of_runs_without_a_checked_result_is_bad_input(assay: CommandLine) -> None:
    save_run(assay.home, 1, {}, state="interrupted")
    done = assay.run("trend", "suite.yaml")
    assert (done.code, done.out) == (2, "")
    assert "No run of this suite has a checked result" in done.err
