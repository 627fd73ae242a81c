"""What differs between two answers."""

import pytest

from tests.support.kept_runs import HOSTILE
from tui.app.compare.pairs import AnswerPair, answer_diff, first_lines
from tui.app.diff.layout import Document, Look
from tui.app.diff.word_diff import changed_spans
from tui.session.answers import Answer
from tui.session.preferences import AnswerPlace

LONG = "\n".join(f"line {number}" for number in range(60))


def shown(left: str, right: str, *, folded: bool = True) -> list[tuple[str, str]]:
    file = answer_diff(left, right, folded=folded)
    return [(line.kind[0], line.text) for hunk in file.hunks for line in hunk.lines]


def test_what_is_the_same_is_folded_or_shown() -> None:
    changed = LONG.replace("line 30", "line thirty")
    assert len(shown(LONG, changed)) == 8
    assert len(shown(LONG, changed, folded=False)) == 61
    assert ("a", "line thirty") in shown(LONG, changed)


def test_equal_answers_are_shown_whole() -> None:
    assert shown("one\ntwo", "one\ntwo\n") == [("c", "one"), ("c", "two")]
    assert shown("one\r\ntwo", "one\ntwo") == [("c", "one"), ("c", "two")]
    assert shown("", "") == []


@pytest.mark.parametrize(
    ("left", "right"), [("", "text"), ("text", ""), (HOSTILE, "x"), ("a\0b", "a\0c"), ("\n\n", "\n")]
)
def test_every_pair_can_be_shown(left: str, right: str) -> None:
    file = answer_diff(left, right, folded=True)
    assert not file.binary
    assert file.added + file.removed > 0
    assert Document([file], (), Look(80, prose=True)).row_count > 0


def marked(old: str, new: str) -> tuple[list[str], list[str]]:
    first, second = changed_spans(old, new, prose=True)
    return [old[low:high] for low, high in first], [new[low:high] for low, high in second]


def test_many_words_of_a_paragraph_may_have_changed() -> None:
    words = [f"word{number}" for number in range(60)]
    other = [word.upper() if number % 3 == 0 else word for number, word in enumerate(words)]
    old, new = marked(" ".join(words), " ".join(other))
    assert old == words[::3]
    assert new == other[::3]


def test_changed_words_beside_each_other_are_marked_as_one() -> None:
    assert marked("it is quite red here", "it is very dark here") == (["quite red"], ["very dark"])
    assert marked("close it", "always close it") == ([], ["always "])


def test_paragraphs_without_much_in_common_are_not_marked_word_by_word() -> None:
    assert marked("The sky is blue today.", "Use a prepared statement, please!") == ([], [])
    assert marked("", "") == ([], [])


def test_only_the_first_lines_of_long_answers_are_compared() -> None:
    long, other = "".join(f"{number}\n" for number in range(30_000)), "x\n" * 20_000
    assert first_lines(other) == other
    diff = answer_diff(first_lines(long), first_lines(other), folded=True)
    assert (diff.removed, diff.added) == (20_000, 20_000)
    place = AnswerPlace("run", "model", 1, 1)
    left, right = (Answer(place, text, "passed", False, None, 1.0, 1) for text in (long, other))
    pair = AnswerPair(left, right, diff, is_cut=True)
    assert pair.note == "only the first 20,000 lines of each answer are compared"
