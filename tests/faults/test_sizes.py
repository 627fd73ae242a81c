"""Answers, events and responses over their limits: what fits is saved with a note, and nothing is retried."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tests.faults.fault_server import (
    FaultServer,
    Maker,
    Mode,
    Outcome,
    always,
    differences,
    failed,
    fine,
    partial,
    retried,
)
from tests.support.messages import named
from tests.support.replies import HANG, Move, event, status

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
CUT = "The answer was truncated at 16 MiB"
LONG_EVENT = "The answer was truncated: HOST sent a chunk larger than 1 MiB"
LONG_RESPONSE = "The answer was truncated: HOST sent more than 0.5 MiB in one response"
SMALL = {"wire_size": MIB // 2}


def cut(note: str, text: str, usage: tuple[int | None, int | None] = (None, None)) -> Outcome:
    """Return the outcome of an answer that is cut after some text."""
    return partial(note, text, usage, notes=(note,))


def unbegun(note: str) -> Mapping[str, Outcome]:
    """Return the outcomes of a response that is cut before any text."""
    outcome = failed("incomplete", note, notes=(note,))
    return {
        "messages": replace(outcome, verdict="incomplete", usage=(7, None)),
        "": replace(outcome, verdict="incomplete"),
    }


def begun(note: str) -> Mapping[str, Outcome]:
    """Return the outcomes of a response that is cut after half of an answer."""
    return {"messages": cut(note, "half ", (7, None)), "": cut(note, "half ")}


def after_text(*moves: Move) -> Maker:
    return always(lambda wire: wire.stream(wire.text("half "), *moves))


def texts(size: int, number: int) -> Maker:
    """Return a stream of that many texts of that size."""
    return always(lambda wire: wire.stream(*[wire.text("x" * size)] * number, wire.finish, wire.mark))


def whole(size: int) -> Maker:
    """Return an answer in one piece with a text of that size."""
    return always(lambda wire: wire.whole("x" * size))


MODES: Sequence[Mode] = [
    Mode("17 MiB in one piece", whole(17 * MIB), failed("garbled", "HOST sent more than 16 MiB in one response")),
    Mode(
        "half a million values in one piece",
        always(lambda wire: status(200, {**wire.body("well"), "padding": [{}] * 500_000})),
        retried("garbled", "Unreadable answer (more than 500,000 values) from HOST"),
    ),
    Mode(
        "17 MiB as a stream",
        texts(1_000_000, 18),
        {"messages": cut(CUT, "x" * 16 * MIB, (7, None)), "": cut(CUT, "x" * 16 * MIB)},
    ),
    Mode(
        "a stream over a small limit",
        always(lambda wire: wire.stream(wire.text("x" * 600), wire.text("y" * 600), wire.finish, wire.mark)),
        {
            "messages": cut("The answer was truncated at 0.000977 MiB", "x" * 600 + "y" * 424, (7, None)),
            "": cut("The answer was truncated at 0.000977 MiB", "x" * 600 + "y" * 424),
        },
        {"answer_size": 1024},
    ),
    Mode("an event over 1 MiB", always(lambda wire: wire.stream(wire.text("x" * MIB))), unbegun(LONG_EVENT)),
    Mode(
        "an event over 1 MiB after text", always(lambda wire: wire.half(True, wire.text("x" * MIB))), begun(LONG_EVENT)
    ),
    Mode(
        "an event without end", always(lambda wire: wire.stream(b"data: " + b"x" * 2 * MIB, HANG)), unbegun(LONG_EVENT)
    ),
    Mode("an event without end after text", after_text(b"data: " + b"x" * 2 * MIB, HANG), begun(LONG_EVENT)),
    Mode("a comment over 1 MiB", after_text(b": " + b"x" * 2 * MIB, HANG), begun(LONG_EVENT)),
    Mode("an event of many lines over 1 MiB", after_text(b"data: x\n" * 200_000, HANG), begun(LONG_EVENT)),
    Mode("an error over 1 MiB", after_text(event({"error": "x" * MIB})), begun(LONG_EVENT)),
    Mode("comments without end", after_text(*[b": PROCESSING\n\n" * 1000] * 60, HANG), begun(LONG_RESPONSE), SMALL),
    Mode("pings without end", after_text(*[named("ping") * 1000] * 60, HANG), begun(LONG_RESPONSE), SMALL),
    Mode(
        "unknown events without end", after_text(*[event({"type": "x"}) * 1000] * 60, HANG), begun(LONG_RESPONSE), SMALL
    ),
    Mode("empty events without end", after_text(*[b"data:\n\n" * 1000] * 100, HANG), begun(LONG_RESPONSE), SMALL),
    Mode("blank lines without end", after_text(*[b"\n" * 10_000] * 60, HANG), begun(LONG_RESPONSE), SMALL),
    Mode(
        "comments without end before any text",
        always(lambda wire: wire.stream(*[b": PROCESSING\n\n" * 1000] * 60, HANG)),
        unbegun(LONG_RESPONSE),
        SMALL,
    ),
    Mode("10,000 events", texts(1, 10_000), fine("x" * 10_000)),
    Mode(
        "65 MiB after the end",
        always(lambda wire: wire.stream(wire.text("well"), wire.finish, wire.mark, *[b": x\n\n" * 200_000] * 68)),
        fine(),
    ),
]


LONG = {"17 MiB as a stream"}


@pytest.mark.parametrize(
    "mode", [pytest.param(mode, id=str(mode), marks=[pytest.mark.long] * (str(mode) in LONG)) for mode in MODES]
)
async def test_a_size(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []
