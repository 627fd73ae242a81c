"""The queue that all questions to a provider share."""

import asyncio
from collections import deque

from tui.model.errors import ProviderError
from tui.model.provider_messages import Limited
from tui.providers.http.limits import Patience
from tui.providers.http.rate_limit import Throttle


class Queue:
    """What all questions to one provider share: how many go at once, the pause that a 429 brings, and the stop after a
    refused key. Whoever was let out by `wait` leaves by `leave`."""

    def __init__(self, patience: Patience) -> None:
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
