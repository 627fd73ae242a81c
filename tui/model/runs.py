"""A kept run, as the list of runs shows it, and its identity."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.model.prices import Spent
from tui.model.results import ServedBy
from tui.model.run import RunOptions
from tui.model.subjects import Subject

RunState = Literal["running", "finished", "interrupted", "cancelled"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One line of the list of runs. Times are ISO 8601 with zone; `finished_at` is None while it runs. `passed` counts
    plain passes, `unchecked` the answers that no check judged."""

    id: str
    state: RunState
    suite_name: str
    suite_path: str
    suite_sha256: str
    models: tuple[str, ...]
    started_at: str
    finished_at: str | None
    trials: int
    passed: int
    unchecked: int = 0

    @property
    def checked(self) -> int:
        """The trials that a pass rate is over: all but those without a check."""
        return self.trials - self.unchecked


@dataclass(frozen=True, slots=True)
class RunSetup:
    """With what a run was begun: whom it asks, how, by which command, and which version of Assay ran it; `versions` are
    those of what else took part, by name."""

    subjects: tuple[Subject, ...]
    options: RunOptions
    command: str
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What is told of a run beside its line: with what it was begun, what its trials cost, and what each model's server
    said of itself with the newest answer. The latter are by model."""

    setup: RunSetup
    costs: Mapping[str, Spent] = field(default_factory=dict)
    served: Mapping[str, ServedBy] = field(default_factory=dict)


def new_run_id() -> str:
    """32 hex digits in the order of time (UUID version 7, RFC 9562)."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds << 80) | (0x7 << 76) | ((random >> 64) & 0xFFF) << 64
    value |= (0b10 << 62) | (random & (1 << 62) - 1)
    return f"{value:032x}"
