"""How many questions a provider is asked at once, and from when on: decisions alone, without a clock."""

import asyncio
from collections import deque

from tui.model.errors import ProviderError
from tui.model.provider_messages import Limited
from tui.providers.http.limits import RetryLimits

_NARROWED_TO = 0.8
_ROUNDING = 1e-9


class Throttle:
    """From 1 up to `most`: a fifth less for each episode of refusals, one more after each round of answers.

    An episode is everything that was asked before the limit was narrowed last. The rest of its burst narrows nothing
    more, and its answers widen nothing; nor do faults of other kinds move anything. Until something is allowed there is
    no limit. Times are monotonic seconds.
    """

    def __init__(self) -> None:
        self._most: int | None = None
        self._limit = 0.0
        self._episode = self._answered = self._going = 0
        self._opens_at = 0.0

    @property
    def most(self) -> int:
        """The ceiling; 0 where nothing was allowed yet."""
        return self._most or 0

    @property
    def limit(self) -> int:
        """How many may go at once just now; 0 where there is no limit."""
        return int(self._limit + _ROUNDING)

    @property
    def has_room(self) -> bool:
        """Whether one more may go, if it is time."""
        return self._most is None or self._going < self.limit

    def allow(self, most: int) -> None:
        """Another ceiling, 1 at least. A limit that stands at the old one goes with it."""
        is_full = self._most is None or self._limit >= self._most
        self._limit = float(most) if is_full else min(self._limit, float(most))
        self._most = most

    def forget(self) -> None:
        """There is no ceiling and no limit again; a wait that was asked for still holds."""
        self._most, self._limit, self._answered = None, 0.0, 0

    def opens_in(self, now: float) -> float:
        """Seconds until anything may go out; 0 where it may now."""
        return max(0.0, self._opens_at - now)

    def hold(self, until: float) -> None:
        """Nothing goes out before."""
        self._opens_at = max(self._opens_at, until)

    def start(self) -> int:
        """A question goes out; the episode in which it does. `end` has to follow."""
        self._going += 1
        return self._episode

    def end(self) -> None:
        """A question is over, in whatever way."""
        self._going -= 1

    def answered(self, episode: int) -> bool:
        """A question that went out in that episode was answered; True where the limit is another for that."""
        if self._most is None or episode != self._episode or self._limit >= self._most:
            return False
        self._answered += 1
        before = self.limit
        if self._answered < before:
            return False
        self._answered = 0
        self._limit = min(float(self._most), self._limit + 1.0)
        return self.limit != before

    def refused(self, episode: int) -> bool:
        """The server wants to be asked less; True where that is news, even if the limit cannot be any lower."""
        if self._most is None or episode != self._episode:
            return False
        self._episode += 1
        self._answered = 0
        self._limit = max(1.0, self._limit * _NARROWED_TO)
        return self._most > 1


class Queue:
    """What all questions to one provider share: how many go at once, the pause that a 429 brings, and the stop after a
    refused key. Whoever was let out by `wait` leaves by `leave`."""

    def __init__(self, patience: RetryLimits) -> None:
        self._patience = patience
        self._throttle = Throttle()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._stopped: ProviderError | None = None

    async def wait(self) -> int:
        """Return when a question may go out, with the throttle's episode. Raises ProviderError, always the same, once
        the queue has stopped; nobody has to leave then."""
        throttle = self._throttle
        try:
            while self._stopped is None:
                if left := throttle.opens_in(self._patience.monotonic()):
                    await self._patience.sleep(left)
                elif throttle.has_room:
                    return throttle.start()
                else:
                    await self._turn()
            error = self._stopped
            raise ProviderError(error.fault, error.what, where=error.where, fix=error.fix)
        finally:
            # There may be room for another one; and who was called and gave up must not keep the place.
            self._call()

    def leave(self) -> None:
        """A question is over."""
        self._throttle.end()
        self._call()

    def answered(self, episode: int) -> Limited | None:
        """A question was answered; the limit, where it is another for that."""
        if not self._throttle.answered(episode):
            return None
        self._call()
        return Limited(self._throttle.limit, self._throttle.most)

    def refused(self, episode: int, reason: str) -> Limited | None:
        """The server wants to be asked less; the limit, where that is news."""
        if not self._throttle.refused(episode):
            return None
        return Limited(self._throttle.limit, self._throttle.most, reason)

    def pause(self, seconds: float) -> None:
        """Nothing goes out for so long."""
        self._throttle.hold(self._patience.monotonic() + seconds)

    def allow(self, most: int) -> int:
        """So many questions at once at most; how many it is just now."""
        self._throttle.allow(most)
        self._call()
        return self._throttle.limit

    def stop(self, error: ProviderError) -> None:
        """Nothing goes out any more."""
        self._stopped = error
        while self._waiting:
            self._call()

    def reopen(self) -> None:
        """Let questions out again, and forget the limit."""
        self._stopped = None
        self._throttle.forget()

    async def _turn(self) -> None:
        """Wait to be called."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _call(self) -> None:
        """Call the first that waits, where there is room; that one calls the next."""
        while self._waiting and (self._stopped is not None or self._throttle.has_room):
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
