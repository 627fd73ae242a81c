"""A session without files or models: a test sets its suites, and the events of its runs one by one."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tui.config.folders import Folders
from tui.model.errors import AssayError, ConfigError, ModelUnresolved, Problem, StoreError, SuiteError
from tui.model.events import Event, RunFinished, RunStarted, TrialFinished
from tui.model.results import (
    Attempt,
    CheckResult,
    Message,
    Prompt,
    Retry,
    StepResult,
    Timing,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.run import Plan, RunOptions, RunState, new_run_id
from tui.model.secrets import Secrets
from tui.model.subjects import Config, Subject
from tui.model.suite import Case, Check, RiskCriterion, Step, Suite
from tui.model.values import JsonObject
from tui.runner.control import Control
from tui.session.check_edits import CaseEdit, CheckEdits
from tui.session.config_file import ConfigFile
from tui.session.consent import Consent
from tui.session.context_previews import ContextPreviews
from tui.session.model_catalog import ModelCatalog
from tui.session.pane_sizes import PaneSizes
from tui.session.recorded_cases import LatestResults
from tui.session.reviews import Reviews
from tui.session.run_history import RunHistory
from tui.session.saved_filters import SavedFilters
from tui.session.settings import ConfigSettings
from tui.session.store_writer import ResultsNotStored
from tui.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Opened:
    """A suite as it was loaded."""

    suite: Suite | None
    problems: tuple[Problem, ...] = ()
    data_files: tuple[str, ...] = ()
    outside: tuple[Path, ...] = ()


class _DraftEdits(CheckEdits):
    """Edits of cases that all have the same value in their files."""

    def __init__(self, store: Store, draft: JsonObject) -> None:
        super().__init__(store)
        self._draft = draft

    def read_case(self, suite: Suite, case: Case, edit: CaseEdit) -> JsonObject:
        del suite, case, edit
        return deepcopy(self._draft)


@dataclass
class ScriptedSession:
    """A session with suites by their path, and runs that yield the events given to `say`.

    Models that cannot be resolved are in `unresolved` with a sentence, or in `needs` with a missing variable.

    A run yields the first event of `before` if there is one, waits for `go_on` and yields the others, then RunStarted
    and the events of `say`, and ends after a RunFinished. Trials that are cancelled end as cancelled at once. A run
    that is stopped could not store the results in `unstored`.
    """

    suites: dict[Path, Opened] = field(default_factory=dict)
    unresolved: dict[str, str] = field(default_factory=dict)
    needs: dict[str, str] = field(default_factory=dict)
    without_tools: tuple[str, ...] = ()
    kept: tuple[TrialResult, ...] = ()
    unfinished: str = ""
    """The id of the run of what is `kept`, if it is not finished."""
    newest: tuple[int, frozenset[str]] = (0, frozenset())
    """The number of the newest result, and the suite files whose results another program has saved last."""
    config: Config = field(default_factory=Config)
    notices: tuple[str, ...] = ()
    consents: list[Consent] = field(default_factory=list)
    allowed: list[Consent] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    fault: AssayError | None = None
    closed: bool = False
    ended: list[RunState] = field(default_factory=list)
    before: tuple[Event, ...] = ()
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    unstored: tuple[TrialResult, ...] = ()

    project: Path | None = None
    providers: tuple[str, ...] = ()
    """The built-in providers that the catalog has, besides those of the config."""
    environ: dict[str, str] = field(default_factory=dict)
    models: ModelCatalog | None = None
    subjects: dict[str, Subject] = field(default_factory=dict)
    """What the names of models stand for that are not scripted."""
    keeps: RunHistory | None = None
    scores: Reviews | None = None
    saved: SavedFilters | None = None
    draft: JsonObject | None = None
    """The value that every case has in its file, in place of what is in the file."""

    @property
    def history(self) -> RunHistory:
        assert self.keeps is not None, "a test that opens the history gives one"
        return self.keeps

    @property
    def reviews(self) -> Reviews:
        if self.scores is None:
            self.scores = Reviews(self.history._store, next(iter(self.suites)).parent / "data", self.config)
        return self.scores

    @property
    def check_edits(self) -> CheckEdits:
        return CheckEdits(self.history._store) if self.draft is None else _DraftEdits(self.history._store, self.draft)

    @cached_property
    def context_previews(self) -> ContextPreviews:
        return ContextPreviews(lambda _: True, lambda: Secrets(()))

    def price(self, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
        return tuple(subjects)

    @cached_property
    def pane_sizes(self) -> PaneSizes:
        return PaneSizes(next(iter(self.suites), Path("none/suite.yaml")).parent / "data" / "pane-sizes.json")

    @property
    def folders(self) -> Folders:
        folder = next(iter(self.suites), Path("none/suite.yaml")).parent
        return Folders(folder / "config", folder / "data", folder / "cache")

    @property
    def catalog(self) -> ModelCatalog:
        if self.models is None:
            self.models = ModelCatalog(self.folders, self.environ, self.config, self._use_config, self.providers)
        return self.models

    @property
    def filters(self) -> SavedFilters:
        if self.saved is None:
            folder = next(iter(self.suites), Path("none/suite.yaml")).parent
            self.saved = SavedFilters(folder / "data" / "filters.json")
        return self.saved

    @property
    def settings(self) -> ConfigSettings:
        return ConfigSettings(ConfigFile(self.folders, self.environ, self.project), self.environ, self._use_config)

    def _use_config(self, config: Config) -> None:
        self.config = config

    def __post_init__(self) -> None:
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    def say(self, *events: Event) -> None:
        """Add events to the current run."""
        for event in events:
            self._events.put_nowait(event)

    def finish(self, state: RunState = "finished") -> None:
        """End the current run."""
        self.say(RunFinished(self.plans[-1].run_id if self.plans else "", state, "2026-11-20T10:00:00+00:00"))

    def find_suites(self, paths: Sequence[Path]) -> list[Path]:
        if self.fault is not None:
            raise self.fault
        if paths and not self.suites:
            raise SuiteError("There is no file or folder of that name", where=str(paths[0]), fix="Check the path.")
        return list(self.suites)

    def open_suite(self, path: Path) -> Opened:
        return self.suites[path]

    def resolve(self, names: Sequence[str]) -> tuple[Subject, ...]:
        for name in names:
            if name in self.unresolved:
                raise ModelUnresolved(self.unresolved[name])
            if name in self.needs:
                raise ModelUnresolved(f"{name}: no provider found", needs=self.needs[name])
        return tuple(self.subjects.get(name) or Subject(name, "scripted", name) for name in names)

    def subjects_of(self, suite: Suite) -> tuple[Subject, ...]:
        return self.resolve((suite.agent,) if suite.agent else suite.models)

    def tools_fault(self, subject: Subject, cases: Iterable[Case]) -> ConfigError | None:
        offered = subject.name in self.without_tools and any(case.tools for case in cases)
        return ConfigError(f"{subject.name} does not support tools") if offered else None

    def make_plan(
        self,
        suite: Suite,
        subjects: Sequence[Subject],
        *,
        trials: Sequence[TrialKey] | None = None,
        stream: bool | None = None,
    ) -> Plan:
        asked = tuple(trials or (TrialKey(case.id, each.name) for case in suite.cases for each in subjects))
        plan = Plan(new_run_id(), suite, tuple(subjects), RunOptions(stream=stream is not False), asked)
        self.plans.append(plan)
        return plan

    async def run(self, plan: Plan, control: Control) -> AsyncGenerator[Event, None]:
        for number, early in enumerate(self.before):
            if number:
                await self.go_on.wait()
            yield early
        yield RunStarted(plan.run_id, plan.trials, "2026-11-20T09:00:00+00:00", plan.continues)
        open_trials = set(plan.trials)
        while True:
            for key in sorted(key for key in open_trials if control.should_stop(key)):
                open_trials.discard(key)
                if control.outcome != "interrupted":
                    yield TrialFinished(result_of(key, "cancelled"))
            if control.outcome != "finished" and self.unstored:
                raise ResultsNotStored(StoreError("the disk is full"), self.unstored)
            if control.outcome != "finished":
                self.ended.append(control.outcome)
                yield RunFinished(plan.run_id, control.outcome, "2026-11-20T10:00:00+00:00")
                return
            event = await self._next(control)
            if event is None:
                continue
            if isinstance(event, TrialFinished):
                open_trials.discard(event.trial)
            yield event
            if isinstance(event, RunFinished):
                self.ended.append(event.state)
                return

    async def _next(self, control: Control) -> Event | None:
        next_event = asyncio.ensure_future(self._events.get())
        stopped = asyncio.ensure_future(control.wait_for_change(3600))
        try:
            await asyncio.wait({next_event, stopped}, return_when=asyncio.FIRST_COMPLETED)
            return next_event.result() if next_event.done() else None
        finally:
            next_event.cancel()
            stopped.cancel()

    def latest_results(self, suite: Suite) -> LatestResults:
        known = {case.id for case in suite.cases}
        kept = tuple(result for result in self.kept if result.trial.case in known)
        runs = {result.trial: self.unfinished for result in kept if self.unfinished}
        return LatestResults(kept, runs=runs, unfinished=frozenset(runs.values()))

    def changed_suites(self, after: int) -> tuple[int, frozenset[str]]:
        return max(after, self.newest[0]), self.newest[1] if self.newest[0] > after else frozenset()

    def missing_consents(
        self, suite: Suite, subjects: Sequence[Subject] = (), *, saved: bool = False
    ) -> tuple[Consent, ...]:
        del suite, subjects, saved
        return tuple(consent for consent in self.consents if consent not in self.allowed)

    def allow(self, consent: Consent) -> None:
        self.allowed.append(consent)

    async def close(self) -> None:
        self.closed = True


def case_of(
    id: str,
    *,
    name: str = "",
    category: str = "Code Generation",
    prompt: str = "Write a function.",
    expects: Sequence[str] = (),
    forbids: Sequence[str] = (),
    severity: str | None = None,
    steps: Sequence[Step] = (),
    tags: Sequence[str] = (),
) -> Case:
    """Return a case."""
    checks = [Check("expected_pattern", each) for each in expects]
    checks += [Check("forbidden_pattern", each) for each in forbids]
    criteria = (RiskCriterion("Harm", "What could go wrong.", severity),) if severity else ()  # type: ignore[arg-type]
    return Case(
        id,
        name or id,
        category,
        tuple(steps) or (Step(prompt, tuple(checks)),),
        expected_behavior="A short function.",
        tags=tuple(tags),
        risk_criteria=criteria,
    )


def suite_of(path: Path, *cases: Case, models: Sequence[str] = ("mock-a", "mock-b"), name: str = "") -> Suite:
    """Return a suite at a path."""
    return Suite(name or path.stem, "For tests.", str(path), "0" * 64, "schema-1.0.0", cases, tuple(models))


def prompt_of(text: str = "Write a function.", system: str | None = None) -> Prompt:
    """Return a prompt of these messages."""
    messages = (Message("user", text),)
    return Prompt(text, (Message("system", system), *messages) if system else messages)


def step_of(text: str, *checks: CheckResult, retries: Sequence[Retry] = (), tokens: int | None = 12) -> StepResult:
    """Return the result of a step."""
    return StepResult(
        "Write a function.",
        text,
        prompt_of(),
        checks=checks,
        usage=Usage(5, tokens, None),
        timing=Timing(150.0, 900.0),
        retries=tuple(retries),
        finish_reason="stop",
    )


def result_of(
    key: TrialKey,
    verdict: Verdict = "passed",
    *steps: StepResult,
    error: str | None = None,
    flaky: bool = False,
    earlier: Sequence[Attempt] = (),
) -> TrialResult:
    """Return the result of a trial; `earlier` attempts come first."""
    last = Attempt(len(earlier) + 1, verdict, error, steps, "2026-11-20T09:00:00+00:00", 900.0)
    return TrialResult(key, verdict, flaky, error, (*earlier, last))
