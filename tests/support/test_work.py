"""The count of lines, and what it calls linear."""

from collections.abc import Callable

from tests.support.work import count_lines, is_linear


def repeated(times: int) -> Callable[[], object]:
    def act() -> None:
        for _ in range(times):
            pass

    return act


def test_the_count_depends_only_on_what_is_done() -> None:
    assert count_lines(repeated(100)) == count_lines(repeated(100))
    assert 100 <= count_lines(repeated(200)) - count_lines(repeated(100)) <= 200


def test_a_loop_is_linear_and_a_loop_in_a_loop_is_not() -> None:
    assert is_linear(repeated, 100)
    assert not is_linear(lambda size: repeated(size * size), 20)
    assert not is_linear(lambda size: lambda: [next(x for x in range(size) if x == y) for y in range(size)], 50)
