"""The provenance of a run: the models that servers reported, prices, and versions of the software involved."""

from collections.abc import Iterable

from tui.model.prices import price_text
from tui.model.results import ServedBy, TrialResult
from tui.model.run import KeptRun

_MOST = 8  # of one model's servers; a load balancer may have hundreds


def provenance(kept: KeptRun) -> list[tuple[str, str]]:
    """Return pairs of a name and a value, for the conditions of a run."""
    rows = [(_titled(name), version) for name, version in kept.versions.items() if name != "assay"]
    by_model = _served_by(kept.results)
    for subject in kept.plan.subjects:
        if subject.price is not None:
            rows.append((f"Price of {subject.name}", price_text(subject.price)))
        if served := list(by_model.get(subject.name, ())):
            more = f"; and {len(served) - _MOST} others" if len(served) > _MOST else ""
            rows.append((f"Server of {subject.name}", "; ".join(each.words for each in served[:_MOST]) + more))
    return rows


def _titled(name: str) -> str:
    """Return the label of a version: `platform` and `file of …` are not packages."""
    is_package = name != "platform" and " " not in name
    return f"Version of {name}" if is_package else name[:1].upper() + name[1:]


def answering_models(result: TrialResult) -> list[str]:
    """Return the distinct model ids that servers reported for the last attempt."""
    steps = result.attempts[-1].steps if result.attempts else ()
    return list(dict.fromkeys(step.served_by.model for step in steps if step.served_by and step.served_by.model))


def _served_by(results: Iterable[TrialResult]) -> dict[str, dict[ServedBy, None]]:
    """Return the distinct servers of each model, in the order of the results."""
    found: dict[str, dict[ServedBy, None]] = {}
    for result in results:
        steps = (step for attempt in result.attempts for step in attempt.steps)
        found.setdefault(result.trial.model, {}).update(
            dict.fromkeys(step.served_by for step in steps if step.served_by is not None)
        )
    return found
