"""Conversion of runs to JSON text and back.

pydantic is imported with the first conversion. Results that an earlier version wrote are updated to the current
rules.
"""

import functools
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tui.model.finish_reasons import early_stop
from tui.model.results import Attempt, StepResult, TrialResult, is_flaky
from tui.model.run import RunOptions
from tui.model.subjects import Subject
from tui.model.suite import Suite, SuiteSources
from tui.model.values import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_DEEPEST = 64
_TOO_DEEP = "[nested too deeply to be saved]"
_ASKED_AGAIN = '"asked_again":'
"""Earlier versions wrote this in each attempt, and not which rerun it belongs to."""
_ASKED_AGAIN_BYTES = _ASKED_AGAIN.encode()
_FINAL = ("unauthorized", "not_found", "refused")


def encode_suite(suite: Suite) -> str:
    """Return a suite as JSON."""
    return _encode(_adapter(Suite), suite)


def decode_suite(text: str | bytes) -> Suite:
    """Parse a suite. Raises ValueError."""
    return _decode(_adapter(Suite), text)


def decode_sources(text: str) -> SuiteSources:
    """Parse the list of a suite's `repository_context` and `repo_clone`. Raises ValueError."""
    return _decode(_adapter(SuiteSources), text)


def encode_subjects(subjects: Sequence[Subject]) -> str:
    """Return the subjects of a plan as JSON."""
    return _encode(_adapter(tuple[Subject, ...]), tuple(subjects))


def decode_subjects(text: str) -> tuple[Subject, ...]:
    """Parse the subjects of a plan. Raises ValueError."""
    return _decode(_adapter(tuple[Subject, ...]), text)


def encode_options(options: RunOptions) -> str:
    """Return the options of a run as JSON."""
    return _encode(_adapter(RunOptions), options)


def decode_options(text: str) -> RunOptions:
    """Parse the options of a run. Raises ValueError."""
    return _decode(_adapter(RunOptions), text)


def encode_versions(versions: Mapping[str, str]) -> str:
    """Return versions by name as JSON."""
    return _encode(_adapter(dict[str, str]), dict(versions))


def decode_versions(text: str) -> dict[str, str]:
    """Parse versions by name. Raises ValueError."""
    return _decode(_adapter(dict[str, str]), text)


def encode_result(result: TrialResult) -> str:
    """Return a result as JSON. Never fails: an agent's memory that no parser could read is cut at 64 levels."""
    try:
        return _adapter(TrialResult).dump_json(result).decode()
    except ValueError:
        return _dump(replace(result, attempts=tuple(_flatten(attempt) for attempt in result.attempts)))


def decode_result(text: str | bytes) -> TrialResult:
    """Parse a result. Raises ValueError."""
    result = _decode(_adapter(TrialResult), text)
    if (_ASKED_AGAIN in text) if isinstance(text, str) else (_ASKED_AGAIN_BYTES in text):
        marks = [attempt.get("asked_again") for attempt in json.loads(text)["attempts"]]
        if any(mark is not None for mark in marks):
            return _renew(result, [bool(mark) for mark in marks])
    return result


def read_result(content: bytes, key: tuple[str, str, int]) -> TrialResult | None:
    """Return a stored result of the trial that its row names; None for one that only damage can have made.

    It cannot be decoded, or is that of another trial: counted, it would be a result of that trial too.
    """
    try:
        result = decode_result(content)
    except (ValueError, TypeError):  # TypeError: not even text
        return None
    trial = result.trial
    is_of_row = trial == key or (storable(trial.case), storable(trial.model), trial.repeat) == key
    return result if is_of_row else None


def storable(text: str) -> str:
    """Return the text as SQLite can store it: names that are not UTF-8 contain lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()


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
    # Lone surrogates, which only the escapes of the standard library can represent.
    return json.dumps(value, default=_fields)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _decode(adapter: "TypeAdapter[T]", text: str | bytes) -> T:
    try:
        return adapter.validate_json(text)
    except ValueError:
        try:
            # Decoded here: json would accept bytes that are no UTF-8.
            return adapter.validate_python(json.loads(text.decode() if isinstance(text, bytes) else text))
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error


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


def _renew(result: TrialResult, asked_again: Sequence[bool]) -> TrialResult:
    """Return a result of an earlier version by the current rules.

    It assigns a rerun number to each attempt, and removes passes without a check or of an answer that stopped early.
    """
    numbers = _rerun_numbers(result.attempts, asked_again)
    attempts = tuple(
        _rejudge(replace(attempt, asking=asking)) for attempt, asking in zip(result.attempts, numbers, strict=True)
    )
    if not attempts:
        return result
    verdict, error = result.verdict, result.error
    if attempts[-1].verdict != result.attempts[-1].verdict:
        verdict, error = attempts[-1].verdict, attempts[-1].error
    return replace(result, verdict=verdict, error=error, flaky=is_flaky(attempts), attempts=attempts)


def _rerun_numbers(attempts: Sequence[Attempt], asked_again: Sequence[bool]) -> list[int]:
    """Return the rerun number of each attempt.

    Earlier versions did not record reruns: a rerun is taken to end with an attempt that no automatic retry follows,
    and after as many attempts as the first run had, if that used all that were allowed.
    """
    first = asked_again.count(False)
    allowed = first if first and not _is_final(attempts[first - 1]) else len(attempts)
    numbers: list[int] = []
    for place, again in enumerate(asked_again):
        last = numbers[-1] if numbers else 0
        begins = again and (last == 0 or _is_final(attempts[place - 1]) or numbers.count(last) >= allowed)
        numbers.append(last + begins)
    return numbers


def _is_final(attempt: Attempt) -> bool:
    return attempt.verdict in ("passed", "cancelled") or attempt.fault in _FINAL


def _rejudge(attempt: Attempt) -> Attempt:
    if attempt.verdict != "passed":
        return attempt
    if error := next((stopped for step in attempt.steps if (stopped := early_stop(step.finish_reason))), None):
        return replace(attempt, verdict="incomplete", error=error)
    if not any(step.checks for step in attempt.steps):
        return replace(attempt, verdict="unchecked")
    return attempt
