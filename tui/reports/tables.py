"""Tables of a run's figures, shared by the formats that people read."""

from collections.abc import Iterator, Mapping, Sequence

from tui.model.percentages import percent
from tui.model.prices import cost_text
from tui.reports import figure_words as words
from tui.reports import phrases
from tui.reports.blocks import Block, Faint, Line, Paragraph, Points, Stack, Strong, Table, Whisker
from tui.reports.phrases import Reported, many
from tui.statistics import comparison_words
from tui.statistics.comparison import Comparison
from tui.statistics.run_figures import ModelFigures, ModelTotals, Rates

_COUNTS = ("Trials", "Passed", "Failed", "Errors", "Flaky", "Unchecked")


def models(run: Reported) -> Iterator[Block]:
    """Yield the results of each model and the time, tokens and cost of its answers."""
    yield model_rates(run.summary.figures, _interval_name(run))
    if any(figures.rates.sparse for figures in run.summary.figures.values()):
        yield Paragraph(phrases.SPARSE, "faint")
    yield from _errors(run)
    yield _effort(run)


def model_rates(by_model: Mapping[str, ModelFigures], interval: str = "") -> Table:
    """Return the counts and the pass rate of each model; `interval` names the interval above its drawing."""
    rows: list[tuple[Line, ...]] = []
    drawings = []
    for model, figures in by_model.items():
        count, ends = figures.tally, figures.rates.pass_rate_95
        drawings.append(Whisker(count.pass_rate, *(ends or (None, None))))
        rows.append(((Strong(model),), phrases.rate(count), phrases.rate_interval(figures.rates), *_counts(count)))
    head = ("Model", "Pass rate", "95% interval", *_COUNTS)
    return Table(head, tuple(rows), 8, tuple(drawings), f"Pass rate and its 95% interval ({interval})")


def _interval_name(run: Reported) -> str:
    if run.summary.clusters:
        return "clustered by cluster of cases"
    once = all(repeats.n < 2 for repeats in run.summary.repeats.values())
    return "Wilson" if once else "clustered by case"


def _effort(run: Reported) -> Table:
    spent = run.summary.spent
    rows = [
        (
            (Strong(model),),
            phrases.milliseconds(figures.effort.first_token_ms),
            phrases.milliseconds(figures.effort.median_ms),
            phrases.milliseconds(figures.effort.p95_ms),
            _tokens(figures.effort.input_tokens, figures.effort.input_tokens_known, figures.tally.trials),
            _tokens(figures.effort.output_tokens, figures.effort.output_tokens_known, figures.tally.trials),
            cost_text(spent[model]) if figures.tally.trials else "–",
        )
        for model, figures in run.summary.figures.items()
    ]
    return Table(("Model", "TTFT", "Median time", "p95", "Tokens in", "Tokens out", "Cost"), tuple(rows), 6)


def _tokens(count: int | None, known: int, trials: int) -> str:
    """Return a sum of tokens, with `≥` if it does not include those of every trial."""
    return f"{'≥ ' if count is not None and known < trials else ''}{phrases.count(count)}"


def _errors(run: Reported) -> Iterator[Block]:
    found = [f"{model}: {words.errors(errors)}" for model, errors in run.summary.errors.items() if errors]
    if found:
        without = run.summary.total.unchecked_errors
        rest = f" {without:,} of them in cases without a check, which are in no rate." if without else ""
        yield Paragraph(f"Errors (count as not passed): {'; '.join(found)}.{rest}", "faint")


def categories(run: Reported) -> Iterator[Block]:
    """Yield the results of the cases of each category."""
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
    yield Table(("Category", *_COUNTS), rows, 6, drawings, "Results")


def category_rates(run: Reported) -> Iterator[Block]:
    """Yield the pass rate of each model in each category, with its interval."""
    groups = run.summary.by_group
    if len(groups) < 2 or not run.summary.figures:
        return
    rows = tuple(
        (name, *(_rate_cell(by_model[model]) for model in run.summary.figures)) for name, by_model in groups.items()
    )
    yield Table(("Pass rate, 95% interval", *run.summary.figures), rows, len(run.summary.figures))
    if any(rates.sparse for by_model in groups.values() for rates in by_model.values()):
        yield Paragraph(
            f"{phrases.SPARSE} Each interval is valid on its own, not simultaneously with the others.", "faint"
        )


def _rate_cell(rates: Rates) -> Line:
    count = rates.tally
    if not count.checked:
        return "–"
    return f"{phrases.rate(count)} ", Faint(f"{phrases.rate_interval(rates)} ({count.passed}/{count.checked})")


def _counts(count: ModelTotals) -> tuple[str, ...]:
    counts = (count.trials, count.passed, count.failed, count.errors, count.flaky, count.unchecked)
    return tuple(str(value) for value in counts)


def repeats(run: Reported) -> Iterator[Block]:
    """Yield the variation between repeats and attempts, if there are any."""
    if max((repeats.n for repeats in run.summary.repeats.values()), default=0) < 2:
        return
    rows = tuple(
        (
            model if k == 1 else "",
            str(k),
            percent(share),
            percent(repeats.pass_hat_k[k]),
            percent(repeats.flake_rate) if k == 1 and repeats.flake_rate is not None else "",
        )
        for model, repeats in run.summary.repeats.items()
        for k, share in repeats.pass_at_k.items()
        if _is_shown(k, len(repeats.pass_at_k))
    )
    head = ("Model", "k", "pass@k: at least one passes", "pass^k: all pass", "Mixed cases")
    yield Table(head, rows, 4)


def _is_shown(k: int, most: int) -> bool:
    """Return whether a table has a row for k of many repeats: up to 20, round numbers, and the last."""
    digits = str(k)
    return k <= 20 or k == most or (digits[0] in "125" and not digits[1:].strip("0"))


def assumptions(run: Reported) -> Iterator[Block]:
    """Yield the assumptions behind the figures as a list."""
    summary = run.summary
    if summary.clusters:
        unit = f"the cluster of cases ({many(summary.clusters, 'cluster')}; a case without a cluster is its own unit)"
    else:
        unit = "the case; cases with a common template or source can share a `cluster`"
    lines: list[Line] = [
        f"The independent unit is {unit}. Repeats of a case are not independent.",
        "The original verdict of a trial counts. A rerun replaces it only if there was no judged answer.",
        "Rates, intervals and comparisons exclude cases without a check; errors and flaky passes count as not passed.",
        "Durations are those of the last attempt; tokens and cost include all attempts.",
    ]
    if summary.comparisons:
        pairs = many(len(summary.comparisons), "pair")
        lines.append(
            "Tests are two-sided at the 5% level. p (Holm) and intervals of differences are simultaneous over "
            f"{pairs}. The detectable difference is for 80% power at the strictest Holm level."
        )
        margin = summary.comparisons[0].margin
        if margin is not None:
            within = comparison_words.margin_points(margin)
            lines.append(f"Models are equivalent if the interval of their difference lies within ±{within} points.")
    lines.append("Intervals of rates are 95% intervals for each rate on its own. Random draws use a fixed seed.")
    yield Points(tuple(lines))


def required(run: Reported) -> Iterator[Block]:
    """Yield the cases that require a share of their repeats to pass."""
    rows = tuple(
        (share.case, share.model, percent(share.required), words.share_met(share)) for share in run.summary.required
    )
    if rows:
        yield Table(("Case", "Model", "At least", "Passed"), rows, 2)


def comparisons(run: Reported) -> Iterator[Block]:
    """Yield each pair of models with the conclusion and the cases behind its numbers."""
    yield from comparison_blocks(run.summary.comparisons)


def comparison_blocks(comparisons: Sequence[Comparison]) -> Iterator[Block]:
    """Yield each pair of models as `comparisons` does."""
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
            "–" if each.difference is None else f"{comparison_words.points(each.difference)} points",
            comparison_words.interval_words(each) or "–",
            "–" if each.p_value is None else comparison_words.probability(each.p_value),
            "–" if each.p_holm is None else comparison_words.probability(each.p_holm),
        )
        for each in comparisons
    )
    head = ("A", "B", "Conclusion", "A better", "B better", "Ties", "Difference", "95%, simultaneous", "p", "p (Holm)")
    yield Table(head, rows, 7)
    if comparisons[0].interim:
        yield Paragraph("Run not finished: counts only, no tests and no intervals.", "note")
    else:
        tests = ", ".join(dict.fromkeys(comparison_words.method_words(each) for each in comparisons))
        yield Paragraph(
            f"p: {tests}, two-sided; p (Holm) and the intervals are simultaneous over all pairs of this report.",
            "faint",
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
    text = comparison_words.conclusion_words(comparison)
    return (text, Faint(f": {detail}")) if detail else text
