"""Acts of scoring to test with, made by hand or by hypothesis."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import strategies as st

from tui.model.scores import OF_A_RUN, Act, ActKind, Extent, ItemKey

RUN = "0193f2a4c6d87000a1b2c3d4e5f60718"
REVIEWERS = ("Ada", "Bo", "Cy")
FIRST_ANSWER, SECOND_ANSWER = "1" * 64, "2" * 64
_START = datetime.fromisoformat("2026-11-20T10:00:00+00:00")


def item(case: str = "sec-001", model: str = "openai/mock-a", criterion: str = "Tone", repeat: int = 1) -> ItemKey:
    """Something to score."""
    return ItemKey(case, model, repeat, criterion)


def make_act(
    number: int,
    extent: Extent | None = 0,
    *,
    act: ActKind = "score",
    of: ItemKey | None = None,
    reviewer: str = "Ada",
    seconds: float | None = None,
    note: str = "",
    attempt: int | None = None,
    withdraws: str | None = None,
    blind: bool = False,
    run: str = RUN,
    answer: str | None = None,
) -> Act:
    """An act whose id is the number, so many seconds after ten o'clock (else as many as its number)."""
    at = _START + timedelta(seconds=number if seconds is None else seconds)
    where = None if act in OF_A_RUN else of or item()
    extent = None if act in ("reveal", "look", "invalidate") else extent
    made = Act(act, f"{number:032x}", run, where, extent, note, reviewer, at.isoformat(), blind)
    return replace(made, attempt=attempt, withdraws=withdraws, answer=None if where is None else answer)


ITEMS = tuple(item(case, model, criterion) for case in "ab" for model in "xy" for criterion in ("Tone", "Safety"))
EXTENTS: Sequence[Extent] = (0, 1, 2, 3, 4, "n/a")


@st.composite
def act_lists(draw: st.DrawFn, most: int = 24) -> list[Act]:
    """Acts of several reviewers on a few items, many at the same instant (also as written in another zone)."""
    acts: list[Act] = []
    for number in range(draw(st.integers(0, most))):
        kind: ActKind = draw(st.sampled_from(("score", "score", "score", "invalidate", "adjudicate", "reveal", "look")))
        decisions = [act.id for act in acts if act.act == "adjudicate"]
        made = make_act(
            # Not in the order of time, so that ids decide between equal instants only.
            (number * 7919 + 13) % 10007,
            draw(st.sampled_from(EXTENTS)),
            act=kind,
            of=draw(st.sampled_from(ITEMS)),
            reviewer=draw(st.sampled_from(REVIEWERS)),
            seconds=draw(st.integers(0, 5)),
            note=draw(st.sampled_from(("", "a note", '\x1b[31m\u202e\ud800 \n\t"é\u2028'))),
            attempt=draw(st.sampled_from((None, 1, 2))),
            withdraws=draw(st.sampled_from((None, *decisions))) if kind == "invalidate" else None,
            blind=draw(st.booleans()),
            answer=draw(st.sampled_from((None, FIRST_ANSWER, SECOND_ANSWER))),
        )
        acts.append(made)
    return acts
