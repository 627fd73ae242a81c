"""When a failed try is followed by another: the waits, and the queue that all questions to a provider share."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from tui.model.errors import ProviderError
from tui.providers.faults import TryFailed
from tui.providers.patience import Patience


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date. `now` is the
    time of day, in seconds since 1970. None where nothing readable is asked for."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def wait_before(failed: TryFailed, number: int, patience: Patience) -> float:
    """Seconds to wait after try `number`, counted from 1. Raises ProviderError where no other try is to follow."""
    if number >= failed.tries:
        raise failed.error
    asked = failed.least_wait_s or 0.0
    if asked > patience.longest_wait_s:
        error = failed.error
        raise ProviderError(
            error.fault,
            f"{error.what}; it asks to wait {asked:.0f} s",
            fix=f"Ask again then; Assay waits {patience.longest_wait_s:.0f} s at most.",
        )
    most = min(patience.longest_backoff_s, patience.backoff_s * 2 ** (number - 1))
    return max(patience.uniform(0.0, most), asked)


class Queue:
    """What all questions to one provider share: a pause that a 429 brings, and the stop after a refused key."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._opens_at = 0.0
        self._stopped: ProviderError | None = None

    async def wait(self) -> None:
        """Return when a question may go out. Raises ProviderError, always the same, once the queue has stopped."""
        while self._stopped is None and (left := self._opens_at - self._patience.monotonic()) > 0:
            await self._patience.sleep(left)
        if self._stopped is not None:
            error = self._stopped
            raise ProviderError(error.fault, error.what, where=error.where, fix=error.fix)

    def pause(self, seconds: float) -> None:
        """Nothing goes out for so long."""
        self._opens_at = max(self._opens_at, self._patience.monotonic() + seconds)

    def stop(self, error: ProviderError) -> None:
        """Nothing goes out any more."""
        self._stopped = error

    def reopen(self) -> None:
        """Let questions out again."""
        self._stopped = None
