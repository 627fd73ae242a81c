"""The parts of the HTML report that tell of single trials."""

from collections.abc import Iterator

from tui.model.rule_words import rule_rows, rule_sentence
from tui.model.trials import StepResult, TrialResult
from tui.reports import wording
from tui.reports.html_text import block, line, marked, table
from tui.reports.risk import NOT_SCORED, judged, score_words
from tui.reports.wording import CHECKS, MARKS, Detail, Reported


def not_passed(run: Reported, detail: Detail, place: str) -> Iterator[str]:
    """Everything but plain passes, each with the reasons."""
    results = wording.not_passed(run.kept.results)
    yield f"<h2>Not passed ({len(results)})</h2>"
    if not results:
        yield "<p>Every trial passed.</p>"
    for number, result in enumerate(results):
        yield f'<article id="{place}-{number}">\n{_heading(run, result)}'
        reasons = [f"<li>{line(result.error, 2_000)}</li>"] if result.error else []
        many = len(result.attempts[-1].steps) > 1 if result.attempts else False
        for step, check in wording.missed_checks(result):
            where = f"step {step}: " if many else ""
            target = f" <code>{line(check.target)}</code>" if check.target else ""
            state = "timed out" if check.state == "timed_out" else "not met"
            reasons.append(f"<li>{where}{CHECKS[check.kind]}{target}: {line(check.detail, 2_000) or state}</li>")
        yield f"<ul>{''.join(reasons)}</ul>" if reasons else ""
        yield f"{_times(result, detail)}</article>"


def answers(run: Reported, detail: Detail) -> Iterator[str]:
    """The last attempt of every trial, whole, with the matches marked."""
    yield "<h2>Answers</h2>"
    for result in run.kept.results:
        yield f"<article>\n{_heading(run, result)}{_times(result, detail)}"
        steps = result.attempts[-1].steps if result.attempts else ()
        for number, step in enumerate(steps, 1):
            if len(steps) > 1:
                yield f"<h4>Step {number}</h4>"
            yield from _step(step)
        for change in result.changes:
            yield f"<h4>Changed <code>{line(change.path)}</code>: +{change.added} −{change.removed}</h4>"
            yield block(change.diff)
        if result.not_applied:
            items = (f"<li>block {each.block}: {line(each.reason)}</li>" for each in result.not_applied)
            yield f"<h4>Not applied</h4><ul>{''.join(items)}</ul>"
        yield "</article>"


def risk(run: Reported, detail: Detail) -> Iterator[str]:
    """The rule, and each criterion with the scores of each answer."""
    yield f"<h2>Risk</h2>\n<p>{line(rule_sentence(detail.rule))}</p>"
    head, *rows = rule_rows(detail.rule)
    yield table(head, rows, numbers=len(head) - 1)
    found = False
    for each in judged(run):
        found = True
        weight = detail.rule.weights[each.criterion.severity]
        yield (
            f"<article>\n<h3>{line(each.case.id)}: {line(each.criterion.name)}"
            f' <span class="dim">{each.criterion.severity} ×{weight}</span></h3>'
            f"<p>{line(each.criterion.description, 2_000)}</p>"
        )
        items = [
            f"<li>{line(wording.title(run, result))}: {words}</li>"
            for result, scores in each.answers
            for words in [line(score_words(score), 2_000) for score in scores] or [NOT_SCORED]
        ]
        yield f"<ul>{''.join(items)}</ul></article>"
    if not found:
        yield "<p>No case names a risk criterion.</p>"


def _heading(run: Reported, result: TrialResult) -> str:
    word = wording.outcome_word(result)
    said = wording.verdict(result, run.kept.plan.options.attempts)
    return (
        f'<h3><span class="{word}">{MARKS[word]}</span> {line(wording.title(run, result))}'
        f' <span class="{word}">{said}</span></h3>'
    )


def _times(result: TrialResult, detail: Detail) -> str:
    if not detail.timestamps or not result.attempts:
        return ""
    last = result.attempts[-1]
    took = wording.milliseconds(sum(step.timing.duration_ms for step in last.steps))
    return f'<p class="dim">started {line(last.started_at) or "at a time that was not kept"}, took {took}</p>'


def _step(step: StepResult) -> Iterator[str]:
    yield f"<h4>Asked</h4>{block(step.input)}"
    if step.reasoning:
        yield f"<h4>Thought</h4>{block(step.reasoning)}"
    yield f"<h4>Answered</h4>{marked(step.response, step.checks)}" if step.response else "<h4>Answered nothing</h4>"
    if step.tools_used:
        yield f"<h4>Tools used</h4><p>{', '.join(f'<code>{line(tool)}</code>' for tool in step.tools_used)}</p>"
    notes = [*step.notes, *(f"retried after {retry.waited_ms} ms: {retry.reason}" for retry in step.retries)]
    if notes:
        yield f"<ul>{''.join(f'<li>{line(note)}</li>' for note in notes)}</ul>"
