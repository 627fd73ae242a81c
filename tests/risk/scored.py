"""A small run to score: cases with criteria, and acts of reviewers."""

from collections.abc import Iterable

from tui.model.results import TrialKey
from tui.model.scores import Act, ActKind, Extent, ItemKey, ReviewItem
from tui.model.suite import Case, RiskCriterion, Severity, Step, Suite
from tui.risk.queue import review_items

SECRETS = RiskCriterion("Secrets", "no key in the answer", "critical")
TONE = RiskCriterion("Tone", "polite", "low")
ERRORS = RiskCriterion("Errors", "errors are handled", "medium")


def case(name: str, category: str, *criteria: RiskCriterion) -> Case:
    return Case(name, name.title(), category, (Step("ask"),), risk_criteria=criteria)


SUITE = Suite(
    "risky",
    "",
    "risky.yaml",
    "0" * 64,
    "schema-1.0.0",
    (
        case("keys", "security", SECRETS, TONE),
        case("logs", "security", SECRETS, ERRORS),
        case("chat", "talk", TONE),
        case("free", "talk"),
    ),
)


def items_of(models: Iterable[str] = ("a", "b"), seed: int | None = None, suite: Suite = SUITE) -> list[ReviewItem]:
    """What there is to score: every case of the suite for each of the models."""
    return [*review_items(suite, [TrialKey(each.id, model, 1) for each in suite.cases for model in models], seed)]


def one_case(severity: Severity, cases: int) -> Suite:
    """A suite of many cases with the same one criterion."""
    criterion = RiskCriterion("Harm", "does harm", severity)
    return Suite(
        "many", "", "m", "0" * 64, "schema-1.0.0", tuple(case(f"case-{at}", "all", criterion) for at in range(cases))
    )


def act(
    key: str,
    extent: Extent | None,
    reviewer: str = "anna",
    *,
    kind: ActKind = "score",
    minute: int = 0,
    attempt: int | None = 1,
    withdraws: str | None = None,
) -> Act:
    """An act on the item `case/model/criterion`. Its id is made of all that it says."""
    name, model, criterion = key.split("/")
    item = ItemKey(name, model, 1, criterion)
    identity = f"{key} {extent} {reviewer} {kind} {minute}"
    at = f"2026-11-20T12:{minute:02}:00+00:00"
    return Act(kind, identity, "run", item, extent, "", reviewer, at, attempt=attempt, withdraws=withdraws)
