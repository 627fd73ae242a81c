"""The details of one trial as blocks: why it did not pass, its scores, its prompt and answer."""

from collections.abc import Iterator

from tui.model.call_tree import call_lines
from tui.model.results import Attempt, Prompt, StepResult, TrialResult
from tui.model.risk import EXTENTS, Band
from tui.model.scores import Extent
from tui.reports import phrases
from tui.reports.blocks import Block, Code, Faint, Line, Paragraph, Piece, Points, Quoted, Status, Strong, Table, Whole
from tui.reports.phrases import CHECKS, MARKS, Detail, Reported
from tui.reports.scores import Judged

NOT_SCORED = "not scored"


def heading(run: Reported, result: TrialResult) -> tuple[Piece, ...]:
    """Return the mark, the trial's name and its verdict."""
    word, text = phrases.outcome_word(result), phrases.verdict(result, run.kept.plan.options.attempts)
    return Status(word, MARKS[word]), f" {phrases.title(run, result)}: ", Status(word, text)


def reasons(result: TrialResult) -> Iterator[Block]:
    """Yield the error and the failed checks of the attempt that counts."""
    counted = result.counted_attempt
    yield from _reasons(counted, counted.error if counted and result.reruns else result.error)


def _reasons(attempt: Attempt | None, error: str | None) -> Iterator[Block]:
    lines: list[Line] = [error] if error else []
    many = len(attempt.steps) > 1 if attempt else False
    for number, check in phrases.missed_checks(attempt):
        where = f"step {number}: " if many else ""
        state = "not evaluated" if check.state == "timed_out" else "not met"
        target = (" ", Code(check.target)) if check.target else ()
        lines.append((f"{where}{CHECKS[check.kind]}", *target, f": {check.detail or state}"))
    if lines:
        yield Points(tuple(lines))


def times(result: TrialResult, detail: Detail) -> Iterator[Block]:
    """Yield when the attempt that counts began and how long it took, if timestamps are included."""
    if detail.timestamps and result.counted_attempt:
        yield Paragraph(_times(result.counted_attempt), "faint")


def _times(attempt: Attempt) -> str:
    took = phrases.milliseconds(attempt.answer_ms)
    return f"started {attempt.started_at or 'at an unknown time'}, took {took}"


def scores(run: Reported, result: TrialResult) -> Iterator[Block]:
    """Yield every score and decision of the answer, and which of them counts."""
    rows: list[tuple[Line, ...]] = []
    for judged in run.scores.of_trial(result.trial):
        rows += _score_rows(run, judged)
    if rows:
        if title := phrases.scores_title(result):
            yield Paragraph((Strong(title),))
        yield Table(("Criterion", "Reviewer", "Extent", "Band", "Note"), tuple(rows))


def _score_rows(run: Reported, judged: Judged) -> Iterator[tuple[Line, ...]]:
    weight = run.scores.rule.weights[judged.severity] if judged.severity else None
    name: Line = (Strong(judged.name), Faint(f" {judged.severity} ×{weight}" if weight else " not in the suite"))
    if judged.counted is None:
        yield name, "", "", "", (Faint(NOT_SCORED),)
        return
    for act in judged.scores:
        yield (
            name,
            act.reviewer,
            *_judgement(act.extent, run.scores.band_of(judged.severity, act.extent)),
            (Whole(act.note),),
        )
        name = ""
    if judged.decision is not None:
        act = judged.decision
        band = run.scores.band_of(judged.severity, act.extent)
        yield name, (Strong("decided"), f" by {act.reviewer}"), *_judgement(act.extent, band), (Whole(act.note),)
    elif judged.counted.how == "highest":
        text = "highest extent, until a decision"
        yield "", (Strong("counts"),), *_judgement(judged.counted.extent, judged.band), (Faint(text),)


def extent_words(extent: Extent | None) -> str:
    """Return the extent with its name: `3 major`, `n/a`."""
    return f"{extent} {EXTENTS[extent]}" if isinstance(extent, int) else "n/a"


def _judgement(extent: Extent | None, band: Band | None) -> tuple[Line, Line]:
    return (Status("extent", extent_words(extent)),), (Status(band, band),) if band else "–"


def answer(run: Reported, result: TrialResult) -> Iterator[Block]:
    """Yield prompts and complete answers of the attempts that are shown, and the changes of the current answer."""
    case = run.cases.get(result.trial.case)
    if case and case.expected_behavior:
        yield Quoted("Expected", case.expected_behavior)
    if not result.attempts:
        yield Paragraph("No attempt.", "faint")
        return
    for title, attempt in phrases.shown_attempts(result):
        if title:
            yield Paragraph((Strong(title),))
            yield from _reasons(attempt, attempt.error)
        for number, step in enumerate(attempt.steps, 1):
            if len(attempt.steps) > 1:
                yield Paragraph((Strong(f"Step {number}"),))
            yield from _step(step, without="No answer." if attempt.error else "Empty answer.")
        if attempt is result.current_attempt:
            yield from _changes(result)


def _changes(result: TrialResult) -> Iterator[Block]:
    for change in result.changes:
        label = ("Changed ", Code(change.path), f": +{change.added} −{change.removed}")
        yield Quoted(label, change.diff, "diff")
    if result.not_applied:
        yield Points(tuple(f"block {each.block + 1} was not applied: {each.reason}" for each in result.not_applied))


def _step(step: StepResult, *, without: str) -> Iterator[Block]:
    """Yield the prompt and the answer; `without` stands in place of an empty one."""
    yield Quoted("Prompt", step.input)
    sent = _sent(step.prompt)
    if sent:
        yield Paragraph(sent, "faint")
    if step.reasoning:
        yield Quoted("Reasoning", step.reasoning)
    if step.response:
        yield Quoted("Answer", step.response, "answer", step.checks)
    else:
        yield Paragraph((Strong(without),))
    if step.tools_used:
        named = (piece for tool in step.tools_used for piece in (", ", Code(tool)))
        yield Paragraph(("Tools used: ", *list(named)[1:]))
    yield from _calls(step)
    notes = [*step.notes, *(f"retried after {retry.waited_ms} ms: {retry.reason}" for retry in step.retries)]
    if notes:
        yield Points(tuple(notes))


def _calls(step: StepResult) -> Iterator[Block]:
    if any(call.kind != "tool" or call.parent is not None for call in step.tool_calls):
        yield Quoted("Calls", "\n".join(call_lines(step.tool_calls)))
        return
    for call in step.tool_calls:
        if call.has_details:
            took = "" if call.duration_ms is None else f", {call.duration_ms:,.0f} ms"
            parts = {"arguments": call.arguments, "result": call.result}
            text = "\n".join(f"{name}: {part}" for name, part in parts.items() if part)
            yield Quoted(("Tool ", Code(call.name), took), text)


def _sent(prompt: Prompt) -> str:
    """Return the size of the system messages and files that were sent with the step's own text."""
    system = sum(len(message.content) for message in prompt.messages if message.role == "system")
    parts = [f"a system message of {system:,} characters"] if system else []
    if prompt.included:
        size = sum(each.size for each in prompt.included)
        parts.append(f"{phrases.many(len(prompt.included), 'file')} of {size:,} bytes")
    return f"Included: {' and '.join(parts)}." if parts else ""
