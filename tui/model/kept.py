"""A kept run, whole: what was planned and what came of it. What the store gives back and reports are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.model.results import TrialResult
from tui.model.run import Plan
from tui.model.runs import RunRecord

ReportFormat = Literal["markdown", "html", "json", "csv", "junit"]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """`plan.trials` is every trial of the run, `results` those that are over, in the plan's order; `assay` is the
    version that ran it, `versions` are those of what else took part, by name."""

    record: RunRecord
    plan: Plan
    results: tuple[TrialResult, ...]
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)
