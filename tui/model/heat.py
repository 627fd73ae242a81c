"""The heat map of severity × extent as rows of counts."""

from typing import get_args

from tui.model.bands import EXTENTS
from tui.model.risk import Heat
from tui.model.suite import Severity


def heat_rows(*heats: Heat) -> tuple[tuple[Severity, tuple[int, ...]], ...]:
    """For each severity, the worst first, how many items have which extent (0 to 4), in all of these heat maps."""
    severities: tuple[Severity, ...] = get_args(Severity)
    return tuple(
        (severity, tuple(sum(heat.get((severity, extent), 0) for heat in heats) for extent in range(len(EXTENTS))))
        for severity in reversed(severities)
    )
