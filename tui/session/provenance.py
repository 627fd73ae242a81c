"""What takes part in a run besides the models' servers, each with its version."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import tui
from tui.model.errors import ProviderError
from tui.model.run import Plan
from tui.model.sanitize import show_line
from tui.model.subjects import ProviderKind, Subject
from tui.session.digests import Digests

_PATTERNS, _RUNTIME = "quickjs-ng", "xllamacpp"


def versions_of(plan: Plan, kinds: Mapping[str, ProviderKind], digests: Digests) -> dict[str, str]:
    """Versions by name: Assay, Python, the platform; what checks patterns and clones repositories where the run does
    that; the runtimes that answer on this machine, with the digest of each model's or agent's file. `kinds` are those
    of the plan's providers. Blocks."""
    import platform

    found = {"assay": tui.__version__, "python": platform.python_version(), "platform": platform.platform()}
    asked = {trial.case for trial in plan.trials}
    if any(step.checks for case in plan.suite.cases if case.id in asked for step in case.steps):
        found |= _package(_PATTERNS)
    if plan.suite.repo_clone is not None:
        from tui.workspace.git.info import git_versions

        found |= git_versions()
    models = {trial.model for trial in plan.trials}
    for subject in plan.subjects:
        if subject.name in models:
            found |= dict(_of_subject(subject, kinds.get(subject.provider), digests))
    return {name: show_line(version, 200) for name, version in found.items()}


def _of_subject(subject: Subject, kind: ProviderKind | None, digests: Digests) -> Iterator[tuple[str, str]]:
    if kind == "local":
        from tui.providers.local_files import find_model

        yield from _package(_RUNTIME).items()
        with contextlib.suppress(ProviderError, OSError):
            path = find_model(subject.model_id).path
            yield f"file of {_named(subject)}", f"{path.name}, sha256 {digests.of(path)}"
    elif kind == "copilot":
        from tui.providers.copilot_extra import COPILOT

        yield from _package(COPILOT).items()
    elif kind == "agent" and subject.model_id.endswith(".py"):
        with contextlib.suppress(OSError):
            path = Path(subject.model_id)
            yield f"file of {_named(subject)}", f"{path.name}, sha256 {digests.of(path)}"


def _named(subject: Subject) -> str:
    """Without settings: variants of one model share its file."""
    return show_line(subject.name.partition("?")[0], 200)


def _package(name: str) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return {name: version(name)}
    except PackageNotFoundError:
        return {}
