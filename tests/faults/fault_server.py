"""Modes in which a server misbehaves, and what becomes of a trial in each of them, in every protocol.

A mode is data: a name, the reply, the limits under which it is run, and the outcome. `differences` runs a real trial
(provider, runner, checks) against a loopback server in all six combinations of protocol and streaming.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Any, Self

from tests.faults.wires import WIRES, Wire
from tests.support.asking import KEY, Heard, a_request, hear, server_settings
from tests.support.clocks import FakeTime
from tests.support.model_server import Asked, ModelServer, Script, closed_port, in_turn
from tests.support.plans import FixedContext, case_of
from tests.support.replies import Reply
from tui.checks.checker import Checker
from tui.model.errors import ProviderFault
from tui.model.events import Event, RequestSent
from tui.model.results import TrialKey, TrialResult, Verdict
from tui.model.secrets import Secrets
from tui.model.subjects import Settings, Subject
from tui.providers.protocol import Provider
from tui.runner.control import Control, EventBuffer
from tui.runner.trial import TrialOrder, run_trial
from tui.runner.trial_context import TrialContext

BACKOFF = (500, 1000, 2000, 4000)
SAVED = ". The partial answer is saved; run the case again."
# Limits for servers that fall silent: only the one that a mode is about is short.
SILENT_S = 0.25
_CASE = case_of("case", "ask")
_TIMEOUT_MS = 3_600_000
# A mode without its defence would last forever: it is a failed test then, not one that hangs.
_MOST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a trial.

    In `error`, HOST is the server, and `{what}`, `{next}` and `{last}` depend on the protocol: the name of an answer,
    and the numbers of the chunk after the start of a stream and of the chunk after its first text.
    `usage` is the input and output tokens, `waits` the milliseconds before each retry, `reason` that of all retries.
    """

    verdict: Verdict
    fault: ProviderFault | None = None
    error: str | None = None
    requests: int = 1
    text: str = ""
    usage: tuple[int | None, int | None] = (None, None)
    notes: tuple[str, ...] = ()
    waits: tuple[int, ...] = ()
    reason: str = ""
    reasoning: str = ""

    def expected_of(self, wire: Wire) -> "Outcome":
        """Return the outcome in the words of a protocol."""
        words = {"what": wire.what, "next": wire.events_before + 1, "last": wire.events_before + 2}
        error, reason = self.error or "", self.reason
        for name, word in words.items():
            error, reason = (text.replace(f"{{{name}}}", str(word)) for text in (error, reason))
        return replace(self, error=error or None, reason=reason)


Expected = Outcome | Mapping[str, Outcome]
"""One outcome, or several by the combination: `chat whole`, else `chat`, else `whole`, else an empty name."""
Maker = Callable[[Wire, bool], Reply | Script]


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to misbehave. `make` is None where nobody listens; `hides` removes keys from the answer's text too."""

    name: str
    make: Reply | Maker | None
    expected: Expected
    limits: Mapping[str, Any] = field(default_factory=dict)
    hides: bool = False

    def __str__(self) -> str:
        return self.name

    def expected_in(self, wire: Wire, stream: bool) -> Outcome:
        """Return the outcome in one combination."""
        expected = self.expected
        if not isinstance(expected, Outcome):
            kind = _kind(stream)
            names = (f"{wire.name} {kind}", wire.name, kind, "")
            expected = next(expected[name] for name in names if name in expected)
        return expected.expected_of(wire)

    @property
    def is_retried(self) -> bool:
        """Whether some combination has more than one request."""
        return any(self.expected_in(wire, stream).requests > 1 for wire, stream in COMBINATIONS)


COMBINATIONS: Sequence[tuple[Wire, bool]] = [(wire, stream) for wire in WIRES for stream in (True, False)]


def fine(text: str = "well", usage: tuple[int | None, int | None] = (7, 3), **more: Any) -> Outcome:
    """Return the outcome of a complete answer."""
    return Outcome("passed", text=text, usage=usage, **more)


def failed(fault: ProviderFault, error: str, **more: Any) -> Outcome:
    """Return the outcome of a fault that is not retried and leaves no answer."""
    return Outcome("error", fault, error, **more)


def retried(fault: ProviderFault, error: str, requests: int = 5, **more: Any) -> Outcome:
    """Return the outcome of a fault that every retry meets again."""
    waits, reason = BACKOFF[: requests - 1], error.partition(". ")[0]
    return Outcome("error", fault, error, requests, waits=waits, reason=reason, **more)


def partial(
    error: str, text: str = "half ", usage: tuple[int | None, int | None] = (None, None), **more: Any
) -> Outcome:
    """Return the outcome of an answer that breaks off after some text."""
    return Outcome("incomplete", "incomplete", error + SAVED, text=text, usage=usage, **more)


def always(make: Callable[[Wire], Reply]) -> Maker:
    """Return a maker of the same reply whether a stream was requested or not."""
    return lambda wire, stream: make(wire)  # noqa: ARG005


class FaultServer:
    """One loopback server for all modes of a module. Each run of a mode has a path and a provider of its own."""

    def __init__(self) -> None:
        self._server = ModelServer(self._reply, record=False)
        self._replies: list[Reply | Script] = []
        self._requests: Counter[int] = Counter()
        self._arrived = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.__aexit__(kind, error, trace)

    async def hear(self, mode: Mode, wire: Wire) -> Heard:
        """Return all chunks of an answer, and the exception that ends it."""
        place = len(self._replies)
        self._replies.append(self.reply_of(mode, wire, stream=True))
        provider = _provider(mode, wire, f"http://127.0.0.1:{self._server.port}/{place}")
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                return await hear(provider, a_request(settings=_settings(wire)))
        finally:
            await provider.close()

    async def outcome(self, mode: Mode, wire: Wire, stream: bool, script: Script | None = None) -> Outcome:
        """Return what becomes of one trial, with the mode's reply or with this script."""
        place = len(self._replies)
        self._replies.append(script or self.reply_of(mode, wire, stream))
        is_served = script is not None or mode.make is not None
        port = self._server.port if is_served else closed_port()
        result, sent = await _run(mode, wire, stream, f"http://127.0.0.1:{port}/{place}")
        expected = sent if is_served else 0
        async with asyncio.timeout(_MOST_SECONDS):
            while self._requests[place] < expected:  # the client may have given up before the server read its request
                self._arrived.clear()
                await self._arrived.wait()
        assert self._requests[place] == expected
        assert KEY not in repr(result)
        return _outcome_of(result, sent)

    def reply_of(self, mode: Mode, wire: Wire, stream: bool) -> Reply | Script:
        """Return the reply of a mode in one combination."""
        make = mode.make
        return make or Reply() if make is None or isinstance(make, Reply) else make(wire, stream)

    def _reply(self, asked: Asked) -> Reply:
        place = int(asked.path.split("/")[1])
        self._requests[place] += 1
        self._arrived.set()
        reply = self._replies[place]
        return reply if isinstance(reply, Reply) else reply(replace(asked, attempt=self._requests[place]))


async def differences(faults: FaultServer, mode: Mode, protocol: str = "") -> list[str]:
    """Return how a mode differs from its expected outcomes, in all protocols or in one."""
    combinations = _combinations(protocol)
    seen = await asyncio.gather(*(faults.outcome(mode, wire, stream) for wire, stream in combinations))
    return [
        line
        for each, found in zip(combinations, seen, strict=True)
        for line in _compare(each, found, mode.expected_in(*each))
    ]


async def differences_after_one(faults: FaultServer, mode: Mode, protocol: str = "") -> list[str]:
    """Return how a mode that only the first request meets differs from one retry that leaves nothing but its reason."""
    found = []
    for wire, stream in _combinations(protocol):
        expected = mode.expected_in(wire, stream)
        if expected.requests > 1 and mode.make is not None:
            script = in_turn(faults.reply_of(mode, wire, stream), wire.answer("well", stream))
            seen = await faults.outcome(mode, wire, stream, script)
            found += _compare((wire, stream), seen, fine(requests=2, waits=expected.waits[:1], reason=expected.reason))
    return found


def _compare(combination: tuple[Wire, bool], seen: Outcome, expected: Outcome) -> list[str]:
    pairs = {each.name: (getattr(seen, each.name), getattr(expected, each.name)) for each in fields(Outcome)}
    return [
        f"{_name(combination)}: {name} is {found!r}, not {expected!r}"
        for name, (found, expected) in pairs.items()
        if found != expected
    ]


def _combinations(protocol: str) -> Sequence[tuple[Wire, bool]]:
    return [each for each in COMBINATIONS if protocol in ("", each[0].name)]


def _kind(stream: bool) -> str:
    return "stream" if stream else "whole"


def _name(combination: tuple[Wire, bool]) -> str:
    wire, stream = combination
    return f"{wire.name} {_kind(stream)}"


def _provider(mode: Mode, wire: Wire, url: str) -> Provider:
    settings = replace(server_settings(url), key_name="THE_KEY")
    return wire.provider(settings, FakeTime().patience(**mode.limits))


def _settings(wire: Wire) -> Settings:
    return Settings(api="responses" if wire.name == "responses" else None)


async def _run(mode: Mode, wire: Wire, stream: bool, url: str) -> tuple[TrialResult, int]:
    """Run a trial, and return its result and the number of its requests."""
    provider = _provider(mode, wire, url)
    subject = Subject("mock-a", wire.name, "mock-a", _settings(wire))
    secrets = Secrets([KEY] if mode.hides else ())
    events = EventBuffer()
    checker = Checker()  # starts no process for a plain text
    context = TrialContext({subject.name: provider}, checker, FixedContext(), secrets)
    order = TrialOrder(TrialKey(_CASE.id, subject.name), _CASE, subject, _TIMEOUT_MS, 1, stream)
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            result = await run_trial(order, context, Control(), events)
    finally:
        await provider.close()
        await checker.close()
    events.close()
    seen: list[Event] = await events.take()
    return result, sum(isinstance(event, RequestSent) for event in seen)


def _outcome_of(result: TrialResult, requests: int) -> Outcome:
    (attempt,) = result.attempts
    step = attempt.steps[0]
    return Outcome(
        result.verdict,
        attempt.fault,  # type: ignore[arg-type]
        None if result.error is None else without_host(result.error),
        requests,
        step.response,
        (step.usage.input_tokens, step.usage.output_tokens),
        tuple(map(without_host, step.notes)),
        tuple(retry.waited_ms for retry in step.retries),
        " | ".join({without_host(retry.reason) for retry in step.retries}),
        step.reasoning,
    )


def without_host(text: str) -> str:
    """Return the text with HOST in place of the address."""
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
