"""Marks: which ones a piece of text touches, and the way from one to the next."""

from hypothesis import given
from hypothesis import strategies as st

from tui.app.text.page import Mark, Marks

marks_lists = st.lists(
    st.builds(
        lambda start, length, kind: Mark(start, start + length, kind),
        st.integers(0, 30),
        st.integers(0, 12),
        st.sampled_from(["expected", "forbidden"]),
    ),
    max_size=12,
)


@given(marks_lists, st.integers(0, 30), st.integers(0, 12))
def test_every_mark_that_touches_is_found(found: list[Mark], start: int, length: int) -> None:
    marks, end = Marks(), start + length
    marks.replace(found)
    expected = sorted({mark for mark in found if mark.start < end and mark.end > start})
    assert [marks[number] for number in marks.touching(start, end)] == expected


@given(st.lists(marks_lists, max_size=4))
def test_replacing_says_from_where_on_something_changed(steps: list[list[Mark]]) -> None:
    marks = Marks()
    before: list[Mark] = []
    for found in steps:
        changed = marks.replace(found)
        after = sorted(set(found))
        assert [marks[number] for number in range(len(marks))] == after
        different = set(before) ^ set(after)
        assert changed == (min(mark.start for mark in different) if different else None)
        fresh = Marks()
        fresh.replace(found)
        assert (marks._starts, marks._reach) == (fresh._starts, fresh._reach)
        before = after


def test_steps_go_around_and_begin_where_one_looks() -> None:
    marks = Marks()
    assert marks.step(1, 0) is None
    marks.replace([Mark(20, 22, "expected"), Mark(5, 9, "forbidden"), Mark(30, 31, "expected")])
    assert [marks.step(1, 10), marks.step(1, 10), marks.step(1, 10), marks.step(-1, 0)] == [1, 2, 0, 2]
    marks.current = None
    assert marks.step(-1, 10) == 0
    marks.current = None
    assert marks.step(1, 99) == 0


def test_the_current_mark_stays_current_while_others_come() -> None:
    marks = Marks()
    marks.replace([Mark(5, 9, "expected")])
    marks.step(1, 0)
    marks.replace([Mark(5, 9, "expected"), Mark(1, 2, "expected"), Mark(5, 9, "expected")])
    assert (len(marks), marks.current) == (2, 1)
    marks.replace([Mark(1, 2, "expected")])
    assert marks.current is None
