"""`assay plan` and `--margin`, on the command line as a person types them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.kept_runs import make_case, make_plan, make_result
from tui.statistics.power import mcnemar_power, plan_cases
from tui.store.sqlite import SqliteStore

STARTED, FINISHED = "2026-11-20T10:15:00.000+00:00", "2026-11-20T10:16:30.500+00:00"


def planned(assay: CommandLine, *arguments: str) -> dict[str, Any]:
    done = assay.run("plan", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    assert list(found) == ["cases", "difference", "discordance", "power", "alpha"]
    return found


def kept_run(home: Path, models: tuple[str, ...] = ("a", "b"), cases: int = 40, clusters: int = 0) -> str:
    """A run in which the first model alone passes a quarter of the cases, and the last one alone a tenth."""
    made = [make_case(f"case-{at}") for at in range(cases)]
    made = [replace(case, cluster=f"c{at % clusters}") for at, case in enumerate(made)] if clusters else made
    plan = make_plan(made, models)
    (home / "assay_data_dir").mkdir(exist_ok=True)
    store = SqliteStore(home / "assay_data_dir" / "runs.sqlite")
    store.begin_run(plan, STARTED)
    results = []
    for key in plan.trials:
        at = int(key.case.removeprefix("case-"))
        only = "a" if at % 4 == 0 else models[-1] if at % 10 == 1 else None
        results.append(make_result(key, "passed" if only in (None, key.model) else "failed"))
    store.save_trials(plan.run_id, results)
    store.finish_run(plan.run_id, "finished", FINISHED)
    store.close()
    return plan.run_id


def test_how_many_cases_a_difference_takes(assay: CommandLine) -> None:
    found = planned(assay, "--difference", "0.15", "--discordance", "0.3")
    assert found["cases"] == plan_cases(0.15, 0.3).cases
    assert 0.8 == found["power"] <= mcnemar_power(int(found["cases"]), 0.15, 0.3)
    words = assay.run("plan", "--difference", "0.15", "--discordance", "0.3").out
    assert words.startswith(f"{found['cases']} cases detect a difference of 15 points with at least 80% power, if the")


def test_differences_below_a_point_are_not_rounded_away(assay: CommandLine) -> None:
    for difference, words in (("0.00025", "0.025"), ("0.0049", "0.49"), ("0.01", "1"), ("0.0125", "1.2")):
        asked = assay.run("plan", "--cases", "2000", "--difference", difference, "--discordance", difference)
        assert f"detect a difference of {words} points" in asked.out
    assert (
        "differ on 0.049% of"
        in assay.run("plan", "--cases", "9", "--difference", "1e-5", "--discordance", "0.00049").out
    )


def test_which_difference_some_cases_show(assay: CommandLine) -> None:
    found = planned(assay, "--cases", "60", "--discordance", "0.25", "--power", "0.9")
    assert mcnemar_power(60, found["difference"], 0.25) == pytest.approx(0.9, abs=1e-4)
    both = planned(assay, "--cases", "60", "--difference", "0.2", "--discordance", "0.25")
    assert both["power"] == mcnemar_power(60, 0.2, 0.25)
    few = planned(assay, "--cases", "5")
    assert (few["cases"], few["difference"]) == (5, None)
    assert "5 cases cannot detect any difference" in assay.run("plan", "--cases", "5").out


def test_a_run_tells_how_often_models_differ(assay: CommandLine) -> None:
    run = kept_run(assay.home)
    report = json.loads(assay.run("report", run, "-f", "json").out)
    (pair,) = report["comparisons"]
    found = planned(assay, "--run", run)
    assert found["cases"] == 40
    assert found["discordance"] == (pair["wins"] + pair["losses"]) / 40
    assert found["difference"] == pair["detectable"], "the report says the same"
    text = assay.run("report", run).out
    assert f"detectable difference with these cases: {round(100 * pair['detectable'])} points (80% power)" in text
    more = planned(assay, "--run", run, "--difference", "0.1")
    assert more["cases"] == plan_cases(0.1, found["discordance"]).cases > 40


def test_the_cases_of_a_cluster_count_as_one(assay: CommandLine) -> None:
    run = kept_run(assay.home, clusters=5)
    (pair,) = json.loads(assay.run("report", run, "-f", "json").out)["comparisons"]
    found = planned(assay, "--run", run)
    assert (pair["detectable"], found["difference"], found["cases"]) == (None, None, 5)
    assert "Note: The cases of a cluster count as one case." in assay.run("plan", "--run", run).err


def test_a_run_of_several_models_is_planned_for_all_pairs(assay: CommandLine) -> None:
    run = kept_run(assay.home, ("a", "b", "c"))
    pairs = json.loads(assay.run("report", run, "-f", "json").out)["comparisons"]
    found = planned(assay, "--run", run)
    assert found["alpha"] == pytest.approx(0.05 / 3)
    assert found["difference"] in [pair["detectable"] for pair in pairs]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to plan"),
        (["--difference", "0.4", "--discordance", "0.3"], "is larger than the discordance 0.3"),
        (["--difference", "0"], "the difference is 0"),
        (["--difference", "nan"], "the difference is nan"),
        (["--difference", "-0.1"], "the difference is -0.1"),
        (["--difference", "0.1", "--discordance", "1.1"], "the discordance is 1.1"),
        (["--difference", "0.1", "--power", "1"], "the power is 1"),
        (["--difference", "0.0001", "--discordance", "0.5"], "more than 100,000 cases"),
        (["--cases", "0"], "the number of cases is 0"),
        (["--cases", "many"], "not a valid integer"),
        (["--run", "nothing"], "nothing"),
    ],
)
def test_what_cannot_be_planned_is_bad_input(assay: CommandLine, arguments: list[str], message: str) -> None:
    done = assay.run("plan", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_models_are_equivalent_within_a_margin(assay: CommandLine) -> None:
    run = kept_run(assay.home)

    def concluded(*arguments: str) -> tuple[str, float | None]:
        (pair,) = json.loads(assay.run("report", run, "-f", "json", *arguments).out)["comparisons"]
        return pair["conclusion"], pair["margin"]

    assert concluded() == ("no_difference_shown", None)
    assert concluded("--margin", "0.1") == ("no_difference_shown", 0.1)
    assert concluded("--margin", "0.5") == ("equivalent", 0.5)
    text = assay.run("report", run, "--margin", "0.5").out
    assert "equivalent within ±50 points" in text
    assert "no difference shown" not in text.lower()
    for margin in ("0", "1.5", "nan", "-1"):
        done = assay.run("report", run, "-f", "json", "--margin", margin)
        assert (done.code, done.out) == (2, "")
        assert "--margin is" in done.err
