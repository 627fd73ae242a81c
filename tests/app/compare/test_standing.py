"""What follows from preferences, in words: counts, shares with intervals, or what is missing."""

import math
from collections.abc import Iterable

import pytest

from tui.app.compare.standing import standing_of
from tui.app.presentation.pieces import text_of, width_of
from tui.session.preferences import AnswerPlace, Choice, Preferred, turned

SUITE = "/suite.yaml"


def chosen(counts: Iterable[tuple[str, str, Choice, int]]) -> list[Preferred]:
    """So many choices between two models, each of another case."""
    given: list[Preferred] = []
    for a, b, choice, times in counts:
        for _ in range(times):
            case = f"case {len(given)}"
            given.append(Preferred(SUITE, case, AnswerPlace("r", a, 1, 1), AnswerPlace("r", b, 1, 1), choice, True))
    return given


def told(preferred: Iterable[Preferred], width: int = 90) -> str:
    lines = standing_of(preferred, SUITE).lines(width)
    assert all(width_of(text_of(line)) <= width for line in lines)
    return "\n".join(text_of(line) for line in lines)


def test_a_pair_has_its_share_and_its_interval() -> None:
    # Of two models alone the share is that of the choices, and its log odds err by 1/30 + 1/10.
    said = told(chosen([("good", "bad", "a", 30), ("good", "bad", "b", 10)]))
    spread = 1.959964 * math.sqrt(1 / 30 + 1 / 10)
    low, high = (100 / (1 + math.exp(-math.log(3) - by)) for by in (-spread, spread))
    shares = f"preferred in 75% ({low:.0f}–{high:.0f}) of the choices for one of them: good is preferred."
    assert f"good against bad: {shares}" in " ".join(said.split())
    assert "40 choices in this suite, 40 of them blind." in said
    assert said.index("\ngood ") < said.index("\nbad ")
    even = told(chosen([("good", "bad", "a", 6), ("good", "bad", "b", 5)]))
    assert "no preference shown." in " ".join(even.split())


def test_a_choice_made_again_counts_once_whichever_stood_first() -> None:
    given = chosen([("good", "bad", "a", 3), ("good", "bad", "b", 2), ("good", "bad", "tie", 1)])
    said = told([*given, *map(turned, given)])
    assert "6 choices" in said
    row = next(line for line in said.splitlines() if line.startswith("good "))
    assert row.split()[1:5] == ["3", "2", "1", "0"]


def test_what_cannot_be_said_is_said() -> None:
    assert told([]).startswith("No preference between two models was given in this suite yet.")
    assert "Not enough data: bad was never preferred to good" in told(chosen([("good", "bad", "a", 4)]))
    same_model = chosen([("good", "good", "a", 4)])
    assert told(same_model).startswith("No preference")
    elsewhere = standing_of(chosen([("good", "bad", "a", 4)]), "/other.yaml")
    assert elsewhere.choices == 0


@pytest.mark.parametrize("width", [60, 93])
def test_hostile_and_long_names_have_their_width(width: int) -> None:
    names = [
        "\x1b]0;x\x07[/foo]\u202e" + "n" * 90,
        "m" * 90 + "?temperature=1",
        "m" * 90 + "?temperature=2",
        "安全" * 40,
    ]
    pairs = [(a, b, choice, 2) for a in names for b in names if a < b for choice in ("a", "b", "tie", "both_bad")]
    said = told(chosen(pairs), width)  # type: ignore[arg-type]
    assert not set("\x1b\x07\u202e") & set(said)
