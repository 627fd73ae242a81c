"""A suite, subjects and a person's overrides become a Plan."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tui.model.results import TrialKey
from tui.model.run import Plan, RunOptions, new_run_id
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite

# What `parallel: true` alone means: enough to be quicker, few enough for most servers' limits.
PARALLEL_CASES = 4


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a person asks for beside the suite; None means: as the suite says. `stream` is what holds where neither
    says (the app streams, the command line need not)."""

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
    """The suite's options with the overrides laid over them."""
    asked = suite.options
    streaming = overrides.streaming if overrides.streaming is not None else asked.streaming
    return RunOptions(
        timeout_ms=overrides.timeout_ms if overrides.timeout_ms is not None else asked.timeout_ms,
        stream=overrides.stream_by_default if streaming is None else streaming,
        attempts=max(1, overrides.attempts if overrides.attempts is not None else asked.attempts),
        delay_ms=overrides.delay_ms if overrides.delay_ms is not None else asked.delay_ms,
        concurrency=overrides.concurrency or (PARALLEL_CASES if asked.parallel else 1),
        parallel_models=asked.parallel_models if overrides.parallel_models is None else overrides.parallel_models,
        repeats=overrides.repeats,
        accept_truncated=asked.accept_truncated,
    )


def choose_cases(suite: Suite, overrides: Overrides) -> tuple[Case, ...]:
    """The cases that have one of the tags and whose id matches one of the globs; all where nothing is asked."""
    return tuple(case for case in suite.cases if _has_tag(case, overrides.tags) and _has_id(case, overrides.cases))


def make_plan(
    suite: Suite,
    subjects: Sequence[Subject],
    overrides: Overrides,
    *,
    only: Collection[TrialKey] | None = None,
    command: str = "",
) -> Plan:
    """A new run over the chosen cases; `only` restricts it to those trials."""
    options = make_options(suite, overrides)
    trials = tuple(
        TrialKey(case.id, subject.name, repeat)
        for subject in subjects
        for case in choose_cases(suite, overrides)
        for repeat in range(1, options.repeats + 1)
    )
    if only is not None:
        wanted = frozenset(only)
        trials = tuple(trial for trial in trials if trial in wanted)
    return Plan(new_run_id(), suite, tuple(subjects), options, trials, command)


def _has_tag(case: Case, tags: tuple[str, ...]) -> bool:
    return not tags or any(tag.casefold() in (own.casefold() for own in case.tags) for tag in tags)


def _has_id(case: Case, globs: tuple[str, ...]) -> bool:
    return not globs or any(fnmatchcase(case.id, glob) for glob in globs)
