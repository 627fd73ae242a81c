"""Adaptive concurrency of a provider: how many requests at once, and when, decided without a clock."""

import asyncio
from collections import deque

from tui.model.errors import ProviderError
from tui.model.provider_messages import Limited
from tui.providers.http.limits import RetryLimits

_NARROWED_TO = 0.8
_ROUNDING = 1e-9


class Throttle:
    """A limit from 1 to `most`: a fifth lower after each episode of refusals, one higher after each round of answers.

    An episode is all requests sent before the limit was last lowered. Further refusals of the same burst do not lower
    it again, its answers do not raise it, and other faults do not change it. Without `allow` there is no limit. Times
    are monotonic seconds.
    """

    def __init__(self) -> None:
        self._most: int | None = None
        self._limit = 0.0
        self._episode = self._answered = self._going = 0
        self._opens_at = 0.0

    @property
    def most(self) -> int:
        """The ceiling, 0 if none is set."""
        return self._most or 0

    @property
    def limit(self) -> int:
        """The current limit of concurrent requests, 0 if there is none."""
        return int(self._limit + _ROUNDING)

    @property
    def has_room(self) -> bool:
        """Whether one more request may be sent, apart from a pause."""
        return self._most is None or self._going < self.limit

    @property
    def is_busy(self) -> bool:
        """Whether a request is in progress."""
        return self._going > 0

    def allow(self, most: int) -> None:
        """Set the ceiling, at least 1. A limit that equals the old ceiling moves with it."""
        is_full = self._most is None or self._limit >= self._most
        self._limit = float(most) if is_full else min(self._limit, float(most))
        self._most = most

    def forget(self) -> None:
        """Remove ceiling and limit; a pause stays in effect."""
        self._most, self._limit, self._answered = None, 0.0, 0

    def opens_in(self, now: float) -> float:
        """Return the seconds until a request may be sent, 0 if it may be sent now."""
        return max(0.0, self._opens_at - now)

    def hold(self, until: float) -> None:
        """Pause all requests until this time."""
        self._opens_at = max(self._opens_at, until)

    def start(self) -> int:
        """Count a request as sent and return its episode. `end` must follow."""
        self._going += 1
        return self._episode

    def end(self) -> None:
        """Count a request as ended, whatever its result."""
        self._going -= 1

    def answered(self, episode: int) -> bool:
        """Count an answered request of that episode. Return whether the limit changed."""
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
        """Count a refusal. Return whether it is the first of its episode, even if the limit cannot be lower."""
        if self._most is None or episode != self._episode:
            return False
        self._episode += 1
        self._answered = 0
        self._limit = max(1.0, self._limit * _NARROWED_TO)
        return self._most > 1


class Queue:
    """The state shared by all requests to one provider: concurrency, pause after a 429, stop after a rejected key.

    A server that answers one request accepts the key: a rejection then concerns only its own request, such as that of a
    model that the key may not use. Each successful `wait` must be followed by `leave`.
    """

    def __init__(self, patience: RetryLimits) -> None:
        self._patience = patience
        self._throttle = Throttle()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._rejection: ProviderError | None = None
        self._accepted = False

    async def wait(self) -> int:
        """Wait until a request may be sent and return the throttle's episode.

        Raises the same ProviderError for every caller once the queue has stopped; `leave` must not be called then.
        """
        throttle = self._throttle
        try:
            while not self._is_stopped:
                if self._rejection is not None:
                    await self._turn()
                elif left := throttle.opens_in(self._patience.monotonic()):
                    await self._patience.sleep(left)
                elif throttle.has_room:
                    return throttle.start()
                else:
                    await self._turn()
            error = self._rejection
            assert error is not None
            raise ProviderError(error.fault, error.what, where=error.where, fix=error.fix)
        finally:
            # There may be room for another one; a waiter that was called and cancelled must not hold its place.
            self._call()

    def leave(self) -> None:
        """Count a request as ended."""
        self._throttle.end()
        self._call()

    def answered(self, episode: int) -> Limited | None:
        """Count an answered request, which also ends a stop. Return the limit if it changed."""
        self._accepted, self._rejection = True, None
        if not self._throttle.answered(episode):
            return None
        self._call()
        return Limited(self._throttle.limit, self._throttle.most)

    def refused(self, episode: int, reason: str) -> Limited | None:
        """Count a refusal. Return the limit if this is the first refusal of its episode."""
        if not self._throttle.refused(episode):
            return None
        return Limited(self._throttle.limit, self._throttle.most, reason)

    def pause(self, seconds: float) -> None:
        """Pause all requests for this many seconds."""
        self._throttle.hold(self._patience.monotonic() + seconds)

    def allow(self, most: int) -> int:
        """Set the ceiling of concurrent requests and return the current limit."""
        self._throttle.allow(most)
        self._call()
        return self._throttle.limit

    def stop(self, error: ProviderError) -> None:
        """Reject all further requests with this error, unless one was answered or one of those in progress will be."""
        if not self._accepted:
            self._rejection = error
            self._call()

    def reopen(self) -> None:
        """Accept requests again and reset the limit."""
        self._accepted, self._rejection = False, None
        self._throttle.forget()

    @property
    def _is_stopped(self) -> bool:
        return self._rejection is not None and not self._throttle.is_busy

    async def _turn(self) -> None:
        """Wait until this request is called."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _call(self) -> None:
        """Call the first waiter if there is room; it calls the next."""
        while self._waiting and (self._is_stopped or self._throttle.has_room):
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
