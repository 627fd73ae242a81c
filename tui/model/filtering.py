"""The filter language of the suite tree and the matrix: `status:fail tag:security sev:critical !model:gpt* "sql"`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from tui.model.suite import Case, Severity
from tui.model.trials import Verdict

StatusWord = Literal["unasked", "waiting", "delayed", "running", "flaky"] | Verdict
STATUS_WORDS = (
    "passed", "failed", "flaky", "error", "timed_out", "incomplete", "cancelled", "running", "waiting", "delayed",
    "unasked",
)  # fmt: skip
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
KEYS = {
    "status": "status",
    "tag": "tag",
    "sev": "severity",
    "severity": "severity",
    "model": "model",
    "type": "type",
    "cat": "category",
    "category": "category",
    "id": "id",
}

_TERM = re.compile(r'(?P<not>!?)(?:(?P<key>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<word>[^\s"]*))')


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a filter; `key` is empty for a bare word. `value` is folded."""

    key: str
    value: str
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was read. `hint` says what in it makes no sense, else it is empty."""

    terms: tuple[Term, ...] = ()
    hint: str = ""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, case: Case, statuses: Mapping[str, StatusWord]) -> bool:
        """Whether the case is wanted. `statuses` holds a word for each model that is looked at.

        Words about the case must all hold. `model:` says which models are looked at; `status:` must hold for at least
        one of those, `!status:` for none.
        """
        looked_at = statuses
        for term in self.terms:
            if term.key == "model":
                looked_at = {name: at for name, at in looked_at.items() if _fits(name, term.value) != term.inverted}
                if not looked_at:
                    return False
            elif term.key != "status" and _holds(term, case) == term.inverted:
                return False
        for term in self.terms:
            if term.key == "status":
                wanted = _status(term.value)
                if any(at.startswith(wanted) for at in looked_at.values()) == term.inverted:
                    return False
        return True

    @property
    def needs_statuses(self) -> bool:
        """Whether it asks for more than the case itself."""
        return any(term.key in ("status", "model") for term in self.terms)


def parse_filter(text: str) -> Filter:
    """Read what a person typed, also while it is being typed: a key without a value yet is passed over."""
    terms: list[Term] = []
    hint = ""
    for match in _TERM.finditer(text):
        value = match["quoted"] if match["quoted"] is not None else match["word"]
        key = match["key"]
        if not value:
            continue
        if key is not None and key.casefold() not in KEYS:
            hint = hint or _unknown_key(key)
            key, value = None, f"{key}:{value}"
        term = Term(KEYS[key.casefold()] if key else "", value.casefold(), bool(match["not"]))
        hint = hint or _unknown_value(term)
        terms.append(term)
    return Filter(tuple(terms), hint)


def severity_of(case: Case) -> Severity | None:
    """The worst severity among the criteria of a case."""
    return max((criterion.severity for criterion in case.risk_criteria), key=SEVERITIES.index, default=None)


def _unknown_key(key: str) -> str:
    close = get_close_matches(key.casefold(), KEYS, 1)
    known = "status: tag: sev: model: type: cat: id:"
    return f"no {key}: here; did you mean {close[0]}:?" if close else f"no {key}: here; there are {known}"


def _unknown_value(term: Term) -> str:
    if term.key == "status" and not any(word.startswith(_status(term.value)) for word in STATUS_WORDS):
        return f"no status {term.value}; there are {', '.join(STATUS_WORDS)}"
    if term.key == "severity" and not any(word.startswith(term.value) for word in SEVERITIES):
        return f"no severity {term.value}; there are {', '.join(SEVERITIES)}"
    return ""


@lru_cache(64)
def _status(value: str) -> str:
    """People also write `timeout` and `timed-out`, `pass`, `fail`, `errors`."""
    value = value.replace("-", "_")
    return {"timeout": "timed_out", "errors": "error", "timedout": "timed_out"}.get(value, value)


def _fits(text: str, value: str) -> bool:
    text = text.casefold()
    return fnmatchcase(text, value) if any(sign in value for sign in "*?[") else value in text


def _holds(term: Term, case: Case) -> bool:
    value = term.value
    match term.key:
        case "tag":
            return any(_fits(tag, value) for tag in case.tags)
        case "severity":
            return any(criterion.severity.startswith(value) for criterion in case.risk_criteria)
        case "type":
            return case.test_type is not None and _fits(case.test_type, value)
        case "category":
            return _fits(case.category, value)
        case "id":
            return _fits(case.id, value)
    if value in case.name.casefold() or value in case.id.casefold():
        return True
    return any(value in step.input.casefold() for step in case.steps)
