"""When a failed try is followed by another: the waits, and the queue that all questions to a provider share."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from itertools import count

from tui.model.chunks import Chunk, Reasoning, Sent, Text, ToolCall, Waiting
from tui.model.errors import ProviderError
from tui.model.secrets import Secrets
from tui.providers.faults import TryFailed
from tui.providers.patience import Patience

# What cannot be taken back once it was handed on.
_PARTS = (Text, Reasoning, ToolCall)


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


class Tries:
    """Asks again where that may mend a fault, for all questions to one provider. Sentences about faults lose every
    one of the `secrets`."""

    def __init__(self, patience: Patience, secrets: Iterable[str]) -> None:
        self._patience, self._secrets = patience, Secrets(secrets)
        self._queue = Queue(patience)

    async def ask(self, one_try: Callable[[], AsyncGenerator[Chunk, None]]) -> AsyncGenerator[Chunk, None]:
        """`Sent` and the chunks of each try, with `Waiting` in between. A try fails by TryFailed; none follows once a
        part of the answer has arrived. Raises ProviderError."""
        for number in count(1):
            await self._queue.wait()
            yield Sent()
            arrived = False
            try:
                async with aclosing(one_try()) as chunks:
                    async for chunk in chunks:
                        arrived = arrived or isinstance(chunk, _PARTS)
                        yield chunk
                return
            except TryFailed as failed:
                wait = self._after(failed, number, arrived)
                reason = self._secrets.hide(failed.error.what)
            yield Waiting(reason, round(wait * 1000))
            await self._patience.sleep(wait)

    def cleaned(self, error: ProviderError) -> ProviderError:
        """The same, without any key that a server or a library may have quoted."""
        hide = self._secrets.hide
        return ProviderError(error.fault, hide(error.what), where=hide(error.where), fix=hide(error.fix))

    def reopen(self) -> None:
        """Let questions out again after a refused key."""
        self._queue.reopen()

    def _after(self, failed: TryFailed, number: int, arrived: bool) -> float:
        """Seconds until the next try; the provider's queue learns what the fault means for it. Raises ProviderError
        where there is no next try."""
        if failed.effect == "stop":
            self._queue.stop(self.cleaned(failed.error))
        if arrived:
            fix = "What had arrived is kept; the case can be asked again."
            raise self.cleaned(ProviderError("incomplete", failed.error.what, fix=fix)) from None
        try:
            wait = wait_before(failed, number, self._patience)
        except ProviderError as error:
            raise self.cleaned(error) from None
        if failed.effect == "pause":
            self._queue.pause(wait)
        return wait
