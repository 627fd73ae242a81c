"""The report as Markdown."""

from collections.abc import Iterator, Sequence

from tui.model.rule_words import rule_rows, rule_sentence
from tui.model.trials import Attempt, StepResult, TrialResult
from tui.reports import markdown_figures as figures
from tui.reports import wording
from tui.reports.markdown_text import code, fence, inline, table
from tui.reports.risk import NOT_SCORED, judged, score_words
from tui.reports.wording import CHECKS, MARKS, Detail, Reported


def render_markdown(runs: Sequence[Reported], detail: Detail) -> str:
    """The runs one after the other, with a rule between them."""
    return "\n\n---\n\n".join("\n\n".join(_blocks(run, detail)) for run in runs) + "\n"


def _blocks(run: Reported, detail: Detail) -> Iterator[str]:
    kept, summary = run.kept, run.summary
    yield f"# {inline(kept.plan.suite.name)}"
    total = summary.total
    yield (
        f"Run {code(kept.record.id)}, {kept.record.state}: {total.trials} trials, {total.passed} passed,"
        f" {total.failed} failed, {total.errors} errors, {total.flaky} flaky."
    )
    missing = wording.not_run_sentence(summary)
    if missing:
        yield f"**{missing}**"
    yield "## Models"
    yield figures.models(run)
    yield from figures.errors(run)
    yield "## Categories"
    rows = [(inline(name), *figures.counts(count)) for name, count in summary.by_category.items()]
    yield table(("Category", "Trials", "Passed", "Failed", "Errors", "Flaky"), rows, numbers=5)
    yield from figures.repeats(run)
    yield from figures.required(run)
    yield from figures.comparisons(run)
    yield from _not_passed(run, detail)
    if detail.risk_analysis:
        yield from _risk(run, detail)
    if detail.responses:
        yield "## Answers"
        for result in kept.results:
            yield from _answer(run, result, detail)
    yield "## Conditions"
    pairs = wording.conditions(kept, timestamps=detail.timestamps)
    yield table(("What", "Value"), [(inline(name), inline(value)) for name, value in pairs], numbers=0)


def _not_passed(run: Reported, detail: Detail) -> Iterator[str]:
    results = wording.not_passed(run.kept.results)
    yield f"## Not passed ({len(results)})"
    if not results:
        yield "Every trial passed."
    for result in results:
        yield f"### {_heading(run, result)}"
        lines = [f"- {inline(result.error, 2_000)}"] if result.error else []
        many = len(result.attempts[-1].steps) > 1 if result.attempts else False
        for number, check in wording.missed_checks(result):
            where = f"step {number}: " if many else ""
            what = f"{where}{CHECKS[check.kind]} {code(check.target) if check.target else ''}".rstrip()
            state = "timed out" if check.state == "timed_out" else "not met"
            lines.append(f"- {what}: {inline(check.detail, 2_000) or state}")
        if detail.timestamps and result.attempts:
            lines.append(f"- {_times(result.attempts[-1])}")
        yield "\n".join(lines) or "- no reason was kept"


def _heading(run: Reported, result: TrialResult) -> str:
    said = wording.verdict(result, run.kept.plan.options.attempts)
    return f"{MARKS[wording.outcome_word(result)]} {inline(wording.title(run, result))}: {said}"


def _times(attempt: Attempt) -> str:
    return f"started {inline(attempt.started_at) or 'at a time that was not kept'}, took {_took(attempt)}"


def _took(attempt: Attempt) -> str:
    return wording.milliseconds(sum(step.timing.duration_ms for step in attempt.steps))


def _risk(run: Reported, detail: Detail) -> Iterator[str]:
    yield "## Risk"
    yield rule_sentence(detail.rule)
    head, *rows = rule_rows(detail.rule)
    yield table(head, rows, numbers=len(head) - 1)
    found = False
    for each in judged(run):
        found = True
        weight = detail.rule.weights[each.criterion.severity]
        yield f"### {inline(each.case.id)}: {inline(each.criterion.name)} ({each.criterion.severity} ×{weight})"
        yield inline(each.criterion.description, 2_000)
        lines = []
        for result, scores in each.answers:
            said = [inline(score_words(score), 2_000) for score in scores] or [NOT_SCORED]
            lines += [f"- {inline(wording.title(run, result))}: {words}" for words in said]
        yield "\n".join(lines)
    if not found:
        yield "No case names a risk criterion."


def _answer(run: Reported, result: TrialResult, detail: Detail) -> Iterator[str]:
    yield f"### {_heading(run, result)}"
    if not result.attempts:
        yield "No attempt was made."
        return
    last = result.attempts[-1]
    if detail.timestamps:
        yield _times(last)
    for number, step in enumerate(last.steps, 1):
        if len(last.steps) > 1:
            yield f"Step {number}"
        yield from _step(step)
    for change in result.changes:
        yield f"Changed {code(change.path)}: +{change.added} −{change.removed}"
        yield fence(change.diff, "diff")
    if result.not_applied:
        yield "\n".join(
            f"- block {block.block} was not applied: {inline(block.reason)}" for block in result.not_applied
        )


def _step(step: StepResult) -> Iterator[str]:
    yield "Asked:"
    yield fence(step.input)
    if step.reasoning:
        yield "Thought:"
        yield fence(step.reasoning)
    yield "Answered:" if step.response else "Answered nothing."
    if step.response:
        yield fence(step.response)
    if step.tools_used:
        yield "Tools used: " + ", ".join(code(tool) for tool in step.tools_used)
    notes = [*step.notes, *(f"retried after {retry.waited_ms} ms: {retry.reason}" for retry in step.retries)]
    if notes:
        yield "\n".join(f"- {inline(note)}" for note in notes)
