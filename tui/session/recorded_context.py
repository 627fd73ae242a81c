"""Files that were sent with the cases of a run before it was continued."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from tui.model.errors import StoreError, WorkspaceError
from tui.model.results import Prompt, TrialKey
from tui.model.run import Plan
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, LOST, Subject
from tui.model.suite import Case
from tui.runner.prompt import BEFORE_QUESTION
from tui.runner.trial_context import CaseContext
from tui.store.protocol import Store

_MOST_KEPT = 64 * 1024 * 1024  # characters of recorded files that are kept for a run
_JOINED = "\n\n"


class RecordedContexts:
    """The context that was sent first with each case of a run that is continued, without known keys.

    All trials of a case have to get the same files, or models would be compared on different prompts. A new run has no
    recorded context, and replayed and imported answers are no source of one: their prompts were not composed for this
    run. Blocks on the store.
    """

    def __init__(self, store: Store, plan: Plan, secrets: Secrets) -> None:
        self._store, self._plan = store, plan
        self._hide = lru_cache(4)(secrets.hide)
        self._kept: dict[str, CaseContext | None] = {}
        self._texts: dict[str, str] = {}  # the files of a repository are the same text in many cases
        self._size = 0

    def context_of(self, case: Case) -> CaseContext | None:
        """Return the recorded context of a case, or None. Raises WorkspaceError."""
        if case.id in self._kept:
            return self._kept[case.id]
        try:
            found = next(self._find(case), None)
        except StoreError as error:
            raise WorkspaceError(f"the files that were sent before cannot be read: {error}") from error
        if found is not None and found.text not in self._texts:
            if self._size >= _MOST_KEPT:
                return found
            self._texts[found.text] = found.text
            self._size += len(found.text)
        if found is not None:
            found = replace(found, text=self._texts[found.text])
        self._kept[case.id] = found
        return found

    def is_same(self, now: CaseContext, recorded: CaseContext) -> bool:
        """Return whether a context is the recorded one, but for known keys."""
        return (self._hide(now.text), self._hide(now.system or "")) == (recorded.text, recorded.system or "")

    def _find(self, case: Case) -> Iterator[CaseContext]:
        for trial in self._trials.get(case.id, ()):
            subject = self._subjects.get(trial.model)
            if subject is None or subject.is_replay or subject.how in (IMPORTED, LOST):
                continue
            result = self._store.read_trial(self._plan.run_id, trial)
            for attempt in result.attempts if result else ():
                if attempt.steps:
                    yield from self._recorded(attempt.steps[0].prompt, subject, case)

    def _recorded(self, prompt: Prompt, subject: Subject, case: Case) -> Iterator[CaseContext]:
        """Yield the context in the prompt of a case's first step, if the prompt is one that Assay composed."""
        question = next((message.content for message in prompt.messages if message.role == "user"), None)
        if question is None or not question.endswith(prompt.input):
            return
        text = question.removesuffix(prompt.input)
        if text and not text.endswith(BEFORE_QUESTION):
            return
        system = None
        if case.system_message is None:
            own = self._hide(subject.settings.system or "")
            sent = self._hide(next((message.content for message in prompt.messages if message.role == "system"), ""))
            if not sent.startswith(own):
                return
            system = sent.removeprefix(own).removeprefix(_JOINED if own else "") or None
        yield CaseContext(system, self._hide(text.removesuffix(BEFORE_QUESTION)), prompt.included, prompt.left_out)

    @cached_property
    def _subjects(self) -> dict[str, Subject]:
        return {subject.name: subject for subject in self._store.read_setup(self._plan.run_id).subjects}

    @cached_property
    def _trials(self) -> dict[str, list[TrialKey]]:
        by_case: dict[str, list[TrialKey]] = {}
        for outcome in self._store.read_outcomes(self._plan.run_id) if self._plan.continues else ():
            by_case.setdefault(outcome.trial.case, []).append(outcome.trial)
        return by_case
