"""What follows from preferences, in words: counts, shares with intervals, or what is missing."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from tui.app.compare.lines import leaderboard_of
from tui.app.presentation.pieces import text_of, width_of
from tui.session.preferences import AnswerPlace, Choice, Preferred, swap_sides

SUITE = "/suite.yaml"


def chosen(counts: Iterable[tuple[str, str, Choice, int]]) -> list[Preferred]:
    """So many choices between two models, each of another case."""
    given: list[Preferred] = []
    for a, b, choice, times in counts:
        for _ in range(times):
            case = f"case {len(given)}"
            given.append(Preferred(SUITE, case, AnswerPlace("r", a, 1, 1), AnswerPlace("r", b, 1, 1), choice, True))
    return given


def summary_of(preferred: Iterable[Preferred], width: int = 90) -> str:
    lines = leaderboard_of(preferred).lines(width)
    assert all(width_of(text_of(line)) <= width for line in lines)
    return "\n".join(text_of(line) for line in lines)


def test_a_pair_has_its_share_and_its_interval() -> None:
    # Of two models alone the share is that of the choices; over cases with one choice each its log odds err by nearly
    # 1/30 + 1/10, and Student's t with 39 degrees of freedom is a little wider.
    given = chosen([("good", "bad", "a", 30), ("good", "bad", "b", 10)])
    summary = summary_of(given)
    shown = re.search(
        r"good against bad: preferred in 75% \((\d+)–(\d+)\) of the decided choices: good is",
        " ".join(summary.split()),
    )
    assert shown is not None
    spread = 2.0227 * math.sqrt(1 / 30 + 1 / 10)
    ends = [100 / (1 + math.exp(-math.log(3) - by)) for by in (-spread, spread)]
    assert [int(end) for end in shown.groups()] == pytest.approx(ends, abs=2)
    assert "40 choices in this suite, for 40 cases; 40 blind." in summary
    assert summary.index("\ngood ") < summary.index("\nbad ")
    assert "these people" not in summary
    even = summary_of(chosen([("good", "bad", "a", 6), ("good", "bad", "b", 5)]))
    assert "no preference shown." in " ".join(even.split())


def test_of_several_people_it_is_reported_for_whom_it_holds() -> None:
    alone = chosen([("good", "bad", "a", 24), ("good", "bad", "b", 6)])
    loyal = [replace(each, reviewer=name) for each in alone for name in ("Ada", "Bo", "Cy")]
    summary = " ".join(summary_of(loyal).split())
    assert "90 choices in this suite, by 3 people, for 30 cases" in summary
    assert "good is preferred." in summary
    split = [replace(each, reviewer="Ada", choice="a") for each in alone]
    split += [replace(each, reviewer="Bo") for each in alone] + [
        replace(each, reviewer="Cy", choice="b") for each in alone[:6]
    ]
    split = [each for each in split if each.a.model == "good"]
    summary = " ".join(summary_of(split).split())
    assert "good is preferred by these people; not shown for people in general." in summary


def test_a_choice_made_again_counts_once_whichever_stood_first() -> None:
    given = chosen([("good", "bad", "a", 3), ("good", "bad", "b", 2), ("good", "bad", "tie", 1)])
    summary = summary_of([*given, *map(swap_sides, given)])
    assert "6 choices" in summary
    row = next(line for line in summary.splitlines() if line.startswith("good "))
    assert row.split()[1:5] == ["3", "2", "1", "0"]


def test_what_cannot_be_reported_is_reported() -> None:
    assert summary_of([]).startswith("No preference between two models recorded in this suite yet.")
    assert "Not enough data: bad was not preferred to good" in summary_of(chosen([("good", "bad", "a", 4)]))
    same_model = chosen([("good", "good", "a", 4)])
    assert summary_of(same_model).startswith("No preference")


@pytest.mark.parametrize("width", [60, 93])
def test_hostile_and_long_names_have_their_width(width: int) -> None:
    names = [
        "\x1b]0;x\x07[/foo]\u202e" + "n" * 90,
        "m" * 90 + "?temperature=1",
        "m" * 90 + "?temperature=2",
        "安全" * 40,
    ]
    pairs = [(a, b, choice, 2) for a in names for b in names if a < b for choice in ("a", "b", "tie", "both_bad")]
    summary = summary_of(chosen(pairs), width)  # type: ignore[arg-type]
    assert not set("\x1b\x07\u202e") & set(summary)
