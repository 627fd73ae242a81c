"""What is sent: the conversation of a case with its context and system message."""

from collections.abc import Sequence

from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.model.trials import Message, Prompt, StepResult
from tui.runner.tools import CaseContext


def compose_prompt(subject: Subject, case: Case, context: CaseContext, earlier: Sequence[StepResult]) -> Prompt:
    """The prompt of the step that follows the `earlier` ones; those become the conversation so far."""
    step = case.steps[len(earlier)]
    messages = _system(subject, case, context)
    for done in earlier:
        messages.append(done.prompt.messages[-1])
        messages.append(Message("assistant", done.response))
    with_context = context.text and not earlier
    messages.append(Message("user", f"{context.text}\n\n{step.input}" if with_context else step.input))
    return Prompt(step.input, tuple(messages), context.included, context.left_out)


def _system(subject: Subject, case: Case, context: CaseContext) -> list[Message]:
    own = case.system_message if case.system_message is not None else context.system
    parts = [part for part in (subject.settings.system, own) if part]
    return [Message("system", "\n\n".join(parts))] if parts else []
