"""Models that cannot be run, in words: what each one needs, and the keys that choose others."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import Line
from tui.model.errors import AssayError, ConfigError
from tui.model.sanitize import sanitize_line, sanitize_text

LOCAL_MODEL = "local/smollm2-135m"
"""The bundled model, which needs no key and no network."""


class ModelFault(NamedTuple):
    """Why a model cannot be run. `needs` is what is missing, such as `OPENAI_API_KEY`; empty for other faults."""

    text: str
    needs: str = ""


def fault_of(error: AssayError) -> ModelFault:
    """Return the fault that an error of resolving a model describes."""
    return ModelFault(str(error), error.needs if isinstance(error, ConfigError) else "")


def fault_word(fault: ModelFault) -> str:
    """Return the reason in two words, for the head of a column: `no key` if a variable with a key is missing."""
    return "no key" if fault.needs else "cannot run"


def short_fault(model: str, fault: ModelFault) -> str:
    """Return one sentence about a model: what it needs, else its whole error message."""
    return f"{sanitize_line(model)} needs {fault.needs}." if fault.needs else sanitize_text(fault.text)


def needs_sentence(faults: Mapping[str, ModelFault]) -> str:
    """Return one sentence about all models that need something: `a and b need X; c needs Y.`; empty without any."""
    by_need: dict[str, list[str]] = {}
    for model, fault in faults.items():
        if fault.needs:
            by_need.setdefault(fault.needs, []).append(sanitize_line(model, 60))
    parts = [f"{_listed(models)} need{'s' if len(models) == 1 else ''} {needs}" for needs, models in by_need.items()]
    return f"{'; '.join(parts)}." if parts else ""


def not_run_words(faults: Mapping[str, ModelFault]) -> str:
    """Return a message about models that were omitted from a run."""
    others = [sanitize_line(model, 60) for model, fault in faults.items() if not fault.needs]
    reason = f"{_listed(others)}: see the pane for the reason." if others else ""
    return " ".join(filter(None, (needs_sentence(faults), reason)))


def ways_out(choose: str, local: str) -> Line:
    """Return the keys that help: `choose` opens the choice of models, `local` runs on the bundled model."""
    return (
        (choose, "accent"),
        (" chooses models, ", "plain"),
        (local, "accent"),
        (f" runs on {LOCAL_MODEL}, which needs no key.", "plain"),
    )


def fault_lines(faults: Mapping[str, ModelFault], keys: tuple[str, str]) -> list[Line]:
    """Return lines about all models that cannot be run; the details follow, each once. `keys` as in `ways_out`."""
    if not faults:
        return []
    needing = needs_sentence(faults)
    heads = [needing] if needing else []
    heads += [sanitize_text(fault.text) for fault in faults.values() if not fault.needs]
    lines: list[Line] = [(("! ", "error"), (head, "error")) for head in heads]
    lines.append((("  ", "plain"), *ways_out(*keys)))
    details = next((fault.text for fault in faults.values() if fault.needs), "")
    return [*lines, (), ((sanitize_text(details), "dim"),)] if details else lines


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
