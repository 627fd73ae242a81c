"""The heads of the columns: what each model reached, took and gave."""

from collections.abc import Mapping, Sequence

from tui.app.matrix.baseline import sum_line
from tui.app.matrix.columns import Layout, joined
from tui.app.matrix.statistics import Since
from tui.app.presentation.figures import count, seconds
from tui.app.presentation.names import fitted_names
from tui.app.presentation.pieces import Line, Piece
from tui.model.prices import Spent, told_cost
from tui.statistics.run_figures import ModelFigures

_NONE = ModelFigures()


def head_lines(
    layout: Layout,
    models: Sequence[str],
    figures: Mapping[str, ModelFigures],
    since: Mapping[str, Since] | None,
    *,
    whole: bool,
) -> list[Line]:
    """The heads of the models in sight; those that matter most where not the `whole` is wanted."""
    seen = [figures.get(models[place], _NONE) for place in layout.visible]
    names = fitted_names(models, max(1, layout.cell - 1)) if models else []
    total = Since(*map(sum, zip(*since.values(), strict=True))) if since else Since()
    rows: list[tuple[str, list[Line]]] = [
        ("passed · 95%", [_passed(each) for each in seen]),
        ("flaky · errors", [_flaky(each) for each in seen]),
        ("time · p95", [_times(each) for each in seen]),
    ]
    speeds = [_speed(each) for each in seen]
    if whole:
        rows += [
            ("first token · tok/s", speeds),
            ("tokens in · out", [_tokens(each) for each in seen]),
            ("cost", [_cost(each) for each in seen]),
        ]
    top: list[Line] = [((names[place], "strong"),) for place in layout.visible]
    lines = [joined(layout, _scrolled(layout), top, ((_fit("since baseline", layout), "dim"),) if since else ())]
    lines += [joined(layout, ((label, "dim"),), cells, ()) for label, cells in rows]
    if since is not None:
        cells = [sum_line(*since.get(models[place], Since())) for place in layout.visible]
        lines.append(joined(layout, (("since baseline", "dim"),), cells, sum_line(*total)))
    return lines


def _fit(text: str, layout: Layout) -> str:
    return text if len(text) < layout.change else "since"


def _scrolled(layout: Layout) -> list[Piece]:
    """Which models are in sight, where not all of them are."""
    if layout.shown >= layout.models:
        return []
    first, last = layout.first + 1, layout.first + len(layout.visible)
    sight = f"{first}–{last}" if last > first else str(first)
    return [("◂ " if layout.first else "  ", "accent"), (f"{sight} of {layout.models}", "dim"),
            (" ▸" if last < layout.models else "", "accent")]  # fmt: skip


def _passed(shown: ModelFigures) -> Line:
    rate, interval = shown.tally.pass_rate, shown.rates.pass_rate_95
    if rate is None or interval is None:
        unchecked = shown.tally.unchecked
        return ((f"{unchecked} unchecked" if unchecked else "–", "dim"),)
    low, high = (round(100 * end) for end in interval)
    return ((f"{100 * rate:.0f}%", "strong"), (f"  {low}–{high}", "dim"))


def _flaky(shown: ModelFigures) -> Line:
    count = shown.tally
    if not count.trials:
        return (("–", "dim"),)
    return (
        (str(count.flaky), "flaky" if count.flaky else "dim"),
        (" · ", "dim"),
        (str(count.errors), "error" if count.errors else "dim"),
    )


def _times(shown: ModelFigures) -> Line:
    effort = shown.effort
    if effort.median_ms is None:
        return (("–", "dim"),)
    p95 = f" · {_seconds(effort.p95_ms)}" if effort.p95_ms is not None else " · –"
    return ((_seconds(effort.median_ms), "plain"), (p95, "dim"))


def _speed(shown: ModelFigures) -> Line:
    effort = shown.effort
    if effort.first_token_ms is None and effort.speed is None:
        return (("–", "dim"),)
    speed = "–" if effort.speed is None else f"{effort.speed:.0f}"
    return ((_seconds(effort.first_token_ms, 2), "plain"), (f" · {speed}", "plain"))


def _seconds(milliseconds: float | None, digits: int = 1) -> str:
    return f"{seconds(milliseconds, digits=digits).strip()} s"


def _tokens(shown: ModelFigures) -> Line:
    effort, trials = shown.effort, shown.tally.trials
    if not effort.tokens_known:
        return (("unknown" if trials else "–", "dim"),)
    least = "≥" if effort.tokens_known < trials else ""
    read, wrote = (f"{least}{count(each, 5).strip()}" for each in (effort.input_tokens, effort.output_tokens))
    return ((f"{read} · {wrote}", "plain"),)


def _cost(shown: ModelFigures) -> Line:
    trials = shown.tally.trials
    if not trials:
        return (("–", "dim"),)
    spent = Spent(shown.effort.cost_usd, shown.effort.costs_known, trials)
    return ((told_cost(spent), "dim" if spent.usd is None else "plain"),)
