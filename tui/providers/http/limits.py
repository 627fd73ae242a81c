"""Timeouts, retry counts and size limits for servers, and the clocks, which tests replace."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """Timeouts in seconds, tries in all, and sizes.

    `first_byte_s` runs from the request to the first piece of an answer, `stall_s` between two, `think_s` if the
    model is known to think without output; `after_finish_s` and `drain_s` are for what follows the finish reason and
    the last event, and `refusal_s` for the body of an error response. A process that is silent for `pulse_s` is checked
    for life.
    """

    tries: int = 5
    dns_tries: int = 2
    backoff_s: float = 0.5
    longest_backoff_s: float = 30.0
    longest_wait_s: float = 120.0
    connect_s: float = 20.0
    first_byte_s: float = 120.0
    stall_s: float = 60.0
    think_s: float = 900.0
    after_finish_s: float = 5.0
    drain_s: float = 0.5
    refusal_s: float = 10.0
    pulse_s: float = 5.0
    listing_s: float = 20.0
    answer_size: int = 16 * MIB
    event_size: int = MIB
    wire_size: int = 64 * MIB
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
