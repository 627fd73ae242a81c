"""The filter language: `status:fail tag:security sev:critical !model:gpt* "sql"`.

Every place that filters has its own keys (a `FilterLanguage`); terms, quotes, hints and completion are the same, and so
are saved filters: `@name` stands for the terms that were saved under this name. The filter of cases, which the suite
tree and the matrix have, is here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Literal, NamedTuple

from tui.model.results import Verdict
from tui.model.suggest import nearest
from tui.model.suite import Case, Severity

StatusWord = Literal["not_run", "waiting", "delayed", "running", "flaky"] | Verdict
STATUS_WORDS = (
    "passed", "failed", "flaky", "unchecked", "error", "timed_out", "incomplete", "cancelled", "running", "waiting",
    "delayed", "not_run",
)  # fmt: skip
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
DIFFERS = ("yes", "no")
MOST_COMPLETIONS = 50
LONGEST_FILTER = 400
"""The most characters of a filter."""
NO_FILTERS: Mapping[str, str] = MappingProxyType({})
_MOST_EXPANDED, _MOST_TERMS = 100, 500
_MOST_COLUMNS, _MOST_SHOWN = 2_000, 50  # keys of data sets, and keys that a message lists
_SAVED = "@"

_COLUMN = "var."
_NO_KEY = re.compile(r'[\s":]')
_OF_MODELS = ("status", "differs")
_FILTER_NAME = re.compile(r"[\w.-]{1,40}")
_TERM = re.compile(
    r'(?P<not>!?)(?:(?P<key>var\.[^\s":]+|[A-Za-z_]\w*):)?(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<word>[^\s"]*))'
)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a filter; `key` is empty for a bare word, and `@` for a saved filter, whose name is the value.

    `key` and `value` are case-folded.
    """

    key: str
    value: str
    inverted: bool = False


class FilterKey(NamedTuple):
    """A key of a filter with its other names.

    `values` are all valid values, of which a start is enough; empty if every text is valid. `noun` is the word for a
    value in messages. Keys that are not `listed` are left out of short lists.
    """

    name: str
    description: str
    values: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    noun: str = ""
    listed: bool = True
    normalize: Callable[[str], str] = str


class Completion(NamedTuple):
    """A proposal: the whole filter after it was accepted, the place of the cursor, what to display, and a help."""

    text: str
    cursor: int
    label: str
    description: str = ""


class FilterLanguage:
    """The keys of the filter of one place."""

    def __init__(self, *keys: FilterKey) -> None:
        self.keys = keys
        self._by_name = {name: key for key in keys for name in (key.name, *key.aliases)}

    @property
    def keys_in_words(self) -> str:
        """Return the first keys as they are listed in help texts: `status: tag: sev:`."""
        listed = [f"{key.name}:" for key in self.keys if key.listed]
        return " ".join(listed[:_MOST_SHOWN] + ["…"] * (len(listed) > _MOST_SHOWN))

    def parse(self, text: str, saved: Mapping[str, str] = NO_FILTERS) -> tuple[tuple[Term, ...], str]:
        """Return the terms of a filter with the names of their keys, and what is wrong with the first invalid one.

        A key without a value is ignored: it is still being typed. An unknown key is searched for as text. `saved` are
        the texts of saved filters by name, in place of which their terms are returned.
        """
        terms: list[Term] = []
        expansion = _Expansion(saved)
        expansion.add(text)
        hint = expansion.fault
        for term in expansion.terms:
            key = self._by_name.get(term.key)
            if term.key and key is None:
                hint = hint or self._unknown_key(term.key)
                term = Term("", f"{term.key}:{term.value}", term.inverted)
            elif key is not None:
                term = replace(term, key=key.name)
                hint = hint or _unknown_value(key, term.value)
            terms.append(term)
        return tuple(terms), hint

    def with_columns(self, columns: Iterable[str]) -> "FilterLanguage":
        """Return the language with a key for each column of data sets.

        It is `NAME:` and `var.NAME:`, only the latter if `NAME:` is another key.
        """
        names = dict.fromkeys(column.casefold() for column in columns if not _NO_KEY.search(column))
        what = "column of a data set"
        keys = (
            FilterKey(f"{_COLUMN}{name}", what)
            if name in self._by_name
            else FilterKey(name, what, aliases=(f"{_COLUMN}{name}",))
            for name in names
        )
        return FilterLanguage(*self.keys, *keys)

    def without(self, *names: str, values: Sequence[str] = ()) -> "FilterLanguage":
        """Return the language without these keys, and without these values of the other keys."""
        keys = (key for key in self.keys if key.name not in names)
        return FilterLanguage(
            *(key._replace(values=tuple(value for value in key.values if value not in values)) for key in keys)
        )

    def complete(
        self,
        text: str,
        cursor: int,
        values_of: Callable[[str], Iterable[str]],
        saved: Mapping[str, str] = NO_FILTERS,
    ) -> list[Completion]:
        """Return what the term at the cursor can become: a saved filter, a key, or a value of its key.

        `values_of` returns the values that occur, for a key without fixed ones. Values that start with what was typed
        come first. An empty filter is completed with the `saved` filters that are valid here and all keys; between two
        terms nothing is proposed.
        """
        after = text[cursor:]
        start = _start_of_term(text[:cursor])
        if after[:1].strip() or (start == cursor and text.strip()):
            return []
        match = _TERM.match(text[:cursor], start)
        assert match is not None, "every text begins with a term, which may be empty"
        sign, name = match["not"], (match["key"] or "").casefold()
        value = (match["word"] if match["quoted"] is None else match["quoted"]).casefold()
        if not name:
            if match["quoted"] is not None:
                return []
            named = self._complete_saved(text[:start], sign, value, after, saved)
            keys = [key for key in self.keys if key.name.startswith(value) and (value or key.listed)]
            found = [_completed(text[:start], f"{sign}{key.name}:", after, f"{key.name}:", key) for key in keys]
            return [*named, *found]
        key = self._by_name.get(name)
        if key is None:
            return []
        known = dict.fromkeys(key.values or values_of(key.name))
        values = [each for each in known if each and value in each.casefold()]
        values.sort(key=lambda each: not each.casefold().startswith(value))  # stable: the order of the place stays
        if key.values:  # of which only a start is valid
            values = [each for each in values if each.casefold().startswith(value)]
        head = f"{sign}{match['key']}:"
        return [
            _completed(text[:start], f"{head}{_quoted(each)} ", after.lstrip(), each)
            for each in values[:MOST_COMPLETIONS]
        ]

    def _complete_saved(
        self, before: str, sign: str, typed: str, after: str, saved: Mapping[str, str]
    ) -> Iterator[Completion]:
        """Yield the saved filters whose name contains what was typed after `@`, without those that are invalid here."""
        if typed and not typed.startswith(_SAVED):
            return
        names = [name for name in saved if typed.removeprefix(_SAVED) in name]
        counts: dict[str, int] = {}
        for name in names[:MOST_COMPLETIONS]:
            count = self._count_terms(name, saved, counts)
            if count == 1 or (count > 1 and not sign):
                completion = _completed(before, f"{sign}{_SAVED}{name} ", after.lstrip(), f"{_SAVED}{name}")
                yield completion._replace(description=saved[name])

    def _count_terms(self, name: str, saved: Mapping[str, str], counts: dict[str, int]) -> int:
        """Return how many terms a saved filter has, 0 if it is invalid here; `counts` has those that are known."""
        if name not in counts:
            counts[name] = count = 0  # which is also what a filter that contains itself has
            for term in _split(saved.get(name, "")):
                terms = self._count_terms(term.value, saved, counts) if term.key == _SAVED else 1
                if not terms or not self._is_valid(term) or (term.inverted and terms > 1):
                    return 0
                count += terms
            counts[name] = count if count <= _MOST_TERMS else 0
        return counts[name]

    def _is_valid(self, term: Term) -> bool:
        key = self._by_name.get(term.key)
        return term.key in ("", _SAVED) if key is None else not _unknown_value(key, term.value)

    def _unknown_key(self, name: str) -> str:
        meant = nearest(name, self._by_name, similarity=0.6)
        return f"unknown filter {name}:; " + (
            f"did you mean {meant}:?" if meant else f"available: {self.keys_in_words}"
        )


class _Expansion:
    """The terms of a filter, with those of saved filters in their place.

    `fault` is what is wrong with the first saved filter that cannot be used; it is ignored.
    """

    def __init__(self, saved: Mapping[str, str]) -> None:
        self.terms: list[Term] = []
        self.fault = ""
        self._saved, self._expanded = saved, 0

    def add(self, text: str, inside: tuple[str, ...] = ()) -> None:
        """Add the terms of a text, which is that of the last of the saved filters `inside` each other."""
        for term in _split(text):
            if term.key != _SAVED:
                self.terms.append(term)
            elif term.value and not self.fault:
                self._add_saved(term, inside)

    def _add_saved(self, term: Term, inside: tuple[str, ...]) -> None:
        name, before = term.value, len(self.terms)
        self._expanded += 1
        if name in inside:
            path = " → ".join(f"@{each}" for each in (*inside[inside.index(name) :], name))
            self.fault = f"saved filter @{name} contains itself: {path}"
        elif name not in self._saved:
            meant = nearest(name, self._saved, similarity=0.6)
            self.fault = f"unknown saved filter @{name}" + (f"; did you mean @{meant}?" if meant else "")
        elif self._expanded > _MOST_EXPANDED or before > _MOST_TERMS:
            self.fault = f"a filter contains at most {_MOST_EXPANDED} saved filters and {_MOST_TERMS} terms"
        else:
            self.add(self._saved[name], (*inside, name))
            if term.inverted and len(self.terms) == before + 1:
                self.terms[before] = replace(self.terms[before], inverted=not self.terms[before].inverted)
            elif term.inverted:
                del self.terms[before:]
                self.fault = self.fault or f"!@{name}: only a saved filter with one term can be inverted"


def is_filter_name(name: str) -> bool:
    """Return whether a filter can be saved under a name: letters, digits, `_`, `.` and `-`, not in upper case."""
    return _FILTER_NAME.fullmatch(name) is not None and name == name.casefold()


def saved_filter_fault(name: str, saved: Mapping[str, str]) -> str:
    """Return what is wrong with the filters that a saved filter uses; empty if nothing is."""
    expansion = _Expansion(saved)
    expansion.add(f"{_SAVED}{name}")
    return expansion.fault


def rename_saved_filter(text: str, name: str, new: str) -> str:
    """Return a filter with another name for a saved filter that it uses."""

    def renamed(match: re.Match[str]) -> str:
        is_name = not match["key"] and match["word"] is not None and match["word"].casefold() == f"{_SAVED}{name}"
        return f"{match['not']}{_SAVED}{new}" if is_name else match[0]

    return _TERM.sub(renamed, text)


def _split(text: str) -> Iterator[Term]:
    """Split a filter into its terms, with keys as they were typed."""
    for match in _TERM.finditer(text):
        value = match["quoted"] if match["quoted"] is not None else match["word"]
        if match["quoted"] is None and not match["key"] and value.startswith(_SAVED):
            yield Term(_SAVED, value[len(_SAVED) :].casefold(), bool(match["not"]))
        elif value:
            yield Term((match["key"] or "").casefold(), value.casefold(), bool(match["not"]))


def _unknown_value(key: FilterKey, value: str) -> str:
    if not key.values or any(word.startswith(key.normalize(value)) for word in key.values):
        return ""
    what = f"{key.noun} {value}" if key.noun else f"value {key.name}:{value}"
    return f"unknown {what}; available: {', '.join(key.values)}"


def _start_of_term(text: str) -> int:
    """Return where the last term of a text begins; its end if the text ends with a space outside of quotes."""
    start = 0
    for match in _TERM.finditer(text):
        if match.end() == len(text) and match.start() < match.end():
            closed = match["quoted"] is not None and text.endswith('"') and match.end("quoted") < match.end()
            return match.end() if closed else match.start()
        start = match.end()
    return start


def _completed(before: str, term: str, after: str, label: str, key: FilterKey | None = None) -> Completion:
    return Completion(f"{before}{term}{after}", len(before) + len(term), label, key.description if key else "")


def _quoted(value: str) -> str:
    """Return a value as it is written in a filter. Signs with a meaning become `?`, which matches any character."""
    if any(sign in value for sign in '"*?['):
        value = re.sub(r'["*?\[]', "?", value)
    return f'"{value}"' if re.search(r"\s", value) else value


@lru_cache(64)
def _status(value: str) -> str:
    """Return the status word of an alias such as `timeout`, `timed-out` or `errors`."""
    value = value.replace("-", "_")
    return {"timeout": "timed_out", "errors": "error", "timedout": "timed_out", "unasked": "not_run"}.get(value, value)


CASE_FILTER = FilterLanguage(
    FilterKey("status", "result of a displayed model", STATUS_WORDS, noun="status", normalize=_status),
    FilterKey("tag", "tag of the case"),
    FilterKey("sev", "severity of a criterion", SEVERITIES, ("severity",), noun="severity"),
    FilterKey("model", "models that status: and differs: look at"),
    FilterKey("type", "test type of the case"),
    FilterKey("cat", "category of the case", aliases=("category",)),
    FilterKey("id", "id of the case"),
    FilterKey("row", "row of a data set", listed=False),
    FilterKey("differs", "whether models differ", DIFFERS),
)


def fits(text: str, value: str) -> bool:
    """Return whether a text contains a case-folded value, or matches it if that is a glob pattern."""
    text = text.casefold()
    return fnmatchcase(text, value) if any(sign in value for sign in "*?[") else value in text


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter. `hint` describes the first invalid term, and is empty if all terms are valid.

    `columns` are the columns of data sets that its terms name, as they are written in the data, by key.
    """

    terms: tuple[Term, ...] = ()
    hint: str = ""
    columns: Mapping[str, Mapping[str, None]] = field(default_factory=dict)

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
            elif term.key not in _OF_MODELS and self._holds(term, case) == term.inverted:
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

    def _holds(self, term: Term, case: Case) -> bool:
        value = term.value
        match term.key:
            case "tag":
                return any(fits(tag, value) for tag in case.tags)
            case "sev":
                return any(criterion.severity.startswith(value) for criterion in case.risk_criteria)
            case "type":
                return case.test_type is not None and fits(case.test_type, value)
            case "cat":
                return fits(case.category, value)
            case "id":
                return fits(case.id, value)
            case "row":
                return case.row is not None and fits(case.row.id, value)
        if term.key:
            text = _in_column(case, self.columns.get(term.key, {}))
            return text is not None and fits(text, value)
        if value in case.name.casefold() or value in case.id.casefold():
            return True
        return any(value in step.input.casefold() for step in case.steps)

    @property
    def needs_statuses(self) -> bool:
        """Whether the filter needs more than the case itself: the statuses of its trials."""
        return any(term.key == "model" or term.key in _OF_MODELS for term in self.terms)

    @property
    def needs_shares(self) -> bool:
        """Whether the filter compares the models' shares of passes."""
        return any(term.key == "differs" for term in self.terms)


def parse_filter(text: str, saved: Mapping[str, str] = NO_FILTERS, columns: Iterable[str] = ()) -> Filter:
    """Parse a filter of cases with the `saved` filters in it, also while it is being typed.

    `columns` are those of the data sets of the cases.
    """
    columns = tuple(columns)
    terms, hint = CASE_FILTER.with_columns(columns).parse(text, saved)
    return Filter(terms, hint, {key: _columns_named(key, columns) for key in {term.key for term in terms if term.key}})


class DataColumns:
    """The columns of the data sets of suites that the filter has keys for.

    They are collected once, as they may be in 50,000 rows: the first 2,000 that can be written in a filter.
    """

    def __init__(self) -> None:
        self._suites: Sequence[Sequence[Case]] = ()
        self._columns: tuple[str, ...] = ()

    def of(self, suites: Sequence[Sequence[Case]]) -> tuple[str, ...]:
        """Return the columns of the cases of suites, in their order."""
        if len(suites) != len(self._suites) or any(a is not b for a, b in zip(suites, self._suites, strict=True)):
            rows = (case.row.values for cases in suites for case in cases if case.row)
            columns = (column for column in dict.fromkeys(chain.from_iterable(rows)) if len(column) <= LONGEST_FILTER)
            self._suites, self._columns = tuple(suites), tuple(islice(columns, _MOST_COLUMNS))
        return self._columns


def _columns_named(key: str, columns: Iterable[str]) -> Mapping[str, None]:
    """Return the columns that a key of the filter names, as they are written in the data."""
    name = key.removeprefix(_COLUMN)
    return {column: None for column in columns if column.casefold() == name}


def _in_column(case: Case, names: Mapping[str, None]) -> str | None:
    """Return the text of the row of a case in the first of these columns that it has, None if there is none."""
    values = case.row.values if case.row else {}
    fewer = names if len(names) <= len(values) else values  # a name has thousands of forms with other capitals
    return next((values[name] for name in fewer if name in names and name in values), None)


def case_values(key: str, cases: Iterable[Case], columns: Iterable[str] = ()) -> Iterator[str]:
    """Yield the values of a key of the filter that occur in cases, in their order and repeatedly.

    `columns` are those of the data sets.
    """
    names = _columns_named(key, columns)
    for case in cases:
        match key:
            case "tag":
                yield from case.tags
            case "type":
                yield case.test_type or ""
            case "cat":
                yield case.category
            case "id":
                yield case.id
            case "row":
                yield case.row.id if case.row else ""
            case _:
                yield _in_column(case, names) or ""


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


def _differs(value: str, shares: Sequence[float]) -> bool:
    if "yes".startswith(value):
        return spread_of(shares) > 0
    return "no".startswith(value) and len(shares) > 1 and not spread_of(shares)
