"""Whose answers are held against each other at first."""

from collections.abc import Sequence

from tui.model.run import RunRecord
from tui.session.answers import Source


def sources_of_models(
    suite: str, run: str, models: Sequence[str], current: str, runs: Sequence[RunRecord]
) -> tuple[Source, Source] | None:
    """The first model and the current one, or the next; of a single model its newest run and the one before, else its
    first two repeats. `run` is empty for what is newest; `runs` are those of the suite, the newest first."""
    if not models:
        return None
    if len(models) > 1:
        other = current if current in models[1:] else models[1]
        return Source(suite, run, models[0]), Source(suite, run, other)
    [model] = models
    earlier = [each.id for each in runs if model in each.models and each.id != run]
    if run and earlier:
        return Source(suite, run, model), Source(suite, earlier[0], model)
    if not run and len(earlier) > 1:
        return Source(suite, earlier[0], model), Source(suite, earlier[1], model)
    return Source(suite, run, model), Source(suite, run, model, repeat=2)


def sources_of_run(run: RunRecord, baseline: str | None, runs: Sequence[RunRecord]) -> tuple[Source, Source] | None:
    """A run against the baseline of its suite where one is marked and has asked the same model; else its models
    against each other, or the same model in the run before."""
    against = next((each for each in runs if each.id == baseline and each.id != run.id), None)
    shared = [model for model in run.models if against is not None and model in against.models]
    if against is not None and shared:
        return Source(run.suite_path, against.id, shared[0]), Source(run.suite_path, run.id, shared[0])
    return sources_of_models(run.suite_path, run.id, run.models, "", runs)
