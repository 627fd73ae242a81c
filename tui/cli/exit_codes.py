"""The exit code of `assay run`, from the results of its runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.cli.streams import say
from tui.model.percentages import percent
from tui.model.run import KeptRun
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.reports.summary import Summary


def exit_code(kept: Sequence[KeptRun], fail_under: float | None) -> int:
    """Return 0 if every run meets its requirements, else 1, and print the unmet ones to stderr.

    A run with trials that were not run does not. The latest verdicts decide: passed (flaky or not) and unchecked are
    fine. If given, `fail_under` (for each model) and the `minPassRate` of a case decide instead, by the figures of the
    report.
    """
    fine = [_is_fine(run, fail_under) for run in kept]  # each says what is missing
    return 0 if all(fine) else 1


def _is_fine(run: KeptRun, fail_under: float | None) -> bool:
    if missing := len(run.plan.trials) - len(run.results):
        resume = f"run them with 'assay run --resume {run.plan.run_id}'"
        say(f"{missing} of {len(run.plan.trials)} trials have not been run: {resume}")
        return False
    if (lost := run.record.trials - len(run.plan.trials)) > 0:
        say(f"{lost} of {run.record.trials} trials were lost with a damaged history: the run is not complete.")
        return False
    if fail_under is None and not any(case.min_pass_rate is not None for case in run.plan.suite.cases):
        return all(result.verdict in ("passed", "unchecked") for result in run.results)
    from tui.reports.summary import summarize

    summary = summarize(run)
    unmet = [share for share in summary.required if not share.met]
    for share in unmet:
        passes = f"{share.passes.passed} of {share.planned} trials pass"
        say(sanitize_line(f"{share.case} · {share.model}: {passes}, below its minPassRate of {share.required:g}"))
    if fail_under is not None:
        return not unmet and _reaches(summary, fail_under)
    by_share = {(share.case, share.model) for share in summary.required}
    others = (result for result in run.results if (result.trial.case, result.trial.model) not in by_share)
    return not unmet and all(result.verdict in ("passed", "unchecked") for result in others)


def _reaches(summary: "Summary", fail_under: float) -> bool:
    """Return whether the pass rate of each model is at least `fail_under`; without checked trials none is."""
    from tui.statistics.repeats import meets_share
    from tui.statistics.shares import Passes

    checked = {model: totals for model, totals in summary.by_model.items() if totals.checked}
    if not checked:
        say(f"--fail-under {fail_under:g} cannot be applied: no checked trial, so there is no pass rate.")
        return fail_under == 0
    reached = True
    for model, totals in checked.items():
        if not meets_share(Passes(totals.passed, totals.checked), totals.checked, fail_under):
            reached = False
            share = percent(totals.passed / totals.checked, 1)
            passes = f"{totals.passed} of {totals.checked} checked trials pass ({share})"
            say(sanitize_line(f"{model}: {passes}, below --fail-under {fail_under:g}"))
    return reached
