"""The report of a comparison of two runs: JSON, and Markdown for a comment on a pull request."""

from collections.abc import Iterator, Sequence

from tui.model.percentages import percent
from tui.reports.blocks import Code, Line
from tui.reports.json_text import json_text
from tui.reports.markdown import cell, code, inline, line, table
from tui.statistics.comparison_words import conclusion_detail, conclusion_words, difference_words, p_value_words
from tui.statistics.run_change import ModelResults, RunChange, RunResults

_MOST_NAMED = 20


def run_change_json(
    run: RunResults,
    base: RunResults,
    changes: Sequence[RunChange],
    changed_cases: Sequence[str] = (),
    changed_models: Sequence[str] = (),
) -> str:
    """Return the comparison as JSON: case lists, and figures as fractions; null where nothing was compared.

    `changed_cases` have another prompt or other checks than in the base, and the names in `changed_models` stand for
    other models.
    """
    return json_text(
        {
            "run": run.run_id,
            "base": base.run_id,
            "models": {change.model: _figures(change) for change in changes},
            "changed_cases": list(changed_cases),
            "changed_models": list(changed_models),
            "commit": run.commit or None,
            "base_commit": base.commit or None,
        },
        indent=2,
    )


def _figures(change: RunChange) -> dict[str, object]:
    comparison = change.comparison
    return {
        "broke": change.cases["broke"],
        "fixed": change.cases["fixed"],
        "worse": change.cases["worse"],
        "better": change.cases["better"],
        "same": len(change.cases["same"]),
        "missing": change.missing,
        "added": change.added,
        "pass_rate": change.now.rate,
        "base_pass_rate": change.before.rate,
        "difference": comparison.difference,
        "difference_95": comparison.difference_95,
        "p_value": comparison.p_value,
        "method": comparison.method,
        "conclusion": change.conclusion,
        "not_worse": change.not_worse,
        "interim": comparison.interim,
    }


def run_change_markdown(
    run: RunResults,
    base: RunResults,
    changes: Sequence[RunChange],
    changed_cases: Sequence[str] = (),
    changed_models: Sequence[str] = (),
) -> str:
    """Return the comparison as Markdown: a table of the models, then the cases that changed."""
    return "\n\n".join(_blocks(run, base, changes, changed_cases, changed_models)) + "\n"


def _blocks(
    run: RunResults,
    base: RunResults,
    changes: Sequence[RunChange],
    changed_cases: Sequence[str],
    changed_models: Sequence[str],
) -> Iterator[str]:
    yield f"## {inline(run.suite)}"
    yield f"Run {code(run.run_id)} compared with {code(base.run_id)}"
    if unfinished := [each.run_id for each in (run, base) if not each.finished]:
        yield f"Not finished: {', '.join(map(code, unfinished))}. There is no test until both runs are finished."
    head = ("Model", "Base", "Run", "Difference (95% interval)", "p-value", "Conclusion", "Broke", "Fixed")
    yield table(head, [[cell(each) for each in _row(change)] for change in changes], numbers=2)
    if any(change.missing or change.added for change in changes):
        yield (
            "Base and Run count all checked cases of each run. Difference, p-value and conclusion count only the cases"
            " that have results in both runs."
        )
    for change in changes:
        yield from _changed(change)
    if run.has_another_commit(base):
        yield line(
            (
                "The repository was cloned at another commit, so that files and commands may differ: ",
                Code(run.commit),
                ", in the base ",
                Code(base.commit),
            )
        )
    only = [name for name in (*run.models, *base.models) if (name in run.models) != (name in base.models)]
    if only:
        yield line(("Only in one of the runs, not compared: ", *_names(only)))
    if changed_models:
        yield line(("These names stand for other models or settings than in the base: ", *_names(changed_models)))
    if changed_cases:
        what = "The prompt, files, checks or acceptTruncated of these cases differ from the base: "
        yield line((what, *_names(changed_cases)))


def _row(change: RunChange) -> tuple[Line, ...]:
    comparison = change.comparison
    words = conclusion_words(comparison, {comparison.a: "the run", comparison.b: "the base"})
    detail = conclusion_detail(comparison, {comparison.a: "the run", comparison.b: "the base"})
    return (
        change.model,
        _rate(change.before),
        _rate(change.now),
        difference_words(comparison),
        p_value_words(comparison) or "–",
        f"{words} ({detail})" if detail else words,
        f"{len(change.cases['broke']):,}",
        f"{len(change.cases['fixed']):,}",
    )


def _rate(results: ModelResults) -> str:
    return "–" if results.rate is None else percent(results.rate, 1)


def _changed(change: RunChange) -> Iterator[str]:
    titles = (
        ("Broke", change.cases["broke"]),
        ("Passes less often", change.cases["worse"]),
        ("Fixed", change.cases["fixed"]),
        ("Passes more often", change.cases["better"]),
        ("No checked result in the run", change.missing),
        ("No checked result in the base", change.added),
    )
    points = [line((f"{title}: ", *_names(cases))) for title, cases in titles if cases]
    if points:
        yield f"### {inline(change.model)}"
        yield "\n".join(f"- {point}" for point in points)


def _names(names: Sequence[str]) -> Iterator[Code | str]:
    for at, name in enumerate(names[:_MOST_NAMED]):
        if at:
            yield ", "
        yield Code(name)
    if len(names) > _MOST_NAMED:
        yield f" and {len(names) - _MOST_NAMED:,} more"
