"""Cost as the number of lines of Python that run: the same on every machine, however busy it is."""

import sys
from collections.abc import Callable
from types import FrameType


def count_lines(act: Callable[[], object]) -> int:
    """Return how many lines of Python code the call runs in this thread."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        act()
    finally:
        sys.settrace(before)
    return lines


def is_linear(prepare: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether the cost of what `prepare(size)` returns grows no faster than the size.

    Sizes `size`, `2 * size` and `3 * size` are run, after one of `size` that fills the caches. Where the cost is
    linear, the second step adds as many lines as the first.
    """
    prepare(size)()
    one, two, three = (count_lines(prepare(size * times)) for times in (1, 2, 3))
    return three - two <= 1.1 * (two - one)
