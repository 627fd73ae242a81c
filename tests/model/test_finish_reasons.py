"""Finish reasons: the words of each provider, and which of them end an answer early."""

import pytest

from tui.model.finish_reasons import combined_reason, early_stop, finish_reason_of
from tui.model.provider_messages import FinishReason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("MAX_TOKENS", "length"),
        ("maxTokens", "length"),
        ("guardrail_intervened", "content_filter"),
        ("timeout", "incomplete"),
        ("max_output_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("SAFETY", "content_filter"),
        ("pause_turn", "pause"),
        ("error", "incomplete"),
        ("insufficient_system_resource", "incomplete"),
        ("declined", "declined"),
        ("UNEXPECTED_TOOL_CALL", "incomplete"),
        ("LANGUAGE", "content_filter"),
        ("something new", "other"),
        ("", "other"),
    ],
)
def test_words_of_the_providers(word: str, reason: FinishReason) -> None:
    assert finish_reason_of(word) == reason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("content_filter: RECITATION", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("content_filter: something new", "content_filter"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "incomplete"),
        ("function_call_filter: UNEXPECTED_TOOL_CALL", "incomplete"),
        ("function_call_filter: STOP", "content_filter"),
        ("FinishReason.MAX_TOKENS", "length"),
        ("FinishReason.STOP", "stop"),
        ("stop/length", "length"),
        ("max tokens", "length"),
    ],
)
def test_each_part_of_a_composed_word_counts(word: str, reason: FinishReason) -> None:
    assert finish_reason_of(word) == reason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("ERROR_TOXIC", "content_filter"),
        ("IMAGE_RECITATION", "content_filter"),
        ("safety_filter", "content_filter"),
        ("max_output_tokens_reached", "length"),
        ("context_length_exceeded", "context_window"),
        ("MAX_TOKENS_REACHED", "length"),
        ("malformed_tool_use", "incomplete"),
        ("USER_CANCEL", "incomplete"),
        ("not_finished", "incomplete"),
        ("time_limit", "incomplete"),
    ],
)
def test_an_unknown_word_that_names_an_early_stop_means_that_one(word: str, reason: FinishReason) -> None:
    assert finish_reason_of(word) == reason
    assert early_stop(word) is not None


@pytest.mark.parametrize("word", ["stop", "tool_calls", "declined", "other", "something new", "", None])
def test_a_complete_answer_did_not_stop_early(word: str | None) -> None:
    assert early_stop(word) is None


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("Length", "The answer stopped early: token limit (Length)"),
        ("refusal", "The answer stopped early: refusal by the provider's filter (refusal)"),
        ("error", "The answer stopped early: incomplete, by the provider (error)"),
    ],
)
def test_an_early_stop_is_explained(word: str, sentence: str) -> None:
    assert early_stop(word) == sentence


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (None, "stop", "stop"),
        ("stop", "length", "length"),
        ("length", "stop", "length"),
        ("pause", "content_filter", "pause"),
        ("other", "tool_calls", "tool_calls"),
    ],
)
def test_an_early_stop_stays(first: FinishReason | None, second: FinishReason, both: FinishReason) -> None:
    assert combined_reason(first, second) == both
