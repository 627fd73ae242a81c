"""The status of a queue item, and the filter of the queue: `is:open band:high sev:critical case:sec !word`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.app.presentation.bands import band_of
from tui.model.filter import NO_FILTERS, SEVERITIES, Completion, FilterKey, FilterLanguage, Term, fits
from tui.model.risk import BANDS, Band, BandRule
from tui.model.scores import Act, CountedScore, ReviewItem, Scoreboard

_STATES = ("open", "unscored", "scored", "disputed", "decided", "note")
QUEUE_FILTER = FilterLanguage(
    FilterKey("is", "state of the item", _STATES),
    FilterKey("band", "risk band", BANDS),
    FilterKey("sev", "severity of the criterion", SEVERITIES, ("severity",)),
    FilterKey("model", "model of the answer"),
    FilterKey("case", "id or name of the case", aliases=("id",)),
    FilterKey("cat", "category of the case", aliases=("category",), listed=False),
    FilterKey("crit", "name of the criterion", aliases=("criterion",), listed=False),
)
_BLIND_FILTER = QUEUE_FILTER.without("model", values=("disputed", "decided"))
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


def parse_queue_filter(text: str, saved: Mapping[str, str] = NO_FILTERS, *, hidden: bool) -> QueueFilter:
    """Parse a filter, also an incomplete one that is being typed. While names are `hidden`, terms that would reveal
    them are left out, and the hint says so."""
    parsed, hint = QUEUE_FILTER.parse(text, saved)
    terms: list[Term] = []
    for term in parsed:
        disputed = term.key == "is" and term.value in ("disputed", "decided")
        reveals = "model" if term.key == "model" else "disputed" if disputed else ""
        if hidden and reveals:
            hint = hint or f"{_REVEALING[reveals]} until you reveal them (!): {term.key}:{term.value} is ignored"
        else:
            terms.append(term)
    return QueueFilter(tuple(terms), hint, hidden)


def complete_queue_filter(
    text: str, cursor: int, items: Sequence[ReviewItem], saved: Mapping[str, str] = NO_FILTERS, *, hidden: bool
) -> list[Completion]:
    """Return what the term at the cursor can become. While names are `hidden`, nothing proposed would reveal them."""
    language = _BLIND_FILTER if hidden else QUEUE_FILTER
    return language.complete(text, cursor, lambda key: (_value_of(key, item) for item in items), saved)


def _value_of(key: str, item: ReviewItem) -> str:
    values = {
        "model": item.key.model,
        "case": item.case.id,
        "cat": item.case.category,
        "crit": item.criterion.name,
    }
    return values.get(key, "")


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
        case "cat":
            return fits(case.category, value)
        case "crit":
            return fits(criterion.name, value)
    texts: tuple[str, ...] = (case.id, case.name)
    if term.key != "case":
        texts = (*texts, criterion.name, *case.tags, *(() if hidden else (item.key.model,)))
    return any(fits(text, value) for text in texts)
