"""A review session: its queue of items with filter and order, the current item, unsaved notes and the time spent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Literal

from tui.app.review.queue_filter import ItemStatus, QueueFilter, parse_queue_filter, status_of
from tui.model.filter import NO_FILTERS, SEVERITIES
from tui.model.results import TrialKey
from tui.model.scores import Act, Extent, ItemKey, ReviewItem
from tui.model.suite import Case
from tui.session.run_review import RunReview

IDLE_SECONDS = 120.0

Order = Literal["queue", "open", "severity", "case", "model"]
ORDERS: tuple[tuple[Order, str], ...] = (
    ("queue", "queue order"),
    ("open", "open items on top"),
    ("severity", "most severe criteria on top"),
    ("case", "by case, answers side by side"),
    ("model", "by model"),
)
_REVEALING_ORDERS: tuple[Order, ...] = ("case", "model")


class ItemTimer:
    """Count the time spent on an item; it stops IDLE_SECONDS after the last key."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._last_key = clock()

    def restart(self) -> None:
        """Count from 0."""
        self._seconds, self._last_key = 0.0, self._clock()

    def touch(self) -> None:
        """Count on: a key was pressed."""
        self._seconds, self._last_key = self.seconds, self._clock()

    @property
    def seconds(self) -> float:
        """Seconds since the last restart, without the idle ones."""
        return self._seconds + min(self._clock() - self._last_key, IDLE_SECONDS)

    @property
    def milliseconds(self) -> int:
        """The same in whole milliseconds."""
        return round(self.seconds * 1000)


class ReviewSession:
    """One reviewer at one run.

    `visible` lists the items that the filter selects, in the chosen order, as indexes into `review.items`. `position`
    counts in `visible`; None is the end of the queue, where no item is open. While an act is being saved nothing here
    may be called: most methods read the score board.
    """

    def __init__(self, review: RunReview, timer: ItemTimer | None = None) -> None:
        self.review = review
        self.timer = timer or ItemTimer()
        self.filter = QueueFilter()
        self.order: Order = "queue"
        self.position: int | None = None
        self.statuses: list[ItemStatus] = []
        self.visible: list[int] = []
        self.drafts: dict[tuple[ItemKey, bool], str] = {}
        self._indexes = _indexes_of(review.items)
        self.spent_ms = 0
        self.refresh()

    @property
    def hidden(self) -> bool:
        """Return whether names, verdicts and other people's scores are hidden."""
        return self.review.blind

    @property
    def deciding(self) -> bool:
        """Return whether an extent is a decision between reviewers, not a score."""
        return self.filter.selects_disputed and not self.hidden

    def refresh(self, only: ItemKey | None = None) -> None:
        """Read the score board again, for one item or for all. Repeated items leave the queue with the reveal."""
        if only is None:
            if not self.hidden and any(item.key.again for item in self.review.items):
                self._leave_out_repeats()
            self.statuses = [self._read_status(item) for item in self.review.items]
            self._arrange()
        elif only in self._indexes:
            index = self._indexes[only]
            self.statuses[index] = self._read_status(self.review.items[index])
        self.spent_ms = self.review.spent_ms()

    def _leave_out_repeats(self) -> None:
        """Remove repeated items from the queue; go from one to its first showing, with its unsaved notes."""
        here = self.item
        self.review.leave_out_repeats()
        self._indexes = _indexes_of(self.review.items)
        self.visible = list(self._indexes.values())
        self.position = self._indexes[here.key.first] if here is not None else None
        for key, deciding in [each for each in self.drafts if each[0].again]:
            notes = (self.drafts.get((key.first, deciding), ""), self.drafts.pop((key, deciding)))
            self.drafts[key.first, deciding] = "\n".join(filter(None, dict.fromkeys(notes)))

    def refresh_answer(self, trial: TrialKey) -> bool:
        """Read the score board again for the items of an answer. Return whether their status has changed."""
        changed = False
        for index, item in enumerate(self.review.items):
            if item.key.trial == trial and (status := self._read_status(item)) != self.statuses[index]:
                self.statuses[index], changed = status, True
        return changed

    def show_scored_elsewhere(self, first: ItemKey) -> None:
        """Read an item again that was scored in another program, and stay at it or go to it.

        The filter is not applied again: the item may not fit it any more, and the next key is about this item.
        """
        self.refresh_answer(first.trial)
        self.spent_ms = self.review.spent_ms()
        if self.item is None or self.item.key.first != first:
            self.go_to(first)

    def show_revealed_elsewhere(self) -> None:
        """Read everything again after a reveal in another program, and stay at the item, or at its first showing."""
        here = self.item
        self.refresh()
        if here is not None:
            self.go_to(here.key.first)

    def status(self, key: ItemKey) -> ItemStatus:
        """Return the status of an item."""
        return self.statuses[self._indexes[key]]

    def is_done(self, index: int) -> bool:
        """Return whether an item of the run is decided, or scored where nothing is to be decided."""
        status = self.statuses[index]
        return not status.disputed if self.deciding else status.mine is not None

    @property
    def scored(self) -> int:
        """Return how many of all items the reviewer has scored."""
        return sum(status.mine is not None for status in self.statuses)

    @property
    def disputed(self) -> int:
        """Return how many items need a decision, as far as the reviewer may see that."""
        return sum(status.disputed for status in self.statuses)

    @property
    def done_in_filter(self) -> tuple[int, int]:
        """Return how many of the visible items are done, and how many there are."""
        return sum(self.is_done(index) for index in self.visible), len(self.visible)

    @property
    def item(self) -> ReviewItem | None:
        """The current item, None at the end."""
        if self.position is None or self.position >= len(self.visible):
            return None
        return self.review.items[self.visible[self.position]]

    def go_to(self, key: ItemKey) -> bool:
        """Go to an item, and drop the filter if it excludes the item. Return False if the run has no such item."""
        index = self._indexes.get(key)
        if index is None:
            return False
        if index not in self.visible:
            self.set_filter("")
        self.position = self.visible.index(index)
        return True

    @property
    def cases(self) -> list[Case]:
        """Return the cases of the suite that have items."""
        reviewed = {item.key.case for item in self.review.items}
        return [case for case in self.review.suite.cases if case.id in reviewed]

    def visible_trail(self, item: ReviewItem) -> tuple[Act, ...]:
        """Return all acts on an item; while names are hidden, only those of the reviewer."""
        board = self.review.board
        acts = (act for act in board.trail(item.key) if not self.hidden or act.reviewer == self.review.reviewer)
        return tuple(replace(act, blind=board.is_blind(act)) for act in acts)

    def go_to_case(self, case_id: str) -> bool:
        """Go to the first item of a case in the queue; return False if the case has none."""
        items = self.review.items
        queue = [items[index] for index in self.visible] + [*items]
        key = next((item.key for item in queue if item.key.case == case_id), None)
        return key is not None and self.go_to(key)

    def step(self, by: int) -> bool:
        """Go forward or back in the queue; from the end, back to the last item. Return False if there is no item."""
        position = len(self.visible) if self.position is None else self.position
        if not 0 <= position + by < len(self.visible):
            return False
        self.position = position + by
        return True

    def go_to_next_open(self) -> bool:
        """Go to the next open item, from the last one to the first, or to the end. Return whether the item changed."""
        found = self._next_open_position()
        moved = found is not None and found != self.position
        self.position = found
        return moved

    def next_open(self) -> ReviewItem | None:
        """Return the item to which `go_to_next_open` would go."""
        position = self._next_open_position()
        return None if position is None else self.review.items[self.visible[position]]

    def _next_open_position(self) -> int | None:
        here = -1 if self.position is None else self.position
        count = len(self.visible)
        order = (*range(here + 1, count), *range(min(here + 1, count)))
        return next((position for position in order if not self.is_done(self.visible[position])), None)

    def set_filter(self, text: str, saved: Mapping[str, str] = NO_FILTERS) -> None:
        """Apply a filter with the `saved` filters in it.

        Stay at the current item if it is selected; else go to an open one, else to the first.
        """
        self.filter = parse_queue_filter(text, saved, hidden=self.hidden)
        self._arrange()
        if self.position is None and self.visible:
            self.position = 0

    def sort(self, order: Order) -> None:
        """Arrange the queue in another order."""
        self.order = order
        self._arrange()

    @property
    def orders(self) -> Sequence[tuple[Order, str]]:
        """The orders to choose from, without those that would reveal names."""
        return [each for each in ORDERS if not (self.hidden and each[0] in _REVEALING_ORDERS)]

    def _arrange(self) -> None:
        item, items = self.item, self.review.items
        if self.hidden and self.order in _REVEALING_ORDERS:
            self.order = "queue"
        visible = [index for index, each in enumerate(items) if self.filter.selects(each, self.statuses[index])]
        keys = {
            "queue": lambda index: index,
            "open": lambda index: self.statuses[index].mine is not None,
            "severity": lambda index: -SEVERITIES.index(items[index].criterion.severity),
            "case": lambda index: (items[index].key.case, items[index].key.model, items[index].key.repeat),
            "model": lambda index: (items[index].key.model, items[index].key.case, items[index].key.repeat),
        }
        visible.sort(key=keys[self.order])
        self.visible = visible
        here = self._indexes[item.key] if item is not None else None
        if here in visible:
            self.position = visible.index(here)
        else:
            self.position = None
            self.go_to_next_open()

    def current_act(self, item: ReviewItem) -> Act | None:
        """Return the decision about an item, or the reviewer's own score where nothing is to be decided."""
        status = self.status(item.key)
        return status.decision if self.deciding else status.mine

    def note(self, item: ReviewItem) -> str:
        """Return the note that would be saved with an extent."""
        draft = self.drafts.get((item.key, self.deciding))
        if draft is not None:
            return draft
        act = self.current_act(item)
        return act.note if act is not None else ""

    def write_note(self, item: ReviewItem, note: str) -> Extent | None:
        """Keep a note as a draft. Return the extent with which it has to be saved; None if there is none, or the same
        note is saved already."""
        act, draft = self.current_act(item), (item.key, self.deciding)
        if act is not None and act.note == note:
            self.drafts.pop(draft, None)
            return None
        self.drafts[draft] = note
        if act is None and not note:
            del self.drafts[draft]
        return act.extent if act is not None else None

    def has_draft(self, item: ReviewItem) -> bool:
        """Return whether the item has a note that is not saved."""
        return (item.key, self.deciding) in self.drafts

    def restore_note(self, key: ItemKey) -> None:
        """Read an item again after an act was taken back, and keep the note of that act as a draft."""
        item = self.review.items[self._indexes[key]]
        before = self.current_act(item)
        self.refresh(key)
        if before is not None and before.note and self.current_act(item) is None:
            self.drafts.setdefault((key, self.deciding), before.note)

    def discard_draft(self, key: ItemKey) -> None:
        """Forget an unsaved note."""
        self.drafts.pop((key, self.deciding), None)

    def _read_status(self, item: ReviewItem) -> ItemStatus:
        review = self.review
        return status_of(item, review.board, review.reviewer, review.rule, hidden=self.hidden)


def _indexes_of(items: Sequence[ReviewItem]) -> dict[ItemKey, int]:
    return {item.key: index for index, item in enumerate(items)}
