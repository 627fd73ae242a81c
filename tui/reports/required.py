"""Cases that ask for a share of their repeats (`minPassRate`), and whether each model gave it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tui.model.results import TrialKey
from tui.model.suite import Case
from tui.statistics.repeats import meets_share
from tui.statistics.shares import Passes


@dataclass(frozen=True, slots=True)
class RequiredShare:
    """What a case asks of a model's repeats, and what it got. Flaky passes, errors and timeouts are no passes; `met` is
    None while what has not been run decides it. The verdicts of the single trials stay what they are."""

    case: str
    model: str
    required: float
    passes: Passes
    planned: int

    @property
    def met(self) -> bool | None:
        """Whether the share is reached, whatever may still come."""
        return meets_share(self.passes, self.planned, self.required)


def required_shares(
    cases: Mapping[str, Case], planned: Iterable[TrialKey], passes: Mapping[str, Mapping[str, Passes]]
) -> Iterator[RequiredShare]:
    """One for each checked case that asks and each model that it was planned for; `passes` is by model and case."""
    repeats: dict[tuple[str, str], int] = {}
    for key in planned:
        case = cases.get(key.case)
        if case is not None and case.min_pass_rate is not None and case.is_checked:
            repeats[key.case, key.model] = repeats.get((key.case, key.model), 0) + 1
    for (case_id, model), count in repeats.items():
        share = cases[case_id].min_pass_rate
        if share is not None:
            yield RequiredShare(case_id, model, share, passes[model].get(case_id, Passes(0, 0)), count)
