"""Suggestions for misspelt words."""

import pytest

from tui.model.suggest import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "meant"),
    [("expectedPattern", "expectedPatterns"), ("TESTCASES", "testCases"), ("test_cases", "testCases"), ("zzz", None)],
)
def test_a_misspelt_key_is_understood(word: str, meant: str | None) -> None:
    assert nearest(word, ["testCases", "expectedPatterns", "name"]) == meant


def test_a_suggestion_is_a_sentence_or_nothing() -> None:
    assert did_you_mean("top-p", ("top_p", "seed")) == "Did you mean top_p? "
    assert did_you_mean("zzz", ("top_p", "seed")) == ""
    assert did_you_mean("top_p" * 20, ("top_p" * 20,)) == ""
