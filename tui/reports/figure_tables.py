"""The figures of a run as tables: one source for every format that people read."""

from collections.abc import Iterator

from tui.model.prices import told_cost
from tui.reports import figure_words as words
from tui.reports import wording
from tui.reports.blocks import Block, Faint, Line, Paragraph, Points, Stack, Strong, Table, Whisker
from tui.reports.summary import Tally
from tui.reports.wording import Reported
from tui.statistics import comparison_words
from tui.statistics.comparing import Comparison

_COUNTS = ("Trials", "Passed", "Failed", "Errors", "Flaky", "Unchecked")


def models(run: Reported) -> Iterator[Block]:
    """How each model did, and what its answers took."""
    rows: list[tuple[Line, ...]] = []
    drawings = []
    for model, count in run.summary.by_model.items():
        interval = run.summary.pass_rate_95[model]
        share = count.passed / count.checked if count.checked else None
        drawings.append(Whisker(share, *(interval or (0.0, 1.0))))
        told = wording.interval(*interval) if interval else "–"
        rows.append(((Strong(model),), wording.rate(count), told, *_counts(count)))
    head = ("Model", "Pass rate", "95% interval", *_COUNTS)
    yield Table(head, tuple(rows), 8, tuple(drawings), "Pass rate and its 95% interval (Wilson)")
    yield from _errors(run)
    yield _effort(run)


def _effort(run: Reported) -> Table:
    rows = [
        (
            (Strong(model),),
            wording.milliseconds(effort.first_token_ms),
            wording.milliseconds(effort.median_ms),
            wording.milliseconds(effort.p95_ms),
            wording.count(effort.input_tokens),
            wording.count(effort.output_tokens),
            told_cost(effort.spent) if effort.spent.trials else "–",
        )
        for model, effort in run.summary.effort.items()
    ]
    return Table(("Model", "First token", "Median time", "p95", "Tokens in", "Tokens out", "Cost"), tuple(rows), 6)


def _errors(run: Reported) -> Iterator[Block]:
    found = [f"{model}: {words.errors(errors)}" for model, errors in run.summary.errors.items() if errors]
    if found:
        yield Paragraph(f"Errors, which count as not passed: {'; '.join(found)}.", "faint")


def categories(run: Reported) -> Iterator[Block]:
    """How the cases of each category ended."""
    counts = run.summary.by_category
    rows = tuple((name, *_counts(count)) for name, count in counts.items())
    drawings = tuple(
        Stack(
            (
                ("passed", count.passed),
                ("flaky", count.flaky),
                ("failed", count.failed),
                ("error", count.errors),
                ("unchecked", count.unchecked),
            ),
        )
        for count in counts.values()
    )
    yield Table(("Category", *_COUNTS), rows, 6, drawings, "How they ended")


def _counts(count: Tally) -> tuple[str, ...]:
    counts = (count.trials, count.passed, count.failed, count.errors, count.flaky, count.unchecked)
    return tuple(str(value) for value in counts)


def repeats(run: Reported) -> Iterator[Block]:
    """What asking again shows, where anybody was asked again."""
    if max((repeats.n for repeats in run.summary.repeats.values()), default=0) < 2:
        return
    rows = tuple(
        (
            model if k == 1 else "",
            str(k),
            wording.percent(share),
            wording.percent(repeats.pass_hat_k[k]),
            wording.percent(repeats.flake_rate) if k == 1 and repeats.flake_rate is not None else "",
            wording.interval(*repeats.pass_rate_95) if k == 1 else "",
        )
        for model, repeats in run.summary.repeats.items()
        for k, share in repeats.pass_at_k.items()
    )
    head = ("Model", "k", "pass@k: at least one passes", "pass^k: all pass", "Mixed cases", "95% over cases")
    yield Table(head, rows, 5)


def required(run: Reported) -> Iterator[Block]:
    """Cases that ask for a share of their repeats."""
    rows = tuple(
        (share.case, share.model, wording.percent(share.required), words.share_met(share))
        for share in run.summary.required
    )
    if rows:
        yield Table(("Case", "Model", "At least", "Passed"), rows, 2)


def comparisons(run: Reported) -> Iterator[Block]:
    """Each pair of models, what is concluded, and the cases behind its numbers."""
    comparisons = run.summary.comparisons
    if not comparisons:
        return
    rows = tuple(
        (
            each.a,
            each.b,
            _conclusion(each),
            str(each.wins),
            str(each.losses),
            str(each.ties),
            f"{comparison_words.points(each.difference)} points",
            comparison_words.interval_words(each) or "–",
            "–" if each.p_value is None else comparison_words.probability(each.p_value),
            "–" if each.p_holm is None else comparison_words.probability(each.p_holm),
        )
        for each in comparisons
    )
    head = ("A", "B", "Conclusion", "A better", "B better", "Ties", "Difference", "95%, simultaneous", "p", "p (Holm)")
    yield Table(head, rows, 7)
    if comparisons[0].interim:
        yield Paragraph("The run is not finished: there are counts, but no test and no interval.", "note")
    else:
        tests = ", ".join(dict.fromkeys(comparison_words.method_words(each) for each in comparisons))
        yield Paragraph(
            f"p: {tests}, two-sided; p (Holm) and the intervals hold for all pairs of this report together.", "faint"
        )
    lines: list[Line] = []
    for each in comparisons:
        for better, other, cases in ((each.a, each.b, each.win_cases), (each.b, each.a, each.loss_cases)):
            if cases:
                lines.append((f"{better} over {other}: ", Faint(words.some(cases))))
    if lines:
        yield Points(tuple(lines))


def _conclusion(comparison: Comparison) -> Line:
    detail = comparison_words.conclusion_detail(comparison)
    said = comparison_words.conclusion_words(comparison)
    return (said, Faint(f": {detail}")) if detail else said
