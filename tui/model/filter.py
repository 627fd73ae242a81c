"""The filter language of the suite tree and the matrix: `status:fail tag:security sev:critical !model:gpt* "sql"`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from tui.model.results import Verdict
from tui.model.suggest import nearest
from tui.model.suite import Case, Severity

StatusWord = Literal["not_run", "waiting", "delayed", "running", "flaky"] | Verdict
STATUS_WORDS = (
    "passed", "failed", "flaky", "unchecked", "error", "timed_out", "incomplete", "cancelled", "running", "waiting",
    "delayed", "not_run",
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
    "differs": "differs",
}
KEYS_IN_WORDS = "status: tag: sev: model: type: cat: id: differs:"
DIFFERS = ("yes", "no")

_OF_MODELS = ("status", "differs")
_TERM = re.compile(r'(?P<not>!?)(?:(?P<key>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<word>[^\s"]*))')


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a filter; `key` is empty for a bare word. `key` and `value` are case-folded."""

    key: str
    value: str
    inverted: bool = False


def split_terms(text: str) -> Iterator[Term]:
    """Split a filter into its terms, with keys as they were typed.

    Terms without a value are ignored: they are still being typed.
    """
    for match in _TERM.finditer(text):
        value = match["quoted"] if match["quoted"] is not None else match["word"]
        if value:
            yield Term((match["key"] or "").casefold(), value.casefold(), bool(match["not"]))


def unknown_key(key: str, keys: Iterable[str], keys_in_words: str) -> str:
    """Return a hint about an unknown key: the most similar one of `keys`, else all of them."""
    meant = nearest(key, keys, similarity=0.6)
    return f"unknown filter {key}:; " + (f"did you mean {meant}:?" if meant else f"available: {keys_in_words}")


def fits(text: str, value: str) -> bool:
    """Return whether a text contains a case-folded value, or matches it if that is a glob pattern."""
    text = text.casefold()
    return fnmatchcase(text, value) if any(sign in value for sign in "*?[") else value in text


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter. `hint` describes the first invalid term, and is empty if all terms are valid."""

    terms: tuple[Term, ...] = ()
    hint: str = ""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(
        self, case: Case, statuses: Mapping[str, StatusWord], shares: Mapping[str, float] | None = None
    ) -> bool:
        """Return whether the case passes the filter.

        `statuses` maps each shown model to its status; `shares` maps models to their share of plain passes, negative if
        not known yet.

        All terms about the case must match. `model:` restricts the models that `status:` and `differs:` look at;
        `status:` must match at least one of those, `!status:` none. `differs:yes` requires the shares of those models
        to differ, `differs:no` requires two or more models to agree.
        """
        shown = statuses
        for term in self.terms:
            if term.key == "model":
                shown = {name: at for name, at in shown.items() if fits(name, term.value) != term.inverted}
                if not shown:
                    return False
            elif term.key not in _OF_MODELS and _holds(term, case) == term.inverted:
                return False
        for term in self.terms:
            if term.key == "differs":
                found = [share for model, share in (shares or {}).items() if model in shown and share >= 0]
                if _differs(term.value, found) == term.inverted:
                    return False
            elif term.key == "status":
                status = _status(term.value)
                if any(at.startswith(status) for at in shown.values()) == term.inverted:
                    return False
        return True

    @property
    def needs_statuses(self) -> bool:
        """Whether the filter needs more than the case itself: the statuses of its trials."""
        return any(term.key == "model" or term.key in _OF_MODELS for term in self.terms)

    @property
    def needs_shares(self) -> bool:
        """Whether the filter compares the models' shares of passes."""
        return any(term.key == "differs" for term in self.terms)


def parse_filter(text: str) -> Filter:
    """Parse a filter, also while it is being typed: a key without a value is ignored."""
    terms: list[Term] = []
    hint = ""
    for term in split_terms(text):
        if term.key and term.key not in KEYS:
            hint = hint or unknown_key(term.key, KEYS, KEYS_IN_WORDS)
            term = Term("", f"{term.key}:{term.value}", term.inverted)
        elif term.key:
            term = replace(term, key=KEYS[term.key])
        hint = hint or _unknown_value(term)
        terms.append(term)
    return Filter(tuple(terms), hint)


def spread_of(shares: Iterable[float]) -> float:
    """Return the greatest share of passes less the least, 0 if they agree. Negative shares are unknown and ignored."""
    low, high = 2.0, -1.0
    for share in shares:
        if share >= 0:
            low, high = min(low, share), max(high, share)
    return max(0.0, high - low)


def severity_of(case: Case) -> Severity | None:
    """Return the worst severity among the criteria of a case, or None."""
    return max((criterion.severity for criterion in case.risk_criteria), key=SEVERITIES.index, default=None)


def _unknown_value(term: Term) -> str:
    if term.key == "status" and not any(word.startswith(_status(term.value)) for word in STATUS_WORDS):
        return f"unknown status {term.value}; available: {', '.join(STATUS_WORDS)}"
    if term.key == "severity" and not any(word.startswith(term.value) for word in SEVERITIES):
        return f"unknown severity {term.value}; available: {', '.join(SEVERITIES)}"
    if term.key == "differs" and not any(word.startswith(term.value) for word in DIFFERS):
        return f"unknown value differs:{term.value}; available: {', '.join(DIFFERS)}"
    return ""


@lru_cache(64)
def _status(value: str) -> str:
    """Return the status word of an alias such as `timeout`, `timed-out` or `errors`."""
    value = value.replace("-", "_")
    return {"timeout": "timed_out", "errors": "error", "timedout": "timed_out", "unasked": "not_run"}.get(value, value)


def _differs(value: str, shares: Sequence[float]) -> bool:
    if "yes".startswith(value):
        return spread_of(shares) > 0
    return "no".startswith(value) and len(shares) > 1 and not spread_of(shares)


def _holds(term: Term, case: Case) -> bool:
    value = term.value
    match term.key:
        case "tag":
            return any(fits(tag, value) for tag in case.tags)
        case "severity":
            return any(criterion.severity.startswith(value) for criterion in case.risk_criteria)
        case "type":
            return case.test_type is not None and fits(case.test_type, value)
        case "category":
            return fits(case.category, value)
        case "id":
            return fits(case.id, value)
    if value in case.name.casefold() or value in case.id.casefold():
        return True
    return any(value in step.input.casefold() for step in case.steps)
