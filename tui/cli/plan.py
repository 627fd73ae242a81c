"""`assay plan`: the number of cases needed to show a difference, and the difference that a number of cases shows."""

import math
import os
from dataclasses import replace

import click

from tui.cli.streams import note
from tui.model.errors import ConfigError
from tui.model.percentages import percent


@click.command()
@click.option("--run", "run", metavar="RUN", help="Use the discordance, number of cases and number of pairs of a run.")
@click.option("--difference", type=float, metavar="D", help="Difference between two pass rates (above 0, up to 1).")
@click.option(
    "--discordance", type=float, metavar="R", help="Share of cases that only one of the two models passes (0 to 1)."
)
@click.option(
    "--power", type=float, default=0.8, show_default=True, metavar="P", help="Probability of detecting the difference."
)
@click.option("--cases", type=int, metavar="N", help="Number of cases: print the difference they can detect.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(
    run: str | None,
    difference: float | None,
    discordance: float | None,
    power: float,
    cases: int | None,
    as_json: bool,
) -> None:
    """Plan how many cases a comparison of two models needs, with each case run once.

    With --difference: number of cases needed. With --cases: detectable difference. With both: power of the test.

    With --run alone: detectable difference for the cases of that run. The test is McNemar's exact test.
    """
    from tui.reports.json_text import json_text
    from tui.statistics.pairs import ALPHA
    from tui.statistics.power import DISCORDANCE, PlanError

    alpha = ALPHA
    if run is not None:
        in_run, of_cases, pairs = _of_run(run)
        alpha = ALPHA / pairs
        # A larger difference than in the run needs more cases that differ.
        discordance = max(in_run, difference or 0.0) if discordance is None else discordance
        cases = of_cases if cases is None and difference is None else cases
    if discordance is None:
        discordance = max(DISCORDANCE, difference or 0.0)
    if difference is None and cases is None:
        raise ConfigError("Nothing to plan", fix="Pass --difference, --cases or --run.")
    try:
        figures, sentence = _planned(difference, discordance, power, cases, alpha)
    except PlanError as error:
        raise ConfigError(f"Cannot plan: {error}") from error
    click.echo(json_text(figures, indent=2) if as_json else sentence)


def _planned(
    difference: float | None, discordance: float, power: float, cases: int | None, alpha: float
) -> tuple[dict[str, object], str]:
    """Return the figures for JSON and the sentence; one of `difference` and `cases` is given."""
    from tui.statistics.power import SamplePlan, plan_cases, plan_difference, plan_power

    test = f"each case run once, McNemar's exact test, alpha {alpha:.3g}"
    found: SamplePlan | None
    if cases is None:
        assert difference is not None
        found = plan_cases(difference, discordance, power, alpha)
        reached = f"at least {percent(power)}"
    elif difference is not None:
        found = plan_power(cases, difference, discordance, alpha)
        reached = percent(found.power)
    else:
        found = plan_difference(cases, discordance, power, alpha)
        reached = percent(power)
    figures: dict[str, object] = {
        "cases": found.cases if found else cases,
        "difference": found.difference if found else None,
        "discordance": found.discordance if found else discordance,
        "power": found.power if found else power,
        "alpha": found.alpha if found else alpha,
    }
    if found is None:
        assert cases is not None
        return figures, f"{_cases(cases)} cannot detect any difference with {reached} power ({test}); use more cases."
    differ = percent(found.discordance) if found.discordance >= 0.01 else f"{_points(found.discordance)}%"
    return figures, (
        f"{_cases(found.cases)} detect a difference of {_points(found.difference)} points with {reached} power, if the "
        f"two models differ on {differ} of the cases ({test})."
    )


def _of_run(run: str) -> tuple[float, int, int]:
    """Return the largest discordance of a stored run's pairs of models, that pair's cases, and the number of pairs.

    Discordance is of single results: with repeats, how often one result of each model would differ. The cases of a
    cluster count as one.
    """
    from tui.reports.summary import summarize
    from tui.session.open_history import open_history
    from tui.statistics.power import discordance_of

    with open_history(os.environ, note) as store:
        kept = store.read_run(store.find_run(run))
    # An unfinished run shows how often models differ as well as any other.
    finished = replace(kept, record=replace(kept.record, state="finished"))
    summary = summarize(finished)
    pairs = summary.comparisons
    found = [
        (discordance_of(*(summary.figures[model].rates.passes for model in (pair.a, pair.b))), pair.units)
        for pair in pairs
        if pair.common
    ]
    if not found:
        raise ConfigError(
            "No two models of this run share a checked case"
            if pairs or len(summary.figures) < 2
            else f"The {len(summary.figures):,} models of this run are too many to compare",
            where=kept.record.id,
            fix="Pass --discordance and --cases.",
        )
    if any(pair.units < pair.common for pair in pairs):
        note("The cases of a cluster count as one case.")
    return (*max(found), len(pairs))


def _cases(number: int) -> str:
    return f"{number:,} case{'' if number == 1 else 's'}"


def _points(share: float) -> str:
    """Return a share in percentage points: with one decimal, below one point with two significant digits."""
    points = 100 * share
    decimals = 1 if points >= 1 or not points else 1 - math.floor(math.log10(points))
    return f"{points:.{decimals}f}".rstrip("0").removesuffix(".")
