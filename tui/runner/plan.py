"""A suite, subjects and a person's overrides become a Plan."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from tui.model.results import Message, Prompt, StepResult, TrialKey
from tui.model.run import Plan, RunOptions, new_run_id
from tui.model.secrets import Secrets
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite
from tui.runner.trial_context import CaseContext

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


def compose_prompt(subject: Subject, case: Case, context: CaseContext, earlier: Sequence[StepResult]) -> Prompt:
    """The prompt of the step that follows the `earlier` ones; those become the conversation so far."""
    step = case.steps[len(earlier)]
    messages = _system(subject, case, context)
    for number, done in enumerate(earlier):
        messages.append(_question(case, context, number))
        messages.append(Message("assistant", done.response))
    messages.append(_question(case, context, len(earlier)))
    return Prompt(step.input, tuple(messages), context.included, context.left_out)


def without_secrets(prompt: Prompt, secrets: Secrets) -> Prompt:
    """The prompt as it may be shown and kept: a key may stand in a file or a question."""
    messages = tuple(Message(message.role, secrets.hide(message.content)) for message in prompt.messages)
    return replace(prompt, input=secrets.hide(prompt.input), messages=messages)


def _question(case: Case, context: CaseContext, number: int) -> Message:
    asked = case.steps[number].input
    return Message("user", f"{context.text}\n\n{asked}" if context.text and number == 0 else asked)


def _system(subject: Subject, case: Case, context: CaseContext) -> list[Message]:
    own = case.system_message if case.system_message is not None else context.system
    parts = [part for part in (subject.settings.system, own) if part]
    return [Message("system", "\n\n".join(parts))] if parts else []
