"""Runs as JSON text and back. pydantic is loaded when the first value is turned."""

import functools
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tui.model.plan import RunOptions
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.model.trials import Attempt, StepResult, TrialResult
from tui.model.values import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_DEEPEST = 64
_TOO_DEEP = "[nested too deeply to be kept]"


def encode_suite(suite: Suite) -> str:
    """A suite as JSON."""
    return _encode(_adapter(Suite), suite)


def decode_suite(text: str) -> Suite:
    """The suite. Raises ValueError."""
    return _decode(_adapter(Suite), text)


def encode_subjects(subjects: Sequence[Subject]) -> str:
    """Subjects as JSON."""
    return _encode(_adapter(tuple[Subject, ...]), tuple(subjects))


def decode_subjects(text: str) -> tuple[Subject, ...]:
    """The subjects. Raises ValueError."""
    return _decode(_adapter(tuple[Subject, ...]), text)


def encode_options(options: RunOptions) -> str:
    """Options as JSON."""
    return _encode(_adapter(RunOptions), options)


def decode_options(text: str) -> RunOptions:
    """The options. Raises ValueError."""
    return _decode(_adapter(RunOptions), text)


def encode_versions(versions: Mapping[str, str]) -> str:
    """Versions as JSON."""
    return _encode(_adapter(dict[str, str]), dict(versions))


def decode_versions(text: str) -> dict[str, str]:
    """The versions. Raises ValueError."""
    return _decode(_adapter(dict[str, str]), text)


def encode_result(result: TrialResult) -> str:
    """A result as JSON. Never fails: an agent's memory that no parser would read back is cut at 64 levels."""
    try:
        return _adapter(TrialResult).dump_json(result).decode()
    except ValueError:
        return _dump(replace(result, attempts=tuple(_flatten(attempt) for attempt in result.attempts)))


def decode_result(text: str) -> TrialResult:
    """The result. Raises ValueError."""
    return _decode(_adapter(TrialResult), text)


def _adapter(kind: type[T]) -> "TypeAdapter[T]":
    adapter: TypeAdapter[T] = _build_adapter(cast(Hashable, kind))
    return adapter


@functools.cache
def _build_adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _encode(adapter: "TypeAdapter[T]", value: T) -> str:
    try:
        return adapter.dump_json(value).decode()
    except ValueError:
        return _dump(value)


def _dump(value: object) -> str:
    # Lone surrogates, which only the escapes of the standard library carry.
    return json.dumps(value, default=_fields)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _decode(adapter: "TypeAdapter[T]", text: str) -> T:
    try:
        return adapter.validate_json(text)
    except ValueError:
        return adapter.validate_python(json.loads(text))


def _flatten(attempt: Attempt) -> Attempt:
    return replace(attempt, steps=tuple(_flatten_step(step) for step in attempt.steps))


def _flatten_step(step: StepResult) -> StepResult:
    before = step.memory_before
    return replace(
        step,
        memory=_cut(step.memory, _DEEPEST),
        memory_before=None if before is None else {key: _cut(value, _DEEPEST) for key, value in before.items()},
    )


def _cut(value: JsonValue, levels: int) -> JsonValue:
    if isinstance(value, dict):
        return {key: _cut(inner, levels - 1) for key, inner in value.items()} if levels else _TOO_DEEP
    if isinstance(value, list):
        return [_cut(inner, levels - 1) for inner in value] if levels else _TOO_DEEP
    return value
