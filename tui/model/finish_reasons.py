"""The finish reasons of an answer: the words of each provider, and which mean that the answer is incomplete."""

from collections.abc import Mapping

from tui.model.provider_messages import FinishReason

# What the servers of each protocol send, and what the results of other tools contain.
_WORDS: Mapping[FinishReason, str] = {
    "stop": "stop eos eos_token end_turn stop_sequence",
    "length": "length max_tokens max_output_tokens max_new_tokens model_length length_limit",
    "context_window": "context_window model_context_window_exceeded",
    "tool_calls": "tool_calls tool_use function_call",
    "content_filter": "content_filter content_filtered guardrail_intervened safety recitation blocklist "
    "prohibited_content spii sensitive image_safety",
    "refusal": "refusal",
    "declined": "declined",
    "pause": "pause pause_turn",
    "incomplete": "incomplete error failed timeout abort aborted cancelled user_cancelled interrupted network_error "
    "insufficient_system_resource malformed_model_output malformed_function_call",
}
_REASONS: Mapping[str, FinishReason] = {
    word.replace("_", ""): reason for reason, words in _WORDS.items() for word in words.split()
}
_EARLY: Mapping[FinishReason, str] = {
    "length": "token limit",
    "context_window": "context window full",
    "content_filter": "content filter",
    "refusal": "refusal by the provider's filter",
    "pause": "paused by the provider",
    "incomplete": "incomplete, by the provider",
}


def finish_reason_of(word: str, otherwise: FinishReason = "other") -> FinishReason:
    """Return the finish reason that a provider's word means; `otherwise` for an unknown word.

    Upper and lower case, `_` and `-` make no difference: `max_tokens`, `MAX_TOKENS` and `maxTokens` mean the same.
    """
    return _REASONS.get(word.casefold().replace("_", "").replace("-", ""), otherwise)


def combined_reason(first: FinishReason | None, second: FinishReason) -> FinishReason:
    """Return the finish reason of an answer that reports two: the second, unless the first is an early stop."""
    return first if first is not None and first in _EARLY else second


def early_stop(finish_reason: str | None) -> str | None:
    """Return a sentence that explains why the answer is incomplete, or None if the finish reason is no early stop.

    For example `The answer stopped early: token limit (length)`.
    """
    reason = _EARLY.get(finish_reason_of(finish_reason or ""))
    return f"The answer stopped early: {reason} ({finish_reason})" if reason else None
