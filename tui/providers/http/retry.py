"""Retries: when a failed try is repeated, after which delay, and what other requests learn from it."""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TypeVar

from tui.model.errors import ProviderError
from tui.model.provider_messages import Limited, Reasoning, Sent, Text, ToolCall, Waiting
from tui.model.secrets import Secrets
from tui.providers.http.errors import TryFailed
from tui.providers.http.limits import RetryLimits
from tui.providers.http.rate_limit import Queue

Piece = TypeVar("Piece")
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]*)?")
_LONGEST_WAIT = 1e9
# Chunks that cannot be taken back once they were passed on.
_PARTS = (Text, Reasoning, ToolCall)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the server asks to wait, or None if its headers have no valid value.

    Reads `retry-after-ms`, else `retry-after` as seconds or as a date. `now` is the time of day in seconds since
    1970.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
        # Dates of HTTP are in UTC; the oldest of their three forms does not say so.
        until = date.replace(tzinfo=date.tzinfo or UTC).timestamp()
        return min(max(0.0, until - now), _LONGEST_WAIT)
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    """Return a decimal number of at most 10^9, or None: `1_0`, `1e9`, `inf` and `nan` are Python's, not HTTP's."""
    return min(float(text), _LONGEST_WAIT) if text and _DECIMAL.fullmatch(text.strip()) else None


def wait_before(failed: TryFailed, number: int, patience: RetryLimits) -> float:
    """Return the seconds to wait after try `number`, which counts from 1. Raises ProviderError if no retry follows."""
    if number >= failed.tries:
        raise failed.error
    asked = failed.least_wait_s or 0.0
    if asked > patience.longest_wait_s:
        error = failed.error
        raise ProviderError(
            error.fault,
            f"{error.what}; retry after {asked:.0f} s",
            fix=f"Try again then; Assay waits at most {patience.longest_wait_s:.0f} s.",
        )
    most = min(patience.longest_backoff_s, patience.backoff_s * 2 ** (number - 1))
    return max(patience.uniform(0.0, most), asked)


class Tries:
    """Repeats failed requests to one provider where a retry can succeed.

    All `secrets` are removed from error messages.
    """

    def __init__(self, patience: RetryLimits, secrets: Iterable[str] = ()) -> None:
        self._patience, self._secrets = patience, Secrets(secrets)
        self._queue = Queue(patience)

    async def ask(
        self, one_try: Callable[[], AsyncGenerator[Piece, None]]
    ) -> AsyncGenerator[Piece | Sent | Waiting | Limited, None]:
        """Yield `Sent` and the pieces of each try, with `Waiting` in between and `Limited` when the limit changes.

        A try fails by TryFailed; there is no retry once a part of the answer has arrived. Raises ProviderError.
        """
        for number in count(1):
            episode = await self._queue.wait()
            arrived, fault = False, None
            try:
                yield Sent()
                async with aclosing(one_try()) as pieces:
                    async for piece in pieces:
                        arrived = arrived or isinstance(piece, _PARTS)
                        yield piece
            except TryFailed as failed:
                failed.error = self.cleaned(failed.error)  # before words are added after the end of a cut message
                fault = failed
            finally:
                self._queue.leave()
            wait = self._wait_after(fault, number, arrived) if fault else 0.0
            limited = self._learn(fault, wait, episode)
            if limited is not None:
                yield limited
            if fault is None:
                return
            if isinstance(wait, ProviderError):
                raise wait
            yield Waiting(fault.error.what, round(wait * 1000))
            await self._patience.sleep(wait)

    def cleaned(self, error: ProviderError) -> ProviderError:
        """Return the error without any secret that a server or a library may have quoted."""
        hide = self._secrets.hide
        return ProviderError(error.fault, hide(error.what), where=hide(error.where), fix=hide(error.fix))

    def allow(self, most: int) -> int:
        """Set the ceiling of concurrent requests and return the current limit."""
        return self._queue.allow(most)

    def reopen(self) -> None:
        """Prepare for a new run: accept requests after a rejected key, and reset the limit."""
        self._queue.reopen()

    def _wait_after(self, failed: TryFailed, number: int, arrived: bool) -> float | ProviderError:
        """Return the seconds until the next try, or the error if there is none."""
        if arrived:
            fix = "The partial answer is saved; run the case again."
            return ProviderError("incomplete", failed.error.what, fix=fix)
        try:
            return wait_before(failed, number, self._patience)
        except ProviderError as error:
            return error

    def _learn(self, failed: TryFailed | None, wait: float | ProviderError, episode: int) -> Limited | None:
        """Apply the result of a try to all requests. Return the limit if it changed."""
        if failed is None:
            return self._queue.answered(episode)
        if failed.effect == "stop":
            self._queue.stop(failed.error)
        if failed.effect != "pause":
            return None
        asked = failed.least_wait_s or 0.0
        if asked <= self._patience.longest_wait_s:
            # The delay that the server asks for applies to all requests, even if this one is given up.
            self._queue.pause(asked if asked or isinstance(wait, ProviderError) else wait)
        detail = f", Retry-After {asked:g} s" if asked else ""
        return self._queue.refused(episode, f"{failed.status or 'rate limit'}{detail}")
