"""Each format is read back, with hostile text in every field."""

import base64
import csv
import hashlib
import html
import io
import json
import re
from dataclasses import replace
from functools import partial
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.reports.pages import Page
from tests.reports.whole_report import build_report
from tests.support.kept_runs import (
    HOSTILE,
    RUN_ID,
    STARTED,
    hostile_result,
    hostile_run,
    keep,
    large_run,
    make_case,
    make_plan,
    make_result,
    make_step,
    priced_run,
    small_run,
)
from tests.support.reviewed_runs import act, hostile_review, review
from tests.support.work import is_linear
from tui.model.errors import ReportError
from tui.model.results import Attempt, CheckResult, NotApplied, ServedBy, ToolUse, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import KeptRun, ReportFormat
from tui.model.sanitize import sanitize_text
from tui.reports.markdown import inline
from tui.reports.render import render_report, render_reports

A, B = "openai/mock-a", "local/mock-b"
PEOPLE: tuple[ReportFormat, ...] = ("markdown", "html", "csv", "junit")
FORMATS: tuple[ReportFormat, ...] = ("json", *PEOPLE)
HARMLESS = "h" * len(HOSTILE)
UNSEEN = (
    "".join(
        map(
            chr,
            [*range(1, 9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), 0xAD, 0x200B, 0x202E, 0x2028, 0xD800, 0xFDD0],
        )
    )
    + "a\ufe0f\ufff0\ufffe\U0001ffff\U000e0041"
)
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def whole(kept: KeptRun, format: ReportFormat) -> str:
    return render_report(kept, format, responses=True, timestamps=True, risk_analysis=True)


def hostile(format: ReportFormat, text: str = HOSTILE) -> str:
    reviewed = hostile_review(text)
    return render_report(
        hostile_run(text), format, responses=True, timestamps=True, risk_analysis=True, reviewed=reviewed
    )


@pytest.mark.parametrize("format", FORMATS)
def test_what_no_format_can_represent_is_one_sentence(format: ReportFormat) -> None:
    kept = small_run()
    broken = replace(kept, results=(replace(kept.results[0], trial=None), *kept.results[1:]))  # type: ignore[arg-type]
    with pytest.raises(ReportError, match=rf"^Cannot render the {format} report \(\w+Error: .+\)\. The run is saved"):
        render_report(broken, format)


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_text_leaves_as_utf8_without_controls(format: ReportFormat) -> None:
    text = hostile(format)
    text.encode("utf-8")
    assert CONTROLS.findall(text) == []
    assert text.endswith("\n")


@pytest.mark.parametrize("format", [*FORMATS, "inspect"])
def test_no_character_of_a_report_is_invisible(format: ReportFormat) -> None:
    text = hostile(format, UNSEEN)
    assert sanitize_text(text).replace("\r\n", "\n") == text.replace("\r\n", "\n")


@pytest.mark.parametrize("format", FORMATS)
def test_a_run_without_results_is_reported(format: ReportFormat) -> None:
    kept = replace(small_run(), results=())
    text = whole(kept, format)
    assert "nan" not in text.lower().replace("finan", "")


@pytest.mark.parametrize("format", FORMATS)
def test_a_case_that_is_not_planned_for_each_model_is_reported(format: ReportFormat) -> None:
    kept = small_run()
    trials = tuple(key for key in kept.plan.trials if key != TrialKey("sec-001", B))
    results = tuple(result for result in kept.results if result.trial != TrialKey("sec-001", B))
    text = whole(replace(kept, plan=replace(kept.plan, trials=trials), results=results), format)
    if format == "markdown":
        assert "| sec-001 SQL query | ✓ | · |" in text


@pytest.mark.parametrize("format", PEOPLE)
def test_every_planned_model_is_named(format: ReportFormat) -> None:
    text = render_report(replace(small_run(), results=small_run().results[:1]), format)
    assert A in text
    assert (B in text) == (format != "csv")


# JSON


def test_json_is_the_report() -> None:
    assert json.loads(render_report(small_run(), "json")) == build_report(small_run())
    assert json.loads(render_report(small_run(), "json", responses=True)) == build_report(small_run())


def test_json_keeps_hostile_text_and_its_spans() -> None:
    report = json.loads(hostile("json"))
    step = report["results"][0]["attempts"][0]["steps"][0]
    assert step["response"] == HOSTILE.replace("\ud800", "\ufffd")
    assert len(step["response"]) == len(HOSTILE)
    assert report["results"][0]["scores"][0]["note"] == HOSTILE.replace("\ud800", "\ufffd")


def test_json_can_be_read_by_others() -> None:
    from pydantic_core import from_json

    assert from_json(hostile("json"))["version"] == 1


def test_several_runs_are_an_array() -> None:
    reports = json.loads(render_reports([small_run(), hostile_run()], "json", reviewed={RUN_ID: hostile_review()}))
    assert [report["suite"]["format"] for report in reports] == ["schema-1.0.0", "schema-1.0.0"]
    assert json.loads(render_reports([], "json")) == []


# CSV


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_csv_has_a_row_for_each_result() -> None:
    text = render_report(small_run(), "csv")
    found = rows(text)
    assert len(found) == 7
    assert text.count("\r\n") == 8
    assert found[2] == {
        "run": RUN_ID,
        "suite": "Sample suite",
        "case": "sec-002",
        "name": "Hash a password",
        "category": "Security",
        "tags": "quick",
        "model": A,
        "repeat": "1",
        "verdict": "passed",
        "first_verdict": "passed",
        "reruns": "0",
        "flaky": "true",
        "attempts": "2",
        "error": "",
        "missed_checks": "",
        "first_token_ms": "150.0",
        "duration_ms": "1200.0",
        "input_tokens": "40",
        "output_tokens": "80",
        "reasoning_tokens": "",
        "retries": "1",
        "cost_usd": "",
        "answered_by": "",
        "context_files": "0",
        "context_characters": "0",
    }
    assert found[1]["missed_checks"] == "expected pattern parameter: not found"


def test_csv_tells_costs_and_who_answered() -> None:
    found = rows(render_report(priced_run(), "csv"))
    assert [(row["cost_usd"], row["answered_by"]) for row in found] == [
        ("0.25", "mock-a-2026-01-01"), ("0.125", ""), ("1.0", "mock-a-2026-01-01"), ("", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_costs_prices_and_what_took_part_are_reported(form: ReportFormat) -> None:
    text = html.unescape(render_report(priced_run(), form)).replace("\\", "")
    for expected in (
        "$1.25",
        "≥ $0.12",
        "Price of openai/mock-a",
        "$1.75 in, $14.00 out, $0.175 cached per million tokens (list 1.0)",
        "Server of openai/mock-a",
        "mock-a-2026-01-01, fingerprint fp_1",
        "Version of python",
        "3.11.7",
    ):
        assert expected in text, expected
    assert "Cost unknown for some or all answers of: local/mock-b" in re.sub("<[^>]*>", "", text)
    assert "unknown" in render_report(small_run(), form)


def test_what_a_server_says_of_itself_is_made_safe() -> None:
    run = priced_run(ServedBy(HOSTILE, HOSTILE, HOSTILE, HOSTILE))
    forms: tuple[ReportFormat, ...] = ("markdown", "html", "csv")
    for form in forms:
        text = render_report(replace(run, versions={HOSTILE: HOSTILE}), form)
        assert not any(sign in text for sign in "\x1b\x00\x08\x9b\u202e\u2066\ud800"), form
        assert "<script>" not in text or form == "csv"


def rerun_after_failure() -> KeptRun:
    """Return a run with one trial, which failed with `Use a string.` and passed when it was rerun."""
    key = TrialKey("one", A)
    return keep(make_plan([make_case("one")], [A]), [passed_since(make_result(key, "failed"))])


def test_each_model_in_junit_has_its_own_reruns() -> None:
    failed = [make_result(TrialKey(case, model), "failed") for case in ("one", "two") for model in (A, B)]
    again = [each if each.trial == TrialKey("two", A) else passed_since(each) for each in failed]
    text = render_report(keep(make_plan([make_case("one"), make_case("two")], [A, B]), again), "junit")
    reruns = {
        suite.get("name", ""): entry.get("value", "").partition(".")[0]
        for suite in ElementTree.fromstring(text).iter("testsuite")
        for entry in suite.iter("property")
        if entry.get("name") == "reruns"
    }
    assert reruns == {
        f"Sample suite · {A}": "1 failed trial was rerun; it has passed since",
        f"Sample suite · {B}": "2 failed trials were rerun; 2 of them have passed since",
    }


def passed_since(failed: TrialResult) -> TrialResult:
    """Return the trial after a rerun that passed."""
    passed = make_result(failed.trial, "passed")
    again = replace(passed.attempts[0], number=2, asking=1, started_at="2026-11-21T10:15:00.000+00:00")
    return replace(passed, attempts=(failed.attempts[0], again))


@pytest.mark.parametrize("format", ["markdown", "html", "junit"])
def test_failed_checks_are_reported_with_their_own_answer_before_that_of_the_rerun(format: ReportFormat) -> None:
    text = html.unescape(render_report(rerun_after_failure(), format, responses=True, timestamps=True))
    assert "not found" in text
    text = text[text.index("not found") :]
    counted, title, last = text.index("Use a string."), text.index("Rerun 1, not counted"), text.rindex("parameter")
    assert counted < title < last
    assert "2026-11-20" in text[:counted]


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_a_rerun_in_vain_is_reported_with_its_error_and_one_that_failed_with_its_checks(format: ReportFormat) -> None:
    failed = make_result(TrialKey("one", A), "failed")
    (step,) = failed.attempts[0].steps
    vain = Attempt(2, "error", "over the quota", (replace(step, response="", checks=()),), STARTED, asking=1)
    text = rendered_with_answers(replace(failed, attempts=(*failed.attempts, vain)), format)
    assert "over the quota" in text
    assert "No answer." in text
    again = replace(vain, verdict="failed", error=None, steps=(replace(step, response=""),))
    text = rendered_with_answers(replace(failed, attempts=(*failed.attempts, again)), format)
    assert text.count("not found") == 1
    assert "Empty answer." in text


def rendered_with_answers(result: TrialResult, format: ReportFormat) -> str:
    """Return the part about a rerun in a report of one trial."""
    text = html.unescape(render_report(keep(make_plan([make_case("one")], [A]), [result]), format, responses=True))
    return text[text.index("Rerun 1, not counted") :]


def test_a_sum_of_tokens_without_those_of_every_trial_is_marked() -> None:
    plan = make_plan([make_case("one"), make_case("two")], [A, B])
    found = [make_result(key) for key in plan.trials]
    refused = replace(
        found[-1], verdict="error", attempts=(Attempt(1, "error", "refused", (), "2026-11-20T10:15:00Z"),)
    )
    text = render_report(keep(plan, [*found[:-1], refused]), "markdown")
    (line, part) = (line for line in text.split("\n") if "1.2 s" in line)
    assert "| 40 | 80 |" in line
    assert "| ≥ 20 | ≥ 40 |" in part


def test_a_rerun_of_unknown_cost_does_not_remove_what_is_known_of_its_trial() -> None:
    run = rerun_after_failure()
    (result,) = run.results
    paid = [replace(step, cost_usd=0.25) for step in result.attempts[0].steps]
    silent = [replace(step, usage=Usage(), cost_usd=None) for step in result.attempts[1].steps]
    attempts = (replace(result.attempts[0], steps=tuple(paid)), replace(result.attempts[1], steps=tuple(silent)))
    run = replace(run, results=(replace(result, attempts=attempts),))
    text = render_report(run, "markdown")
    (line,) = (line for line in text.split("\n") if "1.2 s" in line)
    assert "| ≥ 20 | ≥ 40 | ≥ \\$0.25 |" in line
    (row,) = csv.DictReader(io.StringIO(render_report(run, "csv")))
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == ("", "", "")
    summary = json.loads(render_report(run, "json"))["summary"]
    assert (summary["cost_usd"], summary["cost_usd_at_least"]) == ({A: None}, {A: 0.25})


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_blocks_that_were_not_applied_are_counted_from_one_as_in_their_reasons(format: ReportFormat) -> None:
    key = TrialKey("one", A)
    refused = NotApplied(0, "a.py", "python", "block 2 has the same path")
    run = keep(make_plan([make_case("one")], [A]), [replace(make_result(key), not_applied=(refused,))])
    assert "block 1 was not applied: block 2 has the same path" in render_report(run, format, responses=True)


def test_csv_has_the_answer_that_counts() -> None:
    (row,) = rows(render_report(rerun_after_failure(), "csv", responses=True, timestamps=True))
    assert (row["first_verdict"], row["verdict"], row["response"]) == ("failed", "passed", "Use a string.")
    assert row["rerun_response"] == "Use a parameter."
    assert row["started_at"].startswith("2026-11-20")


def test_csv_options_add_columns() -> None:
    found = rows(render_report(small_run(), "csv", responses=True, timestamps=True, risk_analysis=True))
    assert found[0]["response"] == "Use a parameter."
    assert found[0]["rerun_response"] == ""
    assert found[0]["started_at"] == "2026-11-20T10:15:00.000+00:00"
    assert found[0]["risk"] == ""


def test_several_runs_have_one_header() -> None:
    assert [row["run"] for row in rows(render_reports([small_run(), small_run()], "csv"))] == [RUN_ID] * 14


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "\r\n=1",
        " =1",
        "\u3000\xa0 =1",
        "＝1＋1",
        "＋1",
        "－1",
        "＠A1",
        "=cmd|' /C calc'!A0",
    ],
)
def test_csv_holds_no_formulas(text: str) -> None:
    for row in rows(render_report(hostile_run(text), "csv", responses=True, timestamps=True)):
        for name in ("run", "suite", "case", "name", "category", "error", "response", "started_at"):
            assert row[name].startswith("'"), name
        assert row["missed_checks"][0].isalpha()


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    "between", ["", " ", '"', '";"', ";;", "\t ;" * 20_000], ids=["nothing", "space", "quote", "cell", "two", "many"]
)
def test_csv_holds_no_formulas_where_the_separator_is_another(separator: str, between: str) -> None:
    text = f'Paris{separator}{between}=HYPERLINK("x")'
    report = render_report(hostile_run(text), "csv", responses=True)
    cells = [cell for row in csv.reader(io.StringIO(report), delimiter=separator) for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert [cell for cell in cells if cell.strip(' "').startswith("=")] == []


def test_csv_keeps_quotes_lines_and_commas() -> None:
    text = 'a "quoted", text\nwith lines'
    assert {row["response"] for row in rows(render_report(hostile_run(text), "csv", responses=True))} == {text}


def test_csv_of_hostile_text_has_the_same_columns_in_each_row() -> None:
    table = list(csv.reader(io.StringIO(hostile("csv"), newline=""), strict=True))
    assert len(table) == 4
    assert {len(row) for row in table} == {30}


# JUnit


def test_junit_maps_every_verdict() -> None:
    root = ElementTree.fromstring(render_report(small_run(), "junit"))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "8",
        "failures": "1",
        "errors": "3",
        "skipped": "1",
        "time": "8.400",
    }
    assert [suite.get("name") for suite in root] == [f"Sample suite · {A}", f"Sample suite · {B}"]
    ends = {
        (suite.get("name", "").rpartition("/")[2], test.get("name", "").partition(" ")[0]): [
            (child.tag, child.get("type")) for child in test
        ]
        for suite in root
        for test in suite.findall("testcase")
    }
    assert ends == {
        ("mock-a", "sec-001"): [],
        ("mock-a", "sec-002"): [("system-out", None)],
        ("mock-a", "bug-001"): [],
        ("mock-a", "bug-002"): [("error", "incomplete")],
        ("mock-b", "sec-001"): [("failure", "failed")],
        ("mock-b", "sec-002"): [("error", "error")],
        ("mock-b", "bug-001"): [("error", "timed_out")],
        ("mock-b", "bug-002"): [("skipped", None)],
    }
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "expected pattern parameter: not found"


@pytest.mark.parametrize("inside", ["\0", "\x01", "\x0b", "\ufffe", "\ud800"])
def test_what_a_forbidden_character_divides_is_not_joined(inside: str) -> None:
    key = "sk-canary-1234567890"
    for format in FORMATS:
        assert key not in hostile(format, f"{key[:5]}{inside}{key[5:]}")


def test_junit_of_hostile_text_is_xml_with_nothing_added() -> None:
    root = ElementTree.fromstring(hostile("junit"))
    assert {element.tag for element in root.iter()} == {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "system-out",
    }
    assert len(root.findall(".//testcase")) == 3
    text = root.findtext(".//system-out") or ""
    assert "<script>alert(1)</script>" in text
    assert "\x1b" not in text
    assert "]]>" in text


def test_several_runs_are_one_document() -> None:
    root = ElementTree.fromstring(render_reports([small_run(), small_run()], "junit"))
    assert len(root) == 4
    assert root.get("tests") == "16"


# HTML


def test_html_of_hostile_text_has_the_elements_of_a_harmless_one() -> None:
    page, harmless = Page(hostile("html")), Page(hostile("html", HARMLESS))
    assert page.elements == harmless.elements
    assert not {"script", "img", "link", "iframe", "object", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "style")]
    assert "".join(page.texts).count("<script>alert(1)</script>") > 20


def test_html_may_load_and_run_nothing() -> None:
    text = hostile("html")
    policy = next(value for name, value in Page(text).attributes if name == "content" and "default-src" in value)
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]
    assert "url(" not in style[1]
    assert "prefers-color-scheme: dark" in style[1]
    assert "@media print" in style[1]


def answer(response: str, *checks: CheckResult) -> KeptRun:
    plan = make_plan([make_case("one")], [A])
    step = replace(make_step(response), checks=checks)
    return keep(plan, [TrialResult(plan.trials[0], "failed", False, None, (Attempt(1, "failed", None, (step,)),))])


def test_html_marks_matches_by_code_points() -> None:
    response = "🙂 a <b> match, and eval(x) & more"
    page = Page(
        render_report(
            answer(
                response,
                CheckResult("expected_pattern", "x", "passed", "", ((4, 7), (8, 13))),
                CheckResult("forbidden_pattern", "x", "failed", "", ((19, 23),)),
                CheckResult("output.includes", "x", "passed", "", ((15, 26), (6, 9), (30, 99), (-3, 1))),
            ),
            "html",
            responses=True,
        )
    )
    assert page.marks == [
        ("good", "🙂"),
        ("good", "<b> match"),
        ("good", "and "),
        ("bad", "eval"),
        ("good", "(x)"),
        ("good", response[30:]),
    ]
    assert "".join(page.texts).count(response) == 1


def test_html_shows_a_few_things_people_look_for() -> None:
    text = " ".join(Page(whole(small_run(), "html")).texts)
    for words in (
        "1 of 8 trials was not run",
        "15–85%",
        "Run not finished: counts only, no tests and no intervals.",
        "401: the key in LOCAL_KEY was refused.",
        "passed 2/2 (flaky)",
        "not scored",
        "0 negligible, 1–2 low, 3–5 medium, 6–9 high, 10–16 critical",
        "12 critical",
        "started 2026-11-20T10:15:00.000+00:00, took 1.2 s",
        "Use a ",
        "temperature 0.0, seed 7",
    ):
        assert words in text, words


def test_html_links_lead_somewhere_and_nowhere_else() -> None:
    page = Page(render_reports([small_run(), small_run()], "html"))
    ids = {value for name, value in page.attributes if name == "id" and not value.startswith("p-")}
    links = {value for name, value in page.attributes if name == "href"}
    assert len(ids) == 30
    assert {"r1", "r2"} < ids
    assert ("aria-label", "Runs") in page.attributes
    assert ("aria-label", "Runs") not in Page(render_report(small_run(), "html")).attributes
    assert links == {f"#{place}" for place in ids}
    assert all(re.fullmatch(r"r\d+(-f?\d+)?", place) for place in ids)


# Markdown


def outside_fences(text: str) -> str:
    """What a reader of Markdown takes for markup: without fenced blocks and code spans."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        opening = re.match(r"(`{3,})\w*$", line)
        if fence:
            if re.fullmatch(f"{fence}`* *", line):
                fence = ""
        elif opening:
            fence = opening[1]
        else:
            kept.append(line)
    assert fence == "", "a fence is left open"
    return re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", "\n".join(kept))


def test_markdown_of_hostile_text_adds_no_markup() -> None:
    text, harmless = hostile("markdown"), hostile("markdown", HARMLESS)
    outside = outside_fences(text)
    assert "<script" not in outside
    assert not re.search(r"(?<!\\)[<>]", outside)
    assert not re.search(r"(?<!\\)[\[\]_~`$]", outside)
    shape = [line.split(" ")[0] for line in outside.split("\n") if line.startswith("#")]
    assert shape == [line.split(" ")[0] for line in outside_fences(harmless).split("\n") if line.startswith("#")]
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in outside.split("\n") if line.startswith("|")]
    assert cells == [
        len(re.findall(r"(?<!\\)\|", line)) for line in outside_fences(harmless).split("\n") if line.startswith("|")
    ]


def test_markdown_of_hostile_text_is_read_as_text() -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    def shape(text: str) -> list[str]:
        inner = [child.type for token in reader.parse(text) for child in token.children or ()]
        assert not {"html_inline", "link_open", "image", "em_open", "s_open"} & set(inner)
        return [token.type for token in reader.parse(text) if token.type not in ("inline", "html_block")]

    assert "html_block" not in [token.type for token in reader.parse(hostile("markdown"))]
    assert shape(hostile("markdown")) == shape(hostile("markdown", HARMLESS))


@pytest.mark.parametrize("text", ["https://evil.example", "www.evil.example", "a@evil.example", "@someone"])
def test_markdown_makes_no_links_of_its_own(text: str) -> None:
    assert not re.search(r"://|@|www\.", inline(text).replace("\\:", "").replace("\\@", "").replace("\\.", ""))
    (_, paragraph, _) = MarkdownIt("commonmark").parse(inline(text))
    assert "".join(child.content for child in paragraph.children or ()) == text


@pytest.mark.parametrize(
    "start", ["1. one", "- one", "+ one", "* one", "# one", "> one", "=== ", "---", "```", "<!--", "10) x"]
)
def test_markdown_of_text_that_begins_like_a_block_is_text(start: str) -> None:
    tokens = MarkdownIt("commonmark").parse(inline(start))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(child.content for child in tokens[1].children or ()) == start.strip()


def test_markdown_fences_are_longer_than_what_they_hold() -> None:
    response = "```python\nx\n```\nand ``````\n"
    text = render_report(answer(response), "markdown", responses=True)
    assert "\n```````\n```python\nx\n```\nand ``````\n```````\n" in text


def test_markdown_says_what_people_look_for() -> None:
    text = whole(small_run(), "markdown")
    for words in (
        "# Sample suite",
        "**1 of 8 trials was not run and is not counted below.**",
        "| openai/mock-a | 50% | 15–85% † | 4 | 2 | 0 | 1 | 1 |",
        "| openai/mock-a | 150 ms | 1.2 s | – | 100 | 200 |",
        "| Bug Fixing | 3 | 1 | 0 | 2 | 0 |",
        "Errors (count as not passed): openai/mock-a: 1 incomplete; local/mock-b: 1 error, 1 timed out.",
        "| +67 points | – | – | – |",
        "- expected pattern `parameter`: not found",
        "| critical | 4 | 0 negligible | 4 medium | 8 high | 12 critical | 16 critical |",
    ):
        assert words in text, words


def share_run() -> KeptRun:
    """The first of two cases asks for two thirds of its repeats: one model gives them, one does not, one may yet."""
    cases = [replace(make_case("one"), min_pass_rate=2 / 3), make_case("two")]
    plan = make_plan(cases, (A, B, "third"), repeats=3)
    outcomes: dict[str, tuple[Verdict, ...]] = {
        A: ("passed", "failed", "passed"), B: ("failed", "timed_out", "passed"), "third": ("passed", "failed"),
    }  # fmt: skip
    return keep(
        plan,
        [
            make_result(TrialKey("one", model, repeat), verdict)
            for model, verdicts in outcomes.items()
            for repeat, verdict in enumerate(verdicts, 1)
        ],
    )


def test_shares_that_cases_ask_for() -> None:
    report = build_report(share_run())
    assert report["summary"]["min_pass_rates"] == [
        {"case": "one", "model": model, "min_pass_rate": 2 / 3, "passed": passed, "results": results, "planned": 3}
        | {"met": met}
        for model, passed, results, met in ((A, 2, 3, True), (B, 1, 3, False), ("third", 1, 2, None))
    ]
    assert [result["verdict"] for result in report["results"][:3]] == ["passed", "failed", "passed"]
    assert "min_pass_rates" not in build_report(small_run())["summary"]
    junit = ElementTree.fromstring(render_report(share_run(), "junit"))
    assert [each.get("value") for each in junit.iterfind(".//property[@name='required pass rate of one']")] == [
        "67%: 2/3, met",
        "67%: 1/3, not met",
        "67%: 1/3, open",
    ]
    text = render_report(share_run(), "markdown")
    for row in ("| one | openai/mock-a | 67% | 2/3, met |", "| one | third | 67% | 1/3, open |"):
        assert row in text
    assert "| openai/mock-a | 1 | 67% | 67% | 100% |" in text
    page = " ".join(Page(render_report(share_run(), "html")).texts)
    assert "Required pass rates" in page
    assert "1/3, not met" in page
    assert "Required pass rates" not in render_report(small_run(), "markdown") + render_report(small_run(), "html")


@pytest.mark.parametrize("format", ["markdown", "html", "junit"])
def test_answers_and_times_are_there_when_they_are_asked_for(format: ReportFormat) -> None:
    brief = render_report(small_run(), format)
    assert "Use a " not in brief
    assert "10:15:00" not in brief
    assert "not scored" not in brief
    assert "Use a string." in render_report(small_run(), format, responses=True)
    assert "10:15:00" in render_report(small_run(), format, timestamps=True)


@pytest.mark.parametrize("format", ["markdown", "html", "csv", "junit"])
def test_scores_are_reported_with_their_notes(format: ReportFormat) -> None:
    trial = TrialKey("sec-001", A)
    reviewed = review(small_run(), [act(trial, "Tone", 2, note="a bit curt")])
    text = render_report(small_run(), format, risk_analysis=True, reviewed=reviewed)
    expected = {
        "markdown": "| Tone low ×1 | anna | 2 partial | low | a bit curt |",
        "html": '2 partial</span></td><td><span class="low">low</span></td><td>a bit curt</td>',
    }
    assert expected.get(format, "extent 2, band low (anna): a bit curt") in text


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_repeats_are_reported(format: ReportFormat) -> None:
    plan = make_plan([make_case("one"), make_case("two")], [A, B], repeats=3)
    results = [make_result(key, "passed" if key.repeat < 3 or key.model == A else "failed") for key in plan.trials]
    text = render_report(keep(plan, results), format)
    assert "sign-flip over cases" in text
    assert "67%" in text
    assert "repeat 3" in text


@pytest.mark.parametrize("format", FORMATS)
def test_the_cost_is_linear_in_the_number_of_results(format: ReportFormat) -> None:
    assert is_linear(lambda cases: partial(whole, large_run(cases), format), 60)


def test_a_multi_step_trial_names_its_steps() -> None:
    plan = make_plan([make_case("one")], [A])
    steps = (make_step(), make_step("Use a string.", check="failed"))
    kept = keep(plan, [TrialResult(plan.trials[0], "failed", False, None, (Attempt(1, "failed", None, steps),))])
    assert "- step 2: expected pattern `parameter`: not found" in render_report(kept, "markdown")
    assert "step 2: expected pattern" in render_report(kept, "html")


def test_the_calls_of_an_answer_are_a_tree_and_json_lists_its_tools() -> None:
    calls = (ToolUse("chat gpt", duration_ms=9, kind="model"), ToolUse("search", '{"q": 1}', parent=0))
    step = replace(make_step(check="failed"), tools_used=("search",), tool_calls=calls)
    plan = make_plan([make_case("one")], [A])
    kept = keep(plan, [TrialResult(plan.trials[0], "failed", False, None, (Attempt(1, "failed", None, (step,)),))])
    for format in ("markdown", "html"):
        assert "chat gpt · 9 ms\n└ search\n  └ arguments:" in render_report(kept, format, responses=True)
    [attempt] = json.loads(render_report(kept, "json"))["results"][0]["attempts"]
    assert [call["name"] for call in attempt["steps"][0]["tool_calls"]] == ["search"]


def test_a_trial_without_attempts_is_reported() -> None:
    plan = make_plan([make_case("one")], [A])
    kept = keep(plan, [TrialResult(plan.trials[0], "cancelled", False, None, ())])
    for format in FORMATS:
        assert "cancelled" in whole(kept, format)


def test_hostile_result_is_a_whole_result() -> None:
    values: list[Any] = [getattr(hostile_result(TrialKey("a", "b"), "failed"), name) for name in ("changes", "error")]
    assert all(values)
