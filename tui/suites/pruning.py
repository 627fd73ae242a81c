"""Takes out of a value what was found not to fit, so that the rest can still be checked."""

from collections.abc import Iterable
from typing import Any

from tui.documents.problems import Finding


def pruned(value: Any, findings: Iterable[Finding]) -> None:
    """Unknown keys (warnings) go, misfits (errors) become None where they stand; what is missing stays missing."""
    for finding in findings:
        *steps, last = finding.path or (None,)
        holder = value
        for step in steps:
            holder = _below(holder, step)
        if finding.level == "warning" and isinstance(holder, dict):
            holder.pop(last, None)
        elif _below(holder, last) is not None:
            holder[last] = None


def _below(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None
