"""Runs as they leave Assay, in a report or an exported file: without keys that became known after they were stored."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tui.model.results import StepResult, TrialKey, TrialResult
from tui.model.run import KeptRun, Plan
from tui.model.scores import answer_hash
from tui.model.secrets import SHORTEST_SECRET, Secrets, hide_number
from tui.model.subjects import Subject
from tui.model.suite import Case, RiskCriterion, Suite

_MOST_TEXTS = 4096
# In a line of a score file; within a note, quotes are escaped.
_ANSWER = re.compile('(?<="answer": ")[0-9a-f]{64}(?=")')
_NAMES = {Case: ("id",), RiskCriterion: ("name",), Subject: ("name", "provider")}
"""The fields by which results and scores refer to parts of a run: they stay as they are, like the keys of trials."""


def without_known_keys(kept: KeptRun, secrets: Secrets) -> KeptRun:
    """Return a run with known keys removed from all texts of its suite and results.

    Spans of matches and the pace of an answer that contained a key are removed too: they count its characters.
    """
    hide = lru_cache(_MOST_TEXTS)(secrets.hide)  # prompts and checks are the same in many results
    return replace(
        kept,
        plan=plan_without_known_keys(kept.plan, hide),
        results=results_without_known_keys(kept.results, hide),
        assay=hide(kept.assay),
        versions=_hidden(dict(kept.versions), hide),
    )


def plan_without_known_keys(plan: Plan, hide: Callable[[str], str]) -> Plan:
    """Return a plan with known keys removed by `hide` from all its texts but the names of its parts."""
    return replace(
        plan,
        suite=suite_without_known_keys(plan.suite, hide),
        subjects=_hidden(plan.subjects, hide),
        command=hide(plan.command),
    )


def results_without_known_keys(results: Iterable[TrialResult], hide: Callable[[str], str]) -> tuple[TrialResult, ...]:
    """Return results with known keys removed by `hide` from all their texts, and from the numbers of JSON values."""
    return tuple(_hidden(result, hide) for result in results)


def suite_without_known_keys(suite: Suite, hide: Callable[[str], str]) -> Suite:
    """Return a suite with known keys removed by `hide` from all its texts but the names of its parts."""
    found: Suite = _hidden(suite, hide)
    return found


def scores_of_outgoing(scores: str, kept: KeptRun, outgoing: KeptRun) -> str:
    """Return lines of score files with the hashes of the outgoing answers in place of those of the stored ones."""
    changed = changed_hashes(kept.results, outgoing.results)
    return _ANSWER.sub(lambda found: changed.get(found[0], found[0]), scores)


def changed_hashes(before: Iterable[TrialResult], after: Iterable[TrialResult]) -> dict[str, str]:
    """Return the hash that each answer has after a change, by the one that it had before; results are in one order."""
    return {
        answer_hash(old.steps): answer_hash(new.steps)
        for one, other in zip(before, after, strict=True)
        if one != other
        for old, new in zip(one.attempts, other.attempts, strict=True)
    }


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    """Return the value with known keys removed from its texts; the same object if there is none."""
    if isinstance(value, str):
        # A cache returns an equal text of another result.
        hidden = hide(value) if len(value) >= SHORTEST_SECRET else value
        return value if hidden == value else hidden
    if isinstance(value, int | float) and not isinstance(value, bool):
        return hide_number(value, hide)
    if isinstance(value, TrialKey):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        found = {name: getattr(value, name) for name in _text_fields(type(value))}
        changed = {name: new for name, old in found.items() if (new := _hidden(old, hide)) is not old}
        if isinstance(value, StepResult) and "response" in changed:
            checks: Sequence[Any] = changed.get("checks", value.checks)
            changed |= {"checks": tuple(replace(check, spans=()) for check in checks), "pace": ()}
        return replace(value, **changed) if changed else value
    if isinstance(value, list | tuple):
        # A list is JSON; the numbers in tuples count or measure.
        counts = (int, float) if isinstance(value, tuple) else ()
        items = [item if isinstance(item, counts) else _hidden(item, hide) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        pairs = {_hidden(key, hide): _hidden(item, hide) for key, item in value.items()}
        return value if pairs == value else pairs
    return value


@cache
def _text_fields(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields that may contain a text from outside: no numbers, and no words of Assay's own."""
    hints = get_type_hints(kind)
    names = (each.name for each in fields(kind) if each.init and not _is_closed(hints[each.name]))
    return tuple(name for name in names if name not in _NAMES.get(kind, ()))


def _is_closed(hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return True
    parts = [part for part in get_args(hint) if part is not type(None)]
    return hint in (int, float, bool) or (bool(parts) and all(_is_closed(part) for part in parts))
