"""A run without a screen: plans, prints progress, writes reports, and returns the exit code."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.exit_codes import exit_code
from tui.cli.models import choose_models
from tui.cli.progress import open_progress
from tui.cli.run_options import AgentOverride, ReportRequest, RepositoryOverride, RunArguments
from tui.cli.streams import count_words, note, say, silence_stdout
from tui.documents.files import NotRead, read_beginning
from tui.documents.problems import MOST_JSON_BYTES
from tui.documents.tables import digest_on_disk
from tui.model.current_folder import real_path
from tui.model.errors import ConfigError, StoreError, SuiteError
from tui.model.exit_signals import handle_exit_signals, raise_exit_signals
from tui.model.paths import branch_fault, url_fault
from tui.model.results import JUDGED, TrialResult, counted_as
from tui.model.risk import Reviewed
from tui.model.run import KeptRun, Plan
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite, checked_sentence
from tui.runner.control import Control
from tui.runner.plan import Overrides, choose_cases, make_plan
from tui.session.consent import require
from tui.session.files import write_out
from tui.session.models import unlisted, unlisted_sentence
from tui.session.run_history import later_run_id
from tui.session.session import Session, list_suite_files, open_suite
from tui.session.store_writer import ResultsNotStored, RetryLimits
from tui.store.protocol import Store

if TYPE_CHECKING:
    from tui.session.reviews import Reviews


def plan_kept(session: Session, arguments: RunArguments, notes: list[str]) -> Plan:
    """Return the plan that completes a stored run, with the setup it was begun with.

    Options on the command line that repeat or contradict that setup change nothing, which is added to `notes`. Raises
    ConfigError for a suite that is not the run's.
    """
    history = session.history
    run_id = history.find_run(arguments.saved_run)
    if arguments.resume:
        plan = history.plan_missing(run_id)
    else:
        plan = history.plan_errors(run_id) if arguments.rerun_errors else history.plan_failed(run_id)
        notes += _rerun_notes(plan, sum(each.verdict == "unchecked" for each in history.read_outcomes(run_id)))
    if lost := history.lost_trials(run_id):
        notes.append(
            f"Note: a damaged history has lost {count_words(lost, 'planned trial')} of this run, and which is unknown: "
            "the run stays interrupted. Start a new run for a complete result."
        )
    for file in arguments.suites:
        _check_suite(plan.suite, file, notes)
    given = (arguments.agent, arguments.overrides, arguments.repository)
    if arguments.models or arguments.choice or given != (AgentOverride(), Overrides(), RepositoryOverride()):
        notes.append(
            "Note: the run continues with its original models, cases and options; the ones given now are ignored."
        )
    if plan.trials:
        named = arguments.agent.subject()
        is_named = {(named.model_id, named.python)} if named else set()
        subjects = [subject for subject in plan.subjects if (subject.model_id, subject.python) not in is_named]
        require(session.missing_consents(plan.suite, subjects, saved=True), arguments.allowed)
    else:
        notes.append("Note: nothing left to run.")
    return plan


def _rerun_notes(plan: Plan, unchecked: int) -> Iterator[str]:
    """Yield notes about a rerun: which verdicts still count, and which trials are left out."""
    judged = sum(result.first_verdict in JUDGED for result in plan.earlier.values())
    if judged:
        yield f"Note: statistics keep counting the original verdict of {judged} of these trials; a rerun adds attempts."
    if unchecked:
        yield f"Note: {unchecked} unchecked answers are not rerun, because their cases have no check."


def _check_suite(suite: Suite, file: Path, notes: list[str]) -> None:
    begun_with = suite.home / Path(suite.path).name
    if real_path(file) != real_path(begun_with):
        raise ConfigError(
            "The run belongs to another suite", where=str(file), fix=f"The run was started with {begun_with}."
        )
    if not file.is_file() or not _is_unchanged(suite, file):
        notes.append(f"Note: {file} has changed since the run started; the run continues with the original suite.")


def _is_unchanged(suite: Suite, file: Path) -> bool:
    content = read_beginning(file, MOST_JSON_BYTES)
    with suppress(NotRead):
        return digest_on_disk(content, file.parent, suite.data_files) == suite.sha256
    return False


def write_report(kept: Sequence[KeptRun], request: ReportRequest, reviews: "Reviews") -> None:
    """Write the report with the reviewers' scores, a file atomically.

    Raises StoreError if it cannot be written; the run itself is stored already.
    """
    from tui.reports.render import render_reports
    from tui.session.outgoing_runs import without_known_keys

    for run in kept:
        record_look(reviews, run.record.id, "assay report")
    text = render_reports(
        [without_known_keys(run, reviews.secrets) for run in kept],
        request.format,
        responses=request.responses,
        timestamps=request.timestamps,
        risk_analysis=request.risk_analysis,
        margin=request.margin,
        reviewed=_reviewed(kept, request, reviews),
    )
    if request.output is None:
        _print(text)
        return
    try:
        write_out(request.output, text)
    except OSError as error:
        raise _unwritable(error, str(request.output)) from error
    say(f"Report: {request.output}")


def record_look(reviews: "Reviews", run_id: str, where: str) -> None:
    """Record that the reviewer of a blind session sees model names, and print it. Raises StoreError."""
    if name := reviews.record_look(run_id, where):
        say(
            f"Note: {sanitize_line(name, 60)} reviews this run blind and has now seen model names: recorded in the "
            "score file."
        )


def _reviewed(kept: Sequence[KeptRun], request: ReportRequest, reviews: "Reviews") -> dict[str, Reviewed]:
    """Return the scores of the runs; print scores that cannot be read, and write the report without them."""
    ids = [run.record.id for run in kept]
    try:
        found = reviews.reviewed_runs(ids, even_unscored=request.risk_analysis)
    except (StoreError, ConfigError) as error:
        say(f"Note: the report contains no scores. {error}")
        return {}
    for problem in (problem for reviewed in found.values() for problem in reviewed.unread):
        say(problem)
    return found


def _print(text: str) -> None:
    try:
        with raise_exit_signals():  # also after a first signal: the reader of stdout may never read
            click.echo(text, nl=not text.endswith("\n"))
    except BrokenPipeError:
        silence_stdout()  # The result of the run is printed all the same.
    except OSError as error:
        silence_stdout()
        raise _unwritable(error, "stdout") from error


def _unwritable(error: OSError, where: str) -> StoreError:
    fix = "The run is saved: write the report again with 'assay report'."
    return StoreError(f"Cannot write the report ({error.strerror})", where=where, fix=fix)


_LONGEST_NOTE = 1_000
_STORE_PATIENCE = RetryLimits(total=20.0, between=1.0)


def run_headless(arguments: RunArguments) -> int:
    """Run the command and return the exit code. Raises AssayError if the run cannot begin."""
    return asyncio.run(_run(arguments))


async def _run(arguments: RunArguments) -> int:
    session = Session(os.environ)
    try:
        known = session.notices
        notes = [f"Note: {notice}" for notice in known]
        plans = await _make_plans(session, arguments, notes)
        for plan in plans:
            if plan.trials:
                session.check_tools(plan)
                session.open_providers(plan.subjects)
                await session.check_interpreters(plan.subjects)
        control = Control()
        with _signals(control) as caught:
            # The ids are printed first: a script reads them from the first lines. All runs listed here are stored.
            await session.begin(plans)
            lines = [*(f"run {plan.run_id}" for plan in plans), *notes]
            say("\n".join(sanitize_line(line, _LONGEST_NOTE) for line in lines))
            await _warn_of_models(session, plans, control)
            kept, failed, unstored = await _run_plans(session, plans, control)
        for notice in session.notices:  # about results that could not be read
            if notice not in known:
                note(notice)
        if kept:
            try:
                write_report(kept, arguments.report, session.reviews)
            except StoreError as error:
                if not (failed or caught):
                    raise
                _say_unwritten(error, kept[-1].record.id, unstored)
        if caught:
            return caught[0]
        for run in kept:
            say(checked_sentence(run.plan.planned_cases))
        return 3 if failed else exit_code(kept, arguments.fail_under)
    finally:
        # The run is over: a signal has nothing left to stop, and must not stop the end of its processes.
        with handle_exit_signals(lambda _code: None):
            await session.close()


async def _make_plans(session: Session, arguments: RunArguments, notes: list[str]) -> list[Plan]:
    if arguments.saved_run:
        return [plan_kept(session, arguments, notes)]
    suites = _open_suites(session, arguments, notes)
    models = await choose_models(session, arguments.choice, suites, notes) if arguments.choice else arguments.models
    plans = []
    for suite in suites:
        subjects = session.subjects_of(suite, models, arguments.agent.subject())
        notes.extend(f"{subject.name}: {subject.how}" for subject in subjects)
        if arguments.agent.name:
            with suppress(StoreError):  # then `--resume` asks for it
                session.allow_agents(suite, subjects)
        run_id = later_run_id(session.store)
        plans.append(
            make_plan(suite, session.price(subjects), arguments.overrides, command=arguments.command, run_id=run_id)
        )
    return plans


def _open_suites(session: Session, arguments: RunArguments, notes: list[str]) -> list[Suite]:
    """Return the suites with selected cases; add a note for each other one."""
    files = [file for path in arguments.suites for file in list_suite_files(path)]
    if not files:
        raise ConfigError(
            "No suite found", where=str(arguments.suites[0]), fix="Pass a suite file or a folder that contains suites."
        )
    suites = []
    for file in files:
        suite = _open_suite(session, file, arguments, notes)
        if choose_cases(suite, arguments.overrides):
            suites.append(suite)
        else:
            notes.append(f"Note: {file}: no case matches --tag and --case.")
    if not suites:
        where = ", ".join(map(str, arguments.suites))
        raise ConfigError("No case matches the filters", where=where, fix="Check --tag and --case.")
    return suites


def _open_suite(session: Session, file: Path, arguments: RunArguments, notes: list[str]) -> Suite:
    """Return the suite as it will be run. Consent is not needed for what the command line names itself."""
    repository = arguments.repository
    loaded = open_suite(
        file,
        clone=repository.clone is not None,
        repository=repository.folder,
        may_read=lambda _: "--allow-outside" in arguments.allowed,
    )
    if loaded.suite is None:
        say("\n".join(str(problem) for problem in loaded.problems))
        raise SuiteError("The suite has errors", loaded.problems, where=str(file), fix="Fix the errors listed above.")
    notes.extend(str(problem) for problem in loaded.problems)
    # With other subjects on the command line, the suite's own agent is not started.
    is_replaced = arguments.agent.name or arguments.models or arguments.choice
    suite = replace(loaded.suite, agent=None, agent_python=None) if is_replaced else loaded.suite
    suite = repository.apply_to(arguments.agent.apply_to(suite))
    if suite.repo_clone and (fault := url_fault(suite.repo_clone.url)):
        raise ConfigError(f"The repository URL is not allowed: it {fault}", where="--clone")
    if suite.repo_clone and suite.repo_clone.branch is not None and (fault := branch_fault(suite.repo_clone.branch)):
        raise ConfigError(f"The branch name is not allowed: it {fault}", where="--branch")
    consents = session.missing_consents(suite)
    require(tuple(one for one in consents if one.kind != "outside" or repository.folder is None), arguments.allowed)
    return suite


async def _warn_of_models(session: Session, plans: list[Plan], control: Control) -> None:
    subjects = {subject.name: subject for plan in plans if plan.trials for subject in plan.subjects}
    asking = asyncio.create_task(unlisted(session, tuple(subjects.values())))
    stopping = asyncio.create_task(control.wait_until_stopped())
    await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not asking.done():
        asking.cancel()
        return
    for subject in asking.result():
        say(sanitize_line(f"Warning: {subject.name}: {unlisted_sentence(subject)}.", _LONGEST_NOTE))


def _say_unwritten(error: StoreError, run_id: str, unstored: int) -> None:
    """Print that a report could not be written after a run had failed or was stopped, and what is lost with it."""
    fix = _lost_sentence(unstored, run_id) if unstored else error.fix
    say(f"Error: {StoreError(error.what, where=error.where, fix=fix)}")


def _lost_sentence(number: int, run_id: str) -> str:
    verb, them = ("is", "it") if number == 1 else ("are", "them")
    return f"{count_words(number, 'result')} {verb} lost: run {them} again with 'assay run --resume {run_id}'."


async def _run_plans(session: Session, plans: list[Plan], control: Control) -> tuple[list[KeptRun], bool, int]:
    """Return the runs that can be read, whether one could not be stored, and how many of its results are not stored."""
    kept: list[KeptRun] = []
    for plan in plans:
        progress = open_progress(plan)
        begun = False
        try:
            async for event in session.run(plan, control, _STORE_PATIENCE):
                begun = True
                progress.take(event)
            kept.append(await asyncio.to_thread(session.store.read_run, plan.run_id))
        except StoreError as error:
            progress.close()
            say(f"Error: {error}")
            unstored = error.results if isinstance(error, ResultsNotStored) else ()
            rescued = await asyncio.to_thread(_rescue, session.store, plan, unstored) if begun else ()
            if unstored and rescued:
                count = count_words(len(unstored), "result")
                say(f"Note: the report of this command contains {count} that could not be stored.")
            elif unstored:
                say(f"Error: {_lost_sentence(len(unstored), plan.run_id)}")
            return [*kept, *rescued], True, len(unstored)
        progress.close()
    return kept, False, 0


def _rescue(store: Store, plan: Plan, unstored: tuple[TrialResult, ...]) -> tuple[KeptRun, ...]:
    """Return a run that had to stop, if it can still be read: what was stored, and the results that were not."""
    try:
        kept = store.read_run(plan.run_id)
    except StoreError:
        return ()
    found = {result.trial: result for result in (*kept.results, *unstored)}
    results = tuple(found[key] for key in kept.plan.trials if key in found)
    record = replace(
        kept.record,
        state="interrupted",
        passed=sum(counted_as(result) == "passed" for result in results),
        unchecked=sum(counted_as(result) == "unchecked" for result in results),
    )
    return (replace(kept, record=record, results=results),)


@contextmanager
def _signals(control: Control) -> Iterator[list[int]]:
    """Stop the run on signals that would end the program; yield the list of the exit codes for those received."""
    caught: list[int] = []

    def stop(code: int) -> None:
        caught.append(code)
        control.interrupt()

    with handle_exit_signals(stop):
        yield caught
