"""The results as JUnit XML for continuous integration: one test suite for each model."""

import re
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tui.model.context import context_of_run
from tui.model.percentages import percent
from tui.model.results import TrialKey, TrialResult
from tui.model.sanitize import sanitize_text
from tui.model.suite import Case, checked_sentence
from tui.reports.figure_words import share_met
from tui.reports.phrases import (
    CHECKS,
    Detail,
    Reported,
    missed_checks,
    outcome_word,
    reruns_sentence,
    scores_title,
    shown_attempts,
    verdict,
)
from tui.reports.scores import describe_scores
from tui.reports.summary import count_reruns, models_of

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(runs: Sequence[Reported], detail: Detail) -> str:
    """Return one XML document.

    Errors, timeouts, incomplete and cancelled trials are errors; trials that were not run or are unchecked are
    skipped.
    """
    root = Element("testsuites", name="assay")
    for run in runs:
        results = {result.trial: result for result in run.kept.results}
        by_model: dict[str, list[tuple[TrialKey, TrialResult | None]]] = {model: [] for model in models_of(run.kept)}
        for key in dict.fromkeys([*run.kept.plan.trials, *results]):
            by_model[key.model].append((key, results.get(key)))
        properties = _properties(run)
        for model, trials in by_model.items():
            entries = properties[model]
            if reruns := reruns_sentence(count_reruns(result for _, result in trials if result is not None)):
                entries["reruns"] = reruns
            _add_suite(root, run, entries, trials, detail)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    for element in root.iter():
        element.text = element.text and _sanitize(element.text)
        for name, value in element.items():
            element.set(name, _sanitize(value))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_suite(
    root: Element,
    run: Reported,
    entries: Mapping[str, str],
    trials: Sequence[tuple[TrialKey, TrialResult | None]],
    detail: Detail,
) -> None:
    suite = SubElement(root, "testsuite", name=f"{run.kept.plan.suite.name} · {entries['model']}")
    if detail.timestamps:
        suite.set("timestamp", run.kept.record.started_at)
    properties = SubElement(suite, "properties")
    for name, value in entries.items():
        SubElement(properties, "property", name=name, value=value)
    for key, result in trials:
        _add_trial(suite, run, key, result, run.cases.get(key.case), detail)
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(test.find(tag) is not None for test in tests)))
    suite.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.3f}")


def _properties(run: Reported) -> dict[str, dict[str, str]]:
    """Return the properties of each model."""
    notes = {"checked": checked_sentence(run.kept.plan.planned_cases)}
    required: dict[str, dict[str, str]] = {}
    for share in run.summary.required:
        name = f"required pass rate of {share.case}"
        required.setdefault(share.model, {})[name] = f"{percent(share.required)}: {share_met(share)}"
    sent = context_of_run(run.kept)
    context = {"context": sent.words, "omitted from the context": sent.left_out_words or "nothing"} if sent else {}
    return {
        model: {"run": run.kept.record.id, "state": run.kept.record.state, "model": model}
        | notes
        | required.get(model, {})
        | context
        for model in models_of(run.kept)
    }


def _add_trial(
    suite: Element, run: Reported, key: TrialKey, result: TrialResult | None, case: Case | None, detail: Detail
) -> None:
    name = key.case if case is None or case.name == key.case else f"{key.case} · {case.name}"
    test = SubElement(
        suite,
        "testcase",
        name=name + (f" · repeat {key.repeat}" if key.repeat > 1 else ""),
        classname=case.category if case else "",
    )
    if (seconds := _seconds(result)) is not None:
        test.set("time", f"{seconds:.3f}")
    if result is None:
        SubElement(test, "skipped", message="not run")
        return
    missed = [
        f"{CHECKS[check.kind]} {check.target}: {check.detail or check.state}"
        for _, check in missed_checks(result.counted_attempt)
    ]
    word = outcome_word(result)
    if word == "failed":
        failure = SubElement(test, "failure", type="failed", message="; ".join(missed) or "failed")
        failure.text = "\n".join(missed)
    elif word == "unchecked":
        SubElement(test, "skipped", message="unchecked: the case has no check")
    elif word not in ("passed", "flaky"):
        counted = result.counted_attempt
        why = (counted.error if counted and result.reruns else result.error) or ""
        error = SubElement(test, "error", type=word, message=why or verdict(result, 1))
        error.text = "\n".join([why, *missed]).strip()
    out = _output(run, result, detail)
    if out:
        SubElement(test, "system-out").text = out


def _output(run: Reported, result: TrialResult, detail: Detail) -> str:
    parts = []
    if outcome_word(result) == "flaky" or result.verdict != result.first_verdict:
        parts.append(verdict(result, run.kept.plan.options.attempts))
    for title, attempt in shown_attempts(result):
        if title and (detail.timestamps or detail.responses):
            parts.append(f"{title}:")
        if detail.timestamps and attempt.started_at:
            parts.append(f"started {attempt.started_at}")
        if detail.responses:
            parts += [step.response for step in attempt.steps]
    if detail.risk_analysis and (scores := describe_scores(run.scores, result.trial)):
        title = scores_title(result)
        parts += [f"{title}:", *scores] if title else scores
    return "\n\n".join(parts)


def _seconds(result: TrialResult | None) -> float | None:
    """Return the seconds of a trial, 0 without an answer; None for an answer whose duration is unknown."""
    last = result.attempts[-1] if result and result.attempts else None
    if last is None or not last.steps:
        return 0.0
    return None if last.answer_ms is None else last.answer_ms / 1_000


def _sanitize(text: str) -> str:
    """Return the text with control characters made visible, and U+FFFD for each other character that XML forbids.

    Without a replacement, what such a character divides would be joined: a key, for example, that was not recognized.
    """
    return _FORBIDDEN.sub("\ufffd", sanitize_text(text))
