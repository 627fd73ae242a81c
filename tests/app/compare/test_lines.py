"""The lines of Compare as text."""

import pytest

from tui.app.compare.lines import head_line, heads_line
from tui.app.presentation.pieces import text_of
from tui.session.answers import Answer
from tui.session.preferences import AnswerPlace


def answer(duration_ms: float | None) -> Answer:
    return Answer(AnswerPlace("r", "m", 1, 1), "text", "passed", False, None, duration_ms, 1)


@pytest.mark.parametrize(("duration_ms", "words"), [(1200.0, "✓  1.2 s"), (None, "✓    – s")])
def test_the_head_has_the_verdict_and_the_duration_if_it_is_known(duration_ms: float | None, words: str) -> None:
    shown = answer(duration_ms)
    assert text_of(head_line(0, ("m",), shown, False, 40)).rstrip().endswith(words)
    assert words in text_of(heads_line((("m",), ("n",)), (shown, None), False, 80))
