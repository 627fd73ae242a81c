"""The report as one HTML file: no script, nothing loaded, every value escaped."""

from collections.abc import Iterator, Sequence

from tui.reports import figure_words as words
from tui.reports import wording
from tui.reports.html_answers import answers, not_passed, risk
from tui.reports.html_page import page
from tui.reports.html_text import line, rate_bar, share_bar, table
from tui.reports.summary import Tally
from tui.reports.wording import MARKS, Detail, Reported


def render_html(runs: Sequence[Reported], detail: Detail) -> str:
    """All the runs on one page."""
    body = "\n".join(
        f'<main class="run">\n{chr(10).join(_sections(run, detail, f"r{number}"))}\n</main>'
        for number, run in enumerate(runs, 1)
    )
    title = runs[0].kept.plan.suite.name if len(runs) == 1 else f"{len(runs)} runs"
    return page(f"{title} · Assay", body)


def _sections(run: Reported, detail: Detail, place: str) -> Iterator[str]:
    yield from _head(run)
    yield "<h2>Models</h2>"
    yield _models(run)
    yield from _errors(run)
    yield from _repeats(run)
    yield from _required(run)
    yield from _comparisons(run)
    yield "<h2>Categories</h2>"
    rows = [(line(name), share_bar(count), *_counts(count)) for name, count in run.summary.by_category.items()]
    yield table(("Category", "", "Trials", "Passed", "Failed", "Errors", "Flaky"), rows, numbers=5)
    yield "<h2>Cases</h2>"
    yield _matrix(run, place)
    yield from not_passed(run, detail, place)
    if detail.risk_analysis:
        yield from risk(run, detail)
    if detail.responses:
        yield from answers(run, detail)
    yield "<h2>Conditions</h2>"
    pairs = wording.conditions(run.kept, timestamps=detail.timestamps)
    yield table(("What", "Value"), [(line(name), f"<code>{line(value)}</code>") for name, value in pairs], numbers=0)


def _head(run: Reported) -> Iterator[str]:
    suite, record, total = run.kept.plan.suite, run.kept.record, run.summary.total
    yield f'<header>\n<p class="brand">Assay</p>\n<h1>{line(suite.name)}</h1>'
    if suite.description:
        yield f"<p>{line(suite.description, 2_000)}</p>"
    yield f'<p class="dim">Run <code>{line(record.id)}</code>, {record.state}</p>'
    figures = [
        ("trials", "", total.trials),
        ("passed", "passed", total.passed),
        ("failed", "failed", total.failed),
        ("errors", "error", total.errors),
        ("flaky", "flaky", total.flaky),
    ]
    items = "".join(f'<li><b class="{kind}">{value}</b>{name}</li>' for name, kind, value in figures)
    yield f'<ul class="figures">{items}</ul>\n</header>'
    missing = wording.not_run_sentence(run.summary)
    if missing:
        yield f'<p class="note">{missing}</p>'


def _models(run: Reported) -> str:
    rows = []
    for model, count in run.summary.by_model.items():
        low, high = run.summary.pass_rate_95[model]
        effort = run.summary.effort[model]
        rows.append(
            (
                f"<b>{line(model)}</b>",
                rate_bar(count, low, high),
                wording.rate(count),
                wording.interval(low, high),
                *_counts(count),
                wording.milliseconds(effort.median_ms),
                wording.milliseconds(effort.p95_ms),
                wording.count(effort.input_tokens),
                wording.count(effort.output_tokens),
            )
        )
    head = ("Model", "", "Pass rate", "95%", "Trials", "Passed", "Failed", "Errors", "Flaky", "Median", "p95")
    return table((*head, "Tokens in", "Tokens out"), rows, numbers=11)


def _errors(run: Reported) -> Iterator[str]:
    found = {model: errors for model, errors in run.summary.errors.items() if errors}
    if found:
        told = "; ".join(f"{line(model)}: {words.errors(errors)}" for model, errors in found.items())
        yield f'<p class="dim">Errors, which count as not passed: {told}.</p>'


def _counts(count: Tally) -> tuple[str, ...]:
    return tuple(str(value) for value in (count.trials, count.passed, count.failed, count.errors, count.flaky))


def _repeats(run: Reported) -> Iterator[str]:
    if max((repeats.n for repeats in run.summary.repeats.values()), default=0) < 2:
        return
    yield "<h2>Repeats</h2>"
    rows = [
        (
            line(model) if k == 1 else "",
            str(k),
            wording.percent(share),
            wording.percent(repeats.pass_hat_k[k]),
            wording.percent(repeats.flake_rate) if k == 1 else "",
            wording.interval(*repeats.pass_rate_95) if k == 1 else "",
        )
        for model, repeats in run.summary.repeats.items()
        for k, share in repeats.pass_at_k.items()
    ]
    head = ("Model", "k", "At least one of k passes", "All of k pass", "Mixed cases", "95% over cases")
    yield table(head, rows, numbers=5)


def _required(run: Reported) -> Iterator[str]:
    if not run.summary.required:
        return
    yield "<h2>Shares asked for</h2>"
    rows = [
        (line(share.case), line(share.model), wording.percent(share.required), words.share_met(share))
        for share in run.summary.required
    ]
    yield table(("Case", "Model", "At least", "Passed"), rows, numbers=2)


def _comparisons(run: Reported) -> Iterator[str]:
    comparisons = run.summary.comparisons
    if not comparisons:
        return
    yield "<h2>Comparisons</h2>"
    rows = [
        (
            f"{line(each.a)} <span class='dim'>against</span> {line(each.b)}",
            line(words.judgement(each)),
            _cases(each.win_cases),
            _cases(each.loss_cases),
            str(each.ties),
            words.difference(each),
            wording.probability(each.p_value),
            wording.probability(each.p_holm),
            words.method(each),
        )
        for each in comparisons
    ]
    head = ("Models", "Finding", "First better on", "Second better on", "Alike", "Difference (95%)", "p", "p (Holm)")
    yield table((*head, "Test"), rows, numbers=5)


def _cases(cases: Sequence[str]) -> str:
    return f'{len(cases)}<br><span class="dim">{", ".join(line(case) for case in cases)}</span>' if cases else "0"


def _matrix(run: Reported, place: str) -> str:
    """Cases × models; what did not pass leads to where it is told."""
    findings = {result.trial: number for number, result in enumerate(wording.not_passed(run.kept.results))}
    results = {result.trial: result for result in run.kept.results}
    models = list(run.summary.by_model)
    cells: dict[str, dict[str, list[str]]] = {}
    for key in dict.fromkeys([*run.kept.plan.trials, *results]):
        result = results.get(key)
        word = wording.outcome_word(result)
        said = wording.verdict(result, run.kept.plan.options.attempts) if result else "not run"
        mark = f'<span class="{word}" title="{said}">{MARKS[word]}</span>'
        if key in findings:
            mark = f'<a href="#{place}-{findings[key]}">{mark}</a>'
        cells.setdefault(key.case, {}).setdefault(key.model, []).append(mark)
    rows = []
    for case, by_model in cells.items():
        known = run.cases.get(case)
        name = f"{line(case)} <span class='dim'>{line(known.name)}</span>" if known else line(case)
        rows.append((name, *(" ".join(by_model.get(model, ())) for model in models)))
    return table(("Case", *(line(model) for model in models)), rows, numbers=0)
