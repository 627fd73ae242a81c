"""Small suites, plans and tools for tests of the runner and the session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui.checks.checker import Checker
from tui.model.events import Event, TrialFinished
from tui.model.results import TrialKey, TrialResult
from tui.model.run import Plan, RunOptions
from tui.model.secrets import Secrets
from tui.model.subjects import Settings, Subject
from tui.model.suite import Case, Check, Step, Suite
from tui.providers.protocol import Provider
from tui.runner.control import Control
from tui.runner.run import run_plan
from tui.runner.trial_context import CaseContext, TrialContext


def case_of(case_id: str, *inputs: str, expected: Sequence[str] = (), forbidden: Sequence[str] = ()) -> Case:
    """A case whose every step has the same patterns; without any, a forbidden one that no answer has."""
    forbidden = forbidden if expected or forbidden else ("never to be said",)
    checks = (
        *(Check("expected_pattern", pattern) for pattern in expected),
        *(Check("forbidden_pattern", pattern) for pattern in forbidden),
    )
    return Case(case_id, f"case {case_id}", "General", tuple(Step(text, checks) for text in inputs or ("ask",)))


def suite_of(*cases: Case, models: Sequence[str] = ("a",)) -> Suite:
    return Suite("suite", "for tests", "suite.yaml", "0" * 64, "schema-1.0.0", tuple(cases), tuple(models))


def subject_of(name: str, settings: Settings | None = None) -> Subject:
    return Subject(name, name, name, settings or Settings())


def plan_of(
    suite: Suite,
    options: RunOptions,
    models: Sequence[str] = ("a",),
    earlier: Mapping[TrialKey, TrialResult] | None = None,
) -> Plan:
    trials = tuple(TrialKey(case.id, model) for model in models for case in suite.cases)
    return Plan("0" * 32, suite, tuple(map(subject_of, models)), options, trials, earlier=dict(earlier or {}))


@dataclass(frozen=True)
class FixedContext:
    """The same context for every case."""

    context: CaseContext = field(default_factory=CaseContext)

    def context_of(self, case: Case) -> CaseContext:
        del case
        return self.context


async def run_events(
    plan: Plan,
    providers: Mapping[str, Provider],
    control: Control | None = None,
    secrets: Sequence[str] = (),
    context: CaseContext | None = None,
) -> list[Event]:
    """Everything that happens in a run."""
    checker = Checker()
    tools = TrialContext(providers, checker, FixedContext(context or CaseContext()), Secrets(secrets))
    try:
        return [event async for batch in run_plan(plan, tools, control or Control()) for event in batch]
    finally:
        await checker.close()


def results_of(events: Sequence[Event]) -> dict[TrialKey, TrialResult]:
    return {event.trial: event.result for event in events if isinstance(event, TrialFinished)}
