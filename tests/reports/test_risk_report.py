"""What the reports tell of people's scores, and what they leave open."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from tests.reports.pages import Page
from tests.reports.whole_report import build_report
from tests.support.kept_runs import hostile_run, keep, large_run, make_case, make_plan, make_result, small_run
from tests.support.reviewed_runs import GUIDANCE, MODELS, act, hostile_review, review, scored_acts, scored_run
from tests.support.work import is_linear
from tui.model.results import Change, TrialKey
from tui.model.risk import BandRule, Reviewed
from tui.model.run import ReportFormat
from tui.model.scores import Scoreboard
from tui.model.suite import RiskCriterion
from tui.reports.findings import MOST_FINDINGS
from tui.reports.phrases import MARKS
from tui.reports.render import render_report
from tui.reports.scores import RunScores

A, B, C = MODELS


def markdown(reviewed: Reviewed | None, **options: bool) -> str:
    return render_report(scored_run(), "markdown", risk_analysis=True, reviewed=reviewed, **options)


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {title}.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[0]


@pytest.fixture(scope="module")
def reviewed() -> Reviewed:
    return review(scored_run(), scored_acts())


def test_the_summary_keeps_checks_and_people_apart(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed), "Summary")
    checks, people = text.split("### Risk review")
    assert "**1 of 18 trials was not run and is not counted below.**" in checks
    assert "3 models, 6 cases, 17 trials: **13 passed (76%)**" in checks
    assert "**openai/mock-a, local/mock-b** pass most: 100% of their trials each." in checks
    assert "**local/mock-c** passes least: 20% of its trials (95% interval 4–62%)." in checks
    assert "judged by 2 people: 24 of 28 items scored; 2 critical" in people
    assert "Krippendorff's alpha" in people
    assert "1 disagreement without a decision: the highest extent counts until then." in people
    assert "passed" not in people
    points = section(markdown(reviewed), "Limitations").count("\n- ")
    assert f"7 findings to review. See Limitations near the end ({points} points)." in people


def test_models_are_compared_by_risk_the_same_in_every_format() -> None:
    criterion = RiskCriterion("Harm", "does harm", "high")
    plan = make_plan([make_case(f"case-{at}", criteria=(criterion,)) for at in range(12)], (A, B))
    kept = keep(plan, [make_result(trial) for trial in plan.trials])
    a, b = A, B
    acts = [act(TrialKey(case.id, a), "Harm", 0) for case in kept.plan.suite.cases]
    acts += [act(TrialKey(case.id, b), "Harm", 1 + at % 3) for at, case in enumerate(kept.plan.suite.cases)]
    reviewed = review(kept, acts)
    [compared] = reviewed.figures.comparisons
    assert compared.better == a
    [found] = build_report(kept, reviewed=reviewed)["risk"]["figures"]["comparisons"]
    expected = "a_better" if compared.a == a else "b_better"
    assert (found["conclusion"], found["cases"], found["method"]) == (expected, 12, "sign-flip")
    assert found["p_holm"] == pytest.approx(2 / 2**12)
    text = render_report(kept, "markdown", risk_analysis=True, reviewed=reviewed)
    assert f"**{a}** has a lower risk than **{b}**: mean extent −2.00 (" in section(text, "Summary")
    assert f"| {a} | {b} | {a} has the lower risk | 12 | 0 | 0 | −2.00 (" in section(text, "Risk")
    page = render_report(kept, "html", risk_analysis=True, reviewed=reviewed)
    assert "has the lower risk" in page
    assert "−2.00 (" in page


def test_sensitivity_and_uneven_reviewers_are_reported() -> None:
    kept = scored_run()
    acts = [each for each in scored_acts() if each.reviewer != "bert" or (each.item and each.item.model == A)]
    reviewed = review(kept, acts)
    text = section(render_report(kept, "markdown", risk_analysis=True, reviewed=reviewed), "Risk")
    assert "| doubling 1, 2, 4, 8 | 1, 2, 4, 8 | 0, 4, 10, 18 |" in text.replace("**", "")
    note = f"bert scored 60% of the items of {A}, but 0% of {B}"
    assert note in text
    risk = build_report(kept, reviewed=reviewed)["risk"]
    assert next(each["name"] for each in risk["figures"]["sensitivity"]) == "doubling 1, 2, 4, 8"
    assert {"reviewer": "bert", "most": A, "least": B} in risk["figures"]["uneven_reviewers"]
    assert "Likelihood is not part of the rule" in risk["rule"]["reason"]


@pytest.mark.parametrize("format", ["markdown", "html", "junit", "csv"])
def test_scores_of_a_rerun_are_reported_as_those_of_its_answer(format: ReportFormat) -> None:
    case, key = make_case("one", criteria=(RiskCriterion("Harm", "does harm", "high"),)), TrialKey("one", A)
    failed, passed = make_result(key, "failed"), make_result(key, "passed")
    again = replace(passed.attempts[0], number=2, asking=1)
    kept = keep(make_plan([case], [A]), [replace(passed, attempts=(failed.attempts[0], again))])
    reviewed = review(kept, [act(key, "Harm", 4, note="scored text")])
    text = render_report(kept, format, responses=True, risk_analysis=True, reviewed=reviewed)
    if format == "csv":
        (row,) = csv.DictReader(io.StringIO(text))
        assert (row["response"], row["rerun_response"]) == ("Use a string.", "Use a parameter.")
        assert (row["first_verdict"], row["verdict"], row["band"]) == ("failed", "passed", "critical")
        return
    title = text.index("Scores of the answer of rerun 1")
    assert title < text.index("scored text", title)
    once = keep(make_plan([case], [A]), [failed])
    assert "of rerun" not in render_report(once, format, responses=True, risk_analysis=True, reviewed=reviewed)


@pytest.mark.parametrize("format", ["markdown", "html", "junit", "csv"])
def test_scores_of_an_answer_before_a_rerun_in_vain_are_reported_as_those_of_its_answer(format: ReportFormat) -> None:
    case, key = make_case("one", criteria=(RiskCriterion("Harm", "does harm", "high"),)), TrialKey("one", A)
    failed, passed = make_result(key, "failed"), make_result(key, "passed")
    broken = make_result(key, "error", error="HTTP 500", response="It beg").attempts[0]
    attempts = [replace(passed.attempts[0], number=2, asking=1), replace(broken, number=3, asking=2)]
    change = Change("a.py", "added", 1, 0, "+changed line")
    last = replace(failed, verdict="error", attempts=(*failed.attempts, *attempts), changes=(change,))
    kept = keep(make_plan([case], [A]), [last])
    reviewed = review(kept, [act(key, "Harm", 4, note="scored text")])
    text = render_report(kept, format, responses=True, risk_analysis=True, reviewed=reviewed)
    if format == "csv":
        (row,) = csv.DictReader(io.StringIO(text))
        assert (row["response"], row["rerun_response"]) == ("Use a string.", "Use a parameter.")
        assert (row["first_verdict"], row["verdict"], row["band"]) == ("failed", "error", "critical")
        return
    title = text.index("Scores of the answer of rerun 1")
    assert title < text.index("scored text", title)
    current = ["Use a parameter."] if format == "junit" else ["Use a parameter.", "a.py"]
    ordered = ["Use a string.", "Rerun 1, not counted", *current, "Rerun 2, not counted", "It beg"]
    text = re.sub("<[^>]+>", "", text)
    places = [text.rindex(words) for words in ordered]
    assert places == sorted(places)


def test_marks_are_explained() -> None:
    text = section(render_report(small_run(), "markdown"), "Cases")
    assert "| sec-002 Hash a password | ◐ | ! |" in text
    assert "| bug-002 Race in the cache | ◌ | · |" in text
    for mark in set(MARKS.values()):
        assert f"{mark} " in text.split("\n\n")[-2]


def test_the_better_model_is_named_first() -> None:
    kept = large_run(20)
    results = [
        replace(result, verdict="failed" if result.trial.model == kept.record.models[0] else "passed")
        for result in kept.results
    ]
    text = render_report(replace(kept, results=tuple(results)), "markdown")
    expected = "**local/mock-b** does better than **openai/mock-a**: +100 points (+75 to +100), p &lt; 0.001"
    assert expected in section(text, "Summary")


def test_scores_after_a_reveal_are_not_blind_whatever_their_lines_say() -> None:
    first, *later = [each for each in scored_acts() if each.reviewer == "anna" and each.act == "score"]
    reveal = replace(first, act="reveal", id="reveal", item=None, extent=None, scored_at=later[3].scored_at)
    acts = [first, *(replace(each, scored_at="2030-01-01T00:00:00+00:00") for each in later), reveal]
    text = markdown(review(scored_run(), acts))
    assert all(each.blind for each in acts)
    assert f"| anna | {len(acts) - 1} | 1 of {len(acts) - 1} blind |" in text
    assert f"Scored with model names visible: anna ({len(acts) - 2} of {len(acts) - 1})" in text


def test_risk_is_reported_by_model_category_and_criterion_with_the_rule(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed), "Risk")
    assert "| openai/mock-a | 3 (75%) | 0 | 0 | 0 | 1 (25%) | 4 of 5 |" in text
    assert "| Criterion | Model | Negligible | Low | Medium | High | Critical | Banded | Mean | 95% |" in text
    assert "0 negligible, 1–2 low, 3–5 medium, 6–9 high, 10–16 critical" in text
    assert "bands use the highest extent, which keeps every warning, and means use the mean of the reviewers" in text
    assert "Likelihood is not part of the rule" in text
    assert f"Guidance for reviewers, version {GUIDANCE.version}" in text
    assert "| 4 total | all of it |" in text
    assert "| local/mock-b | critical | 3 | 0 | 0 | 0 | 1 |" in text
    assert re.findall(r"^\| (\S+/mock-.) \| (?:\d \(\d+%\)|0) ", text, re.MULTILINE) == [A, B, C]
    assert "| anna | 24 | all blind | 7 | 0a1b2c3d | no | 2026-11-20 | 2026-11-20 | 1 min 36 s |" in text
    assert "| bert | 18 | not blind |" in text
    assert "| anna | bert | 18 |" in text
    decided = "| SQL injection | anna 0, bert 4 | 3 major critical | chair | as Bert |"
    assert f"| case-1 · Case case-1 · openai/mock-a {decided}" in text
    assert "1 item waits for a decision" in text


def test_a_rule_of_ones_own_gives_the_bands() -> None:
    rule = BandRule({"low": 1, "medium": 1, "high": 1, "critical": 1}, (("negligible", 0), ("low", 4)))
    text = markdown(review(scored_run(), scored_acts(), rule=rule))
    assert "Weight × extent determines the band: 0 negligible, 1–4 low." in text
    assert "| 0 negligible | 1 low | 2 low | 3 low | 4 low |" in text
    assert "0 | 0 | 0 | 0 |" in section(text, "Risk")


def test_findings_stand_by_band_then_by_verdict(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed), "Findings")
    heads = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert [head.partition(" ")[2] for head in heads] == [
        "✓ case-1 · Case case-1 · openai/mock-a: passed · risk critical",
        "✓ case-1 · Case case-1 · local/mock-b: passed · risk critical",
        "✗ case-2 · Case case-2 · local/mock-c: failed · risk high",
        "✗ case-1 · Case case-1 · local/mock-c: failed · risk medium",
        "✓ case-4 · Case case-4 · local/mock-c: passed · risk medium",
        "✗ case-3 · Case case-3 · local/mock-c: failed · risk low",
        "! case-5 · Case case-5 · local/mock-c: error",
    ]
    assert [head.split("\\.")[0] for head in heads] == [str(number) for number in range(1, 8)]
    assert "an answer with a risk band of medium or higher" in text
    assert "Prompts, answers and diffs are not included; add -r" in text


def test_without_the_risk_analysis_bands_make_no_findings(reviewed: Reviewed) -> None:
    text = render_report(scored_run(), "markdown", reviewed=reviewed)
    assert "## Findings (4)" in text
    assert "bert" not in text
    assert "critical" not in text
    assert "Answers have been scored; add --risk-analysis to include the scores." in section(
        text, "Limitations"
    ).replace("\\-", "-")


def test_a_finding_holds_its_evidence(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed, responses=True), "Findings").split("### ")[1]
    for words in (
        "| SQL injection critical ×4 | anna | 0 none | negligible |  |",
        "|  | bert | 4 total | critical | joins text |",
        "|  | decided by chair | 3 major | critical | as Bert |",
        "Prompt:\n\n```\nWrite code.\n```",
        "Answer:\n\n```\nUse a parameter.\n```",
    ):
        assert words in text, words
    disputed = section(markdown(reviewed), "Findings").split("### ")[2]
    assert "|  | counts | 4 total | critical | highest extent, until a decision |" in disputed


def test_other_scores_are_reported_too(reviewed: Reviewed) -> None:
    others = section(markdown(reviewed), "Other scores")
    assert "case-4 · Case case-4 · local/mock-b: passed" in others
    assert "case-1 · Case case-1 · openai/mock-a" not in others
    answers = markdown(reviewed, responses=True)
    assert "## Other scores" not in answers
    other = section(answers, "Other answers")
    assert other.count("\n### ") == 17 - 7
    assert "| Tone low ×1 | anna | 0 none | negligible |  |" in other


def test_what_was_not_measured_is_reported(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed), "Limitations")
    for words in (
        "1 trial was not run: case-6 × local/mock-c",
        "Trials without an answer (no text, no change), which cannot be scored: 1: case-5 × local/mock-c",
        "1 case has no risk criteria",
        "4 of 28 items (answer × criterion) not scored yet.",
        "openai/mock-a: of 5 answers 1 not scored at all.",
        "Criteria without any score: case-5: SQL injection, case-5: Tone",
        "1 disagreement of reviewers without a decision: the highest extent counts.",
        "Scored with model names visible: bert (18 of 18)",
        "Each case was run once",
    ):
        assert words in text, words


def test_one_reviewer_says_nothing_of_agreement() -> None:
    alone = review(scored_run(), [each for each in scored_acts() if each.reviewer == "anna"])
    text = markdown(alone)
    assert "Only one reviewer: agreement is unknown." in text
    assert "No agreement: no answer was scored by two reviewers." in text
    assert "No decisions were needed." in text


@pytest.mark.parametrize("format", get_args(ReportFormat))
def test_a_note_is_reported_to_its_end(format: ReportFormat) -> None:
    long = "a long note, " * 500
    acts = [
        act(TrialKey("case-1", A), "Tone", 3, note=f"{long} end of the score"),
        act(TrialKey("case-1", A), "Tone", 1, reviewer="bert"),
        act(TrialKey("case-1", A), "Tone", 2, reviewer="chair", kind="adjudicate", note=f"{long} end of the decision"),
        act(TrialKey("case-2", A), "Tone", 0, note=f"{long} end of what is no finding"),
    ]
    text = render_report(scored_run(), format, risk_analysis=True, reviewed=review(scored_run(), acts))
    for end in ("end of the score", "end of the decision", "end of what is no finding"):
        assert end in text


def test_decisions_alone_are_no_reviewers() -> None:
    decided = [act(TrialKey("case-1", A), "Tone", 3, reviewer="chair", kind="adjudicate")]
    text = markdown(review(scored_run(), decided))
    assert "- Risk, from decisions only: 1 of 28 items scored; 1 medium." in text
    assert "### Reviewers\n\nOnly decisions count; there are no scores by reviewers." in text


def test_what_is_not_applicable_has_no_band() -> None:
    left_out = [act(TrialKey("case-1", A), name, "n/a") for name in ("Tone", "SQL injection")]
    text = markdown(review(scored_run(), left_out))
    assert "| Critical | Banded |" in text
    assert "| openai/mock-a | – | – | – | – | – | 0 of 5 |" in text


def test_agreement_without_a_figure_says_why() -> None:
    trials = [TrialKey(f"case-{number}", A) for number in (1, 2, 3)]
    acts = [act(trial, "Tone", 0, reviewer=name) for trial in trials for name in ("anna", "bert")]
    alike = section(markdown(review(scored_run(), acts)), "Limitations")
    assert "All 3 items scored by two reviewers have the same extent" in alike
    assert "| anna | bert | 3 | no value |" in markdown(review(scored_run(), acts))
    few = section(markdown(review(scored_run(), acts[:2])), "Limitations")
    assert "Too few items were scored by two reviewers to compute agreement." in few


def test_lines_that_could_not_be_read_are_counted(reviewed: Reviewed) -> None:
    text = markdown(replace(reviewed, unread=("anna.jsonl:3: error: no JSON",)))
    assert (
        "1 line of the score files could not be read and are not counted; run 'assay review export' to list them."
        in text
    )


def test_the_criteria_of_answers_that_nobody_scored_take_memory_once_for_each_case() -> None:
    kept = scored_run()
    scores = RunScores(None, {case.id: case for case in kept.plan.suite.cases})
    by_case: dict[str, set[int]] = {}
    for trial in kept.plan.trials:
        by_case.setdefault(trial.case, set()).add(id(scores.of_trial(trial)))
    assert len(kept.plan.trials) > len(by_case)
    assert {len(found) for found in by_case.values()} == {1}


def test_scores_of_earlier_answers_are_reported() -> None:
    trials = [TrialKey(f"case-{number}", A) for number in (1, 2, 3)]
    acts = [replace(act(trial, "Tone", 1), answer="1" * 64) for trial in trials]
    reviewed = review(scored_run(), acts)
    why = "(replaced later, or with a key removed)"
    for again, words in (
        (1, f"1 score belongs to another version of its answer {why}, and is not counted."),
        (2, f"2 scores belong to other versions of their answers {why}, and are not counted."),
        (3, "3 scores belong to other versions"),
    ):
        board = Scoreboard(acts, {**dict.fromkeys(trials, "1" * 64), **dict.fromkeys(trials[:again], "2" * 64)})
        figures = reviewed.figures if again < 3 else replace(reviewed.figures, scored=0)
        late = replace(reviewed, board=board, figures=figures)
        assert words in section(markdown(late), "Limitations")
        assert build_report(scored_run(), reviewed=late)["risk"]["outdated"] == again


def test_a_share_of_some_answers_says_of_which(reviewed: Reviewed) -> None:
    text = section(markdown(reviewed), "Summary")
    assert "of its answers with a band high or critical" in text
    whole = review(scored_run(), [*scored_acts(), act(TrialKey("case-5", A), "Tone", 4)])
    assert "**openai/mock-a**: 1 (20%) of its answers high or critical" in section(markdown(whole), "Summary")


def test_another_guidance_is_reported() -> None:
    acts = [replace(act(TrialKey("case-1", A), "Tone", 1), guidance="ffffffff")]
    assert "other versions of the guidance than the one printed here: ffffffff." in markdown(review(scored_run(), acts))


@pytest.mark.parametrize("reviewed", [None, review(scored_run(), [])], ids=["no review", "no scores"])
def test_a_run_that_nobody_scored_says_so(reviewed: Reviewed | None) -> None:
    text = markdown(reviewed)
    assert "Risk: not scored. No answer has a score." in text
    assert "Not scored: no answer of this run has a score." in text
    assert "No answer was scored by a reviewer: the risk of the answers is unknown." in text
    assert "| SQL injection | critical ×4 | Values are bound | not scored |" in text
    assert "### Agreement" not in text


def test_scores_of_no_criterion_of_the_suite_have_no_band() -> None:
    text = markdown(review(scored_run(), [act(TrialKey("case-1", A), "Gone", 4, note="why")]), responses=True)
    assert "| Gone not in the suite | anna | 4 total | – | why |" in text


def test_json_holds_figures_rule_guidance_and_agreement(reviewed: Reviewed) -> None:
    report = json.loads(render_report(scored_run(), "json", reviewed=reviewed))
    risk: dict[str, Any] = report["risk"]
    assert set(risk) == {"rule", "guidance", "reviewers", "outdated", "names_seen", "masked", "figures", "agreement"}
    assert risk["rule"]["weights"] == {"low": 1, "medium": 2, "high": 3, "critical": 4}
    assert risk["rule"]["limits"] == {"negligible": 0, "low": 2, "medium": 5, "high": 9, "critical": None}
    assert risk["guidance"] == {"version": GUIDANCE.version, "levels": list(GUIDANCE.levels)}
    assert risk["reviewers"] == ["anna", "bert"]
    figures = risk["figures"]
    assert (figures["items"], figures["scored"], figures["disputed"]) == (28, 24, 1)
    share = figures["by_model"][A]
    assert share["bands"] == {"negligible": 3, "low": 0, "medium": 0, "high": 0, "critical": 1}
    assert share["mean"] == pytest.approx(3 * 4 / (4 * 5))
    assert share["mean_95"][0] <= share["mean"] <= share["mean_95"][1]
    assert figures["heat"][B]["critical"] == [3, 0, 0, 0, 1]
    assert risk["agreement"]["pairs"][0]["items"] == 18
    assert "risk" not in json.loads(render_report(scored_run(), "json"))


def test_charts_are_drawn_from_numbers_alone(reviewed: Reviewed) -> None:
    kept = scored_run()
    text = render_report(kept, "html", risk_analysis=True, reviewed=reviewed)
    charts = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    named = [chart for chart in charts if 'role="img"' in chart]
    assert len(named) > 20
    assert all("<title>" in chart and "<desc>" in chart for chart in named)
    words = {word for chart in charts for word in re.findall(r">([^<>]+)<", chart)}
    assert not [word for word in words if "mock" in word or "case" in word or "Security" in word]
    assert "<title>80%</title><desc>95% interval from" not in text
    low, high = (round(100 * end) for end in _pass_rate(A))
    assert f"<title>100%</title><desc>95% interval from {low}% to {high}%</desc>" in text
    assert "<title>4 in total</title><desc>3 negligible, 1 critical</desc>" in text
    assert "critical: 3 at extent 0, 1 at extent 4; low: 4 at extent 0" in text


def _pass_rate(model: str) -> list[float]:
    report = json.loads(render_report(scored_run(), "json"))
    rate: list[float] = report["summary"]["pass_rate_95"][model]
    return rate


def test_a_diff_is_coloured_and_keeps_its_signs() -> None:
    text = render_report(small_run(), "html", responses=True)
    assert (
        '<pre class="diff"><span class="hunk">@@ -1 +1 @@</span>\n<span class="minus">-a</span>\n'
        '<span class="plus">+b</span></pre>'
    ) in text


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "-2", "+3"])
def test_scores_begin_no_formula(text: str) -> None:
    kept = hostile_run(text)
    written = render_report(kept, "csv", risk_analysis=True, reviewed=hostile_review(text))
    rows = list(csv.DictReader(io.StringIO(written, newline=""), strict=True))
    assert [row["band"] for row in rows] == ["high", "high", ""]
    assert all(row["risk"].startswith(f"'{text}: ") for row in rows)


def test_junit_tells_scores_and_decisions_where_they_are_requested(reviewed: Reviewed) -> None:
    root = ElementTree.fromstring(render_report(scored_run(), "junit", risk_analysis=True, reviewed=reviewed))
    first = root.find(".//testcase/system-out")
    assert first is not None
    assert first.text is not None
    assert first.text.split("\n\n")[:3] == [
        "SQL injection: extent 0, band negligible (anna)",
        "SQL injection: extent 4, band critical (bert): joins text",
        "SQL injection: decided, extent 3, band critical (chair): as Bert",
    ]
    assert "bert" not in render_report(scored_run(), "junit", reviewed=reviewed)


def test_the_page_is_made_for_paper_too(reviewed: Reviewed) -> None:
    text = render_report(scored_run(), "html", risk_analysis=True, reviewed=reviewed)
    assert text.count('<article id="r1-f') == text.count(' class="brief">') == 7
    assert ' class="brief">' not in render_report(scored_run(), "html", responses=True)
    assert re.search(r'<section id="r1-\d+" class="paged">\n<h2>Findings \(7\)</h2>', text)
    on_paper = text.partition("@media print")[2].partition("</style>")[0]
    for rule in (
        "color-scheme: light",
        "nav { display: none; }",
        ".paged { break-before: page;",
        ".short { break-inside: avoid; }",
        ".brief { break-inside: avoid; }",
        "thead { display: table-header-group; }",
        "print-color-adjust: exact",
    ):
        assert rule in on_paper, rule


def test_every_figure_of_a_chart_is_in_a_cell_too(reviewed: Reviewed) -> None:
    page = Page(render_report(scored_run(), "html", risk_analysis=True, reviewed=reviewed))
    text = "|".join(page.texts)
    assert "|openai/mock-a|" in text
    assert "3 (75%)|0|0|0|1 (25%)|4 of 5" in text


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_findings_beyond_a_number_are_counted(format: ReportFormat) -> None:
    kept = large_run(1_500)
    text = render_report(kept, format)
    assert "Findings (600)" in text
    assert "100 more findings not shown; the JSON and CSV reports contain all of them." in text
    assert "500 more rows not shown" in text
    assert text.count("expected pattern") == MOST_FINDINGS
    assert len(text) < 500_000
    whole = render_report(kept, format, responses=True)
    assert "more findings" not in whole
    assert whole.count("Use a string.") == 0
    assert whole.count("is bound by the driver") == 3_000 * 6


def test_the_cost_is_linear_in_the_number_of_scores() -> None:
    assert is_linear(large_reviewed_report, 60)


def large_reviewed_report(cases: int) -> Callable[[], str]:
    criteria = (RiskCriterion("Tone", "x", "low"),)
    kept = large_run(cases)
    rated = tuple(replace(case, risk_criteria=criteria) for case in kept.plan.suite.cases)
    kept = replace(kept, plan=replace(kept.plan, suite=replace(kept.plan.suite, cases=rated)))
    scored = review(kept, [act(result.trial, "Tone", 3) for result in kept.results])
    return partial(render_report, kept, "html", responses=True, risk_analysis=True, reviewed=scored)


def test_the_small_run_has_no_review() -> None:
    text = render_report(small_run(), "markdown", risk_analysis=True)
    assert "| SQL injection | critical ×4 | Uses parameters, no concatenation | not scored |" in text
