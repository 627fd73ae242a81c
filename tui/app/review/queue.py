"""A sitting: where one is in the queue, what is asked of it, what stands. Without textual."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Literal

from tui.app.review.queue_filter import ItemStatus, QueueFilter, parse_wanted, stand_of
from tui.model.filter import SEVERITIES
from tui.model.scores import Act, Extent, ItemKey
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

Order = Literal["queue", "open", "severity", "case", "model"]
ORDERS: tuple[tuple[Order, str], ...] = (
    ("queue", "as in the queue"),
    ("open", "what is open first"),
    ("severity", "the most severe criteria first"),
    ("case", "by case, a case's answers side by side"),
    ("model", "by model"),
)
_TELLING: tuple[Order, ...] = ("case", "model")


class ReviewSession:
    """What is shown is a list of places in `review.items`: those that the filter wants, in an order. `at` is one of the
    shown, counted from 0; None is the end, where nothing is left to do. Reads the board: not while an act is on its
    way."""

    def __init__(self, review: RunReview) -> None:
        self.review = review
        self.wanted = QueueFilter()
        self.order: Order = "queue"
        self.at: int | None = None
        self.stands: list[ItemStatus] = []
        self.shown: list[int] = []
        self.drafts: dict[tuple[ItemKey, bool], str] = {}
        self._places = {item.key: place for place, item in enumerate(review.items)}
        self.spent_ms = 0
        self.refresh()

    # --- what stands

    @property
    def hidden(self) -> bool:
        """Whether names, verdicts and other people's scores may not be seen."""
        return self.review.blind

    @property
    def deciding(self) -> bool:
        """Whether an extent is a decision between reviewers."""
        return self.wanted.decides and not self.hidden

    def refresh(self, only: ItemKey | None = None) -> None:
        """Read the board again: of one item, or of all."""
        review, hidden = self.review, self.hidden
        if only is None:
            self.stands = [
                stand_of(item, review.board, review.reviewer, review.rule, hidden=hidden) for item in review.items
            ]
            self._arrange()
        elif only in self._places:
            place = self._places[only]
            self.stands[place] = stand_of(
                review.items[place], review.board, review.reviewer, review.rule, hidden=hidden
            )
        self.spent_ms = review.spent_ms()

    def stand(self, key: ItemKey) -> ItemStatus:
        """How an item stands."""
        return self.stands[self._places[key]]

    def is_done(self, place: int) -> bool:
        """Whether an item needs nothing more of what is being done."""
        stand = self.stands[place]
        return not stand.disputed if self.deciding else stand.mine is not None

    @property
    def scored(self) -> int:
        """How many of all items the reviewer has scored."""
        return sum(stand.mine is not None for stand in self.stands)

    @property
    def disputed(self) -> int:
        """How many items wait for a decision, as far as that may be seen."""
        return sum(stand.disputed for stand in self.stands)

    @property
    def scored_in_filter(self) -> tuple[int, int]:
        """The same of what is shown: (done, all)."""
        return sum(self.is_done(place) for place in self.shown), len(self.shown)

    # --- where one is

    @property
    def item(self) -> ReviewItem | None:
        """The item that is looked at."""
        if self.at is None or self.at >= len(self.shown):
            return None
        return self.review.items[self.shown[self.at]]

    def go_to(self, key: ItemKey) -> bool:
        """Look at an item; one that the filter hides is no reason to stay away: the filter goes."""
        place = self._places.get(key)
        if place is None:
            return False
        if place not in self.shown:
            self.ask("")
        self.at = self.shown.index(place)
        return True

    def step(self, by: int) -> bool:
        """The item beside; from the end back to the last one. False where there is none."""
        at = len(self.shown) if self.at is None else self.at
        if not 0 <= at + by < len(self.shown):
            return False
        self.at = at + by
        return True

    def go_on(self) -> bool:
        """To the next item that is open, from here on and round; to the end where none is."""
        here = -1 if self.at is None else self.at
        count = len(self.shown)
        order = (*range(here + 1, count), *range(min(here + 1, count)))
        found = next((at for at in order if not self.is_done(self.shown[at])), None)
        moved = found is not None and found != self.at
        self.at = found
        return moved

    def upcoming(self) -> ReviewItem | None:
        """The item that `go_on` would come to."""
        at = self.at
        self.go_on()
        found = self.item
        self.at = at
        return found

    # --- what is asked

    def ask(self, text: str) -> None:
        """Another filter. One stays at the item that is shown; else the first open one comes, else the first."""
        self.wanted = parse_wanted(text, hidden=self.hidden)
        self._arrange()
        if self.at is None and self.shown:
            self.at = 0

    def sort(self, order: Order) -> None:
        """Another order."""
        self.order = order
        self._arrange()

    @property
    def orders(self) -> Sequence[tuple[Order, str]]:
        """Those that tell nothing that is hidden."""
        return [each for each in ORDERS if not (self.hidden and each[0] in _TELLING)]

    def _arrange(self) -> None:
        item, items = self.item, self.review.items
        if self.hidden and self.order in _TELLING:
            self.order = "queue"
        places = [place for place in range(len(items)) if self.wanted.wants(items[place], self.stands[place])]
        keys = {
            "queue": lambda place: place,
            "open": lambda place: self.stands[place].mine is not None,
            "severity": lambda place: -SEVERITIES.index(items[place].criterion.severity),
            "case": lambda place: (items[place].key.case, items[place].key.model, items[place].key.repeat),
            "model": lambda place: (items[place].key.model, items[place].key.case, items[place].key.repeat),
        }
        places.sort(key=keys[self.order])
        self.shown = places
        here = self._places[item.key] if item is not None else None
        if here in places:
            self.at = places.index(here)
        else:
            self.at = None
            self.go_on()

    # --- notes that belong to no score yet

    def note_of(self, item: ReviewItem) -> str:
        """The note that an extent given now would carry."""
        draft = self.drafts.get((item.key, self.deciding))
        if draft is not None:
            return draft
        kept = self.kept(item)
        return kept.note if kept is not None else ""

    def kept(self, item: ReviewItem) -> Act | None:
        """What was given before: the decision, or the reviewer's own score."""
        stand = self.stand(item.key)
        return stand.decision if self.deciding else stand.mine

    def write_note(self, item: ReviewItem, note: str) -> Extent | None:
        """Keep a note until an extent is given; where there is one already that extent, to be given again with it."""
        kept = self.kept(item)
        if kept is not None and kept.note == note:
            self.drafts.pop((item.key, self.deciding), None)
            return None
        self.drafts[item.key, self.deciding] = note
        if kept is None and not note:
            del self.drafts[item.key, self.deciding]
        return kept.extent if kept is not None else None

    def has_draft(self, item: ReviewItem) -> bool:
        """Whether a note waits for its extent."""
        return (item.key, self.deciding) in self.drafts

    def take_back(self, key: ItemKey) -> None:
        """The act was taken back; its note waits for another extent."""
        place = self._places[key]
        before = self.kept(self.review.items[place])
        self.refresh(key)
        if before is not None and before.note and self.kept(self.review.items[place]) is None:
            self.drafts.setdefault((key, self.deciding), before.note)

    def forget_note(self, key: ItemKey) -> None:
        """It stands in the score now."""
        self.drafts.pop((key, self.deciding), None)


STILL_SECONDS = 120.0


class Stopwatch:
    """Counts seconds while somebody is there: two minutes after the last key it stands still."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._touched = clock()

    def restart(self) -> None:
        """Another item."""
        self._seconds, self._touched = 0.0, self._clock()

    def touch(self) -> None:
        """A key was pressed."""
        self._seconds, self._touched = self.seconds, self._clock()

    @property
    def seconds(self) -> float:
        """So far."""
        return self._seconds + min(self._clock() - self._touched, STILL_SECONDS)

    @property
    def milliseconds(self) -> int:
        """The same, whole."""
        return round(self.seconds * 1000)


def minutes(milliseconds: float) -> str:
    """`40 s`, `11 min`, `2 h 05`."""
    seconds = max(0, round(milliseconds / 1000))
    if seconds < 60:
        return f"{seconds} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 60 else f"{whole // 60} h {whole % 60:02}"


def left_words(spent_ms: float, scored: int, left: int) -> str:
    """`about 22 min left`, from what scoring took so far; empty where that tells nothing yet, or nothing is left."""
    if scored < 3 or not left or spent_ms <= 0:
        return ""
    return f"about {minutes(spent_ms / scored * left)} left"
