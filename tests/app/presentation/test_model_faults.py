"""Models that cannot be run, in words."""

from tui.app.presentation.model_faults import (
    ModelFault,
    fault_lines,
    fault_of,
    needs_sentence,
    not_run_words,
    short_fault,
)
from tui.app.presentation.pieces import text_of
from tui.model.errors import ConfigError, SuiteError

KEY = ModelFault("a: no provider found. Set OPENAI_API_KEY.", "OPENAI_API_KEY")
OTHER = ModelFault("c/d: unknown provider c")


def test_an_error_becomes_a_fault() -> None:
    assert fault_of(ConfigError("no key", fix="Set KEY.", needs="KEY")) == ModelFault("no key. Set KEY.", "KEY")
    assert fault_of(SuiteError("bad")) == ModelFault("bad")


def test_a_short_fault_is_what_the_model_needs_else_the_whole_message() -> None:
    assert short_fault("gpt-5.2\x1b", KEY) == "gpt-5.2␛ needs OPENAI_API_KEY."
    assert short_fault("c/d", OTHER) == "c/d: unknown provider c"


def test_one_sentence_for_all_models() -> None:
    needed = {"a": KEY, "b": KEY, "e": ModelFault("", "X"), "c/d": OTHER}
    assert needs_sentence(needed) == "a and b need OPENAI_API_KEY; e needs X."
    assert needs_sentence({"c/d": OTHER}) == ""
    assert not_run_words(needed) == "a and b need OPENAI_API_KEY; e needs X. c/d: see the pane for the reason."


def test_lines_have_each_sentence_once_and_the_details_last() -> None:
    lines = [text_of(line) for line in fault_lines({"a": KEY, "b": KEY, "c/d": OTHER}, ("M", "L"))]
    assert lines == [
        "! a and b need OPENAI_API_KEY.",
        "! c/d: unknown provider c",
        "  M chooses models, L runs on local/smollm2-135m, which needs no key.",
        "",
        "a: no provider found. Set OPENAI_API_KEY.",
    ]
    assert fault_lines({}, ("M", "L")) == []
