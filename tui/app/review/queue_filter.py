"""The status of a queue item, and the filter of the queue: `is:open band:high sev:critical case:sec !word`."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.app.presentation.bands import band_of
from tui.model.filter import SEVERITIES, Term, fits, split_terms, unknown_key
from tui.model.risk import BANDS, Band, BandRule
from tui.model.scores import Act, CountedScore, ReviewItem, Scoreboard

_STATES = ("open", "unscored", "scored", "disputed", "decided", "note")
_KEYS = {
    "is": "is",
    "band": "band",
    "sev": "sev",
    "severity": "sev",
    "model": "model",
    "case": "case",
    "id": "case",
    "cat": "category",
    "category": "category",
    "crit": "criterion",
    "criterion": "criterion",
}
_KEYS_IN_WORDS = "is: band: sev: model: case:"
_VALUES: dict[str, Sequence[str]] = {"is": _STATES, "band": BANDS, "sev": SEVERITIES}
_REVEALING = {"model": "Names are hidden", "disputed": "Scores of other reviewers are hidden"}


@dataclass(frozen=True, slots=True)
class ItemStatus:
    """What is known of an item: the reviewer's own score `mine`, the scores of `others`, the `decision`; what counts of
    them (`counted`), and its `band`, None without an extent."""

    mine: Act | None = None
    others: tuple[Act, ...] = ()
    decision: Act | None = None
    counted: CountedScore | None = None
    band: Band | None = None

    @property
    def disputed(self) -> bool:
        """Return whether reviewers disagree and there is no decision."""
        return self.counted is not None and self.counted.how == "highest"


def status_of(item: ReviewItem, board: Scoreboard, reviewer: str, rule: BandRule, *, hidden: bool) -> ItemStatus:
    """Return the status of an item for a reviewer. While names are `hidden`, and for an item that is shown a second
    time, only the reviewer's own score is in it."""
    mine = board.score(item.key, reviewer)
    if hidden or item.key.again:
        counted = None if mine is None or mine.extent is None else CountedScore(mine.extent, "single")
        return ItemStatus(mine, counted=counted, band=_band(item, counted, rule))
    others = tuple(act for act in board.scores(item.key) if act.reviewer != reviewer)
    counted = board.counted(item.key)
    return ItemStatus(mine, others, board.decision(item.key), counted, _band(item, counted, rule))


def _band(item: ReviewItem, counted: CountedScore | None, rule: BandRule) -> Band | None:
    return None if counted is None else band_of(item.criterion.severity, counted.extent, rule)


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A parsed filter: an item has to match all terms. `hint` says what in it has no meaning or is not allowed; plain
    words are searched in model names only if those are not `hidden`."""

    terms: tuple[Term, ...] = ()
    hint: str = ""
    hidden: bool = True

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def selects_disputed(self) -> bool:
        """Return whether it asks for items on which reviewers disagree; an extent is a decision then."""
        return any(
            term.key == "is" and term.value in ("disputed", "decided") and not term.inverted for term in self.terms
        )

    def selects(self, item: ReviewItem, status: ItemStatus) -> bool:
        """Return whether an item matches all terms."""
        return all(_matches(term, item, status, self.hidden) != term.inverted for term in self.terms)


def parse_queue_filter(text: str, *, hidden: bool) -> QueueFilter:
    """Parse a filter, also an incomplete one that is being typed. While names are `hidden`, terms that would reveal
    them are left out, and the hint says so."""
    terms: list[Term] = []
    hint = ""
    for term in split_terms(text):
        key, value = _KEYS.get(term.key, ""), term.value
        if term.key and not key:
            hint, value = hint or unknown_key(term.key, _KEYS, _KEYS_IN_WORDS), f"{term.key}:{value}"
        reveals = "model" if key == "model" else "disputed" if key == "is" and value in ("disputed", "decided") else ""
        if hidden and reveals:
            hint = hint or f"{_REVEALING[reveals]} until you reveal them (!): {key}:{value} is ignored"
            continue
        hint = hint or _unknown_value(key, value)
        terms.append(Term(key, value, term.inverted))
    return QueueFilter(tuple(terms), hint, hidden)


def _unknown_value(key: str, value: str) -> str:
    known = _VALUES.get(key, ())
    if known and not any(word.startswith(value) for word in known):
        return f"unknown value {key}:{value}; available: {', '.join(known)}"
    return ""


def _matches(term: Term, item: ReviewItem, status: ItemStatus, hidden: bool) -> bool:
    value, case, criterion = term.value, item.case, item.criterion
    match term.key:
        case "is":
            states = {
                "open": status.mine is None,
                "unscored": status.mine is None,
                "scored": status.mine is not None,
                "disputed": status.disputed,
                "decided": status.decision is not None,
                "note": status.mine is not None and bool(status.mine.note),
            }
            return any(holds for state, holds in states.items() if state.startswith(value))
        case "band":
            return status.band is not None and status.band.startswith(value)
        case "sev":
            return criterion.severity.startswith(value)
        case "model":
            model = item.key.model
            return fits(model, value) or fits(model.rpartition("/")[2], value)
        case "category":
            return fits(case.category, value)
        case "criterion":
            return fits(criterion.name, value)
    texts: tuple[str, ...] = (case.id, case.name)
    if term.key != "case":
        texts = (*texts, criterion.name, *case.tags, *(() if hidden else (item.key.model,)))
    return any(fits(text, value) for text in texts)
