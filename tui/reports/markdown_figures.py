"""The figures of the Markdown report."""

from collections.abc import Iterator

from tui.reports import figure_words as words
from tui.reports import wording
from tui.reports.markdown_text import inline, table
from tui.reports.summary import Tally
from tui.reports.wording import Reported


def models(run: Reported) -> str:
    """A row for each model."""
    head = ("Model", "Pass rate", "95% interval", "Trials", "Passed", "Failed", "Errors", "Flaky", "Median time")
    rows = []
    for model, count in run.summary.by_model.items():
        effort = run.summary.effort[model]
        rows.append(
            (
                inline(model),
                wording.rate(count),
                wording.interval(*run.summary.pass_rate_95[model]),
                *counts(count),
                wording.milliseconds(effort.median_ms),
                wording.milliseconds(effort.p95_ms),
                wording.count(effort.input_tokens),
                wording.count(effort.output_tokens),
            )
        )
    return table((*head, "p95", "Tokens in", "Tokens out"), rows, numbers=11)


def errors(run: Reported) -> Iterator[str]:
    """What the errors were."""
    found = {model: errors for model, errors in run.summary.errors.items() if errors}
    if found:
        told = "; ".join(f"{inline(model)}: {words.errors(errors)}" for model, errors in found.items())
        yield f"Errors, which count as not passed: {told}."


def counts(count: Tally) -> tuple[str, ...]:
    """The five counts as cells."""
    return tuple(str(value) for value in (count.trials, count.passed, count.failed, count.errors, count.flaky))


def repeats(run: Reported) -> Iterator[str]:
    """What asking again shows, where anybody was asked again."""
    if max((repeats.n for repeats in run.summary.repeats.values()), default=0) < 2:
        return
    yield "## Repeats"
    rows = [
        (inline(model), str(k), wording.percent(share), wording.percent(repeats.pass_hat_k[k]))
        for model, repeats in run.summary.repeats.items()
        for k, share in repeats.pass_at_k.items()
    ]
    yield table(("Model", "k", "pass@k (at least one)", "pass^k (all)"), rows, numbers=3)
    rates = (f"{inline(model)} {wording.percent(repeats.flake_rate)}" for model, repeats in run.summary.repeats.items())
    yield "Cases with mixed outcomes: " + ", ".join(rates) + "."
    intervals = (
        f"{inline(model)} {wording.interval(*repeats.pass_rate_95)}" for model, repeats in run.summary.repeats.items()
    )
    yield "95% interval of the pass rate, reckoned over cases: " + ", ".join(intervals) + "."


def required(run: Reported) -> Iterator[str]:
    """Cases that ask for a share of their repeats."""
    if not run.summary.required:
        return
    yield "## Shares asked for"
    rows = [
        (inline(share.case), inline(share.model), wording.percent(share.required), words.share_met(share))
        for share in run.summary.required
    ]
    yield table(("Case", "Model", "At least", "Passed"), rows, numbers=2)


def comparisons(run: Reported) -> Iterator[str]:
    """Each pair of models, and the cases behind its numbers."""
    comparisons = run.summary.comparisons
    if not comparisons:
        return
    yield "## Comparisons"
    rows = [
        (
            inline(each.a),
            inline(each.b),
            inline(words.judgement(each)),
            words.method(each),
            str(each.wins),
            str(each.losses),
            str(each.ties),
            words.difference(each),
            wording.probability(each.p_value),
            wording.probability(each.p_holm),
        )
        for each in comparisons
    ]
    head = ("A", "B", "Finding", "Test", "A better", "B better", "Alike", "Difference (95%)", "p", "p (Holm)")
    yield table(head, rows, numbers=6)
    for each in comparisons:
        for better, cases in ((each.a, each.win_cases), (each.b, each.loss_cases)):
            if cases:
                other = each.b if better == each.a else each.a
                yield f"{inline(better)} over {inline(other)}: " + ", ".join(inline(case) for case in cases)
