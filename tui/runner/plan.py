"""Making a plan from a suite, subjects and overrides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tui.model.results import TrialKey
from tui.model.run import Plan, RunOptions, new_run_id
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite

# The concurrency of `parallel: true`: faster than one, and below the limits of most servers.
PARALLEL_CASES = 4


@dataclass(frozen=True, slots=True)
class Overrides:
    """Values of the command line or the app that override the suite's options; None uses the suite's value.

    `stream_by_default` applies if neither sets streaming (the app streams, the command line need not).
    """

    repeats: int = 1
    parallel_models: bool | None = None
    concurrency: int | None = None
    timeout_ms: int | None = None
    attempts: int | None = None
    delay_ms: int | None = None
    streaming: bool | None = None
    stream_by_default: bool = False
    tags: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


def make_options(suite: Suite, overrides: Overrides) -> RunOptions:
    """Return the suite's options with the overrides applied."""
    options = suite.options
    streaming = overrides.streaming if overrides.streaming is not None else options.streaming
    return RunOptions(
        timeout_ms=overrides.timeout_ms if overrides.timeout_ms is not None else options.timeout_ms,
        stream=overrides.stream_by_default if streaming is None else streaming,
        attempts=max(1, overrides.attempts if overrides.attempts is not None else options.attempts),
        delay_ms=overrides.delay_ms if overrides.delay_ms is not None else options.delay_ms,
        concurrency=overrides.concurrency or (PARALLEL_CASES if options.parallel else 1),
        parallel_models=options.parallel_models if overrides.parallel_models is None else overrides.parallel_models,
        repeats=overrides.repeats,
        accept_truncated=options.accept_truncated,
    )


def choose_cases(suite: Suite, overrides: Overrides) -> tuple[Case, ...]:
    """Return the cases that have one of the tags and whose id matches one of the globs; all without such filters.

    The id of a case with a data set selects all its rows.
    """
    return tuple(case for case in suite.cases if _has_tag(case, overrides.tags) and _has_id(case, overrides.cases))


def make_plan(
    suite: Suite,
    subjects: Sequence[Subject],
    overrides: Overrides,
    *,
    only: Collection[TrialKey] | None = None,
    command: str = "",
    run_id: str = "",
) -> Plan:
    """Return the plan of a new run of the selected cases; `only` restricts it to those trials."""
    options = make_options(suite, overrides)
    trials = tuple(
        TrialKey(case.id, subject.name, repeat)
        for subject in subjects
        for case in choose_cases(suite, overrides)
        for repeat in range(1, options.repeats + 1)
    )
    if only is not None:
        selected = frozenset(only)
        trials = tuple(trial for trial in trials if trial in selected)
    return Plan(run_id or new_run_id(), suite, tuple(subjects), options, trials, command)


def _has_tag(case: Case, tags: tuple[str, ...]) -> bool:
    return not tags or any(tag.casefold() in (own.casefold() for own in case.tags) for tag in tags)


def _has_id(case: Case, globs: tuple[str, ...]) -> bool:
    return not globs or any(
        fnmatchcase(case.id, glob) or (case.row is not None and fnmatchcase(case.row.template, glob)) for glob in globs
    )
