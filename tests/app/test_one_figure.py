"""One run on the screen, in Markdown, HTML, CSV, JUnit and JSON: each figure has one value."""

import csv
import io
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.app.explore.explored import explored
from tests.app.matrix.test_screen import heads_of, session_with_history
from tests.support.kept_runs import keep, make_case, make_plan, make_step
from tui.app.figures_screen import FiguresScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView
from tui.model.results import Attempt, StepResult, Timing, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import KeptRun, ReportFormat
from tui.model.suite import Case
from tui.reports.render import render_report
from tui.store.sqlite import SqliteStore

MODELS = ("alpha", "beta", "gamma")
CATEGORIES = ("Security", "Refactoring", "Bug Fixing", "Explanation")
REPEATS = 3
CHANCES = {"alpha": 0.85, "beta": 0.6, "gamma": 0.8}
COUNTS = ("trials", "passed", "failed", "errors", "flaky", "unchecked")


def cases(clustered: bool) -> list[Case]:
    """Forty cases in four categories; the last four have no check. `clustered`: every second category is made from
    templates, three cases each."""
    made = []
    for at in range(40):
        case = make_case(f"case-{at:02}", category=CATEGORIES[at % 4])
        if at >= 36:
            case = replace(case, steps=tuple(replace(step, checks=()) for step in case.steps))
        if clustered and at % 2:
            case = replace(case, cluster=f"template-{at // 6}")
        made.append(case)
    return made


def answer(dice: random.Random, passed: bool, checked: bool) -> StepResult:
    step = make_step(check="passed" if passed else "failed")
    return replace(
        step,
        checks=step.checks if checked else (),
        usage=Usage(dice.randint(20, 200), dice.randint(30, 400), None),
        timing=Timing(float(dice.randint(80, 900)), float(dice.randint(1_000, 30_000))),
        cost_usd=dice.randint(1, 400) / 10_000,
    )


def ending(dice: random.Random, case: Case, key: TrialKey, hardness: dict[str, float]) -> TrialResult:
    """A trial that passed, failed, was flaky, unchecked, an error, cut off or timed out; some were run again."""

    def attempt(number: int, verdict: Verdict, asking: int = 0) -> Attempt:
        reason = None if verdict in ("passed", "failed", "unchecked") else f"it ended as {verdict}"
        step = answer(dice, verdict == "passed", case.is_checked)
        return Attempt(number, verdict, reason, (step,), "2026-11-20T10:15:00.000+00:00", 99_999.0, asking)

    roll, luck = dice.random(), dice.random() * 0.5 + hardness[case.id] * 0.5
    if roll < 0.06:
        verdict: Verdict = dice.choice(("error", "incomplete", "timed_out"))
    elif not case.is_checked:
        verdict = "unchecked"
    else:
        verdict = "passed" if luck < CHANCES[key.model] else "failed"
    attempts = [attempt(1, verdict)]
    flaky = False
    if verdict == "failed" and dice.random() < 0.2:
        attempts.append(attempt(2, "passed"))
        flaky, verdict = True, "passed"
    elif verdict == "failed" and dice.random() < 0.3:
        attempts.append(attempt(1, "passed", 1))  # a person asked again, and it passed: it counts as failed
        verdict = "passed"
    elif verdict in ("error", "incomplete", "timed_out") and dice.random() < 0.5:
        verdict = "passed" if case.is_checked else "unchecked"
        attempts.append(attempt(1, verdict, 1))
    return TrialResult(key, verdict, flaky, attempts[-1].error, tuple(attempts))


def varied_run(folder: Path, clustered: bool) -> KeptRun:
    dice = random.Random(20_261_122)
    suite = cases(clustered)
    hardness = {case.id: dice.random() for case in suite}
    plan = make_plan(suite, MODELS, repeats=REPEATS, path=str(folder / "kept.yaml"))
    by_id = {case.id: case for case in suite}
    return keep(plan, [ending(dice, by_id[key.case], key, hardness) for key in plan.trials])


class Tables(HTMLParser):
    """The rows of all tables of a page, as lists of texts; drawings are left out."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self._cell = self._chart = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._chart = ("class", "chart") in attrs
            self._cell = not self._chart
            if self._cell:
                self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.rows[-1][-1] += data


def rows_of(kept: KeptRun, format: ReportFormat) -> list[list[str]]:
    text = render_report(kept, format)
    if format == "html":
        return [[" ".join(cell.split()) for cell in row] for row in Tables(text).rows]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[unescape(re.sub(r"[*\\]", "", cell)).strip() for cell in line.strip("|").split("|")] for line in lines]


def after(rows: list[list[str]], head: str, name: str) -> list[str]:
    """The row `name` of the first table whose head has a cell `head`."""
    start = next(at for at, row in enumerate(rows) if head in row)
    return next(row for row in rows[start + 1 :] if row[0] == name)


def percent(share: float) -> str:
    return f"{share:.0%}"


def span(interval: list[float]) -> str:
    return f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}"


def points(share: float) -> str:
    return f"{round(100 * share):+d}".replace("-", "−") if round(100 * share) else "0"


def seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s"


@pytest.fixture(params=[False, True], ids=["cases", "clusters"])
def kept(tmp_path: Path, request: pytest.FixtureRequest) -> KeptRun:
    return varied_run(tmp_path, bool(request.param))


@pytest.fixture
def report(kept: KeptRun) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render_report(kept, "json"))
    return found


def test_the_run_has_everything(report: dict[str, Any]) -> None:
    summary = report["summary"]
    assert all(summary[name] for name in COUNTS)
    assert 0 < summary["reruns"]["passed_since"] <= summary["reruns"]["trials"]
    assert summary["trials"] == 3 * 40 * 3 == sum(summary[name] for name in COUNTS[1:])


def test_json_adds_up_to_its_own_results(report: dict[str, Any]) -> None:
    for model, count in report["summary"]["by_model"].items():
        results = [each for each in report["results"] if each["model"] == model]
        counted = [
            "flaky" if each["flaky"] and each["first_verdict"] == "passed" else each["first_verdict"]
            for each in results
        ]
        assert count["trials"] == len(results)
        for word in ("passed", "failed", "flaky", "unchecked"):
            assert count[word] == counted.count(word)
        effort = report["summary"]["effort"][model]
        for name in ("input_tokens", "output_tokens"):
            assert effort[name] == sum(
                step["usage"][name] for each in results for attempt in each["attempts"] for step in attempt["steps"]
            )
        took = [sum(step["timing"]["duration_ms"] for step in each["attempts"][-1]["steps"]) for each in results]
        assert effort["median_ms"] == median(took)


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_tables_for_people_say_the_same(kept: KeptRun, report: dict[str, Any], format: ReportFormat) -> None:
    rows, summary = rows_of(kept, format), report["summary"]
    for model in MODELS:
        count, effort = summary["by_model"][model], summary["effort"][model]
        row = after(rows, "Pass rate", model)
        assert row[1] == percent(count["passed"] / (count["trials"] - count["unchecked"]))
        assert row[2].rstrip(" †") == span(summary["pass_rate_95"][model]) + "%"
        assert row[3:] == [str(count[name]) for name in COUNTS]
        row = after(rows, "Median time", model)
        assert row[2] == seconds(effort["median_ms"])
        assert row[3] == seconds(effort["p95_ms"])
        assert row[4:6] == [f"{effort[name]:,}" for name in ("input_tokens", "output_tokens")]
        assert row[6] == f"${summary['cost_usd'][model]:,.2f}"
        repeats = summary["repeats"][model]
        row = after(rows, "Mixed cases", model)
        assert row[2:] == [
            percent(repeats[name]["1"]) for name in ("pass_at_k", "pass_hat_k")
        ] + [percent(repeats["flake_rate"])]  # fmt: skip
    for category, count in summary["by_category"].items():
        assert after(rows, "Category", category)[1:] == [str(count[name]) for name in COUNTS]
        row = after(rows, "Pass rate, 95% interval", category)
        for cell, model in zip(row[1:], MODELS, strict=True):
            part = summary["by_category_and_model"][category][model]
            checked = part["trials"] - part["unchecked"]
            assert cell.replace(" †", "") == (
                f"{percent(part['pass_rate'])} {span(part['pass_rate_95'])}% ({part['passed']}/{checked})"
            )
    for pair in report["comparisons"]:
        row = next(row for row in rows if row[:2] == [pair["a"], pair["b"]])
        assert row[3:6] == [str(pair[name]) for name in ("wins", "losses", "ties")]
        assert row[6] == f"{points(pair['difference'])} points"
        low, high = pair["difference_95"]
        assert row[7] in (f"{points(low)} to {points(high)}", f"above 0 to {points(high)}", f"{points(low)} to below 0")
        assert (float(row[8].lstrip("< ")), float(row[9].lstrip("< "))) == pytest.approx(
            (max(pair["p_value"], 0.001), max(pair["p_holm"], 0.001)), abs=0.005
        )
        conclusions = {"a_better": f"{pair['a']} does better", "b_better": f"{pair['b']} does better"}
        shown = f"no difference shown: detectable difference with these cases: {round(100 * pair['detectable'])} points"
        assert row[2].startswith(conclusions.get(pair["conclusion"], shown))


def test_csv_holds_the_same(kept: KeptRun, report: dict[str, Any]) -> None:
    table = [*csv.DictReader(io.StringIO(render_report(kept, "csv")))]
    for model in MODELS:
        rows = [row for row in table if row["model"] == model]
        count, effort = report["summary"]["by_model"][model], report["summary"]["effort"][model]
        assert len(rows) == count["trials"]
        for word in ("passed", "failed", "unchecked"):
            assert count[word] == sum(row["first_verdict"] == word and row["flaky"] == "false" for row in rows)
        assert count["flaky"] == sum(row["flaky"] == "true" for row in rows)
        for name in ("input_tokens", "output_tokens"):
            assert effort[name] == sum(int(row[name]) for row in rows)
        assert effort["median_ms"] == median(float(row["duration_ms"]) for row in rows)
        assert effort["first_token_ms"] == median(float(row["first_token_ms"]) for row in rows)
        assert report["summary"]["cost_usd"][model] == pytest.approx(sum(float(row["cost_usd"]) for row in rows))


def test_junit_holds_the_same(kept: KeptRun, report: dict[str, Any]) -> None:
    root = ElementTree.fromstring(render_report(kept, "junit"))
    for suite, model in zip(root, MODELS, strict=True):
        count = report["summary"]["by_model"][model]
        assert int(suite.get("tests", "")) == count["trials"]
        assert int(suite.get("failures", "")) == count["failed"]
        assert int(suite.get("errors", "")) == count["errors"]
        assert int(suite.get("skipped", "")) == count["unchecked"]
        times = [float(test.get("time", "")) for test in suite.findall("testcase")]
        assert 1000 * median(times) == pytest.approx(report["summary"]["effort"][model]["median_ms"])


async def test_the_screen_shows_the_same(kept: KeptRun, report: dict[str, Any], tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(kept.plan, kept.record.started_at)
    store.save_trials(kept.plan.run_id, kept.results)
    store.finish_run(kept.plan.run_id, "finished", kept.record.finished_at or "")
    summary = report["summary"]
    async with explored(session_with_history(tmp_path), (190, 50)) as seen:
        await seen.screen.open_run(kept.plan.run_id)
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen))
        screen = seen.app.screen
        assert isinstance(screen, MatrixScreen)
        await seen.until(lambda: screen.matrix.statistics.pairs and screen.panel.table.size.height)
        lines = heads_of(screen)
        counts, efforts = ([summary[name][model] for model in MODELS] for name in ("by_model", "effort"))
        assert [*pieces(lines, "passed · 95%")] == [
            part
            for each, model in zip(counts, MODELS, strict=True)
            for part in (
                percent(each["passed"] / (each["trials"] - each["unchecked"])),
                span(summary["pass_rate_95"][model]),
            )
        ]
        assert [*pieces(lines, "flaky · errors")] == [
            str(each[name]) for each in counts for name in ("flaky", "errors")
        ]
        assert [*pieces(lines, "time · p95")] == [
            f"{each[name] / 1000:.1f}" for each in efforts for name in ("median_ms", "p95_ms")
        ]
        assert [*pieces(lines, "TTFT")][::2] == [f"{each['first_token_ms'] / 1000:.2f}" for each in efforts]
        assert [*pieces(lines, "tokens in")] == [
            str(each[name]) for each in efforts for name in ("input_tokens", "output_tokens")
        ]
        assert [*pieces(lines, "cost")] == [f"${summary['cost_usd'][model]:,.2f}" for model in MODELS]
        header = text_of(screen.header.line_for(200))
        for mark, name in (("✓", "passed"), ("✗", "failed"), ("◐", "flaky")):
            assert f"{mark} {summary[name]} {name}" in header
        await seen.press("I")
        await seen.until(lambda: isinstance(seen.app.screen, FiguresScreen))
        listed = seen.app.screen.query_one(LineListView)
        await seen.until(lambda: listed.size.height)
        shown = [listed.render_line(y).text for y in range(len(report["comparisons"]))]
        for line, pair, (a, b) in zip(shown, report["comparisons"], combinations(MODELS, 2), strict=True):
            assert line.split()[:3] == [a, ":", b]
            assert f"{pair['wins']} won · {pair['losses']} lost · {pair['ties']} ties" in line
            assert f"{points(pair['difference'])} points" in line
            low, high = pair["difference_95"]
            interval = f"({points(low)} to {points(high)})".replace("(0 to", "(above 0 to" if low > 0 else "(0 to")
            assert interval in line or "below 0)" in line
            words = {"a_better": f"{a} does better", "b_better": f"{b} does better"}
            assert words.get(pair["conclusion"], "no difference shown") in line


def pieces(lines: list[str], label: str) -> Iterator[str]:
    """The figures in a line of the matrix's head, without units."""
    line = next(line for line in lines if line.startswith(label))
    words = re.split(r"\s+|·", line.removeprefix(label).rstrip("▐").replace(" s", " "))
    return (word for word in words if word and word not in ("tok/s", "out"))
