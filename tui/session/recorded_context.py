"""Files that were sent with the cases of a run before it was continued, or of the runs whose answers it replays."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from tui.model.errors import StoreError, WorkspaceError
from tui.model.results import Prompt, TrialKey
from tui.model.run import Plan
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suite import Case
from tui.runner.prompt import BEFORE_QUESTION
from tui.runner.trial_context import CaseContext
from tui.store.protocol import Store

_MOST_KEPT = 64 * 1024 * 1024  # characters of recorded files that are kept for a run
_JOINED = "\n\n"


@dataclass(frozen=True, slots=True)
class _Source:
    """A stored run with its results by case, and its models by name."""

    run: str
    trials: dict[str, list[TrialKey]]
    subjects: dict[str, Subject]


class RecordedContexts:
    """The context that was sent first with each case.

    All trials of a case have to get the same files, or models would be compared on different prompts. A run of which
    nothing is stored and that replays nothing has no recorded context. Blocks on the store.
    """

    def __init__(self, store: Store, plan: Plan, secrets: Secrets) -> None:
        self._store, self._plan = store, plan
        self._hide = lru_cache(4)(secrets.hide)
        self._sources: tuple[_Source, ...] | None = None
        self._kept: dict[str, CaseContext | None] = {}
        self._texts: dict[str, str] = {}  # the files of a repository are the same text in many cases
        self._size = 0

    def context_of(self, case: Case) -> CaseContext | None:
        """Return the recorded context of a case without secrets, or None. Raises WorkspaceError."""
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

    def is_same(self, one: CaseContext, other: CaseContext) -> bool:
        """Return whether two contexts are the same without secrets."""
        hide = self._hide
        return hide(one.text) == hide(other.text) and hide(one.system or "") == hide(other.system or "")

    def _find(self, case: Case) -> Iterator[CaseContext]:
        if self._sources is None:
            self._sources = tuple(self._read_sources())
        for source in self._sources:
            for trial in source.trials.get(case.id, ()):
                subject = source.subjects.get(trial.model)
                result = self._store.read_trial(source.run, trial) if subject and subject.how != IMPORTED else None
                for attempt in result.attempts if result else ():
                    if subject and attempt.steps:
                        yield from self._recorded(attempt.steps[0].prompt, subject, case)

    def _recorded(self, prompt: Prompt, subject: Subject, case: Case) -> Iterator[CaseContext]:
        """Yield the context in the prompt of a case's first step, if the prompt is one that Assay composed."""
        question = next((message.content for message in prompt.messages if message.role == "user"), None)
        if question is None or not question.endswith(prompt.input):
            return
        text = question.removesuffix(prompt.input)
        if text and not text.endswith(BEFORE_QUESTION):
            return
        system = next((message.content for message in prompt.messages if message.role == "system"), None)
        own = self._hide(subject.settings.system or "")
        if case.system_message is not None or system == own:
            system = None
        elif system is not None and own:
            system = system.removeprefix(f"{own}{_JOINED}")
        yield CaseContext(system, text.removesuffix(BEFORE_QUESTION), prompt.included, prompt.left_out)

    def _read_sources(self) -> Iterator[_Source]:
        plan = self._plan
        if plan.continues:
            yield self._source(plan.run_id, [outcome.trial for outcome in self._store.read_outcomes(plan.run_id)])
        for subject in plan.subjects:
            if subject.provider == "replay":
                run_id = self._store.find_run(subject.model_id.partition("/")[0])
                # The settings of a recorded model are part of its name only.
                model = subject.name.removeprefix("replay/").partition("/")[2]
                trials = [outcome.trial for outcome in self._store.read_outcomes(run_id)]
                yield self._source(run_id, [trial for trial in trials if trial.model == model] or trials)

    def _source(self, run_id: str, trials: Iterable[TrialKey]) -> _Source:
        by_case: dict[str, list[TrialKey]] = {}
        for trial in trials:
            by_case.setdefault(trial.case, []).append(trial)
        subjects = {subject.name: subject for subject in self._store.read_setup(run_id).subjects}
        return _Source(run_id, by_case, subjects)
