"""The provenance of a run: the models that servers reported, prices, and versions of the software involved."""

from collections.abc import Iterable, Iterator

from tui.model.prices import price_text
from tui.model.results import ServedBy, TrialResult
from tui.model.run import KeptRun

_MOST = 8  # of one model's servers; a load balancer may have hundreds


def provenance(kept: KeptRun) -> list[tuple[str, str]]:
    """Return pairs of a name and a value, for the conditions of a run."""
    rows = [(_titled(name), version) for name, version in kept.versions.items() if name != "assay"]
    for subject in kept.plan.subjects:
        if subject.price is not None:
            rows.append((f"Price of {subject.name}", price_text(subject.price)))
        served = _served_by(result for result in kept.results if result.trial.model == subject.name)
        if served:
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


def _served_by(results: Iterable[TrialResult]) -> list[ServedBy]:
    return list(dict.fromkeys(_each(results)))


def _each(results: Iterable[TrialResult]) -> Iterator[ServedBy]:
    for result in results:
        for attempt in result.attempts:
            yield from (step.served_by for step in attempt.steps if step.served_by is not None)
