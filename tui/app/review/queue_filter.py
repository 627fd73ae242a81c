"""The filter of the queue: `is:open is:disputed band:high sev:critical model:gpt* case:sec !word`."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from tui.app.presentation.bands import band_of
from tui.model.filter import SEVERITIES, Term
from tui.model.risk import BANDS, Band, BandRule
from tui.model.scores import Act, HowFound, Leaderboard, Scoreboard
from tui.risk.queue import ReviewItem


@dataclass(frozen=True, slots=True)
class ItemStatus:
    """`mine` is the reviewer's score that counts, `others` those of other people; `band` that of the standing, None
    where there is no extent."""

    mine: Act | None = None
    others: tuple[Act, ...] = ()
    decision: Act | None = None
    standing: Leaderboard | None = None
    band: Band | None = None

    @property
    def disputed(self) -> bool:
        """Reviewers differ and nobody has decided."""
        return self.standing is not None and self.standing.how == "highest"


def stand_of(item: ReviewItem, board: Scoreboard, reviewer: str, rule: BandRule, *, hidden: bool) -> ItemStatus:
    """While names are `hidden`, and of what is shown again, the reviewer's own score is all there is."""
    mine = board.score(item.key, reviewer)
    if hidden or item.key.again:
        standing = None if mine is None or mine.extent is None else Leaderboard(mine.extent, _ALONE)
        return ItemStatus(mine, standing=standing, band=_band(item, standing, rule))
    others = tuple(act for act in board.scores(item.key) if act.reviewer != reviewer)
    standing = board.standing(item.key)
    return ItemStatus(mine, others, board.decision(item.key), standing, _band(item, standing, rule))


_ALONE: HowFound = "single"


def _band(item: ReviewItem, standing: Leaderboard | None, rule: BandRule) -> Band | None:
    return None if standing is None else band_of(item.criterion.severity, standing.extent, rule)


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
_TELLING = {"model": "Names are hidden", "disputed": "Other people's scores are hidden"}


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A filter that was read: all its words must hold. `hint` says what in it makes no sense, or may not be asked;
    plain words look for models only where names are not `hidden`."""

    words: tuple[Term, ...] = ()
    hint: str = ""
    hidden: bool = True

    def __bool__(self) -> bool:
        return bool(self.words)

    @property
    def decides(self) -> bool:
        """Whether it asks for what reviewers differ in: an extent is a decision then."""
        return any(
            word.key == "is" and word.value in ("disputed", "decided") and not word.inverted for word in self.words
        )

    def wants(self, item: ReviewItem, stand: ItemStatus) -> bool:
        """Whether the item is shown."""
        return all(_holds(word, item, stand, self.hidden) != word.inverted for word in self.words)


def parse_wanted(text: str, *, hidden: bool) -> QueueFilter:
    """What a person typed, also while it is being typed. While names are `hidden` nothing that tells can be asked."""
    words: list[Term] = []
    hint = ""
    for each in _split(text):
        inverted, each = each.startswith("!"), each.removeprefix("!").casefold()
        key, colon, value = each.partition(":")
        if not colon or not key.isalpha():
            key, value = "", each
        elif key not in _KEYS:
            hint, key, value = hint or _unknown(key), "", each
        else:
            key = _KEYS[key]
        value = value.strip('"')
        if not value:
            continue
        tells = "model" if key == "model" else "disputed" if key == "is" and value in ("disputed", "decided") else ""
        if hidden and tells:
            hint = hint or f"{_TELLING[tells]} until you reveal (!): {each} is passed over"
            continue
        hint = hint or _senseless(key, value)
        words.append(Term(key, value, inverted))
    return QueueFilter(tuple(words), hint, hidden)


def _split(text: str) -> list[str]:
    """At blanks, but not in quotes."""
    parts, quoted = [""], False
    for sign in text:
        quoted = quoted != (sign == '"')
        if sign.isspace() and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part.strip("!")]


def _unknown(key: str) -> str:
    close = get_close_matches(key, _KEYS, 1)
    return f"no {key}: here; " + (f"did you mean {close[0]}:?" if close else "there are is: band: sev: model: case:")


def _senseless(key: str, value: str) -> str:
    known: dict[str, Sequence[str]] = {"is": _STATES, "band": BANDS, "sev": SEVERITIES}
    if key in known and not any(word.startswith(value) for word in known[key]):
        return f"no {key}:{value}; there are {', '.join(known[key])}"
    return ""


def _fits(text: str, value: str) -> bool:
    text = text.casefold()
    return fnmatchcase(text, value) if any(sign in value for sign in "*?[") else value in text


def _holds(word: Term, item: ReviewItem, stand: ItemStatus, hidden: bool) -> bool:
    value, case, criterion = word.value, item.case, item.criterion
    match word.key:
        case "is":
            states = {
                "open": stand.mine is None,
                "unscored": stand.mine is None,
                "scored": stand.mine is not None,
                "disputed": stand.disputed,
                "decided": stand.decision is not None,
                "note": stand.mine is not None and bool(stand.mine.note),
            }
            return any(holds for state, holds in states.items() if state.startswith(value))
        case "band":
            return stand.band is not None and stand.band.startswith(value)
        case "sev":
            return criterion.severity.startswith(value)
        case "model":
            model = item.key.model
            return _fits(model, value) or _fits(model.rpartition("/")[2], value)
        case "category":
            return _fits(case.category, value)
        case "criterion":
            return _fits(criterion.name, value)
    texts: tuple[str, ...] = (case.id, case.name)
    if word.key != "case":
        texts = (*texts, criterion.name, *case.tags, *(() if hidden else (item.key.model,)))
    return any(_fits(text, value) for text in texts)
