"""A kept run taken up again: `--resume`, `--rerun-failed` and `--rerun-errors`."""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tui.cli.run_options import RepositoryWish, RunWish
from tui.model.errors import ConfigError
from tui.model.results import JUDGED
from tui.model.run import Plan
from tui.model.suite import Suite
from tui.runner.plan import Overrides
from tui.session.consent import require
from tui.session.session import Workbench


def plan_kept(workbench: Workbench, wish: RunWish, notes: list[str]) -> Plan:
    """What the kept run has still to ask. It goes on as it was begun: what else the command line says of it, a script
    may repeat, but it changes nothing, and that is noted. Raises ConfigError for a suite that is not the run's."""
    history = workbench.history
    run_id = history.find_run(wish.kept_run)
    if wish.resume:
        plan = history.plan_missing(run_id)
    else:
        plan = history.plan_errors(run_id) if wish.rerun_errors else history.plan_failed(run_id)
        notes += _rerun_notes(plan, sum(each.verdict == "unchecked" for each in history.read_outcomes(run_id)))
    for file in wish.suites:
        _check_suite(plan.suite, file, notes)
    if wish.models or wish.choice or wish.agent or wish.overrides != Overrides() or wish.repository != RepositoryWish():
        notes.append("Note: the run goes on as it was begun; other models, cases and options are not taken up.")
    if plan.trials:
        require(workbench.missing_consents(plan.suite), wish.allowed)
    else:
        notes.append("Note: nothing is left to ask.")
    return plan


def _rerun_notes(plan: Plan, unchecked: int) -> Iterator[str]:
    """What a person should know of a rerun: what keeps counting, and what is left out."""
    judged = sum(result.first_verdict in JUDGED for result in plan.earlier.values())
    if judged:
        yield f"Note: {judged} of these trials keep their first verdict in every figure; a rerun adds attempts."
    if unchecked:
        yield f"Note: {unchecked} unchecked answers are not run again; no check would judge them either."


def _check_suite(suite: Suite, file: Path, notes: list[str]) -> None:
    begun_with = suite.home / Path(suite.path).name
    if os.path.realpath(file) != os.path.realpath(begun_with):
        raise ConfigError("The run is of another suite", where=str(file), fix=f"It was begun with {begun_with}.")
    if not file.is_file() or sha256(file.read_bytes()).hexdigest() != suite.sha256:
        notes.append(f"Note: {file} has changed since; the run goes on with the suite that it was begun with.")
