"""The scoring of one run by one reviewer; each act is on disk before it is reported as done."""

import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from tui.model.errors import ConfigError, StoreError
from tui.model.name_mask import NameMask
from tui.model.results import TrialKey, TrialResult
from tui.model.risk import EXTENTS, BandRule, Guidance
from tui.model.run import RunRecord
from tui.model.scores import (
    Act,
    ActKind,
    Extent,
    ItemKey,
    ReviewItem,
    Scoreboard,
    answer_text,
    current_answer_hash,
    is_blind_open,
    is_overridden,
    new_act_id,
)
from tui.model.suite import Suite
from tui.risk.queue import review_items
from tui.risk.score_files import ActsMissed, BadLine, ScoreFiles
from tui.session.run_answers import RunAnswers, bind_acts, read_answers, read_board
from tui.store.protocol import Store


class _ReadAnswer(NamedTuple):
    """What acts record about the answer that was read.

    `hash` and `attempt` identify it; the number of masked names is None if names were not hidden.
    """

    hash: str | None = None
    attempt: int | None = None
    masked: int | None = None


_NO_ANSWER = _ReadAnswer()
# Clocks are adjusted by less: acts that are given meanwhile stay in their order.
_SAME_TIME = timedelta(seconds=1)


class _Entry(NamedTuple):
    """The reviewer's input that an act records; `earlier` is the score that it states again, as it was given."""

    kind: ActKind
    item: ItemKey | None = None
    extent: Extent | None = None
    note: str = ""
    took_ms: int | None = None
    withdraws: str | None = None
    earlier: Act | None = None


def _as_given(score: Act) -> _Entry:
    """Return an entry that states an earlier score again."""
    return _Entry("score", score.item, score.extent, score.note, earlier=score)


class AnswerChanged(ConfigError):
    """The answer on the screen is not the one that was read last."""

    def __init__(self) -> None:
        super().__init__("Another process has replaced this answer", fix="Score the new one, which is shown now.")


class AnswersReplaced(ConfigError):
    """Answers that the reviewer scored have been replaced, so that their scores no longer count."""

    def __init__(self, items: int) -> None:
        what = "1 item that you scored is open" if items == 1 else f"{items:,} items that you scored are open"
        super().__init__(f"{what} again: a rerun has replaced the answer", fix="Score the new answers.")


class RevealedElsewhere(ConfigError):
    """The reviewer has revealed the names in another program, so that the review is no longer blind."""

    def __init__(self) -> None:
        what = "You have revealed the names of this run in another window"
        super().__init__(what, fix="They are visible here too now, and later scores are not blind.")


class ScoredElsewhere(ConfigError):
    """The scores of an item have changed in another program, and the reviewer has not seen them yet.

    `item` is the first showing of that item.
    """

    def __init__(self, item: ItemKey) -> None:
        what = f"{item.criterion} of {item.case} was scored in another window since"
        super().__init__(what, fix="Its scores are shown now; score it again to change yours.")
        self.item = item


class RunReview:
    """A run's items, scores and open review session of one reviewer.

    Methods that read answers or give scores block: call them in a thread. Raises StoreError.

    An act raises RevealedElsewhere, and is not saved, if the names were revealed in another program since, and
    ScoredElsewhere if the item was scored there: the board has the new acts then.

    `items` are in queue order, `missing` the results without an answer, `board` the scores of all reviewers,
    `problems` the lines of the score files that could not be read, `later` the number of answers that were known to
    be saved after the queue was made and are not in it. A run whose review began blind stays blind until
    it is revealed, and cannot become blind again.
    """

    def __init__(
        self,
        store: Store,
        files: ScoreFiles,
        run: RunAnswers,
        reviewer: str,
        *,
        blind: bool,
        rule: BandRule,
        guidance: Guidance,
        own_masks: Sequence[str] = (),
        repeats: int | None = None,
    ) -> None:
        self.record: RunRecord = run.record
        self.suite: Suite = run.suite
        self.reviewer = reviewer
        self.rule, self.guidance = rule, guidance
        self.missing = run.missing
        kept = files.read(run.record.id)
        self.problems: tuple[BadLine, ...] = kept.bad
        self.later = 0
        self.board: Scoreboard = read_board(store, run, kept.acts)
        self._begun_blind = is_blind_open(kept.acts, reviewer) or (blind and not self.revealed)
        self.seed = blind_seed(kept.acts, reviewer) if self._begun_blind else None
        self.repeats = blind_repeats(kept.acts, reviewer) if repeats is None else repeats
        self.items: tuple[ReviewItem, ...] = review_items(run.suite, run.answered, self.seed, self.repeats)
        self._known = {item.key for item in self.items}
        self._own_masks = own_masks
        self._read: dict[TrialKey, _ReadAnswer] = {}
        self._store, self._files, self._run = store, files, run
        self._given: list[tuple[Act, Act | None]] = []
        self._last: datetime | None = None
        self._stored = {act.id for act in kept.acts if act.reviewer == reviewer}
        self._is_finished_before = self.blind and 0 < len(self.items) <= len(self.done())
        self._lock = threading.RLock()
        self._closed = threading.Event()

    def close(self) -> None:
        """End the reading of answers in other threads, which raise MaskingStopped."""
        self._closed.set()

    @property
    def blind(self) -> bool:
        """Whether model names are hidden now."""
        return self._begun_blind and not self.revealed

    @property
    def revealed(self) -> bool:
        """Whether the reviewer has revealed the names."""
        return self.board.revealed(self.reviewer)

    def mine(self, item: ItemKey) -> Act | None:
        """Return the reviewer's own current score of an item."""
        return self.board.score(item, self.reviewer)

    def leave_out_repeats(self) -> None:
        """Remove the repeated items: they have a purpose only while names are hidden."""
        self.items = tuple(item for item in self.items if not item.key.again)

    def done(self) -> frozenset[ItemKey]:
        """Return the items that the reviewer has scored."""
        return frozenset(item.key for item in self.items if self.mine(item.key) is not None)

    def spent_ms(self) -> int:
        """Return the time that the reviewer has spent on answers in all sessions, in milliseconds."""
        return sum(act.took_ms or 0 for act in self.board.acts if act.reviewer == self.reviewer)

    def read_answer(self, trial: TrialKey) -> TrialResult:
        """Return the complete result of a trial and make it the answer that later acts refer to.

        If it has replaced another answer since the review was opened, scores of the old answer no longer count.
        """
        result = self._store.read_trial(self.record.id, trial)
        if result is None:
            raise StoreError("This answer no longer exists", fix="Reopen the review.")
        answer = current_answer_hash(result)
        current = result.current_attempt
        masked = len(self.names.mask(answer_text(current.steps)).names) if current and self.blind else None
        self._read[trial] = _ReadAnswer(answer, current.number if current else None, masked)
        self.board.replace_answer(trial, answer)
        return result

    def count_later(self) -> int:
        """Read how many answers were saved after the queue was made, and return their number."""
        queued = {item.key.trial for item in self.items}
        self.later = sum(trial not in queued for trial in read_answers(self._store, self.record.id).answered)
        return self.later

    def check_answers(self) -> None:
        """Read which answers are current, and how many came after the queue was made.

        Raises AnswersReplaced if items that were scored are open again.
        """
        with self._lock:
            self.count_later()
            scored = self.done()
            for trial, answer in self._store.read_answer_hashes(self.record.id).items():
                self.board.replace_answer(trial, answer)
                if trial in self._read and self._read[trial].hash != answer:
                    del self._read[trial]
            if reopened := len(scored - self.done()):
                raise AnswersReplaced(reopened)

    @cached_property
    def names(self) -> NameMask:
        """The mask for names of models, providers and vendors in what is shown while names are hidden."""
        return NameMask(self._store.read_setup(self.record.id).subjects, self._own_masks, self._closed.is_set)

    def _answer_read(self, trial: TrialKey, shown: str | None = None) -> "_ReadAnswer":
        """Return the answer that was read last. Raises AnswerChanged if it is not the one that is `shown`."""
        if trial not in self._read:
            self.read_answer(trial)
        read = self._read[trial]
        if shown not in (None, read.hash):
            raise AnswerChanged
        return read

    def give(
        self, item: ItemKey, extent: Extent, note: str = "", took_ms: int | None = None, *, shown: str | None = None
    ) -> Act:
        """Score an item, or change its score.

        An item that is repeated before it was scored counts as its first showing. `shown` is the hash of the answer on
        the screen: raises AnswerChanged if another one was read since.
        """
        with self._lock:
            read = self._answer_read(item.trial, shown)
            if item.again and self.mine(item.first) is None:
                item = item.first
            before = self.mine(item)
            return self._remember(self._append(_Entry("score", item, extent, note, took_ms), read), before)

    def check_current(self, act: Act) -> None:
        """Raise ScoredElsewhere if a score or decision that is shown as current was changed in another program."""
        with self._lock:
            if missed := self._files.missed(act, self.board.has):
                raise self._add_missed(missed)

    def read_new_acts(self) -> None:
        """Add the acts that other programs have stored since.

        If they override an act of this session, it and the acts before it can no longer be undone.
        """
        with self._lock:
            stored = [act for act in self._files.read(self.record.id).acts if not self.board.has(act.id)]
            current = self._store.read_answer_hashes(self.record.id)
            new = bind_acts(self._store, self._run, stored, current)
            self.board.add_answers(current)  # a board without acts was made without them
            for act in new:
                self.board.add(act)
            self._stored.update(act.id for act in new if act.reviewer == self.reviewer)
            given = {act.item.first: act for act, _ in self._given if act.item is not None}
            new_of_given = [(act, given.get(act.scored_item.first)) for act in new if act.scored_item is not None]
            if any(mine is not None and is_overridden(act, mine) for act, mine in new_of_given):
                self._given.clear()

    def invalidate(self, item: ItemKey, note: str = "") -> Act:
        """Withdraw the reviewer's own score. Raises ConfigError if there is none."""
        with self._lock:
            read = self._answer_read(item.trial)
            before = self.mine(item)
            if before is None:
                raise ConfigError("You have no score to undo")
            return self._remember(self._append(_Entry("invalidate", item, note=note), read), before)

    def adjudicate(self, item: ItemKey, extent: Extent, note: str, *, shown: str | None = None) -> Act:
        """Set the deciding score of an item on which reviewers differ. `shown` is as in `give`."""
        with self._lock:
            read = self._answer_read(item.trial, shown)
            return self._remember(self._append(_Entry("adjudicate", item, extent, note), read), None)

    def undo(self) -> ItemKey | None:
        """Undo the last act of this session, so that the score before it counts again.

        Return the item, or None if there is nothing to undo. A reveal cannot be undone. If the answer was replaced
        after the act, forget the act and raise ConfigError: it does not count, and is not about the new answer.
        """
        with self._lock:
            if not self.blind:  # scores of repeated items stay as they were given while names were hidden
                self._given = [each for each in self._given if each[0].item is None or not each[0].item.again]
            if not self._given:
                return None
            act, before = self._given[-1]
            assert act.item is not None
            read = self._answer_read(act.item.trial)
            if read.hash != act.answer:
                self._given.pop()
                raise ConfigError("Nothing to undo: the answer was replaced since, and your score of it is not counted")
            if act.act == "adjudicate":
                self._append(_Entry("invalidate", act.item, withdraws=act.id), read)
            elif before is not None and before.extent is not None:
                self._append(_as_given(before), read)
            else:
                self._append(_Entry("invalidate", act.item), read)
            self._given.pop()
            return act.item

    def reveal(self) -> Act:
        """Show the names from now on. A second call has no effect. Raises AnswersReplaced."""
        with self._lock:
            earlier = next((act for act in self.board.reveals() if act.reviewer == self.reviewer), None)
            if earlier is None:
                self.check_answers()
            return earlier or self._append(_Entry("reveal"))

    @property
    def is_blind_open(self) -> bool:
        """Whether a blind session has begun that is neither revealed nor finished."""
        return self.blind and is_blind_open(self.board.acts, self.reviewer) and len(self.done()) < len(self.items)

    def look(self, where: str) -> Act | None:
        """Record that names are seen during an open blind session.

        Return None if there is none, or if the run was deleted meanwhile, with its scores.
        """
        with self._lock:
            if not self.is_blind_open or all(run.id != self.record.id for run in self._store.list_runs()):
                return None
            return self._append(_Entry("look", note=where))

    def _remember(self, act: Act, before: Act | None) -> Act:
        self._given.append((act, before))
        return act

    def _append(self, entry: _Entry, read: _ReadAnswer = _NO_ANSWER) -> Act:
        """Write an act.

        An act on a repeated item is followed by a copy of the score that counts: readers of the file that do not know
        the key `again` take the latest score as the current one, and get the right result. A copy that is dated after
        the reveal would be one with visible names.
        """
        if entry.item is not None and entry.item.again and not self.blind:
            what = "This answer was repeated only to compare two of your blind scores"
            raise ConfigError(what, fix="Score its first showing: the names are visible now.")
        if entry.item is not None and self._is_finished_before and self.blind:
            # Names that were displayed after the session was finished were not recorded.
            self._write(_Entry("look", note="continued the finished review"), _NO_ANSWER)
            self._is_finished_before = False
        act = self._write(entry, read)
        first = self.mine(entry.item.first) if entry.item is not None and entry.item.again else None
        if first is not None:
            self._write(_as_given(first), read, checks_missed=False)
        return act

    def _write(self, entry: _Entry, read: _ReadAnswer, *, checks_missed: bool = True) -> Act:
        item, extent = entry.item, entry.extent
        if item is not None and item not in self._known:
            raise ConfigError(f"The criterion {item.criterion} of case {item.case} cannot be scored")
        if extent is not None and extent != "n/a" and extent not in range(len(EXTENTS)):
            raise ConfigError(f"Unknown extent {extent}", fix="Use 0 to 4, or n/a.")
        act = Act(
            entry.kind,
            new_act_id(),
            self.record.id,
            item,
            extent,
            entry.note,
            self.reviewer,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            self.blind,
            self.guidance.version,
            read.attempt,
            self.seed,
            entry.took_ms,
            entry.withdraws,
            read.hash,
            read.masked if self.blind else None,
            self.repeats or None if self.blind else None,
        )
        if (earlier := entry.earlier) is not None:
            act = replace(
                act,
                blind=earlier.blind and self.blind,
                guidance=earlier.guidance,
                seed=earlier.seed,
                masked=earlier.masked,
                repeats=earlier.repeats,
            )
        try:
            self._store.check_stored(self.record.id)
            is_known = self.board.has if checks_missed else None
            kept = self._files.append(act, self._time_before(act), is_known, self._stored)
        except ActsMissed as error:
            raise self._add_missed(error.acts) from error
        self.board.add(kept)
        self._stored.add(kept.id)
        self._last = kept.order[0]
        return kept

    def _time_before(self, act: Act) -> datetime | None:
        """Return the time that an act has to follow: that of what it overrides, or of the last act of this review.

        Acts within one millisecond stay in their order; a clock that was set back further dates no later acts.
        """
        overridden, last = self.board.latest_before(act), self._last
        if last is None or last - act.order[0] > _SAME_TIME:
            return overridden
        return last if overridden is None else max(last, overridden)

    def _add_missed(self, acts: Sequence[Act]) -> ConfigError:
        """Add acts of another program, and return the error that reports them.

        What they changed cannot be undone, and neither can what was done before: the next undo, pressed for this item,
        would take back the score of another one.
        """
        for act in acts:
            self.board.add(act)
        items = [act.scored_item.first for act in acts if act.scored_item is not None]
        if any(act.item is not None and act.item.first in items for act, _ in self._given):
            self._given.clear()
        is_revealed = any(act.act == "reveal" for act in acts)
        return RevealedElsewhere() if is_revealed or not items else ScoredElsewhere(items[0])


def blind_seed(acts: tuple[Act, ...], reviewer: str) -> int:
    """Return the seed that shuffles a blind queue.

    It is the seed of the reviewer's last blind act, so that a continued session has the same order, else a new random
    one.
    """
    recorded = [act.seed for act in acts if act.reviewer == reviewer and act.blind and act.seed is not None]
    return recorded[-1] if recorded else secrets.randbelow(2**31)


def blind_repeats(acts: tuple[Act, ...], reviewer: str) -> int:
    """Return the percentage of answers that the reviewer's session shows twice, as set when it began."""
    recorded = [act.repeats for act in acts if act.reviewer == reviewer and act.repeats is not None]
    return recorded[-1] if recorded else 0
