"""The prompt of a step: the conversation with context and system message."""

from collections.abc import Sequence
from dataclasses import replace

from tui.model.results import LeftOutFile, Message, Prompt, StepResult
from tui.model.secrets import Secrets
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.runner.trial_context import CaseContext

BEFORE_QUESTION = "\n\n"
"""What separates the files from the text of the first step."""


def compose_prompt(subject: Subject, case: Case, context: CaseContext, earlier: Sequence[StepResult]) -> Prompt:
    """Return the prompt of the step after the `earlier` ones, which become the conversation so far."""
    step = case.steps[len(earlier)]
    messages = _system(subject, case, context)
    for number, done in enumerate(earlier):
        messages.append(_question(case, context, number))
        if done.response:  # empty where only calls of tools were expected, and servers refuse empty messages
            messages.append(Message("assistant", done.response))
    messages.append(_question(case, context, len(earlier)))
    return Prompt(step.input, tuple(messages), context.included, context.left_out)


def without_secrets(prompt: Prompt, secrets: Secrets) -> Prompt:
    """Return the prompt without secrets, as it may be shown and stored.

    A file, its name or a question may contain a key.
    """
    messages = tuple(Message(message.role, secrets.hide(message.content)) for message in prompt.messages)
    included = tuple(replace(file, path=secrets.hide(file.path)) for file in prompt.included)
    left_out = tuple(LeftOutFile(secrets.hide(file.path), secrets.hide(file.reason)) for file in prompt.left_out)
    return Prompt(secrets.hide(prompt.input), messages, included, left_out)


def _question(case: Case, context: CaseContext, number: int) -> Message:
    question = case.steps[number].input
    return Message("user", f"{context.text}{BEFORE_QUESTION}{question}" if context.text and number == 0 else question)


def _system(subject: Subject, case: Case, context: CaseContext) -> list[Message]:
    own = case.system_message if case.system_message is not None else context.system
    parts = [part for part in (subject.settings.system, own) if part]
    return [Message("system", "\n\n".join(parts))] if parts else []
